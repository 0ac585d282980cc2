"""The effect of an installed or missing ROS 2 on the build, the workers and the interfaces package."""

import asyncio
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
