"""The studies: every claim of the documents is an expectation or has a reason why not, and its verdict is printed."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from imports_cases import read
from test_compare import cell, write

from middlemark.commands.reproduce import command
from middlemark.document.document import Expected
from middlemark.model.expectation import Expectation, Untestable
from middlemark.problems import RequestError
from middlemark.runs.read import read_measured
from middlemark.show import View
from middlemark.show.expectations import WORDS, claims_counted, render_markdown, render_text
from middlemark.show.json.run import render_study
from middlemark.stats.expectations import ClaimVerdict
from middlemark.suite import load, raw_options
from middlemark.suite.study import read_study, study_names
from outputs import read_output

CLAIMS = {
    "cyclonedds-orin": [f"O{number}" for number in range(1, 20)],
    "cyclonedds-page": ["C1", "C2", "C3", "C4"],
    "fastdds-latencytest": ["F1", "F2", "F3", "F4"],
    "ros-mira-yarp": [f"T{number}" for number in range(1, 9)],
}
"""The ids of every claim, by study."""
UNTESTABLE = {"C3a", "F4", "O11a", "O14", "O18", "T7", "T8"}
FINDINGS = {"F4", "O5", "O14", "O18"}
"""Claims in which the document contradicts itself."""


def expectations_of(name: str) -> tuple[Expectation, ...]:
    [suite] = load([str(read_study(name).suite)], raw_options())
    return suite.expectations


def claim(expectation: str) -> str:
    return expectation.rstrip("abcd")


def asked(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


def test_there_are_four_studies() -> None:
    assert sorted(study_names()) == sorted(CLAIMS)


@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_is_an_expectation_with_the_documents_figure(name: str) -> None:
    found = list(dict.fromkeys(claim(each.id) for each in expectations_of(name)))
    assert sorted(found, key=lambda each: int(each[1:])) == CLAIMS[name]
    assert [*read_study(name).claims] == CLAIMS[name]
    assert load([str(read_study(name).suite)], raw_options())[0].name == name


def test_only_the_untestable_claims_are_left_out_with_a_reason() -> None:
    found = {each.id: each.claim for name in CLAIMS for each in expectations_of(name)}
    assert {each for each, of in found.items() if isinstance(of, Untestable)} == UNTESTABLE
    assert found["T7"].why.startswith("no source")


def test_a_claim_that_its_own_document_contradicts_is_marked() -> None:
    studies = {each: read_study(name) for name, claims in CLAIMS.items() for each in claims}
    assert {each for each, study in studies.items() if study.claims[each].contradicts} >= FINDINGS


@pytest.mark.parametrize("name", [each for each in CLAIMS if each != "ros-mira-yarp"])
def test_a_studys_own_figures_are_read_as_a_run_without_samples(name: str) -> None:
    path = read_study(name).figures
    assert path is not None
    log = read(path.read_bytes())
    assert log.measured
    assert log.unread == 0


def test_studies_with_lost_plots_have_no_figures() -> None:
    assert read_study("ros-mira-yarp").figures is None


def test_figures_of_the_orin_are_doubled_and_its_hang_is_a_failure() -> None:
    path = read_study("cyclonedds-orin").figures
    assert path is not None
    rows = read(path.read_bytes()).measured
    found = {
        (each.cell.transport, each.cell.priority, each.cell.size): each.times.round_trip_ns.p50
        for each in rows
        if each.times.round_trip_ns
    }
    assert found["shm", "fifo:80", 0] == 24_000
    assert found["udp", "other", 16_384] == 224_000
    [hung] = [each for each in rows if each.failed]
    assert (hung.cell.transport, hung.cell.size) == ("udp", 65_536)


def test_an_unknown_study_is_refused_with_the_existing_ones() -> None:
    error = asked("cyclonedds-orion").exception
    assert isinstance(error, RequestError)
    assert "did you mean 'cyclonedds-orin'" in str(error)
    none = asked().exception
    assert isinstance(none, RequestError)
    assert all(name in str(none) for name in CLAIMS)


def test_the_list_names_each_with_the_number_of_its_claims() -> None:
    lines = asked("--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(CLAIMS)
    assert "19 claims" in lines[0]


def expected(id_: str, verdict: ClaimVerdict, **given: object) -> Expected:
    fields: dict[str, object] = {
        "run": 0, "id": id_, "say": f"what {id_} says", "kind": "change", "claimed": "-70%", "measured": -0.65,
        "low": -0.7, "high": -0.6, "verdict": verdict, "trials_needed": None, "why": "-65 % (-70 … -60)",
        "short": "-65 %", "cells": (),
    }  # fmt: skip
    return msgspec.convert(fields | given, Expected)


OUTCOME = [
    expected("O1a", ClaimVerdict.HOLDS),
    expected("O5a", ClaimVerdict.HOLDS),
    expected("O5b", ClaimVerdict.DOES_NOT_HOLD),
    expected("O9", ClaimVerdict.UNDECIDED, trials_needed=40),
    expected("O14", ClaimVerdict.UNTESTABLE, measured=None, low=None, high=None, why="a finding"),
]


def test_each_claim_is_printed_with_the_documents_figure_and_ours(tmp_path: Path) -> None:
    run = read_measured(write(tmp_path, {cell(): 1.0}))
    text = render_text(read_study("cyclonedds-orin"), run, OUTCOME, View(width=100))
    assert "2 reproduced, 1 contradicted, 1 undecided, 1 untestable" in " ".join(text.splitlines()[:2])
    first = text[text.index("O1a") : text.index("O5a")]
    assert "its figure    39 → 12 µs at 0 B" in first
    assert "reproduced    -65 % (-70 … -60)" in first
    words = " ".join(text.split())
    assert words.count("its advice prefers UDP below 1 KiB") == 1, "the remark about both parts is printed once"
    assert f"kept in  {run.folder}" in text
    assert max(map(len, text.splitlines())) <= max(100, len(str(run.folder)) + 60)


def test_the_json_output_has_the_words_of_a_study(tmp_path: Path) -> None:
    run = read_measured(write(tmp_path, {cell(): 1.0}))
    document = read_output("reproduce", render_study(read_study("cyclonedds-orin"), run, OUTCOME))
    assert [each["verdict"] for each in document["expectations"]] == [WORDS[each.verdict] for each in OUTCOME]
    first, *_, last = document["expectations"]
    names = ("id", "say", "kind", "claimed", "measured", "low", "high", "verdict", "trials_needed", "why")
    assert [*first][: len(names)] == [*names]
    assert (last["measured"], last["verdict"]) == (None, "untestable")
    assert last["contradicts"]
    assert document["run"] == str(run.folder)


def test_a_page_has_a_row_per_claim_and_each_contradiction_once(tmp_path: Path) -> None:
    run = read_measured(write(tmp_path, {cell(): 1.0}))
    page = render_markdown(read_study("cyclonedds-orin"), run, OUTCOME)
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| O")]
    assert [row[3] for row in rows] == [WORDS[each.verdict] for each in OUTCOME]
    assert rows[0][2].startswith("39 → 12 µs")
    assert {len(row) for row in rows} == {5}
    assert page.count("its advice prefers UDP below 1 KiB") == 1, "the remark about both parts is printed once"


def test_verdicts_are_counted_in_a_studys_words() -> None:
    assert claims_counted(OUTCOME[:1]) == "1 reproduced"
