"""Runs between two hosts, started over SSH or by Dask over TLS. They leave nothing behind on either host."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from product import Bench, descriptions, marked, robot, until
from two_hosts import AHEAD_S, NAMES, SSHD, TwoHosts, two_hosts

from middlemark.sites.channel import WorkerFailedError
from middlemark.stats.one_way import TIMES_UNCERTAINTY

BUILT = set(descriptions())
ON_ANOTHER_CLOCK_NS = (AHEAD_S["robot"] - AHEAD_S["base"]) * 1e9 / 2
"""Time in ns, longer than any latency on a crowded machine, and shorter than the difference of the hosts' clocks."""
LARGE_NS = 8.4e6
"""Time in ns of 1 MiB at 1 Gbit/s, without the frames' headers."""


def assert_large(p50_ns: float | None, uncertainty_ns: float, absent: str | None) -> None:
    """Check that the median time of 1 MiB between the hosts is plausible, or absent for a good reason.

    It is absent if the clocks' uncertainty is more than a tenth of the median, as on a crowded machine. ``absent`` is
    the reason that the output names.
    """
    if p50_ns is None:
        assert TIMES_UNCERTAINTY * uncertainty_ns > LARGE_NS, absent or "no reason is named"
    else:
        assert LARGE_NS < p50_ns + uncertainty_ns < ON_ANOTHER_CLOCK_NS


BRIEF = ("--size", "1k", "--samples", "200", "--warmup", "50ms", "--quiet", "--format", "json", "--no-baseline")


@pytest.fixture
def hosts(bench: Bench) -> Iterator[TwoHosts]:
    pytest.importorskip("distributed")
    pytest.importorskip("asyncssh")
    if missing := {"udp", "tcp", "cyclonedds"} - BUILT:
        pytest.skip(f"{', '.join(sorted(missing))} was not built here")
    if os.geteuid() != 0 or not os.access(SSHD, os.X_OK):
        pytest.skip("two hosts want root and openssh-server")
    mark = secrets.token_hex(8)
    try:
        with two_hosts(bench, mark) as both:
            yield both
            assert left(both) == []
    except WorkerFailedError as error:
        pytest.skip(error.text)


def left(hosts: TwoHosts) -> list[str]:
    """Return the processes and files that remain after a run.

    Waits until connections that have just ended are closed.
    """
    deadline = time.monotonic() + 20
    while True:
        found = []
        for pid in marked(hosts.mark):
            with contextlib.suppress(OSError):
                found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
        found += [str(path) for name in NAMES for path in hosts.temporary(name).iterdir()]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def test_round_trips_between_two_hosts_name_both_machines(hosts: TwoHosts) -> None:
    ended = hosts.start("run", "--adapter", "udp,cyclonedds", "--transport", "udp", "--trials", "1", *BRIEF).ended(120)
    assert ended.code == 0, ended.err
    document = ended.document
    machines = {each["name"]: each for each in document["run"]["machines"]}
    assert machines.keys() == NAMES.keys()
    for name, machine in machines.items():
        assert machine["address"] == NAMES[name]
        assert machine["interface"] == "mm0"
        assert machine["mtu"] == 1500
        assert machine["driver"] == "veth"
    cells = {cell["adapter"]: cell for cell in document["cells"]}
    assert cells.keys() == {"udp", "cyclonedds"}
    for cell in cells.values():
        assert cell["failed"] is None, cell["failed"]
        assert cell["across"] == "base-robot"
        assert cell["samples"] == 200
        assert cell["actual_transport"] == "udp"
        assert cell["breakdown_absent"] == "a breakdown would compare raw counters of two hosts"
        assert not [each for each in cell["warnings"] if each["code"] == "versions-differ"]
    report = hosts.bench.run("report", str(ended.folder), "--markdown", "-").out
    assert all(f"{name}: " in report for name in NAMES)
    names = {path.name for path in (ended.folder / "samples").iterdir()}
    assert len([name for name in names if name.endswith(".npy")]) == 4
    assert not [name for name in names if name.endswith(".part")]


