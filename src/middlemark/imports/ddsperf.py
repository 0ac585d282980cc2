"""Read the output of Cyclone DDS's ddsperf. Each process prints one line per second, which begins with its PID."""

import math
import re
from collections.abc import Iterable, Iterator

import msgspec

from middlemark.imports.columns import Form, PrintedColumn, summary_columns
from middlemark.imports.ddsperf_costs import Costs, cost_warnings
from middlemark.imports.lines import Lines, clean, number
from middlemark.imports.log import ImportedTrial, Log, LogFormat, NotRead, cell, halved, imported_warning, no_result
from middlemark.imports.plausible import ascending, contradiction, differ, in_lines, near
from middlemark.imports.values import Values
from middlemark.model.cell import Cell
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import Summary, Times

TOOL = "ddsperf"
_ADAPTER = "cyclonedds (ddsperf)"
_KEPT = 20_000
"""The number of round trips per second from which ddsperf computes its percentiles."""
_MOST = 1_000
"""The most pairs of process and size in one log. A file with more is no log of a measurement."""

_FIGURES = {"mean": "mean", "min": "min", "50%": "p50", "90%": "p90", "99%": "p99", "max": "max"}
_COUNT = PrintedColumn("cnt", "count", "", "interval", "received")
PING_FORM = Form(
    tool=TOOL,
    versions="0.5 to 11",
    known_by="size … mean … cnt",
    source="src/tools/ddsperf/ddsperf.c at V0.5.0 to 11.0.1",
    columns=(*summary_columns("half round trip", "us", "interval", "round_trip", _FIGURES), _COUNT),
)
SUBLAT_FORM = Form(
    tool=f"{TOOL} -l sub",
    versions="0.8.0 and later",
    known_by="sublat … size … mean … cnt",
    source="src/tools/ddsperf/ddsperf.c at 0.8.0 to 11.0.1",
    columns=(*summary_columns("one way", "us", "interval", "one_way_from_sent", _FIGURES), _COUNT),
)
SUB_FORM = Form(
    tool=f"{TOOL} sub",
    versions="0.5 to 11",
    known_by="size … total … lost … delta … rate",
    source=PING_FORM.source,
    columns=(
        PrintedColumn("total", "count", "", "so far"),
        PrintedColumn("lost", "count", "", "so far", "lost", "the first of the two"),
        PrintedColumn("delta", "count", "", "interval", "received"),
        PrintedColumn("rate", "rate", "1/s", "interval", "", "rounded; delta by the time between lines is used"),
    ),
)

_N = rb"(\d{1,12}(?:[.,]\d{1,9})?)"
_I = rb"(\d{1,12})"
_BEGIN = rb"\[(\d{1,10})\] +" + _N + rb" +"
_PING = re.compile(
    _BEGIN
    + rb"(?:(\S+) )?size %b mean %bus min %bus 50%% %bus 90%% %bus 99%% %bus max %bus cnt %b" % (_I, *(_N,) * 6, _I)
)
_SUB = re.compile(
    _BEGIN
    + rb"(?:\S+ )?size %b total %b lost %b delta %b lost %b rate %b kS/s %b Mb/s \([^()\[]*\)" % (*(_I,) * 5, _N, _N)
)
_SUBLAT = re.compile(_PING.pattern.replace(rb"(?:(\S+) )?", rb"sublat (?:(\S+) )?"))
_TIMED_OUT = re.compile(rb"\[(\d{1,10})\] ping timed out \(total %b times\) .*" % _I)
_OTHER = re.compile(
    rb"\[(\d{1,10})\] *\d+[.,]\d+ +[\d.,]+[kMG]?/s +\S+ \|[^\[]*"  # what a publisher sent, and how long writing took
    rb"|\[\d+\] (?:(?:participant|endpoint|error:|note:) [^\[]+"
    rb"| *\d+[.,]\d+ +[^\[]*(?:rss:|vcsw:|discarded )[^\[]*"
    rb"| *\d+[.,]\d+ +\S+: xmit [^\[]* recv [^\[]*\[\d+ \d+\])"
    rb"|\d+\.\d+ \[\d*\] .+"  # Cyclone's own log
)
_OURS = (b"# The format is that of ddsperf 0.10,", b"# As ddsperf 0.10 prints them, halves of round trips too.")
"""Middlemark prints its own rows in ddsperf's format, below one of these lines and a line with the row's name."""
_KNOWN = re.compile(
    rb"^\[\d+\] +(?:participant \S+:\d+: |"
    rb"[\d.,]+ +(?:\S+ )?(?:(?:sublat \S+ )?size \d+ |rss:|vcsw:|[\d.]+[kMG]?/s ))",
    re.M,
)


