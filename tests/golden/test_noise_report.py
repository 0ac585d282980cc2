"""The noise of the machine, in the table and in the JSON."""

import json

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import render
from middlemark.model.outcome import RunWarning
from middlemark.show import View
from middlemark.show.json.cell import cell_document
from middlemark.stats.result import Attribution, CellResult, Noise, Preemptor, TrialNoise
from middlemark.verdicts.rows import MeasuredRun

Results = tuple[CellResult, ...]


def _trial(number: int, others: float, *marked: str) -> TrialNoise:
    return TrialNoise(
        trial=number,
        others_share=others,
        own_share=0.0004,
        delay_share=None,
        steal_share=0.0,
        irq_share=0.0,
        softirq_share=0.02,
        pressure_share=0.1,
        throttled_ns=0,
        still_share=0.006,
        longest_gap_ns=9_120,
        longest_spell_ns=1_204_000,
        preemptors=(Preemptor(name="kworker/0:1", pid=41, share=others),),
        above_p99_9=Attribution(samples=17, machine=15, middleware=1, unknown=1, why=None),
        marked=marked,
    )


@pytest.fixture
def noisy(results: Results) -> Results:
    trials = (
        _trial(1, 0.002),
        _trial(2, 0.31, "other processes had 31 % of its processors' time (make (pid 41) 31 %)"),
    )
    noise = Noise(
        others_share=0.156,
        own_share=0.0004,
        delay_share=None,
        steal_share=0.0,
        irq_share=0.0,
        softirq_share=0.02,
        pressure_share=0.1,
        throttled_ns=0,
        still_share=0.006,
        longest_gap_ns=9_120,
        longest_spell_ns=1_204_000,
        above_p99_9=Attribution(samples=34, machine=30, middleware=2, unknown=2, why=None),
        trials=trials,
        disturbed=((0.25, 0.251204),),
        disturbed_trial=1,
        absent={"throttled": "the cpu.stat of this control group does not count throttling"},
    )
    warning = RunWarning("machine-disturbed", f"in trial 2: {trials[1].marked[0]}", "end what else runs here")
    first = msgspec.structs.replace(results[0], noise=noise, warnings=(*results[0].warnings, warning))
    return (first, *results[1:])


def test_the_machines_noise_is_reported_below_the_table(
    snapshot: SnapshotAssertion, facts: MeasuredRun, noisy: Results
) -> None:
    assert render("table", facts, noisy[:1], View(width=100)) == snapshot


def test_the_machines_noise_is_part_of_the_cells_document(snapshot: SnapshotAssertion, noisy: Results) -> None:
    assert json.dumps(cell_document(noisy[0])["noise"], indent=1) == snapshot
