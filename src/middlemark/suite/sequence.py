"""Read sizes and send times of messages from a file: a recorded sequence (Parquet), or a list (text).

A sequence has one row per message: ``topic``, ``at_ns`` (since the first message of all topics) and ``size_bytes``. A
trial repeats the sequence in laps. A lap lasts from the first to the last message, plus the mean interval of the
busiest topic.
"""

import functools
import hashlib
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.files import digest_of
from middlemark.model.cell import SMALLEST_MESSAGE
from middlemark.model.levels import SIZE, Wrong
from middlemark.model.spelling import quoted
from middlemark.model.workload import FromFile
from middlemark.problems import MeasureError, extra_module

Sizes = npt.NDArray[np.uint32]
Instants = npt.NDArray[np.uint64]

ONLY_LAP_S = 1.0
"""The length of a lap in s, if the sequence has only one send time."""
_LARGEST_LIST = 64 << 20
_MOST_LISTED = 5


class Course(msgspec.Struct, frozen=True):
    """The messages of one topic: their times in ns since the sequence began, and their sizes in bytes."""

    at_ns: Instants
    sizes: Sizes


class Sequence(msgspec.Struct, frozen=True):
    """The content of a recorded file."""

    path: str
    digest: str
    courses: dict[str, Course]
    lap_ns: int

    def reference(self, topic: str) -> FromFile:
        """Return a reference to this topic's sizes and send times."""
        return FromFile(self.path, self.digest, len(self.courses[topic].sizes), topic)

    def rate_hz(self, topic: str) -> float:
        """Return the mean rate of this topic in Hz."""
        return len(self.courses[topic].sizes) * 1e9 / self.lap_ns


def read_sequence(path: Path) -> Sequence:
    """Read a recorded sequence. Raises Wrong."""
    try:
        pyarrow, parquet = (extra_module(each, "parquet", path.name) for each in ("pyarrow", "pyarrow.parquet"))
    except MeasureError as error:
        raise Wrong(f"{error}: {error.advice}") from None
    try:
        digest = digest_of(path)
        table = parquet.read_table(path, columns=["topic", "at_ns", "size_bytes"])
        columns = [_numbers(table[name], kind) for name, kind in (("at_ns", np.uint64), ("size_bytes", np.uint32))]
        topics = table["topic"].combine_chunks().cast(pyarrow.string()).dictionary_encode()
        numbers, names = topics.indices.to_numpy(), topics.dictionary.to_pylist()
    except OSError as error:
        raise Wrong(f"{path.name} cannot be read: {error.strerror or error}") from None
    except (pyarrow.ArrowException, ValueError, OverflowError) as error:
        what = str(error).splitlines()[0]
        raise Wrong(f"{path.name} is not a recorded sequence (topic, at_ns, size_bytes): {what}") from None
    if not len(numbers):
        raise Wrong(f"{path.name} contains no messages")
    at_ns, sizes = columns
    courses: dict[str, Course] = {}
    for number, name in enumerate(names):
        of_topic = np.flatnonzero(numbers == number)
        of_topic = of_topic[np.argsort(at_ns[of_topic], kind="stable")]
        courses[name] = Course(at_ns[of_topic], _at_least_the_header(sizes[of_topic]))
    busiest = max(len(each.sizes) for each in courses.values())
    return Sequence(str(path.resolve()), digest, courses, _lap_ns(int(at_ns.max()), busiest))


def _numbers(column: Any, kind: type[np.generic]) -> npt.NDArray[Any]:
    if column.null_count:
        raise ValueError("a value is missing")
    numbers = column.to_numpy()
    if not np.issubdtype(numbers.dtype, np.integer) or (len(numbers) and numbers.min() < 0):
        raise ValueError("whole numbers from 0 are needed")
    found: npt.NDArray[Any] = numbers.astype(kind)
    return found


