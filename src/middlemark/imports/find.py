"""Find the format of a log from its first bytes, never from its name."""

import re

from middlemark.imports import (
    ddsperf,
    figures,
    google_benchmark,
    iperf3,
    latencytest,
    performance_test,
    ros2_benchmark,
    ros2_performance,
    roundtrip,
    rtiperftest,
    rtiperftest_text,
    sockperf,
    throughput_subscriber,
    throughputtest,
    zenoh,
)
from middlemark.imports.columns import Form
from middlemark.imports.lines import Lines, shown
from middlemark.imports.log import LogFormat

FORMATS = (
    performance_test.JSON,
    rtiperftest.FORMAT,
    rtiperftest_text.CSV,
    rtiperftest_text.LEGACY,
    google_benchmark.FORMAT,
    iperf3.FORMAT,
    ros2_benchmark.FORMAT,
    performance_test.CSV,
    latencytest.FORMAT,
    latencytest.RAW,
    throughputtest.FORMAT,
    roundtrip.FORMAT,
    ddsperf.FORMAT,
    throughput_subscriber.FORMAT,
    ros2_performance.FORMAT,
    zenoh.PING,
    zenoh.RATES,
    sockperf.FORMAT,
    figures.FORMAT,
)
"""The formats in the order in which they are tried: the most specific first."""

HEAD_BYTES = 1 << 20
"""The format of a log is searched in this number of bytes at its beginning."""

_OURS = re.compile(
    rb"^(?:# As ddsperf 0\.10 prints them; the differences|# Half round trips(?: in us)?: |"
    rb'[ \t]*"middlemark_version": )',
    re.M,
)


def find(head: bytes) -> LogFormat | None:
    """Return the format of a log that begins with these bytes; None: no known tool writes logs that begin like this."""
    # HEAD_BYTES may have cut the last line. With a line end it counts as a line, so that a pattern can match it.
    text = b"\n".join(line for lines in Lines([head, b"\n"]) for line in map(bytes.strip, lines))
    return next((each for each in FORMATS if each.known.search(text)), None)


def is_ours(head: bytes) -> bool:
    """Say whether Middlemark printed this file in another tool's format. The user should import the run instead.

    Output in ddsperf's format is accepted, except from old versions of Middlemark that printed whole round trips: the
    import would double such round trips.
    """
    return _OURS.search(head) is not None


def refusal(head: bytes) -> str:
    """Return why the file is no known log, with its first non-empty line and the nearest and known formats."""
    there = ", ".join(each.name for each in FORMATS)
    for lines in Lines([head, b"\n"]):
        for number, line in enumerate(lines, start=1):
            if line.strip():
                near = _nearest(head)
                nearest = f"the nearest is {near.name}; " if near else ""
                return f"line {number} is not from a known log: {shown(line)!r}; {nearest}known logs: {there}"
    return f"the file is empty; known logs: {there}"


_WORD = re.compile(r"[A-Za-z][A-Za-z_./-]{2,}|\d+(?:\.\d+)?%")
_SEARCHED = 1 << 14
_LEAST_SHARED = 3
"""A format can be the nearest only if the file has at least this number of its words."""


def _nearest(head: bytes) -> LogFormat | None:
    """Return the format that shares the most words with the file; None: too few words."""
    found = {each.lower() for each in _WORD.findall(head[:_SEARCHED].decode(errors="replace"))}
    shared = {
        each: len(found & {word.lower() for form in each.forms for word in _WORD.findall(_words(form))})
        for each in FORMATS
    }
    best = max(shared, key=lambda each: shared[each])
    return best if shared[best] >= _LEAST_SHARED else None


def _words(form: Form) -> str:
    return " ".join([form.tool, form.known_by, *(each.name for each in form.columns)])
