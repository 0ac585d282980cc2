"""Faults that a bad middleware can have, made by the null adapter's script, in runs as users start them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from product import Bench, Ended

pytestmark = pytest.mark.usefixtures("null_worker")

COMMON = """
[defaults]
adapter = "null"
transport = "memory"
size = 64
samples = 100
warmup = "10ms"
trials = 1
pin = "off"
"""


def sweep(name: str, native: str = "", limits: str = "") -> str:
    return f'[[sweep]]\nname = "{name}"\n{limits}\n[sweep.native.null]\n{native}\n'


COUNTED = COMMON + "".join(
    [
        sweep("good"),
        sweep("lost on the way back", 'lose = "3,7"', 'timeout = "50ms"'),
        sweep("lost on the way out", 'at = "ping"\nlose = "3,7,9"', 'timeout = "50ms"'),
        sweep("duplicated", 'duplicate = "5,6"'),
        sweep("duplicated on the way out", 'at = "ping"\nduplicate = "5"'),
        sweep("reordered", 'reorder = "10"', 'timeout = "100ms"'),
        sweep("damaged", 'damage = "4,8"'),
        sweep("damaged on the way out", 'at = "ping"\ndamage = "4"'),
        sweep("shortened", 'shorten = "6"', 'timeout = "50ms"'),
        sweep("refused", 'at = "ping"\nrefuse = "2"'),
        sweep("late", 'delay = "5:1200000"', 'timeout = "1s"'),
    ]
)

OF_THE_MACHINE = {"few-samples", "machine-disturbed", "mostly-idle"}
"""Codes of warnings that depend on how busy or idle the machine was."""

EXPECTED: dict[str, dict[str, int]] = {
    "good": {},
    "lost on the way back": {"lost": 2},
    "lost on the way out": {"lost": 3},
    "duplicated": {"duplicated": 2},
    "duplicated on the way out": {"duplicated": 1},
    # The ping no longer waits for this reply, because it has already sent the next message.
    "reordered": {"reordered": 1, "late": 1},
    "damaged": {"damaged": 2},
    "damaged on the way out": {"damaged": 1},
    # A message that is too short counts as damaged, and its unread sequence number as lost.
    "shortened": {"damaged": 1, "lost": 1},
    "refused": {"publish_failed": 1, "lost": 1},
    "late": {"late": 1},
}
COUNTS = ("lost", "late", "duplicated", "reordered", "damaged", "publish_failed")


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    place = Bench(tmp_path_factory.mktemp("counted"))
    yield place.run("run", place.suite(COUNTED), "--format", "json", "--quiet")
    place.close()


@pytest.mark.parametrize("name", EXPECTED)
def test_faults_of_messages_are_counted_exactly(counted: Ended, name: str) -> None:
    cell = counted.cells[name]
    assert {count: cell[count] for count in COUNTS if cell[count]} == EXPECTED[name]
    assert cell["sent"] == 100
    assert cell["received"] == 100 - cell["lost"]
    assert cell["failed"] is None


@pytest.mark.parametrize("name", EXPECTED)
def test_only_complete_round_trips_in_time_become_samples(counted: Ended, name: str) -> None:
    cell = counted.cells[name]
    wrong = {"late", "lost", "damaged"} & EXPECTED[name].keys()
    lost_as_damaged = EXPECTED[name].get("damaged", 0) if name == "shortened" else 0
    assert cell["samples"] == 100 - sum(EXPECTED[name][count] for count in wrong) + lost_as_damaged


@pytest.mark.parametrize("name", EXPECTED)
def test_every_count_is_a_warning_of_its_row(counted: Ended, name: str) -> None:
    codes = {warning["code"] for warning in counted.cells[name]["warnings"]} - OF_THE_MACHINE
    named = {"lost": "loss", "publish_failed": "publish-failed"}
    expected = {named.get(count, count) for count in EXPECTED[name]}
    assert expected <= codes
    assert codes <= expected | {"pong-received-nothing"}


@pytest.mark.parametrize("echo", ["all", "first"])
def test_damage_found_by_several_pongs_and_the_ping_counts_once_per_pong(bench: Bench, echo: str) -> None:
    script = sweep("damaged", 'at = "ping"\ndamage = "4"', f'subscribers = 3\necho = "{echo}"')
    cell = bench.run("run", bench.suite(COMMON + script), "--format", "json").cells["damaged"]
    assert cell["damaged"] == 3, "one message reached three pongs"
    [warning_text] = [warning["text"] for warning in cell["warnings"] if warning["code"] == "damaged"]
    assert warning_text.startswith("3 of 300 messages")
    assert "the ping found 1 damaged messages and the pongs 3; 1 of these may be counted twice" in warning_text


def test_a_run_with_doubtful_rows_succeeds(counted: Ended) -> None:
    assert counted.code == 0


def test_a_late_reply_is_never_taken_for_the_next_one(counted: Ended) -> None:
    assert counted.cells["late"]["round_trip_ns"]["max"] < 1_000_000_000


def failing(bench: Bench, *sweeps: str) -> Ended:
    return bench.run("run", bench.suite(COMMON + "".join(sweeps)), "--format", "json")


@pytest.mark.parametrize("role", ["ping", "pong"])
def test_a_worker_that_crashes_is_named_with_its_signal(bench: Bench, role: str) -> None:
    ended = failing(bench, sweep("crash", f'at = "{role}"\ncrash = "5"'))
    failed = ended.cells["crash"]["failed"]
    assert failed["code"] == "crashed"
    assert re.search(rf"\b{role}\b.*\(pid \d+\) was ended by SIGABRT \(signal 6\)", failed["text"])
    assert ended.cells["crash"]["round_trip_ns"] is None
    assert "was ended by SIGABRT" in ended.err, "the failure is also printed when it happens"
    assert ended.code == 3, "the only cell failed"


def test_a_crash_affects_only_its_own_cell(bench: Bench) -> None:
    ended = failing(bench, sweep("crash", 'crash = "5"'), sweep("good"))
    assert ended.code == 1
    assert ended.cells["crash"]["failed"]["code"] == "crashed"
    assert ended.cells["good"]["samples"] == 100
    assert ended.cells["good"]["failed"] is None


def test_the_last_words_of_a_crashed_worker_are_kept(bench: Bench, null_worker: Path) -> None:
    workers = bench.folder / "workers"
    workers.mkdir()
    wrapper = workers / "middlemark-worker-null"
    wrapper.write_text(f'#!/bin/sh\necho "assertion failed: history->empty()" >&2\nexec {null_worker} "$@"\n')
    wrapper.chmod(0o755)
    suite = bench.suite(COMMON + sweep("crash", 'crash = "5"'))
    ended = bench.run("run", suite, "--format", "json", environment={"MIDDLEMARK_WORKERS": str(workers)})
    assert "its stderr ended with: assertion failed: history->empty()" in ended.cells["crash"]["failed"]["text"]


def test_a_worker_that_cannot_open_its_endpoints_is_refused_with_its_own_message(bench: Bench) -> None:
    failed = failing(bench, sweep("open", 'fail = "open"')).cells["open"]["failed"]
    assert failed["code"] == "refused"
    assert "null: refused to open, as its script says" in failed["text"]
    assert failed["advice"] == "change the script"


def test_a_crash_while_opening_is_named(bench: Bench) -> None:
    failed = failing(bench, sweep("open", 'fail = "open-crash"')).cells["open"]["failed"]
    assert failed["code"] == "crashed"
    assert "SIGABRT" in failed["text"]


def test_peers_that_never_match_are_named_with_the_number_found(bench: Bench) -> None:
    ended = failing(bench, sweep("match", 'at = "ping"\nfail = "match"', 'match_timeout = "300ms"'))
    failed = ended.cells["match"]["failed"]
    assert failed["code"] == "unmatched"
    assert "found 0 of 1 subscribers within 0.3 s" in failed["text"]


def test_figures_are_kept_when_a_worker_crashes_at_its_end(bench: Bench) -> None:
    ended = failing(bench, sweep("close", 'fail = "close-crash"'))
    cell = ended.cells["close"]
    assert (ended.code, cell["failed"], cell["samples"]) == (0, None, 100)
    [warning] = [each for each in cell["warnings"] if each["code"] == "unclean-exit"]
    assert "was ended by SIGABRT (signal 6) after its result" in warning["text"]


def test_a_transport_that_did_not_carry_the_data_is_marked(bench: Bench) -> None:
    text = COMMON + sweep("label", limits='transport = "mislabelled"')
    ended = bench.run("run", bench.suite(text), "--format", "json")
    cell = ended.cells["label"]
    assert cell["actual_transport"] == "shared-memory"
    assert "transport-contradicted" in {each["code"] for each in cell["warnings"]}
    assert "(!)" in bench.run("run", bench.suite(text), "--rows").out


def test_the_table_shows_the_reason_of_a_row_without_figures(bench: Bench) -> None:
    ended = bench.run("run", bench.suite(COMMON + sweep("crash", 'crash = "5"') + sweep("good")), "--rows")
    assert "failed: " in ended.out
    assert "SIGABRT" in re.sub(r"\s+", " ", ended.out)


def test_all_problems_of_a_command_line_are_reported_at_once(bench: Bench) -> None:
    ended = bench.run(
        "run", "--adapter", "nul", "--size", "12q", "--depth", "0", "--receive", "pol", "--only", "colour=red"
    )
    assert ended.code == 2
    for wrong in ("nul", "12q", "depth", "pol", "colour"):
        assert wrong in ended.err
    assert "did you mean" in ended.err.lower()
    assert ended.out == ""
    assert not bench.out.exists(), "no run was started"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "first-lok"], "did you mean 'first-look'"),
        (["run", "/nowhere/lan.toml"], "/nowhere/lan.toml"),
        (["run", "--adapter", "null", "--no-such-option"], "no-such-option"),
        (["run", "--adapter", "null", "--transport", "memory", "--size", "1g"], "at most 1 MiB"),
        (["rnu"], "did you mean 'run'?"),
        (["list", "adaptors"], "adaptors"),
    ],
)
def test_a_wrong_request_is_refused_with_the_next_step(bench: Bench, arguments: list[str], says: str) -> None:
    ended = bench.run(*arguments)
    assert ended.code == 2
    assert says in ended.err
    assert ended.out == ""


def test_without_any_worker_nothing_can_be_measured(bench: Bench) -> None:
    nowhere: dict[str, Any] = {"MIDDLEMARK_WORKERS": str(bench.folder), "PATH": str(bench.folder)}
    ended = bench.run("run", "--adapter", "null", environment=nowhere)
    assert ended.code == 3
    assert "MIDDLEMARK_WORKERS" in ended.err


def test_a_worker_with_another_protocol_fails_only_its_trial(bench: Bench, null_worker: Path) -> None:
    workers = bench.folder / "workers"
    workers.mkdir()
    odd = workers / "middlemark-worker-null"
    describes = f'if [ "$1" = --describe ]; then exec {null_worker} --describe; fi'
    odd.write_text(f'#!/bin/sh\n{describes}\necho \'{{"event":"hello"}}\'\ncat\n')
    odd.chmod(0o755)
    ended = bench.run(
        "run", bench.suite(COMMON + sweep("odd")), "--format", "json", environment={"MIDDLEMARK_WORKERS": str(workers)}
    )
    assert ended.code == 3
    assert "broke the protocol" in ended.cells["odd"]["failed"]["text"]
