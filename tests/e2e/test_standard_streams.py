"""The command with closed, full or broken stdin, stdout and stderr: it stores the result even if messages fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from product import ROOT

ONE = "run --adapter null --transport memory --size 64 --pin off --trials 1 --no-baseline --duration 50ms --warmup 10ms"

STDERR = {
    "closed": "2>&-",
    "a full device": "2>/dev/full",
    "a pipe that nobody reads": "2> >(exit)",
    "all closed but stdout": "<&- 2>&-",
}


def command(arguments: str, redirected: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `middlemark ARGUMENTS` from a shell."""
    script = f"sleep 0.2; exec {sys.executable} -W error -m middlemark {arguments}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    shell = ["bash", "-c", f"{{ {script}; }} {redirected}"]
    return subprocess.run(shell, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.usefixtures("null_worker")
@pytest.mark.parametrize("redirected", STDERR.values(), ids=list(STDERR))
@pytest.mark.parametrize("quiet", ["", " --quiet"])
def test_a_run_is_measured_kept_and_printed_with_any_stderr(tmp_path: Path, redirected: str, quiet: str) -> None:
    ended = command(ONE + quiet, redirected, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "null" in ended.stdout
    [kept] = tmp_path.glob("runs/*/trials.jsonl")
    assert kept.read_bytes().startswith(b'{"cell":0')
    assert b"Traceback" not in kept.read_bytes()


@pytest.mark.parametrize("redirected", STDERR.values(), ids=list(STDERR))
def test_the_exit_code_is_the_same_with_any_stderr(tmp_path: Path, redirected: str) -> None:
    assert command("run --size nonsense", redirected, tmp_path).returncode == 2
    nowhere = "list runs nowhere"
    assert command(nowhere, redirected, tmp_path).returncode == command(nowhere, "", tmp_path).returncode


@pytest.mark.usefixtures("null_worker")
def test_no_output_of_a_run_is_written_to_a_closed_descriptor(tmp_path: Path) -> None:
    ended = command(ONE, "<&- >&- 2>&-", tmp_path)
    assert ended.returncode == 0
    [kept] = tmp_path.glob("runs/*/trials.jsonl")
    assert kept.read_bytes().count(b"\n") == 1
