"""A user's own configuration file of a middleware. Its bytes are part of what is measured, so its SHA-256 is kept.

The file is the value of a native setting of the type ``file``. A cell contains ``PATH sha256:HEX``; a worker gets the
path of the copy in the run's folder.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

import msgspec

KEY = "config"
"""Key of the native setting for the file, in every adapter that accepts a file."""

_WRITTEN = re.compile(r"(?P<path>.+) sha256:(?P<sha256>[0-9a-f]{64})", re.DOTALL)


class UserFile(msgspec.Struct, frozen=True):
    """One file. ``path`` is its absolute path at the beginning of the run."""

    path: str
    sha256: str

    @property
    def written(self) -> str:
        """The value in a cell."""
        return f"{self.path} sha256:{self.sha256}"

    @property
    def shown(self) -> str:
        """The text in a row: the file's name and the first part of the hash, because names may be equal."""
        return f"{PurePosixPath(self.path).name} (sha256 {self.sha256[:8]})"

    @property
    def kept(self) -> str:
        """The name of the copy, relative to the run's folder. It keeps the suffix, because some middlewares need it."""
        return f"config/{self.sha256}{PurePosixPath(self.path).suffix}"


def user_file(value: str) -> UserFile | None:
    """Return the file that the value of a native setting names; None: the value names no file."""
    found = _WRITTEN.fullmatch(value)
    return UserFile(found["path"], found["sha256"]) if found else None


def user_files(natives: Iterable[tuple[tuple[str, str], ...]]) -> tuple[UserFile, ...]:
    """Return the files in the native settings of some cells, each once."""
    found = (user_file(value) for native in natives for _, value in native)
    return tuple(dict.fromkeys(each for each in found if each is not None))
