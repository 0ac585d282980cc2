"""The baseline with which a cell is compared."""

from collections.abc import Sequence

import pytest
from stats_cases import DESCRIPTIONS, cell

from middlemark.model.cell import Cell
from middlemark.model.outcome import TrialCounts
from middlemark.model.times import Summary
from middlemark.stats.baselines import baselines, by_rate, memcpy_bytes_per_s, nearest_raw_transports
from middlemark.stats.result import CellResult


def _labels(cells: Sequence[Cell], medians: Sequence[float | None] | None = None) -> list[str | None]:
    found = nearest_raw_transports(cells, medians or [1000.0] * len(cells), DESCRIPTIONS)
    return [each.label if each else None for each in found]


def test_the_raw_transport_has_the_same_actual_transport() -> None:
    cells = [cell(transport="udp"), cell(transport="shm"), cell("udp"), cell("shm", "shm")]
    assert _labels(cells) == ["udp", "shm", "udp", "shm"]
    assert [each.cell for each in nearest_raw_transports(cells, [1.0] * 4, DESCRIPTIONS) if each] == [2, 3, 2, 3]


def test_without_a_raw_transport_of_its_kind_a_cell_has_none() -> None:
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
def test_a_cell_of_another_experiment_is_no_raw_transport(differs: dict[str, object]) -> None:
    assert _labels([cell(**differs), cell("udp")])[0] is None
    assert _labels([cell(**differs), cell("udp", **differs)])[0] == "udp"


@pytest.mark.parametrize("differs", [{"reliability": "best-effort"}, {"depth": None}, {"mlock": True}])
def test_settings_that_only_a_middleware_honours_do_not_exclude_a_raw_transport(differs: dict[str, object]) -> None:
    assert _labels([cell(**differs), cell("udp")])[0] == "udp"


def test_the_raw_transport_nearest_in_settings_is_taken_and_then_the_fastest() -> None:
    cells = [cell(reliability="best-effort"), cell("udp"), cell("udp", reliability="best-effort")]
    first = nearest_raw_transports(cells, [3.0, 1.0, 2.0], DESCRIPTIONS)[0]
    assert first is not None
    assert first.cell == 2


def test_process_memory_is_compared_with_shared_memory_within_one_process() -> None:
    cells = [cell(transport="intraprocess", processes=1), cell("shm", "shm", processes=1), cell("shm", "shm")]
    first = nearest_raw_transports(cells, [1.0] * 3, DESCRIPTIONS)[0]
    assert first is not None
    assert (first.cell, first.label) == (1, "shm")


def test_a_loan_is_compared_with_a_lending_raw_transport_or_else_a_copying_one() -> None:
    asked = cell(transport="shm", loan=True)
    copying, lending = cell("shm", "shm"), cell("shm", "shm", loan=True)
    assert _labels([asked, copying, lending])[0] == "shm (loan)"
    assert _labels([asked, copying])[0] == "shm"
    assert _labels([cell(transport="shm"), lending])[0] is None


def test_listening_is_compared_with_a_blocking_raw_transport_if_none_listens() -> None:
    asked = cell(receive="listen")
    assert _labels([asked, cell("udp")])[0] == "udp, block"
    assert _labels([asked, cell("udp"), cell("udp", receive="listen")])[0] == "udp"
    assert _labels([asked, cell("udp", receive="poll")])[0] is None


def test_a_raw_transport_without_figures_is_not_used() -> None:
    assert _labels([cell(), cell("udp")], [1.0, None]) == [None, None]


def test_an_adapter_without_a_description_has_no_raw_transport() -> None:
    assert _labels([cell("gone"), cell("udp")])[0] is None


