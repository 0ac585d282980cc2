"""A trial that another tool measured, without samples, and the log from which it was read."""

import msgspec

from middlemark.model.times import Times


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one trial of another tool. If the tool reported half round trips, they are doubled here."""

    tool: str
    file: str
    """Name of the log, with its folder if two logs have the same name."""
    times: Times = Times()
    rate_hz: float | None = None
    """Messages per second that arrived at one subscriber."""
    rate_total_hz: float | None = None
    """Messages per second that arrived at all subscribers together."""
    sent_hz: float | None = None
    loss: float | None = None
    """The share of messages that were lost, if the log has rates but no counts."""
    counted: tuple[str, ...] = ()
    """The fields of ``TrialCounts`` that the tool counted; the other fields are unknown, not zero."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One log: its kind, and how much of the log could be read."""

    file: str
    """Name of the log, with its folder if two logs have the same name."""
    bytes: int
    sha256: str
    tool: str
    format: str
    lines: int
    """Lines that are not empty in a text log; measurements in a JSON log."""
    unread: int
    """How many of these lines were incomplete or could not be assigned to a trial."""
    unit: str = "line"
    """Unit of ``lines``: line or measurement."""
