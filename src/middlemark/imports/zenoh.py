"""Read zenoh's examples ``z_ping`` (one line per round trip) and ``z_sub_thr`` (one line per round of messages)."""

import re
from collections.abc import Iterable

from middlemark.imports.columns import Form, PrintedColumn
from middlemark.imports.lines import Lines, number
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, imported_warning
from middlemark.imports.plausible import contradiction, differ, in_lines, near
from middlemark.imports.values import Values
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import Times

PING_FORM = Form(
    tool="z_ping",
    versions="0.6 to 1",
    known_by="… bytes: seq=… rtt=…",
    source="examples/examples/z_ping.rs at 0.6.0-beta.1 to 1.9.0",
    columns=(
        PrintedColumn("rtt", "whole round trip", "us", "interval", "round_trip", "one line per round trip"),
        PrintedColumn("lat", "half round trip", "us", "interval", "", "cut off to whole µs, so rtt is used"),
    ),
)
RATE_FORM = Form(
    tool="z_sub_thr",
    versions="0.5 to 1",
    known_by="… msg/s",
    source="examples/examples/z_sub_thr.rs at 0.6.0-beta.1 to 1.9.0, zenoh/examples/zenoh/z_sub_thr.rs at 0.5.0-beta.1",
    columns=(
        PrintedColumn("msg/s", "rate", "1/s", "interval", "received", "a round of -n messages"),
        PrintedColumn("Received", "count", "", "run", "received", "without the message that ends each round"),
    ),
)

_PING = re.compile("(\\d{1,12}) bytes: seq=(\\d{1,12}) rtt=(\\d{1,12})[µμ]s lat=(\\d{1,12})[µμ]s")
_PING_KNOWN = re.compile(rb"^\d+ bytes: seq=\d+ rtt=\d+", re.M)
_RATE = re.compile(rb"(\d{1,12}(?:[.,]\d{1,20})?) msg/s")
_TOTAL = re.compile(
    rb"Received (\d{1,12}) messages over (\d{1,12}(?:[.,]\d{1,9})?) ?s(?:: (\d{1,12}(?:[.,]\d{1,20})?|inf|NaN) ?msg/s)?"
)
_RATE_KNOWN = re.compile(rb"^(?:\d+(?:[.,]\d+)? msg/s$|Received \d+ messages over )", re.M)
_BEGIN = re.compile(rb"Press CTRL-C to quit\.\.\.|New zenoh\.\.\.")
"""The line that z_sub_thr prints before the first round."""
_OTHER = re.compile(
    rb"Warming up for .*|New workspace\.\.\.|Opening session\.*|Press CTRL-C.*|Declaring .*|"
    rb"\d{4}-\d\d-\d\dT\S+ +[A-Z]+ .*"
)


class _PingRun:
    """The round trips of one run, in µs."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.us = Values()
        self.repeated = self.wrong = 0
        """The number of lines that repeat a sequence number, and of lines in which ``lat`` is not half of ``rtt``."""


def _read_ping(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    runs: list[_PingRun] = []
    last = -1
    for index, line in lines.each():
        found = _PING.fullmatch(line.decode(errors="replace"))
        if found is not None:
            size, seq, rtt, lat = map(int, found.groups())
            if not runs or seq < last or size != runs[-1].size or (seq == last == 0):
                runs.append(_PingRun(size))
                last = -1
            run = runs[-1]
            run.us.add(float(rtt))
            run.repeated += seq == last
            run.wrong += abs(rtt - 2 * lat) > 1
            last = seq
        elif _OTHER.fullmatch(line) is None:
            lines.refuse(index, line)
    measured = tuple(map(_round_trips, runs))
    return lines.log(measured)


def _round_trips(run: _PingRun) -> ImportedTrial:
    us = run.us
    where = cell("zenoh (z_ping)", run.size, publishers=1, topics=1, rate="max")
    repeated = contradiction(f"{run.repeated:,} lines repeat a sequence number", "all lines are counted")
    return ImportedTrial(
        cell=where,
        times=Times(round_trip_ns=us.summary(PING_FORM["rtt"].ns)),
        samples=us.number,
        counts=TrialCounts(received=us.number),
        counted=("received",),
        warnings=(
            imported_warning(where),
            *in_lines(run.wrong, us.number, "`lat` is not half of `rtt`"),
            *((repeated,) if run.repeated else ()),
        ),
    )


def _read_rates(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    rates = Values()
    measured: list[ImportedTrial] = []
    for index, line in lines.each():
        if found := _RATE.fullmatch(line):
            rates.add(number(found[1]))
        elif found := _TOTAL.fullmatch(line):
            mean = number(found[3]) if found[3] and found[3][:1].isdigit() else None
            measured.append(_stream(rates, int(found[1]), number(found[2]), mean))
            rates = Values()
        elif _BEGIN.fullmatch(line):
            if rates.number:  # the program prints no total if it ends after its last round
                measured.append(_stream(rates))
            rates = Values()
        elif _OTHER.fullmatch(line) is None:
            lines.refuse(index, line)
    if rates.number:
        measured.append(_stream(rates))
    return lines.log(tuple(measured))


def _stream(
    rates: Values, received: int | None = None, seconds: float = 0.0, printed_hz: float | None = None
) -> ImportedTrial:
    where = cell("zenoh (z_sub_thr)", 0, "stream", subscribers=1, topics=1, rate="max")
    mean = received / seconds if received is not None and seconds else None
    hz = rates.median if rates.number else mean
    rounds = RunWarning(
        "median-of-rounds",
        f"its rate is the median of {rates.number} rounds of messages, and the log contains no size",
        "the size is the argument of z_pub_thr",
    )
    doubts: tuple[RunWarning, ...] = ()
    if mean is not None and printed_hz is not None and not near(printed_hz, mean, mean * _SECONDS_ROUNDING / seconds):
        doubts = differ("the rate of its last line", printed_hz, "messages ÷ seconds", mean)
    return ImportedTrial(
        cell=where,
        counts=None if received is None else TrialCounts(received=received),
        counted=() if received is None else ("received",),
        rate_hz=hz,
        rate_total_hz=hz,
        warnings=(imported_warning(where), *((rounds,) if rates.number else ()), *doubts),
    )


_SECONDS_ROUNDING = 0.006
"""z_sub_thr prints its seconds with two decimals, so they may be wrong by about this."""

PING = LogFormat("z_ping's lines", "z_ping", _PING_KNOWN, _read_ping, (PING_FORM,))
RATES = LogFormat("z_sub_thr's lines", "z_sub_thr", _RATE_KNOWN, _read_rates, (RATE_FORM,))