@pytest.mark.parametrize(
    ("levels", "compared_by_rate"),
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
def test_only_floods_are_compared_by_their_rate(levels: dict[str, object], compared_by_rate: bool) -> None:
    assert by_rate(cell(**levels)) == compared_by_rate


def _best(cells: Sequence[Cell], medians: Sequence[float | None]) -> list[str | None]:
    return [each.label if each else None for each in baselines(cells, medians, DESCRIPTIONS)]


def test_the_baseline_is_the_fastest_raw_transport_of_the_same_experiment() -> None:
    cells = [cell(transport="udp"), cell(transport="tcp"), cell("udp"), cell("shm", "shm"), cell("shm", "shm", size=16)]
    assert _best(cells, [9.0, 9.0, 2.0, 1.0, 0.5]) == ["shm", "shm", "shm", "shm", "shm"]
    assert _best(cells, [9.0, 9.0, 1.0, 2.0, 0.5])[:2] == ["udp", "udp"]
    assert _best(cells, [9.0, 9.0, None, 2.0, 0.5])[:2] == ["shm", "shm"]
    assert _best(cells[:1], [9.0]) == [None]
    assert _best([cell(receive="poll"), *cells[2:]], [9.0, 2.0, 1.0, 0.5])[0] is None


def test_a_row_that_hands_over_has_a_baseline_that_hands_over_and_a_copy_one_that_copies() -> None:
    cells = [cell(), cell(transport="shm", loan=True), cell("udp"), cell("shm", "shm", loan=True)]
    assert _best(cells, [9.0, 9.0, 5.0, 1.0])[:2] == ["udp", "shm (loan)"]
    assert _best(cells, [9.0, 9.0, 5.0, 6.0])[:2] == ["udp", "shm (loan)"]
    assert _best(cells[:3], [9.0, 9.0, 5.0])[:2] == ["udp", None]


def test_the_baseline_of_a_listener_blocks_and_is_labelled_so() -> None:
    cells = [cell(receive="listen"), cell("udp"), cell("shm", "shm", receive="poll")]
    assert _best(cells, [9.0, 5.0, 1.0])[0] == "udp, block"


def _copying(size: int, **levels: object) -> Cell:
    levels = {"receive": "poll", "processes": 1, "subscribers": 0, **levels}
    return cell("memcpy", "memcpy", size=size, **levels)


def test_memcpy_is_the_raw_transport_of_no_other_row() -> None:
    cells = [cell(transport="intraprocess", processes=1, receive="poll"), _copying(1024)]
    assert _labels(cells) == [None, "memcpy"]
    assert _best(cells, [9.0, 1.0]) == [None, None]


def _result(measured_cell: Cell, p50: float | None, *trials: float) -> CellResult:
    return CellResult(
        cell=measured_cell, name="", version=None, trials=1, failed_trials=0, samples=1, counts=TrialCounts(),
        actual_transport=None, round_trip_ns=None if p50 is None else Summary(p50=p50), first_reply_ns=None,
        write_ns=None, take_ns=None,
        loan_ns=None, fill_ns=None, check_ns=None, discovery_ns=None, times_raw_transport=None, raw_transport=None,
        warnings=(), failed=None, trial_values=trials,
    )  # fmt: skip


def test_memcpy_bandwidth_is_two_copies_over_the_fastest_round_trip() -> None:
    results = [
        _result(_copying(1 << 20), 100_000.0),
        _result(_copying(1 << 20, payload="untouched"), 80_000.0),
        _result(_copying(1 << 24), 10_000_000.0),
        _result(cell(size=1 << 20), 1_000.0),
    ]
    assert memcpy_bytes_per_s(results, 1 << 20) == pytest.approx(2 * (1 << 20) / 80e-6)
    assert memcpy_bytes_per_s(results, 1 << 24) == pytest.approx(2 * (1 << 24) / 10e-3)
    several = [_result(_copying(4096), 3_000.0, 2_000.0, 3_000.0, 9_000.0)]
    assert memcpy_bytes_per_s(several, 4096) == pytest.approx(2 * 4096 / 2e-6), "the fastest trial counts"


def test_memcpy_bandwidth_is_absent_if_not_measured_or_dominated_by_the_clock() -> None:
    assert memcpy_bytes_per_s([], 1024) is None
    assert memcpy_bytes_per_s([_result(_copying(64), 999.0)], 64) is None
    assert memcpy_bytes_per_s([_result(_copying(64), 1000.0)], 64) == pytest.approx(128e6)
    assert memcpy_bytes_per_s([_result(_copying(64), None), _result(cell(size=64), 5000.0)], 64) is None
