"""The effect of an installed or missing ROS 2 on the build, the workers and the interfaces package."""

import asyncio
import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from middlemark.model.description import BrokenWorker
from middlemark.workers import find

ROOT = Path(__file__).resolve().parents[2]


def test_the_interfaces_package_has_an_address_that_catkin_pkg_accepts() -> None:
    package = ElementTree.parse(ROOT / "adapters" / "rclcpp" / "interfaces" / "package.xml")
    accepted = re.compile(
        r"[-a-zA-Z0-9_%+]+(\.[-a-zA-Z0-9_%+]+)*@[-a-zA-Z0-9%]+(\.[-a-zA-Z0-9%]+)*\.[a-zA-Z]{2,}"
    )  # as in catkin_pkg.package.Person.validate()
    assert accepted.fullmatch("middlemark@localhost") is None
    addresses = [each.get("email", "") for each in package.iter("maintainer")]
    assert addresses
    assert all(accepted.fullmatch(each) for each in addresses)


def workers_identity(**environment: str) -> str:
    ran = subprocess.run(
        [
            "bash",
            "-c",
            'root=$1; source "$root/packaging/setup/stages.sh"; identity_of workers; echo "$identity"',
            "-",
            ROOT,
        ],
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        check=True,
        text=True,
    )
    return ran.stdout


def test_the_folders_that_colcon_makes_in_a_checkout_are_ignored() -> None:
    """adapters/rclcpp/README.md builds the interfaces with ``colcon build`` in the checkout."""
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/build/", "/install/", "/log/"} <= {*ignored}


def test_workers_are_out_of_date_after_a_ros_2_was_sourced() -> None:
    before = workers_identity()
    assert before == workers_identity(HOME="/elsewhere")
    assert before != workers_identity(AMENT_PREFIX_PATH="/opt/ros/humble")
    assert workers_identity(AMENT_PREFIX_PATH="/opt/ros/humble") != workers_identity(AMENT_PREFIX_PATH="/opt/ros/jazzy")


def unloadable(folder: Path) -> str:
    worker = folder / "middlemark-worker-rclcpp"
    worker.write_text(
        f"#!/bin/sh\necho '{worker}: error while loading shared libraries: librclcpp.so: cannot open shared object"
        " file: No such file or directory' >&2\nexit 127\n"
    )
    worker.chmod(0o755)
    broken = asyncio.run(find.describe("rclcpp", str(worker)))
    assert isinstance(broken, BrokenWorker)
    return broken.reason


def test_a_library_that_is_not_on_the_path_is_reported_with_its_setup_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "ROS", tmp_path / "ros")
    (tmp_path / "ros" / "humble" / "lib").mkdir(parents=True)
    (tmp_path / "ros" / "humble" / "lib" / "librclcpp.so").touch()
    assert f"source {tmp_path}/ros/humble/setup.bash" in unloadable(tmp_path)


def test_a_missing_library_is_reported_with_the_script_to_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "ROS", tmp_path / "ros")
    assert f"source {tmp_path}/ros/DISTRO/setup.bash" in unloadable(tmp_path)


def refused(folder: Path, before: str = "", **environment: str) -> str:
    """Return the reason why the set-up does not install a ROS 2 from PyPI. ``before``: bash commands that run first."""
    (folder / "adapters" / "rcl").mkdir(parents=True)
    for distribution in ("jazzy", "kilted"):
        (folder / "adapters" / "rcl" / f"{distribution}.lock").touch()
    script = f"source '{ROOT}/packaging/setup/ros2.sh'; {before} set_up_ros2; cat build/*.refused"
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_distribution_without_wheels_is_refused_with_those_that_have_them(tmp_path: Path) -> None:
    text = refused(tmp_path, MIDDLEMARK_ROS2="humble")
    assert "MIDDLEMARK_ROS2=humble: PyPI has jazzy kilted; for another distribution, source its installation" in text


def test_a_processor_without_wheels_is_refused(tmp_path: Path) -> None:
    text = refused(tmp_path, "uname() { echo riscv64; };")
    assert "PyPI has ROS 2 kilted for x86-64 only, and this is riscv64; source a ROS 2 installation" in text


def test_a_python_without_wheels_is_refused(tmp_path: Path) -> None:
    text = refused(tmp_path, "uname() { echo x86_64; }; type() { return 1; };")
    assert "CPython 3.11 to 3.13, and none of them is here with its module venv; install python3.13" in text


def chosen(folder: Path, **environment: str) -> str:
    """Return what CMake chooses for rclpy: a distribution, or the reason why there is none."""
    script = folder / "choose.cmake"
    script.write_text(
        f"set(PROJECT_SOURCE_DIR {folder})\n"
        "function(middlemark_left_out name reason)\n  message(${name}: ${reason})\nendfunction()\n"
        f"include({ROOT}/adapters/common/ros2/ros2.cmake)\n"
        "middlemark_find_ros2(rclpy)\n"
        'message("ROS 2 ${distribution}, wheels in ${ros2}")\n'
    )
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    ran = subprocess.run(
        ["cmake", "-P", script], env=kept | environment, capture_output=True, text=True, check=True, cwd=folder
    )
    return ran.stderr.strip()


def test_a_sourced_ros_2_and_one_of_pypi_are_refused_together(tmp_path: Path) -> None:
    sourced = {"AMENT_PREFIX_PATH": "/opt/ros/humble", "ROS_DISTRO": "humble"}
    text = chosen(tmp_path, **sourced, MIDDLEMARK_ROS2="kilted")
    assert "ROS 2 humble is sourced in this shell, and MIDDLEMARK_ROS2=kilted names a ROS 2 from PyPI" in text
    assert "unset MIDDLEMARK_ROS2, or use a shell without the sourced ROS 2" in text
    assert chosen(tmp_path, **sourced) == "ROS 2 humble, wheels in"


def test_the_wheels_are_chosen_in_a_shell_without_ros_2_and_their_absence_has_a_next_step(tmp_path: Path) -> None:
    assert "`./middlemark build ros2` installs ROS 2 jazzy from PyPI" in chosen(tmp_path, MIDDLEMARK_ROS2="jazzy")
    wheels = tmp_path / "build" / "ros2-kilted"
    wheels.mkdir(parents=True)
    (wheels / "of").touch()
    assert chosen(tmp_path) == f"ROS 2 kilted, wheels in {wheels}"