def _lap_ns(last_ns: int, messages: int) -> int:
    if not last_ns or messages < 2:
        return last_ns + round(ONLY_LAP_S * 1e9)
    return last_ns + max(1, last_ns // (messages - 1))


def _at_least_the_header(sizes: npt.NDArray[Any]) -> Sizes:
    found: Sizes = np.maximum(sizes, SMALLEST_MESSAGE).astype(np.uint32)
    return found


def read_sizes(path: Path) -> tuple[FromFile, Sizes]:
    """Read a list of sizes that line ends or semicolons separate. Raises Wrong."""
    digest, text = _text_of(path)
    sizes = _each(text, path.name, lambda word: SIZE.read(int(word) if word.isdigit() else word))
    found = _at_least_the_header(np.array(sizes, dtype=np.uint64).clip(max=(1 << 32) - 1))
    return FromFile(str(path.resolve()), digest, len(found)), found


def read_instants(path: Path) -> tuple[FromFile, Instants, float]:
    """Read ascending send times in seconds.

    Return the file, the times in ns since the first, and their mean rate in Hz.

    Raises Wrong.
    """
    digest, text = _text_of(path)
    stamps = np.array(_each(text, path.name, _stamp_ns), dtype=np.int64)
    back = np.flatnonzero(np.diff(stamps) < 0)
    if len(back):
        raise Wrong(f"{path.name}: instant {back[0] + 2} is before the previous instant; sort them")
    at_ns = (stamps - stamps[0]).astype(np.uint64)
    return (
        FromFile(str(path.resolve()), digest, len(at_ns)),
        at_ns,
        len(at_ns) * 1e9 / _lap_ns(int(at_ns[-1]), len(at_ns)),
    )


def _stamp_ns(word: str) -> int:
    try:
        stamp = int(Decimal(word).scaleb(9))
    except (InvalidOperation, OverflowError, ValueError):
        stamp = -1
    if not 0 <= stamp < 1 << 62:
        raise Wrong(f"{quoted(word)} is not an instant; write it in seconds, such as 0.033")
    return stamp


def _text_of(path: Path) -> tuple[str, str]:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_LIST + 1)
        if len(data) > _LARGEST_LIST:
            raise Wrong(f"{path.name} is larger than 64 MiB, which is too large for a list")
        return hashlib.sha256(data).hexdigest(), data.decode("utf-8-sig")
    except OSError as error:
        raise Wrong(f"{path.name} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise Wrong(f"{path.name} cannot be read: it is not text") from None


def _each(text: str, name: str, read: Callable[[str], Any]) -> list[Any]:
    """Convert each word between semicolons and line ends with ``read``.

    Raises Wrong with the line of each invalid word.
    """
    found: list[Any] = []
    wrong: list[str] = []
    for line, word in _words(text):
        try:
            found.append(read(word))
        except Wrong as error:
            wrong.append(f"line {line}: {error}")
    if wrong:
        more = f"; and {len(wrong) - _MOST_LISTED} more" if len(wrong) > _MOST_LISTED else ""
        raise Wrong(f"{name}: {'; '.join(wrong[:_MOST_LISTED])}{more}")
    if not found:
        raise Wrong(f"{name} is empty")
    return found


def _words(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        yield from ((number, word.strip()) for word in line.partition("#")[0].split(";") if word.strip())


def sizes_of(file: FromFile) -> Sizes:
    """Return the sizes in a file. Raises Wrong if the file cannot be read or has changed."""
    if file.topic is not None:
        return _read_unchanged(file.path, file.digest).courses[file.topic].sizes
    found, sizes = read_sizes(Path(file.path))
    return sizes if found == file else _changed(file.path)


def instants_of(file: FromFile, lap_s: float) -> Instants:
    """Return the send times in ns, scaled to a lap of ``lap_s``.

    Raises Wrong if the file cannot be read or has changed.
    """
    if file.topic is not None:
        recorded = _read_unchanged(file.path, file.digest)
        at_ns, lap_ns = recorded.courses[file.topic].at_ns, recorded.lap_ns
    else:
        found, at_ns, rate_hz = read_instants(Path(file.path))
        lap_ns = round(file.messages * 1e9 / rate_hz) if found == file else _changed(file.path)
    wanted_ns = round(lap_s * 1e9)
    if wanted_ns == lap_ns:
        return at_ns
    return np.minimum((at_ns * (wanted_ns / lap_ns)).astype(np.uint64), np.uint64(wanted_ns - 1))


@functools.lru_cache(maxsize=2)
def _read_unchanged(path: str, digest: str) -> Sequence:
    found = read_sequence(Path(path))
    return found if found.digest == digest else _changed(path)


def _changed(path: str) -> Any:
    raise Wrong(f"{path} has changed since the suite was read")
