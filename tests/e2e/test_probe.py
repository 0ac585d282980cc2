"""Builds and runs each example of the probe, and imports its file, from a user's own node to a report."""

import contextlib
import csv
import io
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from product import ROOT, Bench

from middlemark.workers.find import ROS

COUNT, LOSE = 401, 40
LOST = COUNT // LOSE
"""The number of lost messages. The last message is never lost, because it ends the receiver."""
EXAMPLES = ROOT / "examples"

pytestmark = pytest.mark.slow


def run(command: Sequence[str | Path], cwd: Path, **environment: str) -> None:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The probe as an external project finds it: installed, without the rest of Middlemark."""
    folder = tmp_path_factory.mktemp("probe")
    run(["cmake", "-S", ROOT, "-B", "build", "-DMIDDLEMARK_ADAPTERS=null", "-DCMAKE_INSTALL_LIBDIR=lib"], folder)
    run(["cmake", "--build", "build", "--target", "middlemark_probe_static", "middlemark_probe_shared"], folder)
    run(["cmake", "--install", "build", "--component", "probe", "--prefix", folder / "installed"], folder)
    return folder / "installed"


def built(example: str, installed: Path, folder: Path, *more: str, **environment: str) -> Path:
    """Build an example against the probe, and return its program."""
    configure = ["cmake", "-S", EXAMPLES / example, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={installed}", *more]
    run(configure, folder, **environment)
    run(["cmake", "--build", folder / "build"], folder, **environment)
    return folder / "build" / "pair"


def recorded(
    camera: Sequence[str | Path], detector: Sequence[str | Path], folder: Path, environment: Mapping[str, str]
) -> Path:
    """Run sender and receiver with a probe, and return the folder of their stamps."""
    camera, detector = [*camera, str(COUNT), str(LOSE)], [*detector, str(COUNT)]
    stamps = folder / "stamps"
    env = {**os.environ, **environment, "MIDDLEMARK_PROBE": str(stamps), "MIDDLEMARK_PROBE_RECORDS": "10000"}
    with contextlib.ExitStack() as stack:
        ends = []
        for command in (detector, camera):
            ends.append(subprocess.Popen(command, env=env, cwd=folder))
            stack.callback(ends[-1].wait)
            stack.callback(ends[-1].kill)
        assert [each.wait(timeout=300) for each in ends] == [0, 0]
    return stamps


def rows(bench: Bench, stamps: Path) -> dict[str, Any]:
    """Import the stamps, and return the rows by topic or span."""
    found = bench.run("import", str(stamps), "--out", str(bench.folder / "imported"), "--format", "json")
    assert found.code == 0, found.err
    return {cell["adapter"]: cell for cell in found.document["cells"]}


def check(bench: Bench, stamps: Path) -> None:
    """Check every pair: the planted losses, and plausible times."""
    found = rows(bench, stamps)
    image, detect = found["image (probe)"], found["detect (span)"]
    assert (image["sent"], image["received"], image["lost"]) == (COUNT, COUNT - LOST, LOST)
    assert (image["duplicated"], image["reordered"], image["failed"]) == (0, 0, None)
    assert image["one_way_ns"]["min"] > 0
    assert image["one_way_ns"]["p50"] >= image["one_way_ns"]["min"]
    assert image["size"] >= 1000
    assert detect["samples"] == COUNT - LOST
    assert detect["round_trip_ns"]["p50"] > 0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def rosmaster(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Start a ROS 1 master; yield the environment variables that its nodes need."""
    if shutil.which("rosmaster") is None:
        pytest.skip("there is no ROS 1")
    port = free_port()
    environment = {
        "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
        "ROS_IP": "127.0.0.1",
        "ROS_HOME": str(tmp_path / "ros"),
        "ROS_LOG_DIR": str(tmp_path / "ros" / "log"),
    }
    command = ["rosmaster", "--core", "-p", str(port)]
    with subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as master:
        try:
            for _ in range(1000):
                with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.02)
            yield environment
        finally:
            master.kill()


def test_a_pair_of_roscpp_nodes(bench: Bench, installed: Path, tmp_path: Path, rosmaster: dict[str, str]) -> None:
    pair = built("probe-roscpp", installed, tmp_path)
    check(bench, recorded([pair, "camera"], [pair, "detector"], tmp_path, rosmaster))


def test_a_pair_of_cyclonedds_programs(bench: Bench, installed: Path, tmp_path: Path) -> None:
    if shutil.which("idlc") is None:
        pytest.skip("there is no Cyclone DDS with its idlc")
    pair = built("probe-cyclonedds", installed, tmp_path)
    loopback = """<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces>
        <AllowMulticast>false</AllowMulticast></General><Discovery><Peers><Peer address="127.0.0.1"/></Peers>
        <ParticipantIndex>auto</ParticipantIndex></Discovery></Domain></CycloneDDS>"""
    check(bench, recorded([pair, "camera"], [pair, "detector"], tmp_path, {"CYCLONEDDS_URI": loopback}))


