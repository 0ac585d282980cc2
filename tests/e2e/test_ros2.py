"""The workers of ROS 2 refuse an RMW that is not there and a second ROS 2; fastdds has the library of the wheels."""

import json
import os
import subprocess

import pytest

from middlemark.workers.find import executables

WORKERS = executables()
ROS2 = pytest.mark.parametrize(
    "worker",
    [
        pytest.param(
            name, marks=pytest.mark.skipif(name not in WORKERS, reason="./check all builds it where PyPI has ROS 2")
        )
        for name in ("rcl", "rclpy")
    ],
)


def described(worker: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value for name, value in os.environ.items() if name not in ("RMW_IMPLEMENTATION", "AMENT_PREFIX_PATH")
    }
    return subprocess.run(
        [WORKERS[worker], "--describe"],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@ROS2
def test_an_rmw_that_is_not_there_is_refused_with_those_that_are(worker: str) -> None:
    ran = described(worker, RMW_IMPLEMENTATION="rmw_nowhere_cpp")
    assert ran.returncode != 0
    text = ran.stdout + ran.stderr
    assert f"{worker}: RMW_IMPLEMENTATION=rmw_nowhere_cpp: this ROS 2 does not have that RMW" in text
    assert "it has rmw_fastrtps_cpp. Unset RMW_IMPLEMENTATION" in text


@ROS2
def test_the_rmw_that_is_there_may_be_named_and_asserted(worker: str) -> None:
    named = {"RMW_IMPLEMENTATION": "rmw_fastrtps_cpp", "RCL_ASSERT_RMW_ID_MATCHES": "rmw_nowhere_cpp"}
    assert described(worker, **named).returncode == 0


@ROS2
def test_a_worker_from_wheels_is_not_mixed_with_a_sourced_ros_2(worker: str) -> None:
    ran = described(worker, AMENT_PREFIX_PATH="/opt/ros/humble")
    assert ran.returncode != 0
    text = ran.stdout + ran.stderr
    assert "but another ROS 2 is sourced in this shell (AMENT_PREFIX_PATH=/opt/ros/humble)" in text
    assert f"`./middlemark build {worker}` here" in text


def test_fast_dds_alone_is_measured_with_the_library_that_rcl_uses() -> None:
    versions = [name for name in WORKERS if name.startswith("fastdds@")]
    if "rcl" not in WORKERS or not versions:
        pytest.skip("./check all builds it where PyPI has ROS 2")
    about, rcl = (json.loads(described(name).stdout) for name in (versions[0], "rcl"))
    assert about["library"].startswith(rcl["library"].rpartition("/")[0])
    assert f"(Fast DDS {about['version']})" in rcl["title"]
