"""Read one file of the probe: the stamps of one process, in the layout of ``probe/src/file.h``."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.imports.lines import clean, shown
from middlemark.imports.log import NotRead

MAGIC = b"MMPROBE\0"
SENT, RECEIVED, SPAN, ITERATION = 1, 2, 3, 4
_VERSION = 1
_CLOCKS = {1: "TSC", 2: "CNTVCT", 3: "CLOCK_MONOTONIC"}
_NAMES = 256
_CHUNK_RECORDS = 1023
_OCTAVE_BITS, _OCTAVES = 5, 44
_BUCKETS = _OCTAVES << _OCTAVE_BITS
_MEMORY = (0x0102_1994, 0x8584_58F6)
"""The magic numbers of tmpfs and ramfs. These file systems never write to a disk, so no stamp waits for a disk."""

_MOST = 1 << 60
"""No counter reaches this number of ticks."""
LONGEST = 1 << 55
"""No recording has this number of ticks: at 3 GHz they take months."""
NS_PER_TICK = (0.05, 100.0)
"""The shortest and longest tick of any clock: 20 GHz and 10 MHz."""

_ANCHOR = [("ticks", "<u8"), ("ns", "<u8")]
_HEAD = np.dtype(
    {
        "names": [
            *("magic", "version", "clock", "pid", "names", "chunks", "bytes", "filesystem", "opened"),
            *("closed_ticks", "full_ticks", "unnamed", "boot", "host", "names_claimed", "chunks_claimed"),
        ],
        "formats": [
            *("S8", "<u4", "<u4", "<u4", "<u4", "<u8", "<u8", "<u8", (_ANCHOR, (2,))),
            *("<u8", "<u8", "<u8", "S40", "S64", "<u8", "<u8"),
        ],
        "offsets": [0, 8, 12, 16, 20, 24, 32, 40, 48, 80, 88, 96, 104, 144, 256, 320],
        "itemsize": 4096,
    }
)
_NAME = np.dtype([("ready", "<u4"), ("owner", "<u4"), ("text", "S120")])
_BEYOND = np.dtype(
    [("sent", "<u8"), ("received", "<u8"), ("durations", "<u8", (_BUCKETS,)), ("iterations", "<u8", (_BUCKETS,))]
)
RECORD = np.dtype([("topic", "<u4"), ("kind", "<u4"), ("at", "<u8"), ("value", "<u8"), ("extra", "<u8")])
_CHUNK = np.dtype([("claimed", "<u8"), ("anchor", _ANCHOR), ("thread", "<u8"), ("records", RECORD, (_CHUNK_RECORDS,))])
_BEYOND_AT = 4096 + _NAMES * _NAME.itemsize
_CHUNKS_AT = -(-(_BEYOND_AT + _NAMES * _BEYOND.itemsize) // 4096) * 4096

Records = npt.NDArray[Any]


class Stamps(msgspec.Struct, frozen=True, kw_only=True):
    """The stamps of one process. Times and durations are ticks of the process's clock."""

    file: str
    host: str
    boot: str
    """The id of this boot of the machine; processes with the same id share its clocks. Empty: unknown."""
    clock: str
    anchors: tuple[tuple[int, int], ...]
    """Ascending pairs: ticks, and CLOCK_MONOTONIC in ns read at the same time."""
    names: dict[int, tuple[str, str]]
    """Topic number → probe and topic."""
    records: Records
    """The complete records, in order of time."""
    torn: int
    """The number of records that were incomplete when the process ended."""
    closed: int | None
    """The ticks at which the process ended; None: the process was killed, crashed, or is still running."""
    full: int | None
    """The ticks at which the first stamp did not fit; None: all stamps fitted."""
    unnamed: int
    beyond: dict[int, tuple[int, int]]
    """Topic number → the number of sent and of received messages whose stamps did not fit."""
    buckets: dict[tuple[int, int], Records]
    """(Topic number, SPAN or ITERATION) → durations that did not fit, as lower bound, upper bound and count."""
    in_memory: bool
    """True if the file was in memory, on a file system that never writes to a disk."""


def is_stamps(head: bytes) -> bool:
    """Say whether a file that begins like this is from the probe."""
    return head.startswith(MAGIC)