def test_a_pair_of_rclcpp_nodes(bench: Bench, installed: Path, tmp_path: Path) -> None:
    scripts = sorted(ROS.glob("*/setup.bash"))
    if not scripts:
        pytest.skip("there is no ROS 2 in /opt/ros")
    sourced = subprocess.run(
        ["bash", "-c", f"source {scripts[-1]} && env -0"], capture_output=True, text=True, check=True
    )
    environment = dict(each.split("=", 1) for each in sourced.stdout.split("\0") if "=" in each)
    prefix = environment.get("AMENT_PREFIX_PATH", "").replace(":", ";")
    more = f"-DCMAKE_PREFIX_PATH={installed};{prefix}"
    pair = built("probe-rclcpp", installed, tmp_path, more, **environment)
    environment["ROS_LOCALHOST_ONLY"] = "1"
    check(bench, recorded([pair, "camera"], [pair, "detector"], tmp_path, environment))


def test_a_pair_of_python_programs(bench: Bench, installed: Path, tmp_path: Path) -> None:
    pair = [sys.executable, EXAMPLES / "probe-python" / "pair.py"]
    port = str(free_port())
    environment = {
        "PYTHONPATH": str(ROOT / "src"),
        "MIDDLEMARK_PROBE_LIBRARY": str(installed / "lib" / "libmiddlemark_probe.so"),
    }
    stamps = recorded([*pair, "camera", port], [*pair, "detector", port], tmp_path, environment)
    check(bench, stamps)

    out = str(bench.folder / "again")
    imported = bench.run("import", str(stamps), "--out", out, "--format", "csv")
    csv_rows = list(csv.DictReader(io.StringIO(imported.out)))
    assert {each["adapter"] for each in csv_rows} == {"image (probe)", "detect (span)"}
    page = bench.folder / "report.html"
    (kept,) = Path(out).iterdir()
    assert bench.run("report", str(kept), "--html", str(page)).code == 0
    assert "camera → detector" in page.read_text(encoding="utf-8")


def test_a_killed_program_leaves_the_stamps_it_had_written(bench: Bench, installed: Path, tmp_path: Path) -> None:
    program = """
import os, signal
from middlemark.probe import Probe
topic = Probe("both").topic("t")
for sequence in range(1, 201):
    topic.sent(sequence, 100)
    topic.received(sequence)
os.kill(os.getpid(), signal.SIGKILL)
"""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "MIDDLEMARK_PROBE": str(tmp_path / "stamps"),
        "MIDDLEMARK_PROBE_LIBRARY": str(installed / "lib" / "libmiddlemark_probe.so"),
    }
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == -9
    (row,) = rows(bench, tmp_path / "stamps").values()
    assert (row["sent"], row["received"], row["lost"]) == (200, 200, 0)


def test_the_probe_is_built_when_it_is_installed_alone(tmp_path: Path) -> None:
    run(["cmake", "-S", ROOT / "probe", "-B", tmp_path / "build"], tmp_path)
    run(["cmake", "--install", "build", "--component", "probe", "--prefix", "here"], tmp_path)
    installed = {each.name for each in (tmp_path / "here").rglob("*") if each.is_file()}
    assert {"libmiddlemark_probe.a", "libmiddlemark_probe.so", "probe.h", "middlemarkProbe.cmake"} <= installed


def test_the_probe_can_be_a_subfolder_of_another_project_and_be_compiled_out(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(
        "#include <middlemark/probe.h>\n"
        'int main(void) { mm_sent(mm_topic_of(mm_probe_open("main"), "t"), 1, 1); return 0; }\n'
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(elsewhere LANGUAGES C)\n"
        f"add_subdirectory({ROOT / 'probe'} probe)\n"
        "add_executable(main main.c)\ntarget_link_libraries(main PRIVATE middlemark::probe)\n"
    )
    for choice, stamped in (("ON", 1), ("OFF", 0)):
        folder, stamps = tmp_path / choice, tmp_path / f"stamps-{choice}"
        run(["cmake", "-S", ".", "-B", folder, f"-DMIDDLEMARK_PROBE={choice}"], tmp_path)
        run(["cmake", "--build", folder], tmp_path)
        run([folder / "main"], tmp_path, MIDDLEMARK_PROBE=str(stamps))
        assert len(list(stamps.glob("*.mmprobe"))) == stamped
        symbols = subprocess.run(["nm", folder / "main"], capture_output=True, text=True, check=True).stdout
        assert ("mm_record" in symbols) == bool(stamped)