class _Pings:
    """The printed times of one process and size.

    ``row``: the row that Middlemark printed; empty in ddsperf's own logs.
    """

    def __init__(self, row: str) -> None:
        self.row = row
        self.p50, self.p90, self.p99 = Values(), Values(), Values()
        self.min, self.max = math.inf, 0.0
        self.sum = 0.0
        self.count = self.truncated = self.wrong = self.repeated = 0
        """``wrong``: the number of lines whose figures do not ascend; ``repeated``: the number of lines whose second
        is not later than that of the line before."""
        self.peers: dict[bytes, float] = {}
        """Each peer, and the time of its last line."""

    def add(self, at: float, peer: bytes | None, figures: list[bytes], count: int) -> None:
        mean, low, p50, p90, p99, high = map(float, figures)
        self.p50.add(p50)
        # ddsperf often prints the maximum as a quantile if fewer than ten round trips of the second are above the
        # quantile. Such a quantile is left out.
        if count >= 100:
            self.p90.add(p90)
        if count >= 1_000:
            self.p99.add(p99)
        self.min, self.max = min(self.min, low), max(self.max, high)
        self.sum += mean * count
        self.wrong += not (ascending((low, p50, p90, p99, high)) and low <= mean <= high)
        self.count += count
        self.truncated += not self.row and count > _KEPT
        name = peer or b""
        self.repeated += at <= self.peers.get(name, -1.0)
        if name in self.peers or len(self.peers) < _MOST:
            self.peers[name] = at


class _Subscriber:
    """The seconds of a process that received samples of one size, including silent seconds between them."""

    def __init__(self, row: str) -> None:
        self.row = row
        self.rates = Values()
        self.silent = 0
        self.received = self.lost = 0
        self.before: float | None = None
        self.total_before: int | None = None
        """The total before the first line; None: no line has been read."""
        self.total = 0
        self.lines = self.repeated = self.wrong = 0
        """``repeated``: as in ``_Pings``; ``wrong``: the number of lines whose rates do not fit the messages or the
        size."""
        self.times = _Pings(row)
        """The one-way latencies that a subscriber prints with ``-l``."""

    def add(self, at: float, size: int, total: int, lost: int, delta: int, rate: float, mbits: float) -> None:
        since = at - self.before if self.before is not None else 0.0
        self.lines += 1
        self.repeated += self.before is not None and since <= 0
        self.wrong += not near(mbits, rate * size * 8e-6, _RATE_ROUNDING * size * 8e-6 + 0.01) or (
            0 < since < _NEXT_SECOND and not near(rate, delta / since, _RATE_ROUNDING)
        )
        self.total_before = total - delta if self.total_before is None else self.total_before
        self.total = total
        self.before = at
        if delta == 0:
            self.silent += self.rates.number > 0
            return
        self.rates.add(0.0, self.silent)
        self.silent = 0
        self.rates.add(delta / since if since > 0 else rate)  # the printed rate is rounded to tens of messages
        self.received += delta
        self.lost = max(self.lost, lost)


_RATE_ROUNDING = 10.0
"""ddsperf prints rates in multiples of this number of messages/s."""
_NEXT_SECOND = 1.5
"""Two lines with at most this number of seconds between them report consecutive seconds. ddsperf prints no line for a
silent second."""


