"""Both ends of a topic of the probe, joined by sequence: one-way latencies, and what was lost, doubled or overtaken."""

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
    """How ticks become CLOCK_MONOTONIC: one line for all processes with that clock, so that none is ahead."""

    ticks: int
    ns: int
    ns_per_tick: float

    def at(self, ticks: npt.NDArray[np.uint64] | int) -> Ns:
        """Return the instants in ns."""
        since: Ns = np.asarray(ticks).astype(np.int64) - self.ticks
        at: Ns = self.ns + np.rint(since * self.ns_per_tick).astype(np.int64)
        return at


class End(msgspec.Struct, frozen=True, eq=False):
    """What one process sent, or received, on a topic; in the order of time."""

    of: Stamps
    probe: str
    topic: str
    sequences: npt.NDArray[np.uint64]
    at: Ns
    bytes: npt.NDArray[np.uint64]
    beyond: int
    begin_ns: int
    end_ns: int
    """Until when what it received was stamped: its end, or when its records were full."""


class _Sends(msgspec.Struct, frozen=True, eq=False):
    """What was sent on a topic under a sequence of its own, by sequence: the end, the number there, the instant."""

    sequences: npt.NDArray[np.uint64]
    ends: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    at: Ns
    twice: int


def clock_of(of: Stamps) -> tuple[str, str]:
    """Return the start of the machine, or the file where that is not known, and the clock."""
    return of.boot or of.file, of.clock


def ends_of(of: Stamps, rates: Mapping[tuple[str, str], Rate], kind: int) -> Iterator[End]:
    """Yield the ends of a process that sent, or that received, by ``kind``."""
    rate = rates[clock_of(of)]
    mine = of.records[of.records["kind"] == kind]
    for probe, topic in dict.fromkeys(of.names.values()):
        numbers = [number for number, named in of.names.items() if named == (probe, topic)]
        records = mine[np.isin(mine["topic"], numbers)]
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


def of_topic(sent: Sequence[End], received: Sequence[End]) -> Iterator[ImportedTrial]:
    """Yield a trial for each probe that sent on the topic, and each that received from it."""
    sends = _sends(sent)
    for source in dict.fromkeys(each.probe for each in sent):
        for target in dict.fromkeys(each.probe for each in received):
            chosen = [number for number, each in enumerate(sent) if each.probe == source]
            found = _edge(sent, chosen, [each for each in received if each.probe == target], sends)
            if found is not None:
                yield found


def _sends(sent: Sequence[End]) -> _Sends:
    """Return who sent what. A sequence that was sent twice is nobody's: which of the two arrived cannot be told."""
    sequences = np.concatenate([each.sequences for each in sent])
    ends = np.repeat(np.arange(len(sent)), [len(each.sequences) for each in sent])
    numbers = np.concatenate([np.arange(len(each.sequences)) for each in sent])
    at = np.concatenate([each.at for each in sent])
    known, first, counts = np.unique(sequences, return_index=True, return_counts=True)
    once = first[counts == 1]
    return _Sends(known[counts == 1], ends[once], numbers[once], at[once], int(counts[counts > 1].sum()))


def _edge(sent: Sequence[End], chosen: Sequence[int], received: Sequence[End], sends: _Sends) -> ImportedTrial | None:
    """Return what came from the chosen senders to receivers of one probe; None: nothing was due."""
    mine = np.isin(sends.ends, chosen)
    sources = [sent[each] for each in chosen]
    publisher = np.zeros(len(sent), dtype=np.int64)
    publisher[list(chosen)] = np.arange(len(chosen))
    apart = next((r for r in received for s in sources if clock_of(r.of)[0] != clock_of(s.of)[0]), None)
    arrived, records = [], []
    before = unknown = negative = 0
    for index, end in enumerate(received):
        places = np.minimum(np.searchsorted(sends.sequences, end.sequences), max(len(sends.sequences) - 1, 0))
        known = sends.sequences[places] == end.sequences if len(sends.sequences) else np.zeros(len(places), bool)
        unknown += int((~known).sum())
        ours = np.flatnonzero(known & mine[places]) if len(sends.sequences) else np.zeros(0, np.int64)
        _, first = np.unique(places[ours], return_index=True)
        firsts = ours[np.sort(first)]
        places = places[firsts]
        one_way = end.at[firsts] - sends.at[places]
        due, early = _due(sends, mine, places, end, sources, apart is not None)
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
                duplicated=len(ours) - len(firsts),
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


