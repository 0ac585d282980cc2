"""What processors have in common: no check, two look here."""

from collections.abc import Sequence
from typing import NamedTuple

from middlemark.system.root import Root, processors


class ProcessorSets(NamedTuple):
    """Sets of processors that share something, and the processors that may be used."""

    sets: tuple[tuple[int, ...], ...]
    allowed: tuple[int, ...]


def shared(root: Root, name: str) -> ProcessorSets | None:
    """Return who shares what the files of that name below each processor's folder list."""
    files = root.names(f"sys/devices/system/cpu/cpu[0-9]*/{name}")
    sets = dict.fromkeys(processors(root.text(file) or "") for file in files)
    return ProcessorSets(tuple(sets), root.allowed()) if sets else None


def one_each(found: ProcessorSets, count: int) -> Sequence[int]:
    """Return so many processors that may be used, no two of one set; nothing where there are not so many sets."""
    firsts = [next((cpu for cpu in each if cpu in found.allowed), None) for each in found.sets]
    free = sorted(cpu for cpu in firsts if cpu is not None)
    return free[:count] if len(free) >= count else ()
