"""Read the files of the probe, one per process. Joins both ends of each topic, and shows spans as round trips.

A row is a topic from one probe to another, or a span or an iteration of one probe. Processes with the same probe name
count as one probe.
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.imports.log import ImportedTrial, Log, NotRead, Records, cell
from middlemark.imports.probe_ends import (
    End,
    Rate,
    beyond_buffer,
    clock_of,
    ends_of,
    imported_warning,
    trials_of_topic,
    written_back,
)
from middlemark.imports.probe_file import ITERATION, RECEIVED, SENT, SPAN, Stamps, is_a_clock, read_stamps
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.samples import HISTOGRAM, NOT_MEASURED, SAMPLE
from middlemark.model.times import Times
from middlemark.stats.buckets import summarise_both

TOOL = "probe"
FORMAT_OF_PROBE = (TOOL, "stamps of the probe")
"""The names of the tool and of its format. The format is no ``LogFormat``, because all files of a folder are read
together."""


def read_probes(files: Sequence[tuple[str, bytes]]) -> Log:
    """Return the measurements of all processes. Raises NotRead with every unreadable file and the reason."""
    read, wrong = [], []
    for name, data in files:
        try:
            read.append(read_stamps(name, data))
        except NotRead as error:
            wrong.append(f"{name}: {error}")
    if wrong:
        raise NotRead("; ".join(wrong))
    rates = _rates(read)
    sent = [each for of in read for each in ends_of(of, rates, SENT)]
    received = [each for of in read for each in ends_of(of, rates, RECEIVED)]
    topics = dict.fromkeys(each.topic for each in sent)
    notes = [*_notes(read), *_one_sided(sent, received)]
    measured = [
        *(
            row
            for topic in topics
            for row in trials_of_topic(*([e for e in ends if e.topic == topic] for ends in (sent, received)))
        ),
        *(row for of in read for kind in (SPAN, ITERATION) for row in _spans(of, rates[clock_of(of)], kind)),
    ]
    return Log(
        measured=tuple(measured),
        lines=sum(len(each.records) for each in read),
        unread=0,
        unit="stamp",
        notes=tuple(notes),
    )


def _rates(read: Sequence[Stamps]) -> dict[tuple[str, str], Rate]:
    anchors: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for each in read:
        anchors.setdefault(clock_of(each), []).extend(each.anchors)
    found = {}
    for key, pairs in anchors.items():
        pairs.sort()
        if not is_a_clock(pairs):
            files = ", ".join(each.file for each in read if clock_of(each) == key)
            raise NotRead(
                f"{files}: damaged: the files are from one boot of one machine, but their clocks contradict each other"
            )
        (ticks, ns), (last_ticks, last_ns) = pairs[0], pairs[-1]
        found[key] = Rate(ticks, ns, (last_ns - ns) / (last_ticks - ticks))
    return found


def _spans(of: Stamps, rate: Rate, kind: int) -> Iterator[ImportedTrial]:
    what = "span" if kind == SPAN else "iteration"
    for probe, name in dict.fromkeys(of.names.values()):
        numbers = [number for number, named in of.names.items() if named == (probe, name)]
        records = of.records[(of.records["kind"] == kind) & np.isin(of.records["topic"], numbers)]
        counted = [of.buckets[number, kind] for number in numbers if (number, kind) in of.buckets]
        beyond = sum(int(each[:, 2].sum()) for each in counted)
        if not len(records) and not beyond:
            continue
        raw = np.zeros(len(records), SAMPLE)
        at = rate.at(records["at"])
        raw["sequence"] = np.arange(1, len(raw) + 1)
        raw["begin_ns"] = at - at[:1] if len(at) else 0
        raw["round_trip_ns"] = raw["first_reply_ns"] = np.rint(records["value"].astype(np.float64) * rate.ns_per_tick)
        for field in ("write_ns", "take_ns", "loan_ns", "fill_ns", "check_ns", "arrived_ns"):
            raw[field] = NOT_MEASURED
        where = msgspec.structs.replace(
            cell(f"{name} ({what})", 0, subscribers=0, processes=1, rate="max"), label=probe
        )
        warnings = [
            imported_warning(where),
            RunWarning(
                f"{what}-not-round-trip",
                f"it is the time of a {what} in the program, shown here as a round trip",
                f"the {what} may contain no message; compare it with the same {what} in other recordings",
            ),
            *written_back([of]),
        ]
        if beyond:
            warnings.append(
                beyond_buffer(
                    f"{beyond:,} of its {beyond + len(raw):,} times are only in a histogram, with an error of up to "
                    "1.6 %"
                )
            )
        both = summarise_both(raw["round_trip_ns"], _histogram(counted, rate)) if beyond else None
        yield ImportedTrial(
            cell=where,
            times=Times(round_trip_ns=both),
            samples=len(raw) + beyond,
            counts=TrialCounts(received=len(raw) + beyond),
            counted=("received",),
            records=() if beyond else (Records("ping", 0, raw),),
            warnings=tuple(warnings),
        )


def _histogram(counted: Sequence[npt.NDArray[np.int64]], rate: Rate) -> npt.NDArray[np.void]:
    """Return the histogram in ns. If a tick is shorter than 1 ns, neighbouring buckets overlap by less than 1 ns."""
    rows = np.concatenate(counted)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    found = np.zeros(len(rows), HISTOGRAM)
    found["lower_ns"] = np.floor(rows[:, 0] * rate.ns_per_tick)
    found["upper_ns"] = np.maximum(np.floor(rows[:, 1] * rate.ns_per_tick), found["lower_ns"] + 1)
    found["count"] = rows[:, 2]
    return found


def _notes(read: Sequence[Stamps]) -> Iterator[str]:
    for each in read:
        parts = [
            "" if each.closed else "the process did not end normally, or is still running",
            f"{each.torn:,} stamps were incomplete when the process ended" if each.torn else "",
            f"{each.unnamed:,} names did not fit or were too long, and nothing is recorded for them"
            if each.unnamed
            else "",
        ]
        if remarks := "; ".join(filter(None, parts)):
            yield f"{each.file}: {remarks}"
    yield from (f"host {host}" for host in dict.fromkeys(each.host for each in read if each.host))


def _one_sided(sent: Sequence[End], received: Sequence[End]) -> Iterator[str]:
    ways = ((sent, received, "were sent, but none was received"), (received, sent, "were received, but none was sent"))
    for own, others, what in ways:
        there = {each.topic for each in others}
        for topic in dict.fromkeys(each.topic for each in own if each.topic not in there):
            number = sum(len(each.at) for each in own if each.topic == topic)
            yield (
                f"topic {topic}: {number:,} messages {what} by a process with a probe, so latency and losses are "
                "unknown"
            )
