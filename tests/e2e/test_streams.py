"""Streams as users run them: the table, the JSON, ddsperf's lines, and faults in a fan-out."""

import math
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from product import Bench, Ended, Run, tasks, until

pytestmark = pytest.mark.usefixtures("null_worker")

SHORT = ("--warmup", "20ms", "--trials", "1", "--pin", "off")
FIGURES = {"min", "mean", "stdev", "p50", "p90", "p99", "p99.9", "p99.99", "max"}


@pytest.fixture(scope="module")
def floods(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    """A stream from one publisher to two subscribers over null and shm at full rate, long enough for a series."""
    place = Bench(tmp_path_factory.mktemp("floods"))
    cells = ("--adapter", "null,shm", "--pattern", "stream", "--subscribers", "2")
    load = ("--size", "64", "--duration", "1.3s")
    yield place.run("run", *cells, *load, *SHORT, "--format", "json", "--quiet")
    place.close()


def cell_of(ended: Ended, **factors: Any) -> dict[str, Any]:
    """Return the only cell with these factors."""
    [cell] = [each for each in ended.document["cells"] if all(each[name] == level for name, level in factors.items())]
    assert isinstance(cell, dict)
    return cell


FLOODS = ({"adapter": "null", "transport": "memory"}, {"adapter": "shm"})


@pytest.fixture(params=FLOODS, ids=["null", "shm"])
def flood(request: pytest.FixtureRequest, floods: Ended) -> dict[str, Any]:
    return cell_of(floods, **request.param)


def test_a_flood_is_measured(floods: Ended) -> None:
    assert floods.code == 0, floods.err
    assert {cell["failed"] for cell in floods.document["cells"]} == {None}


def test_every_subscriber_receives_all_sent_messages(flood: dict[str, Any]) -> None:
    assert flood["sent"] > 0
    assert flood["received"] == 2 * flood["sent"]
    wrong = ("lost", "duplicated", "reordered", "damaged", "publish_failed")
    assert {name: flood[name] for name in wrong} == dict.fromkeys(wrong, 0)


def test_throughput_is_the_rate_of_one_subscriber(flood: dict[str, Any]) -> None:
    # Each subscriber received all messages in a little more than the duration.
    assert 0 < flood["rate_hz"] <= flood["sent"] / 1.2
    assert flood["bytes_per_s"] == pytest.approx(64 * flood["rate_hz"])


def test_latency_of_a_stream_is_one_way_from_two_instants(flood: dict[str, Any]) -> None:
    intended, sent = flood["one_way_ns"], flood["one_way_from_sent_ns"]
    assert intended.keys() >= FIGURES
    assert 0 < intended["min"] <= intended["p50"] <= intended["p99"] <= intended["max"]
    assert flood["round_trip_ns"] is None
    if sent is not None:
        assert sent["p50"] <= intended["p50"], "no message is sent before its intended instant"


def test_the_times_of_writing_and_of_being_blocked_are_reported(flood: dict[str, Any]) -> None:
    assert 0 < flood["write_ns"]["min"] <= flood["write_ns"]["max"]
    assert flood["blocked_ns"] is None or flood["blocked_ns"] >= 0


def test_costs_are_reported_by_worker_and_by_thread(flood: dict[str, Any]) -> None:
    used = flood["resources"]
    names = ["publisher 0", "subscriber 0", "subscriber 1"]
    assert [worker["who"] for worker in used["workers"]] == names
    assert 0 < used["cpu"] <= (os.cpu_count() or 1) * 1.1
    assert used["cpu"] == pytest.approx(used["user"] + used["system"])
    assert used["ns_per_message"] > 0
    assert 0 < used["rss_bytes"] <= used["peak_rss_bytes"]
    for worker in used["workers"]:
        threads = {thread["name"]: thread["cpu"] for thread in worker["threads"]}
        assert {worker["who"], "control"} <= threads.keys()
        assert threads[worker["who"]] > threads["control"]


def test_the_series_has_steps_of_a_second_for_every_worker(flood: dict[str, Any]) -> None:
    series = flood["series"]
    assert series
    for who in ("publisher 0", "subscriber 0", "subscriber 1"):
        steps = [step for step in series if step["who"] == who]
        assert len(steps) >= 2, "1.3 s are more than one second"
        assert [step["at_s"] for step in steps] == sorted(step["at_s"] for step in steps)
        moved = "sent" if who == "publisher 0" else "received"
        assert 0 < sum(step[moved] for step in steps) <= flood["sent"]


def test_a_flood_is_warned_to_have_its_latency_from_queues(flood: dict[str, Any]) -> None:
    assert "flooded" in {warning["code"] for warning in flood["warnings"]}


def test_a_stream_never_exceeds_its_rate(bench: Bench) -> None:
    options = ("--pattern", "stream", "--rate", "200,500", "--size", "64", "--samples", "100")
    ended = bench.run("run", "--adapter", "shm", *options, *SHORT, "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    for rate in (200, 500):
        cell = cell_of(ended, rate=rate)
        assert cell["sent"] == cell["received"] == cell["scheduled"] == 100
        assert cell["unsent"] == 0
        # Between the first and the last of 100 messages are 99 periods, minus the lateness of the first.
        assert 100 / cell["rate_hz"] >= 99 / rate - cell["one_way_ns"]["max"] / 1e9
        assert cell["one_way_from_sent_ns"]["p50"] <= cell["one_way_ns"]["p50"]


def test_the_table_of_a_stream_names_its_cell_and_its_rate(bench: Bench) -> None:
    options = ("--pattern", "stream", "--size", "64", "--duration", "200ms")
    out = bench.run("run", "--adapter", "shm", *options, *SHORT, "--rows").out
    for word in ("shm", "64 B", "stream", "lost", "How to read it"):
        assert word in out, word
    assert max(map(len, out.splitlines())) <= 100


def test_ddsperfs_lines_have_the_original_format(bench: Bench) -> None:
    options = ("--pattern", "stream", "--size", "1k", "--duration", "1.2s")
    ended = bench.run("run", "--adapter", "shm", *options, *SHORT, "--format", "ddsperf", "--quiet")
    assert ended.code == 0, ended.err
    rates = re.findall(r"size (\d+) total (\d+) lost (\d+) .*rate ([\d.]+) kS/s ([\d.]+) Mb/s", ended.out)
    assert rates, ended.out
    for size, total, lost, thousands, megabits in rates:
        assert (int(size), int(lost)) == (1024, 0)
        assert int(total) > 0
        assert math.isclose(float(thousands) * 1024 * 8 / 1000, float(megabits), rel_tol=0.02)
    for word in ("rss:", "vcsw:", "ivcsw:", "publisher_0:", "subscriber_0:"):
        assert word in ended.out, ended.out


# Tests of searches for the highest rate


def test_the_highest_sustainable_rate_is_found(bench: Bench) -> None:
    # Every publish takes 1 ms, so no machine can send more than 1,000 messages per second.
    suite = bench.suite(
        '[defaults]\nadapter = "null"\ntransport = "memory"\npattern = "stream"\nsize = 64\nrate = "sustainable"\n'
        # Long enough that a pause of the publisher for 25 ms at the end lowers the rate by less than 1 %.
        'max_loss = "1%"\nduration = "2.5s"\nwarmup = "10ms"\ntrials = 1\npin = "off"\n'
        '[[sweep]]\nname = "found"\n[sweep.native.null]\nevery_delay_us = "1000"\n'
    )
    ended = bench.run("run", suite, "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    cell = ended.cells["found"]
    assert cell["failed"] is None
    found = cell["sustainable"]["rate_hz"]
    held = [step for step in kept_steps(ended) if step["held"]]
    assert found in {step["rate_hz"] for step in held}
    assert 0 < found <= 1_010, "n messages have n - 1 intervals"
    assert cell["lost"] <= 0.01 * cell["received"]
    assert [path.name for path in (ended.folder / "samples").iterdir() if "_" in path.name] == []


def kept_steps(ended: Ended) -> list[dict[str, Any]]:
    [trial] = ended.kept
    steps = trial["steps"]
    assert isinstance(steps, list)
    return steps


def test_a_curve_spans_from_a_low_rate_to_saturation(bench: Bench) -> None:
    options = ("--pattern", "stream", "--rate", "curve", "--size", "1k", "--duration", "100ms")
    ended = bench.run("run", "--adapter", "shm", *options, *SHORT, "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    [cell] = ended.document["cells"]
    assert cell["failed"] is None
    offered = [step["offered_hz"] for step in cell["steps"] if step["offered_hz"] is not None]
    assert len(offered) >= 5
    assert offered == sorted(offered)
    saturated = [step for step in cell["steps"] if step["offered_hz"] is None]
    assert len(saturated) == 1, "the last step of a curve is a flood"
    for step in cell["steps"]:
        assert step["received_hz"] > 0


# Tests with faults


def test_a_cell_too_large_for_memory_is_refused_before_anything_starts(bench: Bench) -> None:
    # The history has 10,000,000 messages of 64 MiB, more than the memory of any machine here.
    options = ("--pattern", "stream", "--size", "64m", "--depth", "10000000", "--samples", "10000000")
    ended = bench.run("run", "--adapter", "shm", *options, *SHORT, "--format", "json", "--quiet")
    assert ended.code == 3
    [cell] = ended.document["cells"]
    assert cell["failed"]["code"] == "memory"
    assert "are available" in cell["failed"]["text"]
    assert cell["failed"]["advice"]
    [trial] = ended.kept
    assert trial["placed"] == []
    assert list((ended.folder / "samples").iterdir()) == []


FAN_OUT = """
[[sweep]]
name = "fan-out"
adapter = "null"
transport = "memory"
pattern = "stream"
subscribers = 4
size = 64
rate = 200
samples = 300
warmup = "10ms"
trials = 2
pin = "off"
"""


def fan_out(run: Run) -> list[int]:
    """Return the five workers' pids if the last subscriber is in its loop, otherwise none."""
    pids = run.workers("null")
    threads = [set(map(_name, tasks(pid))) for pid in pids]
    return pids if len(pids) == 5 and "publisher 0" in threads[0] and "subscriber 3" in threads[4] else []


def _name(task: Path) -> str:
    try:
        return (task / "comm").read_text().strip()
    except OSError:
        return ""


def test_a_killed_subscriber_of_a_fan_out_fails_only_its_trial(bench: Bench) -> None:
    before = set(os.listdir("/dev/shm"))
    run = bench.start("run", bench.suite(FAN_OUT), "--format", "json")
    workers = until(lambda: fan_out(run))
    os.kill(workers[3], signal.SIGKILL)
    ended = run.ended()
    assert bench.leftovers() == []
    struck, other = ended.kept
    assert struck["failed"]["code"] == "crashed"
    assert f"subscriber 2 (pid {workers[3]}) was ended by SIGKILL (signal 9)" in struck["failed"]["text"]
    assert other["failed"] is None
    cell = ended.cells["fan-out"]
    assert (cell["failed"], cell["trials"], cell["failed_trials"]) == (None, 1, 1)
    assert (cell["sent"], cell["received"], cell["lost"]) == (300, 1200, 0)
    assert "subscriber 2" in ended.err, "the failure is also printed when it happens"
    assert {name for name in os.listdir("/dev/shm") if name.startswith("middlemark-null.")} <= before


def test_an_interrupted_fan_out_leaves_nothing_behind(bench: Bench) -> None:
    before = set(os.listdir("/dev/shm"))
    run = bench.start("run", bench.suite(FAN_OUT), "--format", "json")
    until(lambda: fan_out(run))
    run.signal(signal.SIGINT)
    assert run.ended().code == 130
    assert bench.leftovers() == []
    assert {name for name in os.listdir("/dev/shm") if name.startswith("middlemark-null.")} <= before
