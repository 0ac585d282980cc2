"""Join both ends of a topic of the probe by sequence number.

The result has one-way latencies, and the numbers of lost, duplicated and reordered messages.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.imports.log import ImportedTrial, Records, cell
from middlemark.imports.probe_file import RECEIVED, Stamps
from middlemark.model.cell import Cell
from middlemark.model.outcome import Arrived, RunWarning, Sent, TrialCounts
from middlemark.model.samples import ARRIVAL, NOT_MEASURED, SENDING, SEQUENCE_BITS

_COUNTED = ("sent", "received", "lost", "duplicated", "reordered")
Ns = npt.NDArray[np.int64]


class Rate(msgspec.Struct, frozen=True):
    """A straight line that converts ticks to CLOCK_MONOTONIC. Processes with the same clock have the same line."""

    ticks: int
    ns: int
    ns_per_tick: float

    def at(self, ticks: npt.NDArray[np.uint64] | int) -> Ns:
        """Convert ticks to CLOCK_MONOTONIC in ns."""
        since: Ns = np.asarray(ticks).astype(np.int64) - self.ticks
        at: Ns = self.ns + np.rint(since * self.ns_per_tick).astype(np.int64)
        return at


class End(msgspec.Struct, frozen=True, eq=False):
    """The messages that one process sent or received on a topic, in order of time."""

    of: Stamps
    probe: str
    topic: str
    sequences: npt.NDArray[np.uint64]
    at: Ns
    bytes: npt.NDArray[np.uint64]
    beyond: int
    begin_ns: int
    end_ns: int
    """The time at which the recording ended, because the process ended or its buffer was full."""


class _Sends(msgspec.Struct, frozen=True, eq=False):
    """The sent messages of a topic whose sequence number is unique, ordered by sequence number.

    For each message: its sender's index in ``ends``, its position among that sender's messages, and its time.
    ``twice``: the number of messages whose sequence number is not unique.
    """

    sequences: npt.NDArray[np.uint64]
    ends: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    at: Ns
    twice: int


def clock_of(of: Stamps) -> tuple[str, str]:
    """Return what identifies the clock: the id of the boot (else the file's name), and the clock's name."""
    return of.boot or of.file, of.clock


def ends_of(of: Stamps, rates: Mapping[tuple[str, str], Rate], kind: int) -> Iterator[End]:
    """Yield the topics that a process sent (``kind`` SENT) or received (RECEIVED), each with its messages."""
    rate = rates[clock_of(of)]
    of_kind = of.records[of.records["kind"] == kind]
    for probe, topic in dict.fromkeys(of.names.values()):
        numbers = [number for number, named in of.names.items() if named == (probe, topic)]
        records = of_kind[np.isin(of_kind["topic"], numbers)]
        beyond = sum(of.beyond[number][kind == RECEIVED] for number in numbers)
        if not len(records) and not beyond:
            continue
        last = of.closed or int(max([of.anchors[-1][0], *of.records["at"][-1:]]))
        yield End(
            of=of,
            probe=probe,
            topic=topic,
            sequences=records["value"],
            at=rate.at(records["at"]),
            bytes=records["extra"],
            beyond=beyond,
            begin_ns=int(rate.at(of.anchors[0][0])),
            end_ns=int(rate.at(min(last, of.full or last))),
        )


def trials_of_topic(sent: Sequence[End], received: Sequence[End]) -> Iterator[ImportedTrial]:
    """Yield a trial for each pair of a sending and a receiving probe of the topic."""
    sends = _sends(sent)
    for source in dict.fromkeys(each.probe for each in sent):
        for target in dict.fromkeys(each.probe for each in received):
            chosen = [number for number, each in enumerate(sent) if each.probe == source]
            found = _edge(sent, chosen, [each for each in received if each.probe == target], sends)
            if found is not None:
                yield found


def _sends(sent: Sequence[End]) -> _Sends:
    """Return the sent messages with a unique sequence number.

    If a sequence number was sent twice, both messages are left out: it is unknown which of them arrived.
    """
    sequences = np.concatenate([each.sequences for each in sent])
    ends = np.repeat(np.arange(len(sent)), [len(each.sequences) for each in sent])
    numbers = np.concatenate([np.arange(len(each.sequences)) for each in sent])
    at = np.concatenate([each.at for each in sent])
    distinct, first, counts = np.unique(sequences, return_index=True, return_counts=True)
    once = first[counts == 1]
    return _Sends(distinct[counts == 1], ends[once], numbers[once], at[once], int(counts[counts > 1].sum()))


def _edge(sent: Sequence[End], chosen: Sequence[int], received: Sequence[End], sends: _Sends) -> ImportedTrial | None:
    """Return the trial from the chosen senders to the receivers of one probe; None: no message was due."""
    is_chosen = np.isin(sends.ends, chosen)
    sources = [sent[each] for each in chosen]
    publisher = np.zeros(len(sent), dtype=np.int64)
    publisher[list(chosen)] = np.arange(len(chosen))
    apart = next((r for r in received for s in sources if clock_of(r.of)[0] != clock_of(s.of)[0]), None)
    arrived, records = [], []
    before = unknown = negative = 0
    for index, end in enumerate(received):
        places = np.minimum(np.searchsorted(sends.sequences, end.sequences), max(len(sends.sequences) - 1, 0))
        stamped = sends.sequences[places] == end.sequences if len(sends.sequences) else np.zeros(len(places), bool)
        unknown += int((~stamped).sum())
        matching = np.flatnonzero(stamped & is_chosen[places]) if len(sends.sequences) else np.zeros(0, np.int64)
        _, first = np.unique(places[matching], return_index=True)
        firsts = matching[np.sort(first)]
        places = places[firsts]
        one_way = end.at[firsts] - sends.at[places]
        due, early = _due(sends, is_chosen, places, end, sources, apart is not None)
        before += early
        raw = np.zeros(len(firsts), ARRIVAL)
        raw["stamp"] = (publisher[sends.ends[places]] << SEQUENCE_BITS) | (sends.numbers[places] + 1)
        raw["received_ns"], raw["one_way_ns"] = end.at[firsts], np.maximum(one_way, 0)
        backwards = one_way < 0 if apart is None else np.zeros(len(firsts), bool)
        negative += int(backwards.sum())
        records.append(Records("subscriber", index, raw[~backwards]))
        arrived.append(
            Arrived(
                index=index,
                topic=0,
                expected=due,
                received=len(firsts),
                lost=due - len(firsts),
                duplicated=len(matching) - len(firsts),
                reordered=_reordered(sends.ends[places], sends.numbers[places]),
                damaged=0,
                first_received_ns=int(end.at[firsts[0]]) if len(firsts) else 0,
                last_received_ns=int(end.at[firsts[-1]]) if len(firsts) else 0,
            )
        )
    if not any(each.expected for each in arrived):
        return None
    begin = min(int(each.at[0]) for each in sources if len(each.at))
    last = max(each.last_received_ns for each in arrived)
    where = _where(sources, received)
    return ImportedTrial(
        cell=where,
        samples=sum(len(each.raw) for each in records),
        counts=TrialCounts(
            sent=sum(len(each.at) for each in sources), **_total(arrived, "received", "lost", "duplicated", "reordered")
        ),
        counted=_COUNTED,
        measured_s=max(last - begin, 1) / 1e9 if apart is None and last else None,
        records=(*(_sending(index, each) for index, each in enumerate(sources)), *records),
        publishers=tuple(_sent(index, each) for index, each in enumerate(sources)),
        subscribers=tuple(arrived),
        stamps_absent=None if apart is None else _APART,
        warnings=(imported_warning(where), *_doubts(sources, received, before, unknown, negative, sends.twice)),
    )


_APART = "both ends ran on different machines, or in different boots of one machine: they have no common clock"


def _total(arrived: Sequence[Arrived], *fields: str) -> dict[str, int]:
    return {field: sum(getattr(each, field) for each in arrived) for field in fields}


def _due(
    sends: _Sends, is_chosen: npt.NDArray[np.bool_], arrived: Ns, end: End, sources: Sequence[End], apart: bool
) -> tuple[int, int]:
    """Return how many messages were due, and how many were sent too early to count.

    Messages are due from the first message that arrived, because both ends had found each other by then. They are due
    until the receiver ends. If a buffer was full, the recording may lack arrivals, so messages are due only until the
    last message that arrived.
    """
    sent_at = sends.at[is_chosen]
    if not len(arrived):
        if apart or end.beyond:
            return 0, 0
        return int(((sent_at >= end.begin_ns) & (sent_at <= end.end_ns)).sum()), 0
    first, last = int(sends.at[arrived].min()), int(sends.at[arrived].max())
    until = last if end.of.full or any(each.of.full for each in sources) else end.end_ns
    due = (sent_at >= first) & ((sent_at <= until) | apart)
    due[np.searchsorted(np.flatnonzero(is_chosen), arrived)] = True
    return int(due.sum()), int((sent_at < first).sum())


def _reordered(ends: npt.NDArray[np.int64], numbers: Ns) -> int:
    found = 0
    for each in np.unique(ends):
        of = numbers[ends == each]
        found += int((of < np.maximum.accumulate(of)).sum())
    return found


def _sending(index: int, end: End) -> Records:
    raw = np.zeros(len(end.at), SENDING)
    if len(raw):
        raw["begin_ns"] = end.at - end.at[0]
    raw["write_ns"] = NOT_MEASURED
    return Records("publisher", index, raw)


def _sent(index: int, end: End) -> Sent:
    return Sent(
        index=index,
        topic=0,
        scheduled=None,
        sent=len(end.at),
        timed_out=0,
        publish_failed=0,
        late_sends=None,
        unsent=None,
        blocked_ns=None,
        pacing_ns=0,
        writing_ns=None,
        first_sent_ns=int(end.at[0]) if len(end.at) else 0,
        last_sent_ns=int(end.at[-1]) if len(end.at) else 0,
    )


def _where(sources: Sequence[End], received: Sequence[End]) -> Cell:
    sizes = np.unique(np.concatenate([each.bytes for each in sources]))
    one = len({each.of.file for each in (*sources, *received)}) == 1
    found = cell(
        f"{sources[0].topic} (probe)",
        int(sizes[0]) if len(sizes) == 1 and sizes[0] < 1 << 40 else 0,
        "stream",
        (),
        publishers=len(sources),
        subscribers=len(received),
        topics=1,
        processes=1 if one else 2,
    )
    return msgspec.structs.replace(found, label=f"{sources[0].probe} → {received[0].probe}")


def imported_warning(of: Cell) -> RunWarning:
    """Return the warning that every row of the probe has: what the files do not say about the measurement."""
    unstated = [each for each in ("size", "transport", "reliability", "depth") if each in of.unknown]
    return RunWarning(
        "imported",
        f"stamped by the program itself, which does not say {', '.join(unstated)}, or what else ran on the machine",
        "do not rank it with rows measured here; compare it with other recordings of the same program",
    )


def beyond_buffer(text: str) -> RunWarning:
    """Return the warning about stamps that did not fit into the buffer."""
    return RunWarning(
        "beyond-the-buffer", text, "enlarge the buffer: set MIDDLEMARK_PROBE_RECORDS, a number of records of 32 bytes"
    )


def written_back(read: Sequence[Stamps]) -> list[RunWarning]:
    """Return the warning about stamps in a file on a disk, which costs time. Empty: all files were in memory."""
    if all(each.in_memory for each in read):
        return []
    return [
        RunWarning(
            "stamps-on-disk",
            "its stamps were written into a folder on a disk, and a stamp may wait while the kernel writes a page back",
            "set MIDDLEMARK_PROBE to a folder in /dev/shm",
        )
    ]


def _doubts(
    sources: Sequence[End], received: Sequence[End], before: int, unknown: int, negative: int, twice: int
) -> Iterator[RunWarning]:
    sent, arrived = sum(each.beyond for each in sources), sum(each.beyond for each in received)
    if sent or arrived:
        yield beyond_buffer(
            f"{sent:,} sent and {arrived:,} received messages did not fit into the buffer: they are only counted"
        )
    if before:
        yield RunWarning(
            "before-the-first",
            f"{before:,} messages were sent before the first arrival: the ends had not found each other, or "
            "the messages were lost; they are not counted as lost",
            "publish only when the subscriber is matched",
        )
    if unknown:
        yield RunWarning(
            "never-sent",
            f"{unknown:,} messages arrived that no sender stamped; they are left out",
            "stamp both ends with the same topic and sequence, and start with an empty folder",
        )
    if twice:
        yield RunWarning(
            "sent-twice",
            f"{twice:,} messages were sent with the sequence of another message of the topic; they are left out",
            "use one sequence per message: number a topic's publishers separately, and continue after a restart",
        )
    if negative:
        yield RunWarning(
            "sent-after-arrival",
            f"{negative:,} messages have an arrival before the stamp of their sending; no latency includes them",
            "stamp a message just before passing it to the middleware, not after",
        )
    yield from written_back([each.of for each in (*sources, *received)])
