"""Check whether two roles run on the two threads of one core."""

from collections.abc import Sequence
from typing import NamedTuple

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root, processors


class ProcessorSets(NamedTuple):
    """Groups of processors that share a core or a cache, and the processors that this process may use."""

    sets: tuple[tuple[int, ...], ...]
    allowed: tuple[int, ...]


def shared(root: Root, name: str) -> ProcessorSets | None:
    """Return the groups of processors in the files ``name``, which each processor's folder has.

    None: there are none.
    """
    files = root.names(f"sys/devices/system/cpu/cpu[0-9]*/{name}")
    sets = dict.fromkeys(processors(root.text(file) or "") for file in files)
    return ProcessorSets(tuple(sets), root.allowed()) if sets else None


def one_each(found: ProcessorSets, count: int) -> Sequence[int]:
    """Return ``count`` allowed processors, each from another group; empty: there are too few groups."""
    firsts = [next((cpu for cpu in each if cpu in found.allowed), None) for each in found.sets]
    free = sorted(cpu for cpu in firsts if cpu is not None)
    return free[:count] if len(free) >= count else ()


def _sees(found: ProcessorSets, needs: Needs) -> Seen | None:
    cpus = needs.cpus(found.allowed)
    both = next((each for each in found.sets if len(set(each) & set(cpus)) > 1), None)
    if both is None:
        return None
    pair = [cpu for cpu in both if cpu in cpus]
    better = one_each(found, len(cpus))
    command = f"middlemark run … --pin {','.join(map(str, better))}" if better else ""
    text = f"processors {' and '.join(map(str, pair))}, which run roles, are threads of one core"
    return Seen("falsifies" if needs.polling else "limits", text, needs.polling, command)


CHECK = Check(
    name="smt",
    looks="`topology/thread_siblings_list` of the roles' processors",
    why="both threads share one core: a role that spins halves the speed of the other role",
    rows="all; polling most of all",
    read=lambda root: shared(root, "topology/thread_siblings_list"),
    sees=_sees,
    command="echo off > /sys/devices/system/cpu/smt/control",
    persist="nosmt on the kernel's command line",
    risk="every program then has half as many processors",
)
