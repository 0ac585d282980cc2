"""Read sockperf's output: round trips over sockets (ping-pong, under-load) and rates (throughput)."""

import re
from collections.abc import Iterable

from middlemark.imports.columns import Form, Kind, PrintedColumn, summary_columns
from middlemark.imports.lines import Lines, number
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, halved, imported_warning
from middlemark.imports.plausible import differ
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import QUANTILES, Summary, Times
from middlemark.stats.quantiles import samples_needed

TOOL = "sockperf"
_PERCENTILES = {
    "percentile 50.000": "p50",
    "percentile 90.000": "p90",
    "percentile 99.000": "p99",
    "percentile 99.900": "p99_9",
    "percentile 99.990": "p99_99",
    "<MIN>": "min",
    "<MAX>": "max",
    "avg": "mean",
    "std-dev": "stdev",
}


def _form(known_by: str, kind: Kind) -> Form:
    return Form(
        tool=TOOL,
        versions="3.7",
        known_by=known_by,
        source="src/client.cpp at 3.7",
        columns=(
            *summary_columns(kind, "us", "run", "round_trip", _PERCENTILES),
            PrintedColumn("observations", "count", "", "run", "received"),
            PrintedColumn("# dropped messages", "count", "", "run", "lost"),
        ),
    )


HALVES = _form("avg-latency, Summary: Latency is", "half round trip")
WHOLE = _form("avg-rtt, Summary: Round trip is (--full-rtt)", "whole round trip")
RATE = Form(
    tool=f"{TOOL} throughput",
    versions="3.7",
    known_by="Summary: Message Rate is",
    source="src/client.cpp at 3.7",
    columns=(PrintedColumn("Message Rate", "rate", "1/s", "run", "sent", "sent by the client, not arrived"),),
)

_SOCKPERF = re.compile(rb"sockperf: *(.*)")
_AVERAGE = re.compile(rb"(?:=+> *)?avg-(lat|latency|rtt)= *(\d{1,12}\.\d{1,9}) \(std-dev= *(\d{1,12}\.\d{1,9})[,)].*")
_VALID = re.compile(rb"\[Valid Duration\] RunTime=.*; SentMessages=(\d{1,15}); ReceivedMessages=(\d{1,15})")
_COUNTS = re.compile(
    rb"# dropped messages = (\d{1,15}); # duplicated messages = (\d{1,15}); # out-of-order messages = (\d{1,15})"
)
_TOTAL = re.compile(rb"Total (\d{1,15}) observations; each percentile contains .*")
_LINE = re.compile(rb"---> (percentile +\d{1,3}\.\d{3}|<MAX> observation|<MIN> observation) = +(\d{1,12}\.\d{1,9})")
_RATE = re.compile(rb"Summary: Message Rate is (\d{1,15}) \[msg/sec\].*")
_KNOWN = re.compile(rb"^sockperf: ", re.M)
_OTHER = re.compile(rb"sockperf\[.*\].*|\[ *\d+\] IP = .*")


class _SockperfRun:
    """The output of one run. The average, or else the rate, is its first line."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.times: dict[str, float] = {}
        self.counts = TrialCounts()
        self.counted: list[str] = []
        self.samples = 0
        self.sent_hz: float | None = None


def _read(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    runs: list[_SockperfRun] = []
    valid: tuple[int, int] | None = None
    for index, line in lines.each():
        found = _SOCKPERF.fullmatch(line)
        if found is None:
            if _OTHER.fullmatch(line) is None:
                lines.refuse(index, line)
            continue
        text = found[1].strip()
        if counts := _VALID.fullmatch(text):
            valid = int(counts[1]), int(counts[2])
        elif average := _AVERAGE.fullmatch(text):
            run = _SockperfRun(WHOLE if average[1] == b"rtt" else HALVES)
            run.times |= {"mean": number(average[2]), "stdev": number(average[3])}
            if valid is not None:
                run.counts, run.counted = TrialCounts(sent=valid[0], received=valid[1]), ["sent", "received"]
            valid = None
            runs.append(run)
        elif rate := _RATE.fullmatch(text):
            run = _SockperfRun(RATE)
            run.sent_hz = number(rate[1])
            runs.append(run)
        elif runs:
            _figure(runs[-1], text)
    measured = tuple(_stream(each) if each.form is RATE else _round_trips(each) for each in runs)
    return lines.log(measured)


def _figure(run: _SockperfRun, text: bytes) -> None:
    """Read a line below the line of the average. Lines without a known figure are skipped."""
    if counts := _COUNTS.fullmatch(text):
        lost, duplicated, reordered = map(int, counts.groups())
        run.counts = TrialCounts(
            sent=run.counts.sent,
            received=run.counts.received,
            lost=lost,
            duplicated=duplicated,
            reordered=reordered,
        )
        run.counted += ["lost", "duplicated", "reordered"]
    elif total := _TOTAL.fullmatch(text):
        run.samples = int(total[1])
    elif line := _LINE.fullmatch(text):
        name = re.sub(r" +", " ", line[1].decode()).removesuffix(" observation")
        if name in _PERCENTILES:
            run.times[_PERCENTILES[name]] = number(line[2])


def _round_trips(run: _SockperfRun) -> ImportedTrial:
    where = cell("socket (sockperf)", 0, publishers=1, topics=1)
    ns = run.form["avg"].ns
    times = {
        field: ns * value
        for field, value in run.times.items()
        if field not in QUANTILES or not run.samples or run.samples >= samples_needed(QUANTILES[field])
    }
    halves = (halved(TOOL, ", unless --full-rtt is set"),) if run.form.halves else ()
    doubts = (
        differ("the number of its observations", run.samples, "its number of received messages", run.counts.received)
        if run.samples and "received" in run.counted
        else ()
    )
    return ImportedTrial(
        cell=where,
        times=Times(round_trip_ns=Summary(**times)),
        samples=run.samples,
        counts=run.counts if run.counted else None,
        counted=tuple(dict.fromkeys(run.counted)),
        warnings=(imported_warning(where), *halves, *doubts),
    )


def _stream(run: _SockperfRun) -> ImportedTrial:
    where = cell("socket (sockperf)", 0, "stream", topics=1, rate="max")
    sent = RunWarning(
        "sent-not-received",
        "sockperf's message rate is the rate that its client sent; the client does not know how many messages arrived",
        "measure a stream with Middlemark, or compare it only with rates that were sent",
    )
    return ImportedTrial(cell=where, sent_hz=run.sent_hz, warnings=(imported_warning(where), sent))


FORMAT = LogFormat("sockperf's lines", TOOL, _KNOWN, _read, (HALVES, WHOLE, RATE))
