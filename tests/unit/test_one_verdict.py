"""A pair has one verdict in every output: the report, ``compare`` in any selection, and JUnit."""

import random
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_compare import cell, rows, write

from middlemark.commands.export import command as export
from middlemark.document import document_of, with_verdicts
from middlemark.model.cell import Cell
from middlemark.runs.read import read_measured


def stored(root: Path, seed: int) -> Path:
    """Store a run of eight rounds, in which some cells differ by about as little as eight rounds can decide."""
    draw = random.Random(seed)
    return write(root, {each: 20_000 * draw.lognormvariate(0, 0.12) for each in cells()}, scatter=seed)


def cells() -> list[Cell]:
    return [
        cell(adapter=adapter, transport=transport, size=size, loan=loan)
        for adapter in ("lyra", "vega")
        for transport in ("udp", "shm")
        for size in (64, 1024)
        for loan in (False, True)
    ]


def test_factors_that_vary_together_are_judged_in_the_same_family(tmp_path: Path) -> None:
    draw = random.Random(5)
    figures = {each: 20_000 * draw.lognormvariate(0, 0.12) for each in cells()}
    folder = write(tmp_path, figures, scatter=5, together=(("transport", "loan"),))
    run = read_measured(folder)
    document = with_verdicts(document_of([run]), [run])
    reported = [each.comparison for each in document.comparisons if each.factor == "transport,loan"]
    found = rows(folder, "--by", "transport,loan")
    assert len(reported) == len(found) == 2 * 2 * 2
    assert sorted((each.word, each.judged.p_family) for each in reported) == sorted(
        (each["verdict"], each["p_family"]) for each in found
    )
    chosen = rows(f"{folder}:transport=udp,loan=false", f"{folder}:transport=shm,loan=true")
    assert {each["p_family"] for each in chosen} <= {each["p_family"] for each in found}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_report_compare_and_junit_agree_on_every_pair(tmp_path: Path, seed: int) -> None:
    folder = stored(tmp_path, seed)
    run = read_measured(folder)
    document = with_verdicts(document_of([run]), [run])
    reported: dict[tuple[str, str, str, str], tuple[object, ...]] = {}
    for each in document.comparisons:
        judged = each.comparison.judged
        if each.comparison.metric == "p50":
            a, b = (document.rows[at].label for at in (each.a, each.b))
            reported[each.factor, each.what, *each.comparison.pairing.names] = (
                each.comparison.word,
                judged.p_family,
                judged.trials_needed,
            )
            assert a != b
    factors = {factor for factor, *_ in reported}
    assert factors == {"adapter", "transport", "loan"}
    verdicts = {word for word, *_ in reported.values()}
    assert len(verdicts) > 1, "with a single kind of verdict this test could not fail"
    for factor in factors:
        everything = rows(folder, "--by", factor)
        assert sorted((each["verdict"], each["p_family"], each["trials_needed"] or 0) for each in everything) == sorted(
            (word, p, needed or 0) for (by, *_), (word, p, needed) in reported.items() if by == factor
        )
        some = rows(f"{folder}:size=64", "--by", factor)
        verdicts_of_all = {
            (each["what"].replace(", 64 B", ""), each["a"], each["b"], each["p_family"]) for each in everything
        }
        assert some
        assert all(
            (each["what"].replace(", 64 B", ""), each["a"], each["b"], each["p_family"]) in verdicts_of_all
            for each in some
        )
        junit = ET.fromstring(
            CliRunner().invoke(export, [str(folder), "--to", "junit", "--by", factor, "--out", "-"]).stdout
        )
        words = sorted(
            str(case.findtext("system-out")).split(":")[0].removeprefix("p50 ") for case in junit.iter("testcase")
        )
        assert words == sorted(each["verdict"] for each in everything)
