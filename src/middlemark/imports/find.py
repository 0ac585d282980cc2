"""Find the format of a log from its beginning, never from its name."""

import re

from middlemark.imports import (
    ddsperf,
    figures,
    google_benchmark,
    latencytest,
    performance_test,
    roundtrip,
    rtiperftest,
    throughputtest,
)
from middlemark.imports.lines import Lines, shown
from middlemark.imports.log import LogFormat

FORMATS = (
    performance_test.JSON,
    rtiperftest.FORMAT,
    google_benchmark.FORMAT,
    performance_test.CSV,
    latencytest.FORMAT,
    latencytest.RAW,
    throughputtest.FORMAT,
    roundtrip.FORMAT,
    ddsperf.FORMAT,
    figures.FORMAT,
)
"""In the order in which they are tried: the most specific first."""

HEAD_BYTES = 1 << 20
"""The format is found in the first MiB of a log."""

_OURS = re.compile(
    rb"^(?:# As ddsperf 0\.10 prints them; the differences|# Half round trips(?: in us)?: |"
    rb'[ \t]*"middlemark_version": )',
    re.M,
)


def find(head: bytes) -> LogFormat | None:
    """Return the format of a log that begins like this; None if it is none of them."""
    # The last line, which HEAD_BYTES may have cut, can still show the format.
    text = b"\n".join(line for lines in Lines([head, b"\n"]) for line in map(bytes.strip, lines))
    return next((each for each in FORMATS if each.knows(text)), None)


def is_ours(head: bytes) -> bool:
    """Say whether Middlemark printed it in another tool's form. It is refused: its run has all of it.

    Lines of ddsperf's are not, unless they are of a version that printed whole round trips: they would be doubled.
    """
    return _OURS.search(head) is not None


def refusal(head: bytes) -> str:
    """Return why a file is no log of a known tool: its first line that is not empty, and the known formats."""
    there = ", ".join(each.name for each in FORMATS)
    for lines in Lines([head, b"\n"]):
        for number, line in enumerate(lines, start=1):
            if line.strip():
                return f"line {number} is of no log known here: {shown(line)!r}; there are {there}"
    return f"nothing is in it; there are {there}"
