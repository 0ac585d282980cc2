"""A trial's samples file: one record a completed round trip, in order of sending, times in ns. See docs/protocol.md."""

import os
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

NOT_MEASURED = 0xFFFF_FFFF
"""What stands in ``take_ns``, ``loan_ns``, ``fill_ns`` and ``check_ns`` where there was nothing to measure."""

SAMPLE = np.dtype(
    [
        ("sequence", "<u8"),
        ("begin_ns", "<u8"),
        ("round_trip_ns", "<u8"),
        ("first_reply_ns", "<u8"),
        ("write_ns", "<u4"),
        ("take_ns", "<u4"),
        ("loan_ns", "<u4"),
        ("fill_ns", "<u4"),
        ("check_ns", "<u4"),
        ("replies", "<u4"),
    ]
)

Samples = npt.NDArray[np.void]
"""One dimension, dtype ``SAMPLE``."""


class SamplesError(Exception):
    """A samples file that cannot be read: the path, what is wrong with it, and the next step."""

    def __init__(self, path: Path, reason: str, advice: str) -> None:
        """``reason`` completes the sentence that begins with the path."""
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason
        self.advice = advice


def load(path: Path) -> Samples:
    """Map the samples read-only; nothing but the header is read until they are used. Raises SamplesError."""
    try:
        with path.open("rb") as file:
            count, data_begins = _read_header(path, file)
            bytes_there = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise SamplesError(path, error.strerror or str(error), "the run's folder must be whole and readable") from error
    bytes_due = data_begins + count * SAMPLE.itemsize
    if bytes_there != bytes_due:
        what = "truncated" if bytes_there < bytes_due else "too long"
        reason = f"{what}: {bytes_there:,} bytes where {count:,} samples take {bytes_due:,}"
        raise SamplesError(path, reason, "measure that trial again")
    if count == 0:
        return np.empty(0, dtype=SAMPLE)  # an empty range cannot be mapped
    return np.memmap(path, dtype=SAMPLE, mode="r", offset=data_begins, shape=(count,))


def _read_header(path: Path, file: IO[bytes]) -> tuple[int, int]:
    # Read here rather than by np.load, which maps a file that is too long and unpickles one that says so.
    try:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"its format is {version[0]}.{version[1]}, not 1.0")
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    except (ValueError, SyntaxError, EOFError) as error:
        raise SamplesError(path, f"damaged: {_first_line(error)}", "measure that trial again") from error
    if dtype != SAMPLE or len(shape) != 1 or fortran_order:
        fields = ", ".join(dtype.names or (str(dtype),))
        reason = f"not the samples of a trial: it holds {len(shape)} dimensions of {fields}"
        raise SamplesError(path, reason, "it was written by another program or another version: measure again")
    return int(shape[0]), file.tell()


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