_APART = "both ends ran on different machines, or before and after a restart: no clock is known to both"


def _total(arrived: Sequence[Arrived], *fields: str) -> dict[str, int]:
    return {field: sum(getattr(each, field) for each in arrived) for field in fields}


def _due(
    sends: _Sends, mine: npt.NDArray[np.bool_], arrived: Ns, end: End, sources: Sequence[End], apart: bool
) -> tuple[int, int]:
    """Return how many messages had to arrive, and how many were sent before and are not counted.

    Due is what was sent from the first message on that arrived, which is when the two had found each other, to the
    receiver's end. Where records were full, an arrival may be missing only from what is recorded: then to the last one.
    """
    sent_at = sends.at[mine]
    if not len(arrived):
        if apart or end.beyond:
            return 0, 0
        return int(((sent_at >= end.begin_ns) & (sent_at <= end.end_ns)).sum()), 0
    first, last = int(sends.at[arrived].min()), int(sends.at[arrived].max())
    until = last if end.of.full or any(each.of.full for each in sources) else end.end_ns
    due = (sent_at >= first) & ((sent_at <= until) | apart)
    due[np.searchsorted(np.flatnonzero(mine), arrived)] = True
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
    """Return the warning of every row."""
    telling = [each for each in ("size", "transport", "reliability", "depth") if each in of.unknown]
    return RunWarning(
        "imported",
        f"stamped by the program itself; that does not tell {', '.join(telling)}, or what else the machine did",
        "do not rank it beside rows measured here: hold it against other recordings of the same program",
    )


def beyond_buffer(text: str) -> RunWarning:
    """Return the warning of what found no room."""
    return RunWarning("beyond-the-buffer", text, "give it more room: MIDDLEMARK_PROBE_RECORDS, of 32 bytes each")


def written_back(read: Sequence[Stamps]) -> list[RunWarning]:
    """Return the warning of stamps that were made in a file on a disk, if any were."""
    if all(each.in_memory for each in read):
        return []
    return [
        RunWarning(
            "stamps-on-disk",
            "its stamps were written into a folder on a disk: when the kernel writes a page back, a stamp may wait",
            "let MIDDLEMARK_PROBE name a folder in /dev/shm",
        )
    ]


def _doubts(
    sources: Sequence[End], received: Sequence[End], before: int, unknown: int, negative: int, twice: int
) -> Iterator[RunWarning]:
    sent, arrived = sum(each.beyond for each in sources), sum(each.beyond for each in received)
    if sent or arrived:
        yield beyond_buffer(
            f"{sent:,} sent and {arrived:,} received are beyond the buffer: only counted, and in no figure"
        )
    if before:
        yield RunWarning(
            "before-the-first",
            f"{before:,} messages were sent before the first that arrived: the two had not found each other, or they "
            "were lost; they are not counted as lost",
            "publish when the subscriber is matched",
        )
    if unknown:
        yield RunWarning(
            "never-sent",
            f"{unknown:,} messages arrived of which no stamp says, or only one, that they were sent: left out",
            "stamp both ends with the same topic and sequence, and start with an empty folder",
        )
    if twice:
        yield RunWarning(
            "sent-twice",
            f"{twice:,} were sent under a sequence that another message of the topic has: left out",
            "one sequence a message: several publishers of a topic number theirs apart, and a restart goes on counting",
        )
    if negative:
        yield RunWarning(
            "sent-after-arrival",
            f"{negative:,} messages arrived before the stamp of their sending: they are in no latency",
            "stamp just before the message is handed to the middleware, not after",
        )
    yield from written_back([each.of for each in (*sources, *received)])
