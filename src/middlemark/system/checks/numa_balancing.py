"""Check whether the kernel moves pages between NUMA nodes."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.checks.numa import nodes
from middlemark.system.needs import Needs
from middlemark.system.root import Root

NAME = "kernel.numa_balancing"


class Balancing(NamedTuple):
    """The setting's value, and the number of NUMA nodes."""

    on: int
    nodes: int


def _read(root: Root) -> Balancing | None:
    on = root.number("proc/sys/kernel/numa_balancing")
    return None if on is None else Balancing(on, len(nodes(root)))


def _sees(found: Balancing, _: Needs) -> Seen | None:
    return Seen("limits", f"{NAME} is {found.on}, with {found.nodes} nodes") if found.on and found.nodes > 1 else None


CHECK = Check(
    name="numa_balancing",
    looks=f"`{NAME}`, on machines with several NUMA nodes",
    why="the kernel unmaps pages to see who uses them: sometimes a message causes a fault, and the page moves",
    rows="all; their p99 and higher quantiles",
    read=_read,
    sees=_sees,
    risk="programs that are not pinned may keep using memory on a distant node",
    change=lambda _, __: (Setting(NAME, "0"),),
)
