"""A process with low limits names the limit that stops it and the remedy, without a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from product import ROOT

ONE = "run --adapter null --transport memory --size 64 --pin off --trials 2 --no-baseline --duration 50ms --warmup 10ms"


LIMITS = [*(f"-n {files}" for files in (5, 8, 12, 16, 17, 18, 24)), *(f"-v {room}" for room in (40000, 150000, 220000))]


@pytest.mark.usefixtures("null_worker")
@pytest.mark.parametrize("limit", LIMITS)
def test_a_process_limit_that_stops_the_command_is_named(tmp_path: Path, limit: str) -> None:
    script = f"ulimit {limit}; exec {sys.executable} -m middlemark {ONE}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(tmp_path)}
    shell = ["bash", "-c", script]
    ended = subprocess.run(
        shell, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert "Traceback" not in ended.stderr
    assert "no adapter is called" not in ended.stderr
    if ended.returncode != 0:
        assert ended.returncode in (1, 3)
        assert f"ulimit {limit} is too low" in ended.stderr + ended.stdout
    assert ended.returncode == 0 or limit not in ("-v 150000", "-v 220000")
    assert [path.name for path in tmp_path.iterdir() if path.name != "runs"] == []
