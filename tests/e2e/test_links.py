"""Runs over an emulated link. The link's rate and delay are right, and no part of the link remains."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from product import Bench, descriptions, robot, until

BUILT = set(descriptions())
OVER = ("--link", "100mbit", "--trials", "1", "--warmup", "50ms", "--quiet", "--format", "json")


def networks() -> set[str]:
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.add(os.readlink(entry / "ns/net"))
            except OSError:
                continue
    return found


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    if missing := {"udp", "cyclonedds"} - BUILT:
        pytest.skip(f"{', '.join(sorted(missing))} was not built here")
    before = networks()
    yield
    until(lambda: networks() <= before)


def test_a_stream_fills_the_link_and_no_more(bench: Bench) -> None:
    ended = bench.run(
        "run", "--adapter", "udp,cyclonedds", "--transport", "udp", "--pattern", "stream", "--size", "1k", *OVER,
        "--duration", "0.5s", "--no-baseline",
    )  # fmt: skip
    if "no network namespace can be created on this machine" in ended.err:
        pytest.skip(ended.err)
    assert ended.code == 0, ended.err
    cells = {cell["adapter"]: cell for cell in ended.document["cells"]}
    assert cells.keys() == {"udp", "cyclonedds"}
    for cell in cells.values():
        assert cell["across"] == "base-robot"
        assert cell["link"]["rate_bps"] == 1e8
        assert "veth" in cell["link"]["how"]
        assert cell["actual_transport"] == "udp"
    # The share may be below 1, because the sender may wait for a processor. It cannot exceed the link's rate.
    assert 0.3 < cells["udp"]["link_share"] < 1.02
    assert 0.5 < cells["cyclonedds"]["link_share"] < 1.02


def test_a_round_trip_includes_the_transmission_time_of_the_link(bench: Bench) -> None:
    ended = bench.run("run", "--adapter", "udp", "--size", "32k", *OVER, "--samples", "50", "--no-baseline")
    if "no network namespace can be created on this machine" in ended.err:
        pytest.skip(ended.err)
    assert ended.code == 0, ended.err
    [cell] = ended.document["cells"]
    line_ns = 2 * (32 * 1024 - 4 * 1538) * 8 / 0.1  # both directions, without the frames that leave at once
    assert cell["round_trip_ns"]["min"] > line_ns


def test_multicast_discovery_works_behind_a_delay(bench: Bench) -> None:
    ended = bench.run(
        "run", "--adapter", "cyclonedds", "--transport", "udp", "--link", "10mbit,delay=2ms", *OVER[2:],
        "--samples", "50", "--no-baseline",
    )  # fmt: skip
    if "no network namespace can be created on this machine" in ended.err:
        pytest.skip(ended.err)
    assert ended.code == 0, ended.err
    [cell] = ended.document["cells"]
    assert (cell["link"]["delay_s"], cell["samples"]) == (0.002, 50)
    assert cell["round_trip_ns"]["min"] > 4_000_000


def test_a_killed_run_leaves_no_namespace_behind(bench: Bench) -> None:
    run = bench.start(
        "run", "--adapter", "udp", "--size", "1k", *OVER, "--rate", "1k", "--duration", "30s", "--no-baseline"
    )
    until(lambda: run.workers("udp") or run.process.poll() is not None)
    if run.process.poll() is not None:
        pytest.skip("no run over a link is possible here")
    assert run.workers("udp")
    run.process.kill()
    run.process.communicate()


def test_without_user_namespaces_the_refusal_names_what_to_allow(bench: Bench) -> None:
    within = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all -- "$@"'
    command = ("unshare", "--user", "--map-root-user", "sh", "-c", within, "sh", sys.executable, "-m", "middlemark")
    ended = bench.run("run", "--adapter", "udp", "--size", "1k", *OVER, "--no-baseline", command=command)
    if "unshare" in ended.err and "middlemark: " not in ended.err:
        pytest.skip(ended.err)
    assert ended.code == 2
    assert "link 100mbit: no network namespace can be created on this machine" in ended.err
    assert "allow user namespaces" in ended.err


def test_a_robots_nodes_are_at_one_end_of_the_link_and_its_operators_at_the_other(bench: Bench) -> None:
    ended = bench.run(
        "run", bench.suite(robot("16k", 50)), "--adapter", "udp,cyclonedds", "--transport", "udp",
        "--link", "10mbit", "--trials", "1", "--warmup", "50ms", "--quiet", "--format", "json", "--no-baseline",
    )  # fmt: skip
    if "no network namespace can be created on this machine" in ended.err:
        pytest.skip(ended.err)
    assert ended.code == 0, ended.err
    cells = ended.document["cells"]
    assert {"udp", "cyclonedds"} <= {cell["adapter"] for cell in cells}
    for cell in cells:
        assert cell["failed"] is None, cell["failed"]
        assert cell["across"] == "base-robot"
        edges = {(each["name"], each["to"]): each for each in cell["workload"]["topics"]}
        # The first four of a scan's 12 frames leave at once, the other eight take 8 ms at 10 Mbit/s. A node at the same
        # site needs no link.
        assert edges["scan", "planner"]["one_way_ns"]["p50"] > 8e6
        assert edges["scan", "recorder"]["one_way_ns"]["p50"] < 8e6
        assert edges["velocity", "wheels"]["received"] > 0


def test_a_link_needs_the_places_of_the_nodes(bench: Bench) -> None:
    ended = bench.run("run", "small-robot", "--adapter", "udp", "--transport", "udp", "--link", "1gbit")
    assert ended.code == 2
    assert "which nodes are on base and robot? write [workload.site] and base = [nodes] below" in ended.err
