"""stdin, stdout and stderr of the command: there whatever they were, and stderr never a reason to fail."""

import contextlib
import io
import os
import sys


class _Forgiving(io.FileIO):
    """What cannot be written (a full disk, a reader that has gone) is not: words beside the result are no result."""

    def write(self, data: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]
        with contextlib.suppress(OSError):
            written = super().write(data)
            if written is not None:
                return written
        return len(data)


def hold() -> None:
    """Give the process all three descriptors and a stderr that takes everything.

    One that is closed (``2>&-``) goes nowhere: else the next file that is opened, a run's own perhaps, would be it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free: this one
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Forgiving(2, "w", closefd=False)),
        encoding=sys.stderr.encoding if sys.stderr is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
