"""Read the kernel's files in a folder: ``/``, or a recorded machine. A missing file gives None, never an error."""

import glob
import os
from collections.abc import Iterator
from pathlib import Path

MOST_PROCESSORS = 1 << 16
"""The highest number of a processor. A list with a higher number is damaged."""


class Root:
    """Reads files in a folder. Names of files are relative to it: ``proc/meminfo``."""

    def __init__(self, folder: str | Path = "/") -> None:
        """Create the reader. ``folder``: / for this machine."""
        self.folder = Path(folder)

    def bytes(self, name: str) -> bytes | None:
        """Return the content of the file; None: it cannot be read."""
        try:
            return (self.folder / name).read_bytes()
        except (OSError, ValueError):
            return None

    def text(self, name: str) -> str | None:
        """Return the content as text without surrounding white space; None: it cannot be read."""
        raw = self.bytes(name)
        return None if raw is None else raw.decode(errors="replace").strip()

    def number(self, name: str) -> int | None:
        """Return the only number in the file; None: there is no file, or it has anything else."""
        numbers = self.numbers(name)
        return numbers[0] if numbers and len(numbers) == 1 else None

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """Return the numbers in the file; None: there is no file, or it has anything else."""
        try:
            return tuple(map(int, (self.text(name) or "").split())) or None
        except ValueError:
            return None

    def three(self, name: str) -> tuple[int, int, int]:
        """Return the three numbers in the file. Raises ValueError if the file contains anything else."""
        least, middle, most = self.numbers(name) or ()
        return least, middle, most

    def fields(self, name: str) -> dict[str, str]:
        """Return the fields of a file with ``key: value`` lines."""
        parts = (line.partition(":") for line in (self.text(name) or "").splitlines())
        return {key.strip(): value.strip() for key, colon, value in parts if colon}

    def names(self, pattern: str) -> tuple[str, ...]:
        """Return the paths that match the pattern, sorted and relative to the folder."""
        found = glob.glob(pattern, root_dir=self.folder, include_hidden=True)
        return tuple(sorted(found, key=lambda name: (len(name), name)))

    def size(self, name: str) -> int | None:
        """Return the bytes of memory or disk that the file occupies; None: there is no file."""
        try:
            return os.lstat(self.folder / name).st_blocks * 512
        except OSError:
            return None

    def processes(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the name of every process. The kernel cuts names to 15 characters."""
        for name in self.names("proc/[0-9]*/comm"):
            if (comm := self.text(name)) is not None:
                yield name.split("/")[1], comm

    def allowed(self) -> tuple[int, ...]:
        """Return the processors that this process may use."""
        return processors(self.fields("proc/self/status").get("Cpus_allowed_list", ""))

    def limit(self, name: str) -> int | None:
        """Return a soft limit of this process by its name in /proc/self/limits; -1: unlimited; None: no such limit."""
        for line in (self.text("proc/self/limits") or "").splitlines():
            if line.startswith(name) and (words := line[len(name) :].split()):
                return -1 if words[0] == "unlimited" else int(words[0])
        return None

    def may(self, capability: int) -> bool:
        """True if this process has the capability."""
        return bool(int(self.fields("proc/self/status").get("CapEff", "0"), 16) >> capability & 1)


def stat_of(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the name, first the state (a letter). Empty: no such process."""
    return (Root().text(f"proc/{pid}/stat") or "").rpartition(")")[2].split()


def processors(text: str) -> tuple[int, ...]:
    """Return the numbers of a list in the kernel's format: ``0-2,8``. Raises ValueError."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        if int(last or first) > MOST_PROCESSORS:
            raise ValueError(text)
        found += range(int(first), int(last or first) + 1)
    return tuple(found)
