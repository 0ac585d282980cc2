"""The worker of rcl refuses an RMW that is not installed, and a second ROS 2 in its environment."""

import os
import subprocess

import pytest

from middlemark.workers.find import executables

WORKER = executables().get("rcl", "")
NOT_BUILT = pytest.mark.skipif(not WORKER, reason="./check all builds rcl where PyPI has wheels of ROS 2")


def described(**environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value for name, value in os.environ.items() if name not in ("RMW_IMPLEMENTATION", "AMENT_PREFIX_PATH")
    }
    return subprocess.run(
        [WORKER, "--describe"], env={**kept, **environment}, capture_output=True, text=True, check=False, timeout=60
    )


@NOT_BUILT
def test_an_rmw_that_is_not_there_is_refused_with_those_that_are() -> None:
    ran = described(RMW_IMPLEMENTATION="rmw_nowhere_cpp")
    assert ran.returncode != 0
    text = ran.stdout + ran.stderr
    assert "RMW_IMPLEMENTATION=rmw_nowhere_cpp: this ROS 2 does not have that RMW; it has rmw_fastrtps_cpp" in text
    assert "Unset RMW_IMPLEMENTATION" in text


@NOT_BUILT
def test_the_rmw_that_is_there_may_be_named_and_asserted() -> None:
    named = {"RMW_IMPLEMENTATION": "rmw_fastrtps_cpp", "RCL_ASSERT_RMW_ID_MATCHES": "rmw_nowhere_cpp"}
    assert described(**named).returncode == 0


@NOT_BUILT
def test_a_worker_from_wheels_is_not_mixed_with_a_sourced_ros_2() -> None:
    ran = described(AMENT_PREFIX_PATH="/opt/ros/humble")
    assert ran.returncode != 0
    assert "but another ROS 2 is sourced in this shell (AMENT_PREFIX_PATH=/opt/ros/humble)" in ran.stdout + ran.stderr
