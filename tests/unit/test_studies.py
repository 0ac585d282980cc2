"""The studies: every claim of a document is an expectation or has a reason why not, and its verdict is printed."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from imports_cases import read
from test_compare import cell, write

from middlemark.commands.reproduce import command
from middlemark.document.document import Expected
from middlemark.model.expectation import Expectation, Untestable
from middlemark.model.parts import sides_of
from middlemark.problems import RequestError
from middlemark.runs.read import read_measured
from middlemark.show import View
from middlemark.show.expectations import claims_counted, judged_claims, render_markdown, render_text
from middlemark.show.json.run import render_study
from middlemark.stats.expectations import ClaimVerdict
from middlemark.suite import load, raw_options
from middlemark.suite.study import also_awake, read_study, study_names
from middlemark.verdicts.rows import MeasuredRun
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


def test_the_list_names_each_study_with_the_number_of_its_claims() -> None:
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


WORDS = ["reproduced", "reproduced", "not reproduced here", "undecided", "untestable"]
"""The verdicts of OUTCOME if the machine is of another kind than the document's."""


def test_each_claim_is_printed_with_the_documents_figure_and_ours(tmp_path: Path) -> None:
    run = read_measured(write(tmp_path, {cell(): 1.0}))
    text = render_text(read_study("cyclonedds-orin"), run, OUTCOME, View(width=100))
    assert "2 reproduced, 1 not reproduced here, 1 undecided, 1 untestable" in " ".join(text.splitlines()[:2])
    first = " ".join(text[text.index("O1a") : text.index("O5a")].split())
    assert "its figure 39 → 12 µs at 0 B" in first
    assert "reproduced -65 % (-70 … -60)" in first
    words = " ".join(text.split())
    assert words.count("its advice prefers UDP below 1 KiB") == 1, "the remark about both parts is printed once"
    assert f"kept in  {run.folder}" in text
    assert max(map(len, text.splitlines())) <= max(100, len(str(run.folder)) + 60)


def test_the_json_output_has_the_words_of_a_study(tmp_path: Path) -> None:
    run = read_measured(write(tmp_path, {cell(): 1.0}))
    document = read_output("reproduce", render_study(read_study("cyclonedds-orin"), run, OUTCOME))
    assert [each["verdict"] for each in document["expectations"]] == WORDS
    assert {each["awake"] for each in document["expectations"]} == {None}
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
    assert [row[3] for row in rows] == WORDS
    assert rows[0][2].startswith("39 → 12 µs")
    assert {len(row) for row in rows} == {5}
    assert page.count("its advice prefers UDP below 1 KiB") == 1, "the remark about both parts is printed once"


def on(run: MeasuredRun, cpu: str, virtual: bool) -> MeasuredRun:
    machine = msgspec.structs.replace(run.file.machine, cpu=cpu, virtual=virtual)
    return msgspec.structs.replace(run, file=msgspec.structs.replace(run.file, machine=machine))


@pytest.mark.parametrize(
    ("cpu", "virtual", "word"),
    [
        ("ARMv8 Processor rev 1 (v8l)", False, "contradicted"),
        ("ARMv8 Processor rev 1 (v8l)", True, "not reproduced here"),
        ("AMD EPYC", False, "not reproduced here"),
    ],
)
def test_only_the_documents_kind_of_machine_can_contradict_it(
    cpu: str, virtual: bool, word: str, tmp_path: Path
) -> None:
    run = on(read_measured(write(tmp_path, {cell(): 1.0})), cpu, virtual)
    claims = judged_claims(read_study("cyclonedds-orin"), run, OUTCOME)
    assert [each.word for each in claims] == [*WORDS[:2], word, *WORDS[3:]]


def test_a_document_that_names_no_machine_is_never_contradicted(tmp_path: Path) -> None:
    run = on(read_measured(write(tmp_path, {cell(): 1.0})), "AMD EPYC", False)
    [claim] = judged_claims(read_study("fastdds-latencytest"), run, [expected("F1", ClaimVerdict.DOES_NOT_HOLD)])
    assert claim.word == "not reproduced here"


def test_awake_processors_have_a_column_of_their_own(tmp_path: Path) -> None:
    run, study = read_measured(write(tmp_path, {cell(): 1.0})), read_study("cyclonedds-orin")
    outcome = [*OUTCOME, expected("O5b awake", ClaimVerdict.HOLDS, why="-12 %")]
    assert claims_counted(judged_claims(study, run, outcome)).endswith("; with awake processors: 1 reproduced")
    page = render_markdown(study, run, outcome)
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| O")]
    assert len(rows) == len(OUTCOME)
    assert {len(row) for row in rows} == {6}
    assert [row[5].rstrip(" |") for row in rows] == ["", "", "reproduced: -12 %", "", ""]
    assert "with awake processors: -12 %" in " ".join(render_text(study, run, outcome, View(width=100)).split())
    found = read_output("reproduce", render_study(study, run, outcome))["expectations"]
    assert [each["id"] for each in found] == [each.id for each in OUTCOME]
    assert [each["awake"] and each["awake"]["verdict"] for each in found] == [None, None, "reproduced", None, None]


@pytest.mark.parametrize("name", CLAIMS)
def test_an_expectation_is_judged_on_cells_of_one_kind_only(name: str) -> None:
    both = also_awake(expectations_of(name))
    awake = [each for each in both if each.id.endswith(" awake")]
    assert len(both) == len({each.id for each in both})
    assert len(awake) == sum(not isinstance(each.claim, Untestable) for each in expectations_of(name))
    for each in both:
        levels = {side.levels.levels["awake"] for side in sides_of(each.claim)}
        assert levels == (set() if isinstance(each.claim, Untestable) else {(each in awake,)}), each.id
