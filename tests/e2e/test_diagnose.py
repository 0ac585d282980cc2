"""`diagnose` names a planted limit by its evidence, lifts it for a trial, judges the effect, and restores it."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from product import Bench, Ended

from middlemark.workers.find import executables

GROUPS = Path("/sys/fs/cgroup/cpu")
MAIN = (sys.executable, "-m", "middlemark")
BY_EVIDENCE_OF_OTHERS = {"steal", "run_queue"}
"""Limits that the diagnosis may also name because of other programs on this machine."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root limits a group or mounts")


def needs(*adapters: str) -> pytest.MarkDecorator:
    absent = [each for each in adapters if each not in executables()]
    return pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} was not built here")


class Diagnosed:
    """A run under a planted limit, its diagnosis, and the effect of lifting the limit."""

    def __init__(self, bench: Bench, prefix: tuple[str, ...] = ()) -> None:
        self.bench = bench
        self.command = (*prefix, *MAIN)
        self.environment = {"XDG_STATE_HOME": str(bench.folder / "state"), "COLUMNS": "1000"}

    def do(self, *words: str) -> Ended:
        started = self.bench.start(*words, command=self.command, environment=self.environment)
        ended = started.ended(120.0)
        assert not (self.bench.folder / "state/middlemark/changed.json").exists(), "a changed setting was not restored"
        return ended

    def run(self, *words: str) -> Ended:
        return self.do("run", *words, "--no-baseline", "--quiet")

    def limits(self, ended: Ended) -> list[Any]:
        found: list[Any] = self.do("diagnose", str(ended.folder), "--format", "json").document["limits"]
        return found

    def tried(self, ended: Ended, check: str, trials: int = 6) -> str:
        out = self.bench.folder / "tries"
        words = ("diagnose", str(ended.folder), "--try", check, "--trials", str(trials), "--out", str(out), "--quiet")
        tried = self.do(*words)
        assert tried.code == 0, tried.err
        return " ".join(tried.out.split())


@pytest.fixture
def group() -> Iterator[Path]:
    """Yield an empty control group. At the end, move its remaining processes to the parent group."""
    if not (GROUPS / "cpu.cfs_quota_us").exists():
        pytest.skip("no control groups of version 1")
    folder = GROUPS / f"middlemark-test-{os.urandom(4).hex()}"
    folder.mkdir()
    yield folder
    for pid in (folder / "cgroup.procs").read_text().split():
        (GROUPS / "cgroup.procs").write_text(pid)
    folder.rmdir()


def within(group: Path) -> tuple[str, ...]:
    return ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")


@needs("cyclonedds")
def test_a_too_small_receive_buffer_is_named_and_enlarged(bench: Bench) -> None:
    here = Diagnosed(bench)
    key = "Internal/SocketReceiveBufferSize"
    stream = ("--adapter", "cyclonedds", "--transport", "udp", "--pattern", "stream", "--size", "1m", "--rate", "50")
    small = ("--reliability", "best-effort", "--depth", "1", "--native", f"cyclonedds.{key}=64KiB")
    ended = here.run(*stream, *small, "--duration", "500ms", "--trials", "2")
    first_screen = " ".join(ended.out.split())
    assert "datagrams found a socket's receive buffer full (RcvbufErrors)" in first_screen
    limit = here.limits(ended)[0]
    assert (limit["check"], limit["setting"], limit["before"]) == ("rmem_max", key, "64KiB")
    verdict = here.tried(ended, "rmem_max")
    assert verdict.startswith(f"{key} 64KiB → {limit['after']}: cyclonedds udp at 1 MiB, received ")
    assert "(better in 6 of 6 rounds)" in verdict
    assert "The change is undone; to keep it: --native" in verdict


@needs_root
@needs("iceoryx")
def test_too_small_shared_memory_is_named_and_enlarged(bench: Bench) -> None:
    # Each command gets its own /dev/shm. At the end the script prints the mount's options to stderr.
    script = 'mount -t tmpfs -o size=6m tmpfs /dev/shm || exit; "$@"; s=$?; stat -f -c "%b×%S" /dev/shm >&2; exit $s'
    here = Diagnosed(bench, ("unshare", "--mount", "sh", "-c", script, "sh"))
    stream = ("--adapter", "iceoryx", "--pattern", "stream", "--size", "1m", "--rate", "20", "--depth", "8")
    ended = here.run(*stream, "--duration", "300ms", "--trials", "1")
    assert "`mount -o remount,size=" in ended.out, ended.err
    out = bench.folder / "tries"
    words = ("diagnose", str(ended.folder), "--try", "dev_shm", "--trials", "6", "--out", str(out), "--quiet")
    tried = here.do(*words)
    (folder,) = out.iterdir()
    assert bench.run("show", str(folder)).out == tried.out
    verdict = " ".join(tried.out.split())
    assert verdict.startswith("/dev/shm 6291456 → "), tried.err
    assert "measured in 0 of 6 → 6 of 6 trials" in verdict
    assert "(better in 6 of 6 rounds)" in verdict
    assert verdict.endswith("The change is undone; to keep it: middlemark tune apply dev_shm")
    assert "1536×4096" in tried.err, "the setting is restored"


