"""Read the files that a trial's roles kept: one record for each round trip, publish or arrival, times in ns.

docs/reference/protocol.md describes the files.
"""

import functools
import io
import mmap
import os
import re
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.files import open_regular
from middlemark.model.outcome import SamplesFile
from middlemark.model.samples import HISTOGRAM, KEPT, SAMPLE

Samples = npt.NDArray[np.void]
"""A one-dimensional array of dtype ``SAMPLE``, or of another role's dtype for the file of that role."""


_AGAIN = "measure that trial again"
_COUNT = re.compile(rb"(?<='shape': )\(([0-9]{1,18}),\)")


class SamplesError(Exception):
    """A samples file cannot be read. The text has its path, the problem, and the next step."""

    def __init__(self, path: Path, reason: str, advice: str) -> None:
        """Create the error. ``reason``: text after the path, as the end of a sentence."""
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason
        self.advice = advice


class Kept(msgspec.Struct, frozen=True):
    """The samples of one role: ``raw``, with its dtype, and a histogram of the samples after ``raw`` was full."""

    role: str
    index: int
    raw: Samples
    histogram: Samples | None = None
    stamped_every: int = 1
    """For a publisher: ``raw[i]`` is the message with the sequence ``1 + i * stamped_every``."""


def load_kept(folder: Path, file: SamplesFile) -> Kept:
    """Map the samples of one role into memory.

    Raises SamplesError if a file is missing or damaged, or has another number of samples than the role reported.
    """
    path = folder / file.path
    raw = load(path, KEPT[file.role])
    _whole(path, file.samples, len(raw))
    if not file.in_histogram:
        return Kept(file.role, file.index, raw, None, file.stamped_every)
    if file.histogram_path is None:
        raise SamplesError(path, f"the histogram of {file.in_histogram:,} more samples is missing", _AGAIN)
    path = folder / file.histogram_path
    histogram = load_histogram(path)
    _whole(path, file.in_histogram, int(histogram["count"].sum()))
    return Kept(file.role, file.index, raw, histogram, file.stamped_every)


def load_histogram(path: Path) -> Samples:
    """Map a histogram read-only. Raises SamplesError if it cannot be read, or if buckets overlap or are empty."""
    buckets = load(path, HISTOGRAM)
    lower, upper = buckets["lower_ns"], buckets["upper_ns"]
    if (lower >= upper).any() or (upper[:-1] > lower[1:]).any() or (buckets["count"] == 0).any():
        raise SamplesError(path, "damaged: its buckets are empty or do not ascend", _AGAIN)
    return buckets


def load(path: Path, dtype: np.dtype[Any] = SAMPLE) -> Samples:
    """Map the samples of the file read-only; only the header is read now. Raises SamplesError."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            count, data_begins = _read_header(path, file, dtype)
            bytes_there = os.fstat(file.fileno()).st_size
            mapped = mmap.mmap(file.fileno(), bytes_there, access=mmap.ACCESS_READ)
    except OSError as error:
        raise SamplesError(
            path, error.strerror or str(error), "the run's folder must be complete and readable"
        ) from error
    bytes_due = data_begins + count * dtype.itemsize
    if bytes_there != bytes_due:
        what = "truncated" if bytes_there < bytes_due else "too long"
        reason = f"{what}: {bytes_there:,} bytes where {count:,} samples take {bytes_due:,}"
        raise SamplesError(path, reason, _AGAIN)
    if count == 0:
        return np.empty(0, dtype=dtype)  # an empty range cannot be mapped
    # Not np.memmap: each slice of a memmap costs as much time as a thousand samples.
    return np.frombuffer(mapped, dtype=dtype, count=count, offset=data_begins)


def _whole(path: Path, counted: int, found: int) -> None:
    if counted != found:
        raise SamplesError(path, f"{counted:,} samples were counted and {found:,} are in the file", _AGAIN)


def _read_header(path: Path, file: IO[bytes], due: np.dtype[Any]) -> tuple[int, int]:
    """Return the number of samples in the header, and the offset at which they begin.

    The header is compared with the expected text, not evaluated. The recorder and NumPy write exactly one header for
    these records, and evaluating another header, as ``np.load`` does, could run code from the file.
    """
    start = file.read(10)
    text = file.read(int.from_bytes(start[8:], "little"))
    if start[:8] != b"\x93NUMPY\x01\x00" or not text.endswith(b"\n") or (len(start) + len(text)) % 16:
        raise SamplesError(path, "damaged: it does not begin like a file of samples", _AGAIN)
    count = _COUNT.search(text)
    if count is None or text.replace(count[0], b"(0,)").rstrip() != _header_of(due):
        reason = "not the samples of a trial: its record type or its shape differs"
        raise SamplesError(path, reason, "it was written by another program or another version: measure again")
    return int(count[1]), file.tell()


@functools.lru_cache
def _header_of(dtype: np.dtype[Any]) -> bytes:
    """Return the header of a file without samples."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(np.empty(0, dtype)))
    return header.getvalue()[10:].rstrip()
