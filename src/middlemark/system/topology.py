"""Find processors that share something, such as a core or a cache."""

from collections.abc import Sequence
from typing import NamedTuple

from middlemark.system.root import Root, processors


class ProcessorSets(NamedTuple):
    """Sets of processors that share something, and the processors that this process may use."""

    sets: tuple[tuple[int, ...], ...]
    allowed: tuple[int, ...]


def shared(root: Root, name: str) -> ProcessorSets | None:
    """Return the sets of processors that are listed in the files ``name`` in the folders of the processors."""
    files = root.names(f"sys/devices/system/cpu/cpu[0-9]*/{name}")
    sets = dict.fromkeys(processors(root.text(file) or "") for file in files)
    return ProcessorSets(tuple(sets), root.allowed()) if sets else None


def one_each(found: ProcessorSets, count: int) -> Sequence[int]:
    """Return ``count`` allowed processors from different sets; empty: there are too few sets."""
    firsts = [next((cpu for cpu in each if cpu in found.allowed), None) for each in found.sets]
    free = sorted(cpu for cpu in firsts if cpu is not None)
    return free[:count] if len(free) >= count else ()
