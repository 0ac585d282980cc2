"""Routers and discovery servers, as a user runs them: the row, the files that name one, and what goes wrong."""

import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from product import ROOT, Bench, Ended, descriptions, until
from test_own_configurations import client_of

FILES = ROOT / "tests/fixtures/configurations"
ROUTER = "zenoh router"


@pytest.fixture(autouse=True)
def built() -> None:
    if not {"zenoh", "fastdds"} <= set(descriptions()):
        pytest.skip("zenoh or fastdds was not built here")


def words(adapter: str, *more: str, transport: str = "tcp") -> tuple[str, ...]:
    return (
        *("run", "--adapter", adapter, "--transport", transport, "--size", "64", "--samples", "100"),
        *("--warmup", "10ms", "--no-baseline", "--quiet", "--format", "json", *more),
    )


def one(ended: Ended) -> Any:
    assert ended.code == 0, ended.err
    [cell] = ended.document["cells"]
    assert cell["failed"] is None
    return cell


def texts(cell: Any) -> str:
    return "\n".join(each["text"] for each in cell["warnings"])


def test_a_run_compares_the_way_through_a_router_with_the_direct_way(bench: Bench) -> None:
    ended = bench.run(*words("zenoh", "--via", "direct,router", "--trials", "6"))
    assert ended.code == 0, ended.err
    direct, routed = sorted(ended.document["cells"], key=lambda cell: str(cell["via"]))
    assert (direct["via"], routed["via"]) == ("direct", "router")
    [router] = routed["resources"]["companions"]
    assert router["who"] == ROUTER
    assert router["rss_bytes"] > 1 << 20
    assert routed["metrics"]["processors.companion"]["median"] > 0
    assert direct["resources"]["companions"] == []
    [experiment] = ended.document["experiments"]
    assert {row["standing"] for row in experiment["rows"]} <= {"best", "equivalent", "slower", "undecided"}
    assert len(experiment["rows"]) == 2
    [cost] = ended.document["via"]
    assert cost["low"] <= cost["times"] <= cost["high"]
    assert cost["standing"] in {"best", "equivalent", "slower", "undecided"}
    assert cost["companion_ns"] > 0
    for shown in ("text", "markdown"):
        out = " ".join(bench.run("show", str(ended.folder), "--format", shown).out.split())
        assert "via router ÷ direct, time of a round trip:" in out
        assert "The router's processor time for each round trip:" in out


@pytest.mark.parametrize("pattern", ["stream", "request-reply"])
def test_streams_and_requests_pass_through_a_router(bench: Bench, pattern: str) -> None:
    cell = one(bench.run(*words("zenoh", "--via", "router", "--trials", "1", "--pattern", pattern)))
    assert cell["metrics"]["processors.companion"]["median"] > 0


def test_peers_that_a_router_has_introduced_send_from_peer_to_peer(bench: Bench) -> None:
    more = ("--via", "router", "--trials", "1", "--native", "zenoh.router_users=peer")
    cell = one(bench.run(*words("zenoh", *more)))
    assert "the router only introduced the sessions" in cell["settings"]["text"]


def test_a_discovery_server_is_in_the_row_and_the_messages_do_not_pass_through_it(bench: Bench) -> None:
    more = ("--via", "discovery-server", "--trials", "1")
    cell = one(bench.run(*words("fastdds", *more, transport="udp")))
    assert cell["via"] == "discovery-server"
    [server] = cell["resources"]["companions"]
    assert server["who"] == "fast-discovery-server"
    assert "messages do not pass through the discovery server" in cell["settings"]["text"]


def test_the_users_own_router_listens_where_its_file_says(bench: Bench) -> None:
    file = bench.folder / "zenoh-router.json5"
    port = free_port()
    file.write_text(f'{{ mode: "router", listen: {{ endpoints: ["tcp/0.0.0.0:{port}"] }} }}')
    cell = one(bench.run(*words("zenoh", "--via", "router", "--trials", "1", "--config", f"zenoh={file}")))
    [router] = cell["resources"]["companions"]
    assert router["who"] == f"{ROUTER} at tcp/127.0.0.1:{port}"
    assert "is the router's" in texts(cell)


