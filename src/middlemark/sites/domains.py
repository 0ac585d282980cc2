"""Choose a DDS domain for each trial, so that no leftover or unrelated participant is in the same domain."""

from collections.abc import Iterable

from middlemark.system.checks.participants import LAST, used_domains

FIRST = 1
"""The lowest domain that is used. Other programs use domain 0, the default."""


class Domains:
    """Chooses domains in order, and skips domains of which a UDP port is bound."""

    def __init__(self, seed: int) -> None:
        """Create the choice. ``seed``: determines the first domain, so that simultaneous runs use different domains."""
        self._last = FIRST + seed % (LAST - FIRST + 1)

    def next(self, used_elsewhere: Iterable[int] = ()) -> int:
        """Return a domain that is used neither here nor in ``used_elsewhere``.

        If all domains are used, return the next domain.
        """
        used = used_domains().union(used_elsewhere)
        for step in range(1, LAST - FIRST + 2):
            domain = FIRST + (self._last - FIRST + step) % (LAST - FIRST + 1)
            if domain not in used:
                break
        self._last = domain
        return domain
