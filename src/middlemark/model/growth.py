"""The resources whose growth is judged in a long trial, and the amounts per hour in which growth is written."""

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from middlemark.model.record import Record
from middlemark.model.units import UnitError, parse_size

Resource = Literal["rss", "private", "shm", "descriptors", "threads"]


class ResourceKind(msgspec.Struct, frozen=True):
    """A resource of a record: how it is read, the unit in which it changes, and the least growth that counts."""

    of: Callable[[Record], int | None]
    resolution: int
    least: int
    of_machine: bool = False
    """True if all workers share it. It is then judged once."""

    @property
    def is_counted(self) -> bool:
        """True for a number of items, False for bytes."""
        return self.resolution == 1


RESOURCES: Mapping[Resource, ResourceKind] = {
    "rss": ResourceKind(lambda each: each.rss_bytes, 4096, 65536),
    "private": ResourceKind(lambda each: each.private_bytes, 4096, 65536),
    "shm": ResourceKind(lambda each: each.shm_bytes, 4096, 65536, of_machine=True),
    "descriptors": ResourceKind(lambda each: each.descriptors, 1, 1),
    "threads": ResourceKind(lambda each: each.threads, 1, 1),
}


def parse_growth(text: str, resource: Resource) -> float:
    """Return bytes per hour, or items per hour: ``1 MiB/h``, ``64k/h``; for threads ``2/h``. Raises UnitError."""
    amount, slash, hour = "".join(text.split()).partition("/")
    if (slash, hour) != ("/", "h"):
        example = "2/h" if RESOURCES[resource].is_counted else "1 MiB/h"
        raise UnitError(f"'{text}' is not an amount per hour; write '{example}'")
    if RESOURCES[resource].is_counted and not amount.isdecimal():
        raise UnitError(f"'{text}' is not a number of {resource} per hour; write '2/h'")
    return float(parse_size(amount))
