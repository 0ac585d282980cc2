"""Which floor a cell is held against."""

from collections.abc import Sequence

import pytest
from stats_cases import DESCRIPTIONS, cell

from middlemark.plan.cell import Cell
from middlemark.stats.floors import by_rate, floors


def _labels(cells: Sequence[Cell], medians: Sequence[float | None] | None = None) -> list[str | None]:
    found = floors(cells, medians or [1000.0] * len(cells), DESCRIPTIONS)
    return [each.label if each else None for each in found]


def test_the_floor_is_the_one_with_the_same_carrier() -> None:
    cells = [cell(transport="udp"), cell(transport="shm"), cell("udp"), cell("shm", "shm")]
    assert _labels(cells) == ["udp", "shm", "udp", "shm"]
    assert [each.cell for each in floors(cells, [1.0] * 4, DESCRIPTIONS) if each] == [2, 3, 2, 3]


def test_without_a_floor_of_its_carrier_a_cell_has_none() -> None:
    assert _labels([cell(transport="tcp"), cell("udp"), cell("shm", "shm")])[0] is None


@pytest.mark.parametrize(
    "differs",
    [
        {"size": 16},
        {"receive": "poll"},
        {"processes": 1},
        {"subscribers": 3},
        {"subscribers": 3, "echo": "first"},
        {"payload": "untouched"},
        {"pattern": "stream"},
        {"pattern": "stream", "publishers": 2, "topics": 2, "subscribers": 2},
        {"rate": 1000.0},
        {"rate": 1000.0, "arrivals": "poisson"},
        {"pattern": "stream", "burst": 100, "recovery_s": 0.09},
        {"pattern": "stream", "rate": "sustainable", "max_loss": 0.01},
        {"pin": (0, 1)},
        {"priority": "fifo:80"},
    ],
)
def test_another_experiment_is_no_floor(differs: dict[str, object]) -> None:
    assert _labels([cell(**differs), cell("udp")])[0] is None
    assert _labels([cell(**differs), cell("udp", **differs)])[0] == "udp"


@pytest.mark.parametrize("differs", [{"reliability": "best-effort"}, {"depth": None}, {"mlock": True}])
def test_what_only_a_middleware_honours_does_not_keep_a_floor_away(differs: dict[str, object]) -> None:
    assert _labels([cell(**differs), cell("udp")])[0] == "udp"


def test_of_several_floors_the_nearest_in_settings_is_taken_then_the_fastest() -> None:
    cells = [cell(reliability="best-effort"), cell("udp"), cell("udp", reliability="best-effort")]
    first = floors(cells, [3.0, 1.0, 2.0], DESCRIPTIONS)[0]
    assert first is not None
    assert first.cell == 2


def test_within_one_process_memory_is_held_against_shared_memory() -> None:
    cells = [cell(transport="intraprocess", processes=1), cell("shm", "shm", processes=1), cell("shm", "shm")]
    first = floors(cells, [1.0] * 3, DESCRIPTIONS)[0]
    assert first is not None
    assert (first.cell, first.label) == (1, "shm")


def test_a_loan_is_held_against_the_floor_that_lends_else_against_the_copying_one() -> None:
    asked = cell(transport="shm", loan=True)
    copying, lending = cell("shm", "shm"), cell("shm", "shm", loan=True)
    assert _labels([asked, copying, lending])[0] == "shm (loan)"
    assert _labels([asked, copying])[0] == "shm"
    assert _labels([cell(transport="shm"), lending])[0] is None


def test_listening_is_held_against_blocking_where_no_floor_listens_and_says_so() -> None:
    asked = cell(receive="listen")
    assert _labels([asked, cell("udp")])[0] == "udp, block"
    assert _labels([asked, cell("udp"), cell("udp", receive="listen")])[0] == "udp"
    assert _labels([asked, cell("udp", receive="poll")])[0] is None


def test_a_floor_that_was_not_measured_is_no_floor() -> None:
    assert _labels([cell(), cell("udp")], [1.0, None]) == [None, None]


def test_an_adapter_nobody_describes_has_no_floor() -> None:
    assert _labels([cell("gone"), cell("udp")])[0] is None


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ({}, False),
        ({"pattern": "request-reply"}, False),
        ({"pattern": "stream"}, True),
        ({"pattern": "stream", "rate": "curve"}, True),
        ({"pattern": "stream", "rate": "sustainable"}, True),
        ({"pattern": "stream", "rate": 1000.0}, False),
        ({"pattern": "stream", "burst": 100, "recovery_s": 0.09}, False),
    ],
)
def test_only_streams_as_fast_as_they_can_are_held_by_their_rate(levels: dict[str, object], told: bool) -> None:
    assert by_rate(cell(**levels)) == told
