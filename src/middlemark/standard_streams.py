"""stdin, stdout and stderr: always open, and writing to stderr never fails."""

import contextlib
import io
import os
import sys


class _Forgiving(io.FileIO):
    """A file without write errors (full disk, closed pipe), because a lost message must not make a command fail."""

    def write(self, data: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]
        with contextlib.suppress(OSError):
            written = super().write(data)
            if written is not None:
                return written
        return len(data)


def hold() -> None:
    """Open all three descriptors, and make stderr ignore write errors.

    A closed descriptor (``2>&-``) is opened as /dev/null. Otherwise the next opened file would get its number.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free descriptor is this one
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Forgiving(2, "w", closefd=False)),
        encoding=sys.stderr.encoding if sys.stderr is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
