"""Check whether the roles' processors are on the same NUMA node."""

from typing import NamedTuple

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root, processors


class Nodes(NamedTuple):
    """The processors of each NUMA node, and the processors that this process may use."""

    nodes: tuple[tuple[int, ...], ...]
    allowed: tuple[int, ...]


def nodes(root: Root) -> tuple[tuple[int, ...], ...]:
    """Return the processors of each NUMA node that has processors."""
    found = (processors(root.text(name) or "") for name in root.names("sys/devices/system/node/node[0-9]*/cpulist"))
    return tuple(filter(None, found))


def _sees(found: Nodes, needs: Needs) -> Seen | None:
    cpus = needs.cpus(found.allowed)
    used = [node for node in found.nodes if set(node) & set(cpus)]
    if len(used) < 2:
        return None
    roomy = next((node for node in found.nodes if len(set(node) & set(found.allowed)) >= len(cpus)), None)
    better = [each for each in roomy or () if each in found.allowed][: len(cpus)]
    command = f"middlemark run … --pin {','.join(map(str, better))}" if better else ""
    listed = ", ".join(map(str, cpus))
    return Seen("limits", f"processors {listed} are on {len(used)} NUMA nodes", command=command)


CHECK = Check(
    name="numa",
    looks="`/sys/devices/system/node`, and the roles' processors",
    why="every byte between two nodes crosses the link between the processor sockets",
    rows="all rows whose roles are on different nodes; shared memory most of all",
    read=lambda root: Nodes(nodes(root), root.allowed()) if len(nodes(root)) > 1 else None,
    sees=_sees,
    risk="none, but the run measures another placement",
)
