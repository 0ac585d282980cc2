"""Make a workload from a running ROS 2 of the wheels. The command runs in their Python."""

import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from middlemark.workers.find import executables

HERE = Path(__file__).parent
WORKER = executables().get("rclpy")
PYTHON = Path(WORKER).read_text().partition("\n")[0].removeprefix("#!").split()[0] if WORKER else ""
"""The Python of the environment, which the worker's first line names."""
PATIENCE_S = 120


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason="./check all builds rclpy where PyPI has ROS 2")
def test_topics_of_a_running_ros_2_have_the_rates_at_which_they_are_sent_and_their_types() -> None:
    same = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    if subprocess.run([PYTHON, "-I", "-c", same], check=False, timeout=PATIENCE_S).returncode:
        pytest.skip("the packages of this Python cannot be imported by that of ROS 2")
    path = f"{HERE.parents[1] / 'src'}:{sysconfig.get_path('purelib')}"
    environment = {**os.environ, "PYTHONPATH": path, "ROS_DOMAIN_ID": str(1 + os.getpid() % 100)}
    environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"  # the network of a shard has no multicast
    with subprocess.Popen(
        [PYTHON, HERE / "ros2_graph.py"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as graph:
        assert graph.stdout is not None
        assert graph.stdin is not None
        try:
            assert graph.stdout.readline() == "ready\n"
            command = [PYTHON, "-m", "middlemark", "workload", "--ros2", "--seconds", "15", "--out", "-"]
            written = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S
            )
        finally:
            graph.stdin.close()
            if graph.wait(PATIENCE_S):
                graph.kill()
    assert written.returncode == 0, written.stderr
    found = {each["name"]: each for each in tomllib.loads(written.stdout)["workload"]["topic"]}
    assert set(found) == {"/image", "/words"}
    image, words = found["/image"], found["/words"]
    assert (image["type"], image["size"], image["reliability"]) == ("image", 10_000, "best-effort")
    assert (image["from"], image["to"]) == ("/camera", ["/detector"])
    assert 0 < image["rate"] <= 20
    assert words["rate"] == pytest.approx(image["rate"], rel=0.1)
    assert "because they are latched and only one message arrived, so their rate is unknown: /map." in written.stdout
