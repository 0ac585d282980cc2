"""`colcon build` builds Middlemark in a ROS 2 workspace, with its rclcpp worker; a stub replaces rclcpp here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installing import ROOT

STUB = ROOT / "tests" / "fixtures" / "ros2_stub"
NEEDS = ("core", "probe", "adapters", "cmake", "web", "suites", "studies", "src", "packaging", "docs")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.full,
    pytest.mark.skipif(shutil.which("colcon") is None, reason="needs colcon"),
]


class Workspace:
    """A workspace built by colcon, and a shell that sourced it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, script: str) -> str:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("MIDDLEMARK", "PYTHON"))}
        # CMake uses the first interpreter in PATH, which must have the packages that the command imports.
        clean["PATH"] = f"{Path(sys.executable).parent}:{clean['PATH']}"
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.folder, env=clean, capture_output=True, text=True, timeout=400, check=False
        )
        assert done.returncode == 0, f"{script}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = Workspace(tmp_path_factory.mktemp("workspace"))
    source = made.folder / "src"
    shutil.copytree(STUB, source / "ros2")
    (source / "middlemark").mkdir()
    for name in (*NEEDS, "CMakeLists.txt", "package.xml", "colcon.pkg"):
        (source / "middlemark" / name).symlink_to(ROOT / name)
    # Build only these adapters, which saves minutes, and fetch no packages from npm.
    wanted = "-DMIDDLEMARK_ADAPTERS=rclcpp;tcp -DCMAKE_BUILD_TYPE=Debug"
    measured = made.run(
        f"/usr/bin/colcon build --event-handlers console_direct+ --cmake-args {wanted.replace(';', chr(92) + ';')}"
    )
    assert "not built" not in measured
    return made


def test_the_worker_of_rclcpp_is_built_against_the_one_of_the_workspace(workspace: Workspace) -> None:
    library = workspace.folder / "install" / "rclcpp" / "lib" / "librclcpp.so"
    workers = (
        workspace.folder
        / "install"
        / "middlemark"
        / "share"
        / "middlemark"
        / "python"
        / "middlemark"
        / "workers"
        / "bin"
    )
    linked = workspace.run(f"source install/setup.bash && ldd {workers}/middlemark-worker-rclcpp")
    assert f"librclcpp.so => {library}" in linked


def test_a_shell_that_sourced_the_workspace_has_the_command_and_it_measures(workspace: Workspace) -> None:
    listed = workspace.run("source install/setup.bash && middlemark list adapters 2>&1")
    assert "AMENT_PREFIX_PATH names no RMW" in listed  # the stub is loaded, but lacks a function that the worker needs
    options = "--adapter tcp --samples 100 --warmup 10ms --trials 1 --size 1k --format json --quiet"
    shown = workspace.run(f"source install/setup.bash && middlemark run {options}")
    cells = [each for each in json.loads(shown)["cells"] if each["adapter"] == "tcp"]
    assert [(each["samples"], each["failed"]) for each in cells] == [(100, None)]
    assert "cyclonedds" in workspace.run("source install/setup.bash && middlemark list suites")
