"""DDS domains of the trials' own, so that neither a leftover nor a neighbour can take part."""

from collections.abc import Iterable

from middlemark.system.checks.participants import LAST, used_domains

FIRST = 1
"""0 is everybody's default."""


class Domains:
    """Hands out one domain after the other, passing over those whose UDP ports somebody has bound."""

    def __init__(self, seed: int) -> None:
        """``seed`` spreads concurrent runs over the range."""
        self._last = FIRST + seed % (LAST - FIRST + 1)

    def next(self, elsewhere: Iterable[int] = ()) -> int:
        """Return a domain nobody on this machine nor ``elsewhere`` uses; the next in turn when all are used."""
        used = used_domains().union(elsewhere)
        for step in range(1, LAST - FIRST + 2):
            domain = FIRST + (self._last - FIRST + step) % (LAST - FIRST + 1)
            if domain not in used:
                break
        self._last = domain
        return domain