def lifted(verdict: str) -> bool:
    """Return true if a verdict says significantly better for the messages received in time, or for the latency."""
    return re.search(r"received [\d.]+ % → [\d.]+ % \(better in|p50 -[\d.]+ % \(faster", verdict) is not None


@pytest.mark.full  # its roles occupy both processors of a small machine for seconds, which other tests would notice
@needs_root
@needs("cyclonedds")
def test_a_budget_that_stops_real_time_roles_is_named_and_raised(bench: Bench, group: Path) -> None:
    budget = group / "cpu.rt_runtime_us"
    try:
        budget.write_text("200000")
    except OSError as error:
        pytest.skip(f"this kernel gives a group no real-time budget: {error}")
    here = Diagnosed(bench, within(group))
    trips = ("--adapter", "cyclonedds", "--transport", "udp", "--size", "1k", "--rate", "500", "--receive", "poll")
    # The budget's period is a second. A shorter trial would end before a message is sent after the throttling, so none
    # would be late.
    ended = here.run(*trips, "--priority", "fifo:20", "--duration", "2s", "--trials", "2")
    limit = here.limits(ended)[0]
    assert (limit["check"], limit["setting"], limit["before"]) == ("cgroup_rt", str(budget), "200000")
    verdict = here.tried(ended, "cgroup_rt")
    assert verdict.startswith(f"{budget} 200000 → {limit['after']}: cyclonedds udp at 1 KiB, ")
    assert lifted(verdict), verdict
    assert budget.read_text().strip() == "200000", "the setting is restored"


@needs_root
@needs("cyclonedds")
def test_a_groups_quota_is_named_and_raised(bench: Bench, group: Path) -> None:
    quota = group / "cpu.cfs_quota_us"
    quota.write_text("15000")
    here = Diagnosed(bench, within(group))
    trips = ("--adapter", "cyclonedds", "--transport", "udp", "--size", "1k", "--rate", "2k")
    ended = here.run(*trips, "--duration", "500ms", "--trials", "2")
    limit = here.limits(ended)[0]
    assert (limit["check"], limit["setting"], limit["before"]) == ("cgroup_cpu", str(quota), "15000")
    assert "quota of" in limit["sentence"]
    verdict = here.tried(ended, "cgroup_cpu", trials=10)
    assert verdict.startswith(f"{quota} 15000 → -1: cyclonedds udp at 1 KiB, ")
    assert lifted(verdict), verdict
    assert quota.read_text().strip() == "15000", "the setting is restored"


@pytest.mark.usefixtures("null_worker")
def test_a_row_without_evidence_has_no_diagnosis_and_no_remedy(bench: Bench) -> None:
    here = Diagnosed(bench)
    ended = here.run("--adapter", "null", "--size", "64", "--samples", "500", "--trials", "1")
    assert [each for each in here.limits(ended) if each["check"] not in BY_EVIDENCE_OF_OTHERS] == []
    refused = here.do("diagnose", str(ended.folder), "--try", "rmem_max")
    assert refused.code == 2
    assert "no trial has evidence of rmem_max" in refused.err


PLAIN = (
    *(("--adapter", each, "--size", "1k") for each in ("cyclonedds", "fastdds", "zeromq", "iceoryx", "udp", "tcp")),
    *(
        ("--adapter", each, "--pattern", "stream", "--size", "64k", "--rate", "100")
        for each in ("cyclonedds", "fastdds", "zeromq", "zenoh")
    ),
)


@pytest.mark.full
@pytest.mark.parametrize("words", PLAIN * 2, ids=lambda words: "-".join(words[1::2]))
def test_a_machine_without_planted_limits_gets_no_diagnosis(bench: Bench, words: tuple[str, ...]) -> None:
    if words[1] not in executables():
        pytest.skip(f"{words[1]} was not built here")
    here = Diagnosed(bench)
    ended = here.run(*words, "--duration", "500ms", "--trials", "3")
    assert [each for each in here.limits(ended) if each["check"] not in BY_EVIDENCE_OF_OTHERS] == []
