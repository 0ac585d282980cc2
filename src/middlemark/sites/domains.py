"""Choose a DDS domain for each trial, so that no leftover or unrelated participant takes part."""

from collections.abc import Iterable

from middlemark.system.checks.participants import LAST, used_domains

FIRST = 1
"""Not 0, which is the default domain."""


class Domains:
    """Yields one domain after the other, skipping domains with a bound UDP port."""

    def __init__(self, seed: int) -> None:
        """``seed``: spreads concurrent runs over the range."""
        self._last = FIRST + seed % (LAST - FIRST + 1)

    def next(self, used_elsewhere: Iterable[int] = ()) -> int:
        """Return a domain that is unused here and in ``used_elsewhere``; the next one in order if all are used."""
        used = used_domains().union(used_elsewhere)
        for step in range(1, LAST - FIRST + 2):
            domain = FIRST + (self._last - FIRST + step) % (LAST - FIRST + 1)
            if domain not in used:
                break
        self._last = domain
        return domain
