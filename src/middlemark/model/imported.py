"""What another tool wrote of its measuring: a trial without samples, and the log that it was read from."""

import msgspec

from middlemark.model.times import Times


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one trial that another tool measured. Its halves of round trips are doubled: these are whole."""

    tool: str
    file: str
    """The log's name, with its folder where two have the same."""
    times: Times = Times()
    rate_hz: float | None = None
    """Messages a second that arrived at one subscriber."""
    rate_total_hz: float | None = None
    """The same at all subscribers together."""
    sent_hz: float | None = None
    counted: tuple[str, ...] = ()
    """The fields of ``TrialCounts`` that the tool counted; the others are not zero but unknown."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One log: what it was, and how much of it could be read."""

    file: str
    """Its name, with its folder where two have the same."""
    bytes: int
    sha256: str
    tool: str
    format: str
    lines: int
    """Of text the lines with anything on them, of JSON the measurements."""
    unread: int
    """Those of them that were not whole, or nobody's."""
    unit: str = "line"
    """What ``lines`` counts: line or measurement."""
