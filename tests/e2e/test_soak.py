"""Soaks with short turns: several middlewares live side by side, and one sends at a time."""

import json
import signal
from typing import Any

import numpy as np
import pytest
from product import Bench, Ended, descriptions
from test_long_trials import recorded

from middlemark.suite import load, raw_options

TURN_S = 1.0
SUITE = """
[[sweep]]
adapter = ["null", "udp", "uds"]
transport = ["memory", "udp", "uds"]
skip_unsupported = true
pattern = "stream"
size = 64
rate = 200
duration = "36s"
turns = "1s"
record_every = "1s"
warmup = "0.2s"
trials = 1
pin = "off"
baseline = false
[sweep.native.null]
leak_bytes = "20000"
[[expect]]
say = "memory does not grow"
trend = { resource = "private", at_most = "16 MiB/h" }
"""

pytestmark = pytest.mark.usefixtures("null_worker")


@pytest.fixture(scope="module")
def soaked(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    bench = Bench(tmp_path_factory.mktemp("soak"))
    words = ("--fail-if", "expectations", "--format", "json")
    return bench.start("run", bench.suite(SUITE), *words).ended()


def due_s(ended: Ended, outcome: dict[str, Any]) -> "np.ndarray[Any, Any]":
    """Return the times in s of CLOCK_MONOTONIC at which the trial's messages were due."""
    [path] = [each["path"] for each in outcome["files"] if each["role"] == "publisher"]
    records = np.load(ended.folder / path)
    begin_ns = records["begin_ns"].astype(np.int64)
    due_ns = begin_ns - records["late_ns"] - begin_ns[0] + outcome["publishers"][0]["first_sent_ns"]
    found: np.ndarray[Any, Any] = due_ns / 1e9
    return found


def test_one_sends_at_a_time_while_the_others_live_and_every_one_gets_its_turns(soaked: Ended) -> None:
    times = [due_s(soaked, each) for each in soaked.kept]
    assert len(times) == 3
    begin = min(each[0] for each in times)
    turns = [{int(at) for at in (each - begin + 0.05) // TURN_S} for each in times]
    assert [len(each) for each in turns] == [12, 12, 12]
    assert set.union(*turns) == set(range(36)), "somebody sends in every turn, and nobody else in the same"
    assert len({tuple(sorted(each)) for each in turns}) == 3
    for each in soaked.kept:
        assert each["publishers"][0]["sent"] == 12 * 180
        assert each["counts"]["lost"] == 0


def test_the_records_cover_the_whole_life_and_not_only_the_turns(soaked: Ended) -> None:
    for cell in soaked.document["cells"]:
        assert cell["failed"] is None
        assert {each["role"] for each in cell["trends"]} >= {"publisher 0", "subscriber 0"}
        assert "missed-instants" not in {each["code"] for each in cell["warnings"]}


def test_a_leak_is_found_per_hour_and_per_million_messages_and_refutes_the_expectation(soaked: Ended) -> None:
    assert soaked.code == 4
    assert "memory does not grow: does not hold: null" in soaked.err
    [expectation] = soaked.document["expectations"]
    assert (expectation["kind"], expectation["verdict"]) == ("trend", "does not hold")
    [leaking] = [each for each in soaked.document["cells"] if each["adapter"] == "null"]
    [trend] = [each for each in leaking["trends"] if (each["role"], each["resource"]) == ("publisher 0", "private")]
    assert trend["verdict"] == "grows"
    assert 0.5 * 20e9 < trend["per_million"] < 1.5 * 20e9


def test_a_crash_of_one_does_not_hold_up_the_others(bench: Bench) -> None:
    text = SUITE.replace('leak_bytes = "20000"', 'fail = "open-crash"').replace('"36s"', '"6s"').split("[[expect]]")[0]
    ended = bench.run("run", bench.suite(text), "--format", "json")
    failed = {each["adapter"]: each["failed"] for each in ended.document["cells"]}
    assert failed["null"]["code"] == "crashed"
    assert failed["udp"] is None
    assert failed["uds"] is None


def test_an_interrupt_ends_all_of_them_and_keeps_their_records(bench: Bench) -> None:
    run = bench.start("run", bench.suite(SUITE))
    recorded(run, 8)
    run.signal(signal.SIGINT)
    ended = run.ended()
    assert ended.code == 130
    lines = (ended.folder / "records.jsonl").read_text().splitlines()
    assert {json.loads(line)["order"] for line in lines} == {0, 1, 2}


@pytest.mark.slow
def test_the_suite_can_be_measured_in_short_turns(bench: Bench) -> None:
    [suite] = load(["soak"], raw_options())
    built = [str(each) for each in suite.sweeps[0].levels("adapter").values if each in descriptions()]
    if len(built) < 2:
        pytest.skip("fewer than two of its adapters were built here")
    short = ("--duration", "24s", "--turns", "2s", "--record-every", "1s", "--format", "json")
    ended = bench.run("run", "soak", *short)
    assert ended.code == 0, ended.err
    assert [each["adapter"] for each in ended.document["cells"]] == built
    for cell in ended.document["cells"]:
        assert cell["failed"] is None
        assert cell["sent"] >= 190
        assert cell["lost"] == 0
        assert cell["trends"]
    assert {each["verdict"] for each in ended.document["expectations"]} <= {"holds", "undecided", "does not hold"}