def read_stamps(file: str, data: bytes) -> Stamps:
    """Read the file. Raises NotRead, which names the damaged bytes or record."""
    if not is_stamps(data):
        raise NotRead(f"it is not a file of the probe: it begins with {shown(data[:24])!r}" if data else "it is empty")
    if len(data) < _CHUNKS_AT:
        raise NotRead(f"byte {len(data):,}: the file is cut off before the records")
    head = np.frombuffer(data, _HEAD, 1)[0]
    if head["version"] != _VERSION:
        raise NotRead(f"byte 8: version {head['version']}; this Middlemark reads {_VERSION}")
    chunks = int(head["chunks"])
    expected = _CHUNKS_AT + chunks * _CHUNK.itemsize
    if head["clock"] not in _CLOCKS or head["names"] != _NAMES or int(head["bytes"]) != expected:
        raise NotRead("bytes 12 to 40: damaged: clock, names, chunks and size contradict each other")
    if len(data) != expected:
        raise NotRead(f"byte {min(len(data), expected):,}: the file has {len(data):,} bytes, expected {expected:,}")
    names = _names(np.frombuffer(data, _NAME, _NAMES, 4096))
    used = np.frombuffer(data, _CHUNK, min(int(head["chunks_claimed"]), chunks), _CHUNKS_AT)
    counts = np.minimum(used["claimed"], _CHUNK_RECORDS).astype(np.int64)
    claimed = used["records"][np.arange(_CHUNK_RECORDS) < counts[:, None]]
    whole = claimed[claimed["kind"] != 0]
    anchors = _anchors([*head["opened"], *used["anchor"]])
    far = np.abs(whole["at"].astype(np.int64) - anchors[0][0]) > LONGEST
    durations = (whole["kind"] >= SPAN) & (whole["value"] > LONGEST)
    wrong = np.flatnonzero(
        (whole["kind"] > ITERATION) | ~np.isin(whole["topic"], list(names)) | (whole["at"] > _MOST) | far | durations
    )
    if len(wrong):
        first = whole[wrong[0]]
        damage = f"kind {first['kind']} of topic {first['topic']}, at tick {first['at']}"
        raise NotRead(f"record {wrong[0] + 1:,}: damaged: {damage}")
    for place, field in (("closed", "closed_ticks"), ("full", "full_ticks")):
        if head[field] and abs(int(head[field]) - anchors[0][0]) > LONGEST:
            raise NotRead(f"bytes 80 to 96: damaged: {place} at tick {head[field]}")
    records = whole[np.argsort(whole["at"], kind="stable")]
    beyond = np.frombuffer(data, _BEYOND, _NAMES, _BEYOND_AT)
    return Stamps(
        file=file,
        host=_text(head["host"]),
        boot=_text(head["boot"]),
        clock=_CLOCKS[int(head["clock"])],
        anchors=anchors,
        names=names,
        records=records,
        torn=len(claimed) - len(whole),
        closed=int(head["closed_ticks"]) or None,
        full=int(head["full_ticks"]) or None,
        unnamed=int(head["unnamed"]),
        beyond={topic: (int(beyond[topic - 1]["sent"]), int(beyond[topic - 1]["received"])) for topic in names},
        buckets={
            (topic, kind): found
            for topic in names
            for kind, field in ((SPAN, "durations"), (ITERATION, "iterations"))
            if len(found := _buckets(beyond[topic - 1][field]))
        },
        in_memory=int(head["filesystem"]) in _MEMORY,
    )


def _names(table: Records) -> dict[int, tuple[str, str]]:
    texts = {number: _text(each["text"]) for number, each in enumerate(table, start=1) if each["ready"]}
    owners = {number: int(table[number - 1]["owner"]) for number in texts}
    return {number: (texts[owner], texts[number]) for number, owner in owners.items() if owner in texts}


def _text(raw: bytes) -> str:
    return clean(raw.decode(errors="backslashreplace"))


def _anchors(pairs: list[Records]) -> tuple[tuple[int, int], ...]:
    """Return the anchors. An anchor of zeros is left out: a thread was killed while it claimed a chunk."""
    found = sorted({(int(each["ticks"]), int(each["ns"])) for each in pairs if each["ticks"] and each["ns"]})
    if len(found) < 2 or max(found[-1]) > _MOST or not is_a_clock(found):
        raise NotRead("bytes 48 to 80: damaged: its clock does not advance")
    return tuple(found)


def is_a_clock(pairs: Sequence[tuple[int, int]]) -> bool:
    """Say whether these ascending ticks and ns can come from one clock."""
    (ticks, ns), (last_ticks, last_ns) = pairs[0], pairs[-1]
    least, most = NS_PER_TICK
    return last_ticks - ticks < LONGEST and least * (last_ticks - ticks) < last_ns - ns < most * (last_ticks - ticks)


def _buckets(counts: Records) -> Records:
    """Return lower bound, upper bound (exclusive) and count of each non-empty bucket; see core/histogram.hpp."""
    index = np.flatnonzero(counts)
    shift = np.where(index < 2 << _OCTAVE_BITS, 0, (index >> _OCTAVE_BITS) - 1)
    lower = (index - (shift << _OCTAVE_BITS)) << shift
    return np.stack([lower, lower + (1 << shift), counts[index].astype(np.int64)], axis=1)
