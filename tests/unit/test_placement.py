"""The placement of a cell's roles: one process each or all in one, senders first, on the pinned processors."""

from typing import Any

import pytest

from middlemark.model.cell import Cell
from middlemark.trial.tasks import place_roles


def cell(**changed: Any) -> Cell:
    return Cell(**{"adapter": "udp", "transport": "udp", "size": 64, "pin": (3, 5), **changed})


@pytest.mark.parametrize(
    ("changed", "cpus"),
    [
        ({}, [3, 5]),
        ({"subscribers": 3}, [3, 5, 3, 5]),
        ({"pattern": "stream", "publishers": 2, "subscribers": 3}, [3, 5, 3, 5, 3]),
        ({"pattern": "request-reply", "publishers": 2}, [3, 5, 3]),
        ({"pattern": "stream", "pin": (7,)}, [7, 7]),
        ({"pattern": "stream", "pin": None}, [None, None]),
    ],
)
def test_each_role_has_its_own_process_and_processor_in_order(changed: dict[str, Any], cpus: list[int | None]) -> None:
    places = place_roles(cell(**changed), spinning_s=1.0)
    assert [each.role_cpus for each in places] == [(cpu,) for cpu in cpus]
    assert [each.placement.cpus for each in places] == [() if cpu is None else (cpu,) for cpu in cpus]


def test_all_roles_of_one_process_share_its_processors() -> None:
    (place,) = place_roles(cell(pattern="stream", publishers=2, subscribers=3, processes=1), spinning_s=1.0)
    assert place.role_cpus == (3, 5, 3, 5, 3)
    assert place.placement.cpus == (3, 5)


def test_priority_and_memory_locking_are_those_of_the_cell() -> None:
    place = place_roles(cell(priority="fifo:80", mlock=True), spinning_s=7.0)[1].placement
    assert (place.policy, place.priority, place.mlock) == ("fifo", 80, True)
    assert place.rt_limit_s > 7.0
    assert place_roles(cell(), spinning_s=1.0)[0].placement.policy == "other"