def _read(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    pings: dict[tuple[bytes, bytes], _Pings] = {}
    subscribers: dict[tuple[int, int], _Subscriber] = {}
    timeouts: dict[int, int] = {}
    publishers: set[int] = set()
    costs: dict[str, Costs] = {"": Costs()}
    ours, row, before = False, "", b""
    ping, other = _PING.fullmatch, _OTHER.fullmatch
    for batch in lines:
        for index, line in enumerate(batch):
            last, before = before, line
            if b" sublat " in line and _one_way(line.rstrip(), row, subscribers):
                continue
            if b" mean " in line:
                found = ping(line) or ping(line.rstrip())
                if found is not None:
                    pid, at, peer, size, *figures, count = found.groups()
                    if b"," in line:  # a decimal comma, as some locales print it
                        figures = [each.replace(b",", b".") for each in figures]
                    times = pings.get((pid, size)) or pings.setdefault((pid, size), _Pings(row))
                    times.add(number(at), peer, figures, int(count))
                    continue
            elif b" delta " in line:
                if _received(line.rstrip(), row, subscribers):
                    continue
            elif b" rss:" in line and costs[row].read(line.rstrip()):
                continue
            elif printed := other(line.rstrip()):
                if printed[1] is not None:
                    publishers.add(int(printed[1]))
                continue
            elif not line.strip():
                continue
            elif found := _TIMED_OUT.fullmatch(line.rstrip()):
                timeouts[int(found[1])] = int(found[2])
                continue
            elif line.startswith(b"# "):
                ours |= line.startswith(_OURS)
                if ours and not last.strip():
                    row = clean(line[2:].decode(errors="backslashreplace").strip())
                    costs.setdefault(row, Costs())
                continue
            lines.refuse(index, line)
        if len(pings) + len(subscribers) + len(costs) + len(costs[row]) > _MOST:
            raise NotRead(f"more than {_MOST:,} processes and sizes in one file: this is not the log of a measurement")
    rows = _rows(pings, subscribers, timeouts, publishers)
    return lines.log(tuple(_costed(rows, costs)))


def _received(line: bytes, row: str, subscribers: dict[tuple[int, int], _Subscriber]) -> bool:
    """Read a line with the messages that a subscriber received. Returns False for any other line."""
    found = _SUB.fullmatch(line)
    if found is None:
        return False
    pid, at, size, total, lost, delta, _, rate, mbits = found.groups()
    if int(size):  # a size of 0: the process has received nothing yet
        of = subscribers.setdefault((int(pid), int(size)), _Subscriber(row))
        of.add(number(at), int(size), int(total), int(lost), int(delta), 1e3 * number(rate), number(mbits))
    return True


def _one_way(line: bytes, row: str, subscribers: dict[tuple[int, int], _Subscriber]) -> bool:
    """Read a line with the one-way latency of a subscriber. Returns False for any other line."""
    found = _SUBLAT.fullmatch(line)
    if found is None:
        return False
    pid, at, peer, size, *figures, count = found.groups()
    of = subscribers.setdefault((int(pid), int(size)), _Subscriber(row))
    of.times.add(number(at), peer, [each.replace(b",", b".") for each in figures], int(count))
    return True


def _rows(
    pings: dict[tuple[bytes, bytes], _Pings],
    subscribers: dict[tuple[int, int], _Subscriber],
    timeouts: dict[int, int],
    publishers: set[int],
) -> list[tuple[int, str, ImportedTrial]]:
    """Return the PID of the process, the name of the row, and the trial, for each trial."""
    rows = [
        (int(pid), each.row, _round_trips(int(pid), int(size), each, timeouts.get(int(pid), 0), int(pid) in publishers))
        for (pid, size), each in pings.items()
        if each.count
    ]
    answered = {pid for pid, _, _ in rows}
    rows += [
        (pid, "", no_result(_cell("", 0), f"{times:,} pings that timed out"))
        for pid, times in timeouts.items()
        if pid not in answered
    ]
    rows += [
        (pid, each.row, _stream(size, each))
        for (pid, size), each in subscribers.items()
        if each.rates.number or each.times.count
    ]
    return rows


def _costed(rows: list[tuple[int, str, ImportedTrial]], costs: dict[str, Costs]) -> Iterator[ImportedTrial]:
    """Yield the trials, with costs where these are known.

    A trial gets the costs of its process if the process has no other trial and sent only pings.
    """
    idle = [(pid, row) for pid, row, each in rows if not _among_data(each)]
    with_costs = {(pid, row) for pid, row in idle if idle.count((pid, row)) == 1 and costs[row].has_own(pid)}
    for pid, row, each in rows:
        if (pid, row) not in with_costs or _among_data(each):
            yield each
            continue
        of = costs[row].costs_of(pid, only_row=sum(other == row for _, other in with_costs) == 1)
        yield msgspec.structs.replace(each, costs=of, warnings=(*each.warnings, *cost_warnings(of)))


def _among_data(trial: ImportedTrial) -> bool:
    return any(each.code == "among-data" for each in trial.warnings)


def _cell(row: str, size: int, pattern: str = "ping-pong", **levels: int | None) -> Cell:
    """Return the cell of a row. If Middlemark printed the row, the line above it contains the row's name."""
    name, _, words = row.partition(": ")
    where = cell(f"{name} ({TOOL})" if row else _ADAPTER, size, pattern, (), **levels)
    return msgspec.structs.replace(where, label=words or None)


def _round_trips(pid: int, size: int, of: _Pings, timeouts: int, publishes: bool) -> ImportedTrial:
    within = any(peer.rpartition(b":")[2] == b"%d" % pid for peer in of.peers)
    processes = 1 if within else None
    where = _cell(of.row, size, subscribers=len(of.peers), publishers=1, topics=1, processes=processes)
    seconds = of.p50.number
    warnings = [
        imported_warning(where),
        halved(TOOL),
        *([_of_seconds("each of its quantiles", "that quantile's values", seconds)] * (seconds > 1)),
        *_doubts(of),
    ]
    if publishes:
        warnings.append(
            RunWarning(
                "among-data",
                "its process also published data while it sent pings: these are times under load",
                "for an idle system run `ddsperf ping` and `ddsperf pong`; to measure under load use --rate",
            )
        )
    if len(of.peers) > 1:
        warnings.append(
            RunWarning(
                "each-reply",
                f"{len(of.peers)} pongs answered, and its figures include every reply; in Middlemark's rows a round "
                "trip ends with the last reply",
                "compare it with rows that have one subscriber, or compare only the maxima",
            )
        )
    if of.truncated:
        warnings.append(
            RunWarning(
                "first-samples-only",
                f"ddsperf takes the percentiles of a second from its first {_KEPT:,} round trips; {of.truncated:,} of "
                f"{seconds:,} seconds had more",
                "minimum, mean and maximum include all round trips; for percentiles of all, measure again with "
                "Middlemark",
            )
        )
    return ImportedTrial(
        cell=where,
        times=Times(round_trip_ns=_summary(of, PING_FORM["50%"].ns)),
        samples=of.count,
        counts=TrialCounts(received=of.count, lost=timeouts),
        counted=("received", "lost") if timeouts else ("received",),
        warnings=tuple(warnings),
    )


def _summary(of: _Pings, ns: float) -> Summary:
    return Summary(
        min=ns * of.min,
        mean=ns * of.sum / of.count,
        p50=_times(ns, of.p50.median) if of.count >= 20 else None,
        p90=_times(ns, of.p90.median),
        p99=_times(ns, of.p99.median),
        max=ns * of.max,
    )


def _stream(size: int, of: _Subscriber) -> ImportedTrial:
    where = _cell(of.row, size, "stream", subscribers=1, topics=1)
    rate = of.rates.median
    warnings = [imported_warning(where)]
    if of.rates.number:
        warnings.append(_of_seconds("its rate", "the rates", of.rates.number))
    if of.times.p50.number > 1:
        warnings.append(_of_seconds("each of its quantiles", "that quantile's values", of.times.p50.number))
    warnings += _doubts(of.times)
    if of.total_before is not None:
        warnings += [
            *_repeated(of.repeated),
            *in_lines(of.wrong, of.lines, "the rate, the messages and the Mb/s do not fit together"),
            *differ("the sum of its messages", of.received, "the difference of its totals", of.total - of.total_before),
        ]
    return ImportedTrial(
        cell=where,
        times=Times(one_way_from_sent_ns=_summary(of.times, SUBLAT_FORM["50%"].ns)) if of.times.count else Times(),
        samples=of.times.count,
        counts=TrialCounts(received=of.received, lost=of.lost) if of.rates.number else None,
        counted=("received", "lost") if of.rates.number else (),
        rate_hz=rate,
        rate_total_hz=rate,
        warnings=tuple(warnings),
    )


def _doubts(of: _Pings) -> list[RunWarning]:
    wrong = in_lines(of.wrong, of.p50.number, "the mean, quantiles, minimum and maximum do not fit together")
    return [*wrong, *_repeated(of.repeated)]


def _repeated(lines: int) -> list[RunWarning]:
    text = f"the seconds of {lines:,} lines are not later than those of the lines before"
    return [contradiction(text, "all lines are counted")] if lines else []


def _of_seconds(figure: str, values: str, seconds: int) -> RunWarning:
    return RunWarning(
        "median-of-seconds",
        f"{figure} is the median of {values} in {seconds:,} single seconds: the tool prints figures for each second, "
        "none over all samples",
        "a stall of one second shows only in the maximum, if the row has a maximum",
    )


def _times(ns: float, value: float | None) -> float | None:
    return None if value is None else ns * value


FORMAT = LogFormat("ddsperf's lines", TOOL, _KNOWN, _read, (PING_FORM, SUBLAT_FORM, SUB_FORM))
