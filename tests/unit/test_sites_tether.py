"""The program that SSH starts on a host: its keys, and what a killed Dask process may leave."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TETHER = [sys.executable, "-m", "middlemark.sites.tether"]

KILLED_AT_ITS_FIRST_CLEANUP = """
import os, signal, sys
from distributed.cli import dask_spec
from middlemark.sites import tether

def ends_before_its_process_is_killed(arguments):
    sys.addaudithook(lambda name, of: name == "os.remove" and os.kill(os.getpid(), signal.SIGKILL))

dask_spec.main = ends_before_its_process_is_killed
tether.run(sys.argv[1], [])
"""
"""A Dask process that is killed as soon as its cleanup removes a file.

Python makes and removes a file when it looks for a temporary folder.
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_keys_are_private_and_are_removed(temporary: Path) -> None:
    pytest.importorskip("distributed")
    keys = json.dumps({"files": {"key.pem": "secret"}})
    prepared = subprocess.run([*TETHER, "prepare"], input=keys, capture_output=True, text=True, check=True)
    folder = Path(json.loads(prepared.stdout)["folder"])
    assert folder.parent == temporary
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "key.pem").read_text() == "secret"
    assert (folder / "key.pem").stat().st_mode & 0o777 == 0o600
    subprocess.run([*TETHER, "clear", str(folder)], check=True)
    assert list(temporary.iterdir()) == []


def test_a_killed_dask_process_leaves_no_file_with_which_python_tries_a_temporary_folder(temporary: Path) -> None:
    pytest.importorskip("distributed")
    command = [sys.executable, "-c", KILLED_AT_ITS_FIRST_CLEANUP, str(temporary / "middlemark-keys-none")]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as dask:
        dask.wait()
    assert list(temporary.iterdir()) == []
