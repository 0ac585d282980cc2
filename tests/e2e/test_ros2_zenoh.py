"""ROS 2's zenoh on the wire, as a user runs it: its router, rmw_zenoh's own file, and what is refused."""

from typing import Any

import pytest
from product import Bench, Ended, descriptions
from test_via import ROUTER, free_port, one, texts, words

# The part of rmw_zenoh's DEFAULT_RMW_ZENOH_SESSION_CONFIG.json5 that differs from zenoh's default.
OWN_FILE = """{
  mode: "peer",
  connect: { endpoints: ["tcp/localhost:PORT"] },
  listen: { endpoints: ["tcp/localhost:0"] },
  scouting: { multicast: { enabled: false }, gossip: { target: { router: ["router", "peer"], peer: ["router"] } } },
  timestamping: { enabled: { router: true, peer: true, client: true } },
  transport: { shared_memory: { enabled: false } },
}"""


@pytest.fixture(autouse=True)
def built() -> None:
    if "ros2-zenoh" not in descriptions():
        pytest.skip("ros2-zenoh was not built here")


def row(ended: Ended) -> tuple[Any, str]:
    """Return the only cell, and the settings of its sessions as text."""
    cell = one(ended)
    return cell, cell["settings"]["text"]


@pytest.mark.parametrize(("via", "mode"), [("direct", "peer"), ("router", "client")])
def test_a_router_introduces_the_sessions_and_passes_messages_only_to_clients(
    bench: Bench, via: str, mode: str
) -> None:
    cell, settings = row(bench.run(*words("ros2-zenoh", "--via", via, "--trials", "1")))
    [router] = cell["resources"]["companions"]
    assert router["who"] == ROUTER
    assert f'mode: "{mode}"' in settings
    assert "publisher: Qos { reliability: Reliable, congestion_control: Drop" in settings
    assert cell["actual_transport"] == "tcp"


def test_one_process_needs_no_router(bench: Bench) -> None:
    cell, _ = row(bench.run(*words("ros2-zenoh", "--trials", "1", transport="intraprocess")))
    assert cell["resources"]["companions"] == []


def test_the_file_of_rmw_zenoh_keeps_its_router_in_a_direct_trial(bench: Bench) -> None:
    file = bench.folder / "session.json5"
    port = free_port()
    file.write_text(OWN_FILE.replace("PORT", str(port)))
    cell, settings = row(bench.run(*words("ros2-zenoh", "--trials", "1", "--config", f"ros2-zenoh={file}")))
    [router] = cell["resources"]["companions"]
    assert router["who"] == f"{ROUTER} at tcp/127.0.0.1:{port}"
    assert "scouting/gossip/target" not in texts(cell), "the trial replaces addresses only"
    assert "queries_default_timeout" not in settings, "the file replaces rmw_zenoh's default file"


@pytest.mark.slow
def test_the_robot_with_cameras_is_measured_over_every_wire_of_ros_2(bench: Bench) -> None:
    adapters = [each for each in ("ros2-wire", "ros2-zenoh", "rcl") if each in descriptions()]
    short = ("--duration", "1s", "--trials", "1", "--no-baseline", "--quiet")
    ended = bench.run("run", "amr", "--adapter", ",".join(adapters), *short, "--format", "json")
    assert ended.code == 0, ended.err
    cells = {cell["adapter"]: cell for cell in ended.document["cells"]}
    assert [*cells] == adapters
    for name, cell in cells.items():
        assert cell["failed"] is None, name
        cameras = [each for each in cell["workload"]["topics"] if each["name"].startswith("camera_")]
        assert len(cameras) == 11
        assert all(each["received"] for each in cameras), name
    [router] = cells["ros2-zenoh"]["resources"]["companions"]
    assert router["who"] == ROUTER
    shown = bench.run("show", str(ended.folder)).out
    assert all(name in shown for name in adapters)
    assert f"of {ROUTER}" in " ".join(shown.split()), "the router's processor time is not in the adapter's"
