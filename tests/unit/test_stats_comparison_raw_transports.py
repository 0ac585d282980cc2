"""How many times slower than its raw transport each side of a comparison is, by each metric."""

import msgspec
import pytest
from stats_cases import DESCRIPTIONS, cell

from middlemark.model.cell import Cell
from middlemark.stats.comparisons import Pairing, Side, compare, times_raw_transports, with_raw_transports
from middlemark.stats.metrics import METRICS


def side(measured_cell: Cell, **figures: float) -> Side:
    """Return a side with three trials, in which each metric varies around the given figure."""
    by_metric = {name: {each: figures[name] * (1 + each / 100) for each in range(3)} for name in figures}
    return Side("", "run", measured_cell, False, "here", {name: by_metric.get(name, {}) for name in METRICS})


def both(*sides: Side, metric: str) -> tuple[float | None, float | None]:
    a, b, *_ = with_raw_transports(sides, DESCRIPTIONS)
    (comparison,) = compare([Pairing(a, b, ("a", "b"))], [metric])
    first, second = times_raw_transports(comparison)
    return first and first.times, second and second.times


@pytest.mark.parametrize("metric", ["p50", "p99"])
def test_a_latency_is_divided_by_its_raw_transports(metric: str) -> None:
    sides = [side(cell(), p50=30.0, p99=90.0), side(cell(transport="shm"), p50=8.0, p99=24.0)]
    raw_transports = [side(cell("udp"), p50=10.0, p99=30.0), side(cell("shm", "shm"), p50=2.0, p99=6.0)]
    assert both(*sides, *raw_transports, metric=metric) == (pytest.approx(3.0), pytest.approx(4.0))
    assert both(*sides, *raw_transports[:1], metric=metric) == (pytest.approx(3.0), None)


def test_a_throughput_divides_its_raw_transports() -> None:
    stream = {"pattern": "stream"}
    sides = [side(cell(**stream), throughput=100.0), side(cell(transport="shm", **stream), throughput=50.0)]
    raw_transports = [
        side(cell("udp", **stream), throughput=400.0),
        side(cell("shm", "shm", **stream), throughput=500.0),
    ]
    assert both(*sides, *raw_transports, metric="throughput") == (pytest.approx(4.0), pytest.approx(10.0))


@pytest.mark.parametrize("metric", ["cpu", "memory"])
def test_processor_time_and_memory_have_no_raw_transport(metric: str) -> None:
    figures = {"p50": 10.0, metric: 5.0}
    assert both(
        side(cell(), **figures), side(cell(transport="shm"), **figures), side(cell("udp"), **figures), metric=metric
    ) == (None, None)


def test_a_raw_transport_and_an_unmeasured_row_have_no_ratio() -> None:
    raw_transport, unmeasured, other = with_raw_transports(
        [side(cell("udp"), p50=10.0), side(cell()), side(cell(size=64), p50=10.0)], DESCRIPTIONS
    )
    assert (raw_transport.raw_transport, other.raw_transport) == (None, None)
    assert unmeasured.raw_transport is not None, "an unmeasured row has a raw transport, but no ratio"
    assert msgspec.structs.replace(unmeasured, raw_transport=None) == side(cell())
