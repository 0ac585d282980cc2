"""DDS domains of the trials' own, so that neither a leftover nor a neighbour can take part."""

import contextlib
from collections.abc import Iterable

FIRST, LAST = 1, 101
"""0 is everybody's default; above 101 the ports of a domain lie in Linux's ephemeral range (32768 and up)."""
_BASE, _PER_DOMAIN = 7400, 250


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


def used_domains() -> frozenset[int]:
    """Return the domains of which some UDP port is bound in this network namespace."""
    domains = set()
    for table in ("/proc/net/udp", "/proc/net/udp6"):
        with contextlib.suppress(OSError), open(table, encoding="ascii") as file:
            next(file)
            for line in file:
                port = int(line.split()[1].rpartition(":")[2], 16)
                if port >= _BASE:
                    domains.add((port - _BASE) // _PER_DOMAIN)
    return frozenset(domains)