def test_sessions_that_name_a_router_keep_it(bench: Bench) -> None:
    file = FILES / "zenoh-session-router-endpoints.json5"
    cell = one(bench.run(*words("zenoh", "--via", "router", "--trials", "1", "--config", f"zenoh={file}")))
    [router] = cell["resources"]["companions"]
    assert router["who"] == f"{ROUTER} at tcp/127.0.0.1:17447, tcp/127.0.0.1:17448"
    assert "connect/endpoints" not in texts(cell)


def test_a_port_in_use_loses_the_trial_and_names_the_address(bench: Bench) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place = f"tcp/127.0.0.1:{taken.getsockname()[1]}"
        file = bench.folder / "client.json5"
        file.write_text(f'{{ mode: "client", connect: {{ endpoints: ["{place}"] }} }}')
        ended = bench.run(*words("zenoh", "--via", "router", "--trials", "1", "--config", f"zenoh={file}"))
    [cell] = ended.document["cells"]
    assert cell["failed"]["code"] == "companion"
    assert f"{ROUTER} at {place}" in cell["failed"]["text"]
    assert "in use" in cell["failed"]["text"]


def test_a_port_in_use_loses_the_trial_of_a_discovery_server_too(bench: Bench) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
        file = bench.folder / "client.xml"
        file.write_text(client_of("127.0.0.1", port))
        more = ("--via", "discovery-server", "--trials", "1", "--config", f"fastdds={file}")
        ended = bench.run(*words("fastdds", *more, transport="udp"))
    [cell] = ended.document["cells"]
    assert cell["failed"]["code"] == "companion"
    assert f"fast-discovery-server at 127.0.0.1:{port}" in cell["failed"]["text"]
    assert "allocate the specified listening port" in cell["failed"]["text"]


@pytest.mark.parametrize(
    ("adapter", "transport", "via"), [("zenoh", "tcp", "router"), ("fastdds", "udp", "discovery-server")]
)
def test_two_runs_at_once_have_companions_of_their_own(
    bench: Bench, tmp_path: Path, adapter: str, transport: str, via: str
) -> None:
    other = Bench(tmp_path / "other")
    asked = words(adapter, "--via", via, "--trials", "2", transport=transport)
    running = [each.start(*asked) for each in (bench, other)]
    for run in running:
        assert one(run.ended())["lost"] == 0


@pytest.mark.parametrize(
    ("number", "says"), [(signal.SIGKILL, "was ended by SIGKILL"), (signal.SIGSTOP, "was stopped by a signal")]
)
def test_a_router_that_dies_or_hangs_loses_the_trial_by_name(bench: Bench, number: signal.Signals, says: str) -> None:
    asked = words("zenoh", "--via", "router", "--trials", "1", "--duration", "30s")
    run = bench.start(*(each for each in asked if each not in ("--samples", "100")))
    assert until(lambda: len(run.workers("zenoh")) == 2 and len(run.companions()) == 1, 60.0)
    os.kill(run.companions()[0], number)
    ended = run.ended()
    [cell] = ended.document["cells"]
    assert cell["failed"]["code"] == "companion"
    assert ROUTER in cell["failed"]["text"]
    assert says in cell["failed"]["text"]


@pytest.mark.parametrize(
    ("adapter", "transport", "via", "says"),
    [
        ("zenoh", "shm", "router", "direct only: shared memory joins two sessions"),
        ("zenoh", "tcp", "discovery-server", "direct and router only"),
        ("fastdds", "udp", "router", "DDS has no router"),
        ("tcp", "tcp", "router", "it has no router and no discovery server that the bench can start"),
    ],
)
def test_a_way_that_a_middleware_does_not_have_is_refused_with_the_reason(
    bench: Bench, adapter: str, transport: str, via: str, says: str
) -> None:
    ended = bench.run(*words(adapter, "--via", via, "--dry-run", transport=transport))
    assert ended.code == 2
    assert says in ended.err


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
