"""Check for DDS participants on this machine."""

import contextlib

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

BASE, PER_DOMAIN, LAST = 7400, 250, 101
"""The first port of domain 0, the number of ports of a domain, and the last domain below the ephemeral ports
(32768)."""
DISCOVERY = 0
"""The port for multicast discovery, counted from the first port of a domain."""


def udp_ports(root: Root) -> frozenset[int]:
    """Return the UDP ports that are bound in this network namespace."""
    ports = set()
    for table in ("proc/net/udp", "proc/net/udp6"):
        for line in (root.text(table) or "").splitlines()[1:]:
            with contextlib.suppress(ValueError, IndexError):
                ports.add(int(line.split()[1].rpartition(":")[2], 16))
    return frozenset(ports)


def used_domains(root: Root | None = None) -> frozenset[int]:
    """Return the domains with a bound UDP port in this network namespace."""
    return frozenset((port - BASE) // PER_DOMAIN for port in udp_ports(root or Root()) if port >= BASE)


def _read(root: Root) -> tuple[int, ...]:
    """Return the domains in which a process listens for discovery, ascending."""
    places = (divmod(port - BASE, PER_DOMAIN) for port in udp_ports(root) if port >= BASE)
    return tuple(sorted(domain for domain, place in places if place == DISCOVERY and domain <= LAST))


def _sees(domains: tuple[int, ...], needs: Needs) -> Seen | None:
    rows = needs.over("udp") + needs.over("shared-memory")
    if not domains or not rows:
        return None
    text = f"another participant is in DDS domain {', '.join(map(str, domains))}"
    return Seen("falsifies" if set(domains) & set(needs.domains) else "note", text, rows)


CHECK = Check(
    name="participants",
    looks="`/proc/net/udp`: the ports on which DDS participants discover each other",
    why="every participant of a domain talks to all others, and receives the messages of topics with the same name; a "
    "trial uses an unused domain unless the suite asks for one",
    rows="DDS in that domain",
    read=_read,
    sees=_sees,
    command="ss -lunp 'sport >= 7400'",
    risk="end only your own programs",
)
