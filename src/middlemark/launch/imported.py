"""What another tool wrote of its measuring: a trial without samples, and the log that it was read from."""

import msgspec


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """A distribution in ns, as far as the tool told it. None: it did not."""

    min: float | None = None
    mean: float | None = None
    stdev: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    p99_99: float | None = None
    max: float | None = None


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one trial that another tool measured. Its halves of round trips are doubled: these are whole."""

    tool: str
    file: str
    """The log's name, with its folder where two have the same."""
    times: dict[str, Figures] = {}
    """By the name of the result's field: ``round_trip_ns``, ``one_way_from_sent_ns``, ``write_ns``, ``take_ns``."""
    rate_hz: float | None = None
    """Messages a second that arrived at one subscriber."""
    rate_total_hz: float | None = None
    """The same at all subscribers together."""
    sent_hz: float | None = None
    counted: tuple[str, ...] = ()
    """The fields of ``Counts`` that the tool counted; the others are not zero but unknown."""


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