def test_a_stream_between_two_hosts_has_one_way_latencies_on_one_clock(hosts: TwoHosts) -> None:
    ended = hosts.start(
        "run", "--adapter", "tcp", "--pattern", "stream", "--rate", "20", "--trials", "2", "--size", "16,1m",
        "--duration", "2s", "--warmup", "50ms", "--quiet", "--format", "json", "--no-baseline",
    ).ended(120)  # fmt: skip
    assert ended.code == 0, ended.err
    for outcome in ended.kept:
        clocks = outcome["clocks"]
        planted_ns = (AHEAD_S["base"] - AHEAD_S["robot"]) * 1e9
        assert abs(clocks["offset_ns"] - planted_ns) <= clocks["uncertainty_ns"] < ON_ANOTHER_CLOCK_NS
    small, large = sorted(ended.document["cells"], key=lambda each: each["size"])
    for cell in (small, large):
        assert cell["failed"] is None, cell["failed"]
        assert 10 < cell["rate_hz"] < 40  # 20, unless a crowded machine delays the first or the last message
        assert cell["lost"] == 0
        assert 0 < cell["clock_uncertainty_ns"] < ON_ANOTHER_CLOCK_NS
    # The latency of 16 bytes is below the clocks' uncertainty.
    assert_large(large["one_way_ns"]["p50"], large["clock_uncertainty_ns"], large["one_way_absent"])
    if large["one_way_absent"] is None:
        assert large["one_way_from_sent_ns"]["p50"] <= large["one_way_ns"]["p50"]
    assert small["one_way_ns"]["min"] is None
    assert "the clocks of the hosts agree to within ± " in small["one_way_absent"]
    report = hosts.bench.run("report", str(ended.folder), "--markdown", "-").out
    assert "the clocks of two hosts were compared in each trial, to ± " in report


@pytest.mark.full  # conformance measures these middlewares, and other tests measure between hosts
def test_the_suite_for_a_gigabit_link_runs_between_the_hosts(hosts: TwoHosts) -> None:
    wanted = {"cyclonedds", "fastdds", "zenoh", "ros1", "mqtt"} & BUILT
    ended = hosts.start(
        "run", "gigabit", "--adapter", ",".join(sorted(wanted)), "--only", "transport=udp,tcp,tcpros",
        "--only", "size=1k", "--trials", "1", "--duration", "0.5s", "--format", "json", "--quiet",
    ).ended(300)  # fmt: skip
    assert ended.code == 0, ended.err
    document = ended.document
    assert [each["name"] for each in document["run"]["machines"]] == list(NAMES)
    cells = document["cells"]
    assert {cell["adapter"] for cell in cells} == wanted | {"udp", "tcp"}
    for cell in cells:
        assert cell["failed"] is None, (cell["name"], cell["failed"])
        assert cell["across"] == "base-robot"
        if cell["pattern"] == "stream":
            assert cell["clock_uncertainty_ns"] > 0, cell["one_way_absent"]
    report = hosts.bench.run("report", str(ended.folder), "--markdown", "-").out
    assert all(f"{name}: " in report for name in NAMES)


def test_each_host_is_measured_separately_and_the_hosts_are_compared(hosts: TwoHosts) -> None:
    ended = hosts.start(
        "run", "--each-host", "--adapter", "udp", "--transport", "udp", "--trials", "6", *BRIEF[:-1],
    ).ended(180)  # fmt: skip
    assert ended.code == 0, ended.err
    cells = [each for each in ended.document["cells"] if each["adapter"] == "udp"]
    assert {each["across"] for each in cells} == set(NAMES)
    for cell in cells:
        assert cell["failed"] is None, cell["failed"]
        assert cell["breakdown"], cell["breakdown_absent"]
    compared = hosts.bench.run("compare", str(ended.folder), "--by", "across", "--format", "json").document
    assert {(each["a"], each["b"]) for each in compared["comparisons"]} == {("across=base", "across=robot")}


def test_a_robots_nodes_are_on_one_host_and_its_operators_on_the_other(hosts: TwoHosts) -> None:
    ended = hosts.start(
        "run", hosts.bench.suite(robot("1m", 20)), "--adapter", "cyclonedds", "--transport", "udp", "--trials", "1",
        "--warmup", "50ms", "--duration", "4s", "--quiet", "--format", "json", "--no-baseline",
    ).ended(120)  # fmt: skip
    # A median needs 20 messages. On a crowded machine the lidar falls behind and sends fewer than the 80 that are due.
    assert ended.code == 0, ended.err
    for cell in ended.document["cells"]:
        assert cell["failed"] is None, cell["failed"]
        assert cell["across"] == "base-robot"
        assert 0 < cell["clock_uncertainty_ns"] < ON_ANOTHER_CLOCK_NS
        edges = {(each["name"], each["to"]): each for each in cell["workload"]["topics"]}
        scan, recorded = edges["scan", "planner"], edges["scan", "recorder"]
        assert_large(scan["one_way_ns"]["p50"], cell["clock_uncertainty_ns"], scan["one_way_absent"])
        # Processes of one host receive each other's multicast.
        assert recorded["one_way_absent"] is None
        assert recorded["one_way_ns"]["p50"] < ON_ANOTHER_CLOCK_NS
        assert edges["velocity", "wheels"]["received"] > 0
        [chain] = cell["workload"]["chains"]
        assert_large(chain["end_to_end_ns"]["p50"], cell["clock_uncertainty_ns"], chain["end_to_end_absent"])


