"""Which workers are found, and what is said of those that were not built."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from middlemark.commands.list import command
from middlemark.workers.find import executables, left_out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of workers; no other folder is searched."""
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    return tmp_path


def built(folder: Path, name: str) -> None:
    worker = folder / f"middlemark-worker-{name}"
    worker.write_text("#!/bin/sh\nexit 1\n")
    worker.chmod(0o755)


def test_what_was_not_built_says_why(folder: Path) -> None:
    (folder / "middlemark-left-out-lyra").write_text("Lyra 3 was not found (Debian: apt-get install lyra-dev)\n")
    assert left_out() == {"lyra": "Lyra 3 was not found (Debian: apt-get install lyra-dev)"}
    assert "Lyra 3 was not found" in CliRunner().invoke(command, ["adapters"]).output


def test_a_worker_that_is_there_was_not_left_out(folder: Path) -> None:
    (folder / "middlemark-left-out-lyra").write_text("an older build's word\n")
    built(folder, "lyra")
    assert (list(executables()), left_out()) == (["lyra"], {})


def test_a_file_that_cannot_be_run_is_no_worker(folder: Path) -> None:
    (folder / "middlemark-worker-lyra").write_text("")
    assert executables() == {}
