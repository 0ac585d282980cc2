"""The size at which a crowd breaks: what counts as broken, and the level to measure next. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from middlemark.model.outcome import TrialOutcome

APART = 1.1
"""The search ends if the lowest broken level is at most this multiple of the highest level that held, or if no whole
number is between them."""


class Break(msgspec.Struct, frozen=True, kw_only=True):
    """Where the crowds of one configuration break, along their number of participants or topics."""

    holds_to: int | None = None
    """The highest level below ``breaks_at`` at which nothing broke; None: no level held."""
    breaks_at: int | None = None
    """The lowest level at which a trial broke; None: no trial broke."""
    because: str | None = None
    """The reason that the first of these trials broke; None: no trial broke."""
    absent: str | None = None
    """Why there is no ``breaks_at``; None: there is one."""

    @property
    def next_level(self) -> int | None:
        """The level to measure next, halfway on a logarithmic scale; None: the search has ended."""
        if self.breaks_at is None:
            return None
        low = self.holds_to or 0
        if self.breaks_at - low <= 1 or (low and self.breaks_at <= APART * low):
            return None
        return min(max(round(math.sqrt(max(low, 1) * self.breaks_at)), low + 1), self.breaks_at - 1)


def broken(outcome: TrialOutcome) -> str | None:
    """Return what broke in a trial of a crowd; None: nothing.

    A trial breaks if it failed, if a publisher was never heard, or if a message was lost.
    """
    if outcome.failed is not None:
        return outcome.failed.text
    crowd, counts = outcome.crowd, outcome.counts
    if crowd is None or counts is None:
        return "the trial has no result"
    if never := crowd.publishers_due - crowd.publishers_heard:
        return f"{never:,} of {crowd.publishers_due:,} publishers were never heard"
    if counts.lost > 0:
        return f"{counts.lost:,} of {counts.lost + counts.received:,} messages were lost"
    return None


def find_break(levels: Mapping[int, Sequence[TrialOutcome]], along: str) -> Break:
    """Return where the crowds break. ``levels``: level → the outcomes of its trials. ``along``: participants or topics.

    A level without an outcome is left out.
    """
    reasons = {level: _reason(outcomes) for level, outcomes in sorted(levels.items()) if outcomes}
    if not reasons:
        return Break(absent="no trial ended")
    breaks_at = next((level for level, reason in reasons.items() if reason is not None), None)
    holds_to = max((level for level in reasons if breaks_at is None or level < breaks_at), default=None)
    if breaks_at is None:
        return Break(holds_to=holds_to, absent=f"nothing broke up to {holds_to:,} {along}, the largest number measured")
    return Break(holds_to=holds_to, breaks_at=breaks_at, because=reasons[breaks_at])


def _reason(outcomes: Iterable[TrialOutcome]) -> str | None:
    return next((reason for each in outcomes if (reason := broken(each)) is not None), None)
