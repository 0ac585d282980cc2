"""Finds the files of published results."""

from pathlib import Path


def result_files(folder: Path) -> list[Path]:
    """Return the files of published results in a folder, by their names: ``2026-11-28-amr-1a2b3c4d.json``."""
    return sorted(folder.glob("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]-*-????????.json"))
