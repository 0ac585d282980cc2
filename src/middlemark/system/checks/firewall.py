"""Check for firewall rules that packets have to pass."""

from pathlib import Path
from typing import NamedTuple

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root


class Rules(NamedTuple):
    """The tables of iptables in use, and the number of rules of nftables."""

    tables: tuple[str, ...]
    rules: int


def _read(root: Root) -> Rules:
    tables = tuple((root.text("proc/net/ip_tables_names") or "").split())
    return Rules(tables, _nftables() if root.folder == Path("/") else 0)


def _nftables() -> int:
    """Return the number of nftables' rules; 0 also if this process is not root: the kernel answers only root."""
    from pyroute2.netlink.exceptions import NetlinkError
    from pyroute2.nftables.main import NFTables

    try:
        with NFTables(nfgen_family=0) as asked:
            return len(list(asked.get_rules()))
    except (NetlinkError, OSError):
        return 0


def _sees(found: Rules, needs: Needs) -> Seen | None:
    rows = needs.over("udp") + needs.over("tcp")
    if not rows or not (found.rules or found.tables):
        return None
    parts = [f"{found.rules} rules of nftables"] if found.rules else []
    parts += [f"tables of iptables: {', '.join(found.tables)}"] if found.tables else []
    return Seen("limits" if needs.apart else "note", "; ".join(parts), rows)


CHECK = Check(
    name="firewall",
    looks="tables of iptables (`/proc/net/ip_tables_names`), rules of nftables",
    why="each packet is compared with the rules; rules may block the ports of a middleware",
    rows="udp and tcp; between hosts most of all",
    read=_read,
    sees=_sees,
    command="nft list ruleset",
    persist="change the rules where the firewall is configured (firewalld, ufw)",
    risk="a machine without rules accepts all packets: instead, allow the ports that the middleware uses",
)