THREE = (
    "run", "--adapter", "udp", "--transport", "udp", "--trials", "3", "--size", "1k", "--duration", "3s",
    "--quiet", "--format", "json", "--no-baseline",
)  # fmt: skip


def dask_of_robot(hosts: TwoHosts) -> int:
    """Wait until a trial has measured for a while. Return the pid of the Dask worker on the second host."""
    robot = hosts.network("robot")

    def workers() -> list[int]:
        found = []
        for pid in marked(hosts.mark):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                measures = words[0].endswith(b"middlemark-worker-udp") and len(words) == 2
                if measures and os.readlink(f"/proc/{pid}/ns/net") == robot:
                    found.append(pid)
        return found

    def dask() -> int:
        for worker in workers():
            time.sleep(1)
            with contextlib.suppress(OSError):
                return int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
        return 0

    return until(dask)


def assert_only_the_first_was_lost(outcomes: list[dict[str, object]]) -> None:
    assert len(outcomes) == 3
    failures = [each.get("failed") for each in outcomes]
    assert [each is None for each in failures] == [False, True, True], failures
    failed = outcomes[0]["failed"]
    assert isinstance(failed, dict)
    assert failed["code"] == "lost"
    assert "robot (10.213.0.2) is gone" in failed["text"]


def test_a_host_that_disappears_fails_only_its_current_trial(hosts: TwoHosts) -> None:
    run = hosts.start(*THREE)
    os.kill(dask_of_robot(hosts), signal.SIGKILL)
    assert_only_the_first_was_lost(run.ended(180).kept)


@pytest.mark.full  # for other hosts, a frozen host is the same as a cut line
def test_a_frozen_host_fails_only_its_current_trial(hosts: TwoHosts) -> None:
    run = hosts.start(*THREE)
    dask = dask_of_robot(hosts)
    os.kill(dask, signal.SIGSTOP)
    try:
        until(lambda: run.trials() == 1)
    finally:
        os.kill(dask, signal.SIGCONT)
    assert_only_the_first_was_lost(run.ended(180).kept)


def test_a_cut_line_fails_only_its_current_trial(hosts: TwoHosts) -> None:
    run = hosts.start(*THREE)
    dask_of_robot(hosts)
    hosts.line("down")
    try:
        until(lambda: run.trials() == 1)
    finally:
        hosts.line("up")
    assert_only_the_first_was_lost(run.ended(180).kept)


def test_a_killed_run_leaves_nothing_behind_on_either_host(hosts: TwoHosts) -> None:
    run = hosts.start(
        "run", "--adapter", "udp", "--transport", "udp", "--size", "1k", "--rate", "1k", "--duration", "30s", "--quiet"
    )
    until(lambda: any(b"worker-udp" in argv(pid) and b"--" not in argv(pid) for pid in marked(hosts.mark)))
    run.process.kill()
    run.process.communicate()


def test_two_runs_at_once_between_the_same_hosts_are_both_measured(hosts: TwoHosts) -> None:
    both = [hosts.start("run", "--adapter", "udp", "--transport", "udp", "--trials", "2", *BRIEF) for _ in range(2)]
    for run in both:
        ended = run.ended(180)
        assert ended.code == 0, ended.err
        assert [each["failed"] for each in ended.kept] == [None, None]


def test_a_missing_requirement_of_a_host_is_named_with_the_next_step(hosts: TwoHosts) -> None:
    ended = hosts.start("hosts", "--remote-python", "/nonexistent/python3").ended()
    assert ended.code == 3
    for name in NAMES:
        assert f"{name}: /nonexistent/python3 does not exist there" in ended.err
    assert "name the host's Python: --remote-python PATH" in ended.err
    ended = hosts.start("hosts", "--remote-python", f"{sys.executable} -IS").ended()
    assert ended.code == 3
    assert "has no Middlemark" in ended.err
    (hosts.folder / "home/.ssh/known_hosts").write_text("")
    ended = hosts.start("hosts").ended()
    assert ended.code == 3
    assert f"connect once and accept the host key: ssh root@{NAMES['robot']} -p 2222" in ended.err


