"""A user's own configuration file of a middleware: its bytes are part of what is measured, so their SHA-256 is too.

It is the native setting of the type ``file``. A cell has it as ``PATH sha256:HEX``; a worker is told the path of the
copy in the run's folder.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

import msgspec

KEY = "config"
"""The native setting that takes it, by whoever takes one."""

_WRITTEN = re.compile(r"(?P<path>.+) sha256:(?P<sha256>[0-9a-f]{64})", re.DOTALL)


class UserFile(msgspec.Struct, frozen=True):
    """``path``: absolute, where it was when the run began."""

    path: str
    sha256: str

    @property
    def written(self) -> str:
        """As a cell has it."""
        return f"{self.path} sha256:{self.sha256}"

    @property
    def shown(self) -> str:
        """As a row has it: the name and enough of the hash to tell two of one name apart."""
        return f"{PurePosixPath(self.path).name} (sha256 {self.sha256[:8]})"

    @property
    def kept(self) -> str:
        """The name of its copy, relative to the run's folder. Some middlewares go by its ending."""
        return f"config/{self.sha256}{PurePosixPath(self.path).suffix}"


def user_file(value: str) -> UserFile | None:
    """Return the file that a native setting's value tells of; None: it is some other value."""
    found = _WRITTEN.fullmatch(value)
    return UserFile(found["path"], found["sha256"]) if found else None


def user_files(natives: Iterable[tuple[tuple[str, str], ...]]) -> tuple[UserFile, ...]:
    """Return those among the native settings of some cells, each once."""
    found = (user_file(value) for native in natives for _, value in native)
    return tuple(dict.fromkeys(each for each in found if each is not None))
