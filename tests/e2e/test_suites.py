"""The suites in Middlemark's package, shortened."""

import json
import os
import resource

import pytest
from product import Bench, descriptions

from middlemark.model.pairs import NO_INTEROP
from middlemark.suite import Suite, load, raw_options
from middlemark.suite.request import suite_files

ADAPTERS = set(descriptions())


def first_sizes(suite: Suite) -> str:
    """Return one size of each sweep, for --only; not the smallest, which may be smaller than the core's header."""
    sizes = [sweep.levels("size").values for sweep in suite.sweeps]
    return ",".join(sorted({str(each[min(1, len(each) - 1)]) for each in sizes}))


SHORTER = {
    "gigabit": ("adapter=cyclonedds,udp", "size=100,1k"),
    "links": ("adapter=cyclonedds", "link=1gbit,loss=1%"),
    "wifi": ("adapter=cyclonedds", "pattern=stream"),
    "fan-out": ("subscribers=2", "depth=1,100,all"),
    "fastdds-throughput": ("burst=100,1000", "recovery=5ms,90ms"),
    "idle-to-flood": ("rate=100,max,curve", "transport=udp"),
    "security": ("adapter=fastdds,tcp", "security=none,encrypted"),
    # With UDPROS no message of the chosen size arrives, so its trial would fail.
    "ros1-factors": ("transport=tcpros,tcpros-nodelay,intraprocess,nodelet", "subscribers=1,2", "depth=1,100"),
}
"""By suite: further ``--only`` options, with which each kind of cell is measured within half a minute."""
LONG = ("everything", "fan-out", "fastdds-throughput", "idle-to-flood", "python-cost", "ros1-factors", "security")
"""Suites that take half a minute each. Other suites and tests measure the same kinds of cells."""

MEASURED_ELSEWHERE = ("first-look", "crowd", "crowd-big", "soak")
"""Suites that test_first_look.py, test_crowds.py and test_soak.py measure. test_workloads.py measures those with a
workload."""


def may_run_in_real_time() -> bool:
    return os.geteuid() == 0 or resource.getrlimit(resource.RLIMIT_RTPRIO)[1] >= 80


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=[pytest.mark.full] if each in LONG else [pytest.mark.slow])
        for each in suite_files()
        if each not in MEASURED_ELSEWHERE and load([each], raw_options())[0].sweeps[0].workload is None
    ],
)
def test_every_other_included_suite_can_be_measured(bench: Bench, name: str) -> None:
    [suite] = load([name], raw_options())
    named = {str(value) for sweep in suite.sweeps for value in sweep.levels("adapter").values} - {"all"}
    if missing := named - ADAPTERS:
        pytest.skip(f"{', '.join(sorted(missing))} was not built here")
    priority = [] if may_run_in_real_time() else ["--priority", "other"]
    only = [f"--only={each}" for each in (f"size={first_sizes(suite)}", *SHORTER.get(name, ()))]
    short = ["--samples", "50", "--warmup", "10ms", "--trials", "1", *only, *priority]
    ended = bench.run("run", name, *short, "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    cells = ended.document["cells"]
    assert cells
    for cell in cells:
        if cell["failed"] is not None and cell["failed"]["code"] == NO_INTEROP:
            continue  # a row of `interop`, which reports whether a pair works
        assert cell["failed"] is None
        which = (cell["adapter"], cell["transport"], cell["pattern"], cell["warnings"])
        if cell["pattern"] == "stream":
            assert cell["sent"] > 0
            assert cell["sent"] == 50 * cell["publishers"] or cell["rate"] == "curve", which
            keeps_all = cell["reliability"] == "reliable" and cell["depth"] == "all"
            assert cell["lost"] == 0 or cell["rate"] == "curve" or not keeps_all, which
        else:
            assert cell["sent"] == 50
            assert cell["samples"] == 50 or cell["reliability"] != "reliable", which


@pytest.mark.parametrize(
    "name", [each for each in suite_files() if each in LONG or load([each], raw_options())[0].sweeps[0].workload]
)
def test_a_long_suite_can_be_planned_without_measuring(bench: Bench, name: str) -> None:
    [suite] = load([name], raw_options())
    named = {str(value) for sweep in suite.sweeps for value in sweep.levels("adapter").values} - {"all"}
    if missing := named - ADAPTERS:
        pytest.skip(f"{', '.join(sorted(missing))} was not built here")
    ended = bench.run("run", name, "--dry-run")
    assert ended.code == 0
    assert "trials" in ended.out
    assert not bench.out.exists()


def test_no_included_suite_but_soak_takes_more_than_half_an_hour_with_the_adapters_here(bench: Bench) -> None:
    ended = bench.run("list", "suites", "--format", "json")
    assert ended.code == 0, ended.err
    times = {each["name"]: each["seconds"] for each in json.loads(ended.out)["suites"] if each["seconds"] is not None}
    assert "amr" in times
    assert times.pop("soak") <= 2 * 3600 + 60
    assert max(times.values()) <= 30 * 60


def test_a_run_within_a_budget_has_fewer_trials_and_a_note_about_the_effect(bench: Bench) -> None:
    suite = bench.suite("[[sweep]]\nadapter = ['udp', 'uds']\nduration = '1s'\nbaseline = false\ntrials = 6\n")
    ended = bench.run("run", suite, "--budget", "8s", "--format", "json")
    assert ended.code == 0, ended.err
    assert "middlemark: --budget 8 s: 2 trials per row instead of 6: no verdict is possible" in ended.err
    assert {cell["trials"] for cell in ended.document["cells"]} == {2}
    fitted = ended.document["run"]["fitted"]
    assert (fitted["budget_s"], fitted["planned_trials"], fitted["trials"]) == (8, 6, 2)
    assert ended.document["since_last_run"] is None
    again = bench.run("run", suite, "--trials", "1", "--quiet", "--out", str(ended.folder.parent))
    assert "Since the last run" in again.out