def argv(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def test_each_host_needs_hosts_and_refuses_a_link(bench: Bench) -> None:
    ended = bench.run("run", "--each-host", "--link", "1gbit")
    assert ended.code == 2
    assert "--each-host: name the hosts, as in --hosts base=localhost,robot=user@robot.local" in ended.err
    assert "--each-host: all roles are on the host that is measured; leave --link out" in ended.err


def test_an_emulated_link_between_hosts_is_refused_before_any_host_is_reached(bench: Bench) -> None:
    pytest.importorskip("distributed")
    pytest.importorskip("asyncssh")
    ended = bench.run("run", "--hosts", "base=localhost,robot=nowhere.invalid", "--link", "1gbit", "--adapter", "udp")
    assert ended.code == 2
    assert "--link: a link is emulated within one machine; leave out the link, or leave out --hosts" in ended.err


@pytest.mark.brief
def test_the_verb_hosts_prints_the_state_of_each_host(hosts: TwoHosts) -> None:
    ended = hosts.start("hosts").ended(120)
    assert ended.code == 0, ended.err + ended.out
    for name in NAMES:
        assert f"{name}: " in ended.out
    assert "UDP from robot: gets through" in ended.out
    assert "its offset from the clock of base is known to ± " in ended.out
    assert "cyclonedds" in ended.out


def test_an_existing_cluster_is_used_by_its_workers_names(bench: Bench) -> None:
    pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    if "udp" not in BUILT:
        pytest.skip("udp was not built here")
    with a_cluster(bench) as (address, tls):
        refused = bench.run("run", "--scheduler", address.replace("tls", "tcp"), "--adapter", "udp")
        assert refused.code == 2
        assert "without TLS, anyone who reaches the cluster can run programs on its hosts" in refused.err
        stranger = [*tls[:2], "--tls-cert", str(bench.folder / "other-cert.pem")]
        stranger += ["--tls-key", str(bench.folder / "other-key.pem")]
        rejected = bench.run("hosts", "--scheduler", address, *stranger, command=PLAIN)
        assert rejected.code == 3, rejected.err
        ended = bench.run(
            "run", "--scheduler", address, *tls, "--adapter", "udp", "--transport", "udp", "--trials", "1", *BRIEF,
            command=PLAIN,
        )  # fmt: skip
    assert ended.code == 0, ended.err
    assert [each["name"] for each in ended.document["run"]["machines"]] == ["base", "robot"]
    [cell] = ended.document["cells"]
    assert (cell["failed"], cell["across"], cell["samples"]) == (None, "base-robot", 200)


PLAIN = (sys.executable, "-m", "middlemark")
"""Run without -W error, because Dask's own warnings would fail the run."""


@contextlib.contextmanager
def a_cluster(bench: Bench) -> Iterator[tuple[str, list[str]]]:
    """Run a scheduler and two Dask workers here; yield its address and the options for its certificates."""
    from middlemark.sites.ssh import make_certificates

    made, other = make_certificates(), make_certificates()
    contents = {"ca": made.authority, "cert": made.certificate, "key": made.key}
    contents |= {"other-cert": other.certificate, "other-key": other.key}
    for kind, content in contents.items():
        (bench.folder / f"{kind}.pem").write_text(content)
    paths = {kind: str(bench.folder / f"{kind}.pem") for kind in ("ca", "cert", "key")}
    tls = ["--tls-ca-file", paths["ca"], "--tls-cert", paths["cert"], "--tls-key", paths["key"]]
    about = bench.folder / "scheduler.json"
    temporary = bench.folder / "dask"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}

    def start(program: str, *arguments: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", f"distributed.cli.dask_{program}", *tls, "--no-dashboard", *arguments]
        return subprocess.Popen(argv, env=environment, stderr=subprocess.DEVNULL)

    processes = [
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--protocol", "tls", "--scheduler-file", str(about))
    ]
    try:
        until(about.exists)
        address = until(lambda: json.loads(about.read_text() or "{}").get("address"))
        processes += [
            start("worker", address, "--name", name, "--nthreads", "1", "--no-nanny") for name in ("base", "robot")
        ]
        options = ["--tls-ca", paths["ca"], "--tls-cert", paths["cert"], "--tls-key", paths["key"]]
        yield address, options
    finally:
        scheduler, *workers = processes
        for ended in (workers, [scheduler]):  # the workers first: a worker that loses its scheduler may hang
            for process in ended:
                process.terminate()
            for process in ended:
                process.wait(60)
