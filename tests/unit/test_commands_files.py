"""A file is replaced completely, or stays unchanged."""

import os
from pathlib import Path

import pytest

from middlemark.show.output import write_whole


def test_an_old_file_is_replaced_and_no_temporary_file_remains(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write_whole(path, "grüße")
    assert path.read_text(encoding="utf-8") == "grüße"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_link_is_kept_and_its_target_is_written(tmp_path: Path) -> None:
    path, link = tmp_path / "report.html", tmp_path / "latest.html"
    path.write_text("old")
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_pipe_is_written_to_instead_of_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    both_ends = os.open(pipe, os.O_RDWR)  # so that neither the writer nor the reader waits for the other
    try:
        write_whole(pipe, "text")
        assert os.read(both_ends, 100) == b"text"
    finally:
        os.close(both_ends)
    assert pipe.is_fifo()


def test_a_failed_write_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\udcff")
    assert path.read_text() == "old"
    with pytest.raises(OSError, match="No such file"):
        write_whole(tmp_path / "missing" / "report.html", "new")
    assert os.listdir(tmp_path) == ["report.html"]
