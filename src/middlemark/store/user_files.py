"""Copies of users' own configuration files in a run's folder: whoever resumes it measures the same bytes."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from middlemark.model.user_file import UserFile


def keep(files: Iterable[UserFile], folder: Path) -> None:
    """Copy them. OSError where that cannot be; ValueError when one has changed since it was read."""
    for file in files:
        content = Path(file.path).read_bytes()
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise ValueError(f"{file.path} has changed since it was read")
        copy = folder / file.kept
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(content)
