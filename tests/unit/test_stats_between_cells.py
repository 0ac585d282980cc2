"""Warnings from comparing cells: a larger size takes no longer, or more bytes per second than memcpy could copy."""

import msgspec
import numpy as np
from stats_cases import DESCRIPTIONS, cell, outcome, plan, samples

from middlemark.model.cell import Cell
from middlemark.model.outcome import TrialOutcome
from middlemark.stats.cells import cell_results
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Samples
from middlemark.stats.warnings.between_cells import above_memcpy, handed_over, with_warnings_between


def _by_size(asked: Cell, **p50_us: list[float]) -> list[CellResult]:
    """Return results of the cell by size. ``b64=[…]`` gives the p50 in µs of each trial at 64 B."""
    cells = [msgspec.structs.replace(asked, size=int(size[1:])) for size in p50_us]
    planned = plan(*cells, trials=max(map(len, p50_us.values())))
    took = list(p50_us.values())

    def samples_of(each: TrialOutcome) -> Samples:
        return samples(np.full(1_000, int(1_000 * took[each.cell][each.number - 1])))

    outcomes = [outcome(each, measured_s=took[each.cell][each.number - 1] / 1_000) for each in planned.trials]
    return list(cell_results(planned, outcomes, samples_of, DESCRIPTIONS))


def _codes(result: CellResult) -> list[str]:
    """Return the codes of the warnings, except those about p99, which a few short trials always have."""
    return [each.code for each in result.warnings if each.code != "p99-few-samples"]


def test_a_mebibyte_as_fast_as_64_bytes_was_not_copied() -> None:
    small, large = _by_size(cell(), b64=[12.0, 13.0, 12.5], b1048576=[12.4, 12.9, 13.2])
    assert _codes(small) == []
    assert _codes(large) == ["size-costs-nothing"]
    assert large.warnings[0].text.startswith(
        "1 MiB took 13.2 µs and 64 B took 12 µs: copying the additional bytes takes at least 5.24 µs"
    )


def test_a_growth_of_a_copy_or_below_the_noise_raises_no_warning() -> None:
    for took in ([12.0, 40.0], [12.0, 17.3], [300.0, 300.0]):
        assert all(_codes(each) == [] for each in _by_size(cell(), b64=took[:1], b1048576=took[1:])), took
    assert all(_codes(each) == [] for each in _by_size(cell(), b64=[12.0], b1024=[11.0]))


def test_handing_over_may_cost_the_same_at_every_size_unless_the_pong_copies() -> None:
    untouched = cell(payload="untouched", loan=True)
    assert all(_codes(each) == [] for each in _by_size(untouched, b64=[12.0] * 3, b1048576=[12.0] * 3))
    for declared in (untouched, cell(transport="intraprocess", payload="untouched")):
        assert handed_over(declared, DESCRIPTIONS)
    for copied in (cell(loan=True), cell(transport="intraprocess"), cell(payload="untouched")):
        assert not handed_over(copied, DESCRIPTIONS), (
            "the pong copies a filled payload, and the middleware copies a message without a loan"
        )
    stream = {"pattern": "stream", "loan": True}
    assert handed_over(cell(**stream, rate=100.0), DESCRIPTIONS), (
        "a scheduled message is filled before its measured time begins"
    )
    assert not handed_over(cell(**stream, rate="max"), DESCRIPTIONS), "in a flood, filling is part of a message's time"


def test_cells_that_differ_in_more_than_the_size_are_not_compared() -> None:
    small, large = _by_size(cell(), b64=[12.0], b1048576=[12.0])
    other = msgspec.structs.replace(small, cell=msgspec.structs.replace(small.cell, receive="poll"))
    fresh = msgspec.structs.replace(large, warnings=())
    assert with_warnings_between([other, fresh], DESCRIPTIONS)[1].warnings == ()
    assert with_warnings_between([small, fresh], DESCRIPTIONS)[1].warnings != ()


def test_a_measured_memcpy_replaces_the_assumed_bound() -> None:
    small, large = (
        msgspec.structs.replace(each, warnings=()) for each in _by_size(cell(), b64=[12.0], b1048576=[60.0])
    )
    _, warned = with_warnings_between([small, large], DESCRIPTIONS, lambda *_: 5e9)
    assert "size-costs-nothing" in _codes(warned)
    _, fine = with_warnings_between([small, large], DESCRIPTIONS, lambda *_: 40e9)
    assert _codes(fine) == []


def test_a_bandwidth_above_memcpy_raises_a_warning_for_every_declaration() -> None:
    flood = cell(pattern="stream", rate="max", size=1 << 20)
    assert above_memcpy(flood, 9e9, 10e9) is None
    assert above_memcpy(flood, None, 10e9) is None
    assert above_memcpy(flood, 1e12, None) is None, "without memcpy there is no limit"
    warning = above_memcpy(flood, 30e9, 10e9)
    assert warning is not None
    assert warning.text.startswith("30 GB/s is more than the 10 GB/s of memcpy on this machine at 1 MiB")
    assert above_memcpy(msgspec.structs.replace(flood, publishers=4), 30e9, 10e9) is None, (
        "four publishers copy at the same time"
    )
    untouched = above_memcpy(msgspec.structs.replace(flood, payload="untouched", loan=True), 30e9, 10e9)
    assert untouched is not None
    assert "never its bytes per second" in untouched.advice


def test_the_bandwidth_of_a_ping_pong_counts_both_ways_and_a_loan_has_none() -> None:
    def codes_of(asked: Cell) -> list[str]:
        (large,) = _by_size(asked, b1048576=[100.0])
        return _codes(with_warnings_between([large], DESCRIPTIONS, lambda *_: 20e9)[0])

    assert codes_of(cell()) == ["above-memcpy"], "2 MiB in 100 µs are 21 GB/s"
    assert codes_of(cell(loan=True, payload="untouched")) == []
