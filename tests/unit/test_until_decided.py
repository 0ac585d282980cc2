"""A run that grows until its expectations are decided uses its time for expectations that it can decide."""

import random
from pathlib import Path

import msgspec
import numpy as np
from stats_cases import DESCRIPTIONS, cell, outcome, plan

from middlemark.model.expectation import Band, Deciding, Expectation, Picked, Ratio
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan, Trial
from middlemark.model.samples import SAMPLE
from middlemark.model.selection import read_typed_selection
from middlemark.plan.rounds import first_rounds
from middlemark.runs.until import Until
from middlemark.stats.expectations import look_trials

BUDGET_S = 300.0
CELLS = {0: (1000.0, 0.5), 1: (800.0, 0.5), 2: (1000.0, 5.0), 3: (1050.0, 5.0)}
"""By cell: the median in µs, and the duration of a trial in s."""


def picked(text: str) -> Picked:
    levels, wrong = read_typed_selection(text)
    assert not wrong
    return Picked(text, levels)


def faster(a: str, b: str) -> Expectation:
    claim = Ratio(picked(a), picked(b), Band(None, 1 / 1.05), "direction")
    return Expectation(id=b, say=b, claim=claim, claimed="", metric="p50")


def measure(folder: Path, plan: Plan, trial: Trial) -> TrialOutcome:
    draw = random.Random(f"{trial.cell}/{trial.number}")
    median_us, seconds = CELLS[trial.cell]
    raw = np.zeros(100, dtype=SAMPLE)
    raw["round_trip_ns"] = median_us * 1000 * draw.lognormvariate(0, 0.15)
    path = f"{trial.order:05d}.npy"
    np.save(folder / path, raw)
    carried = {"udp": "udp", "shm": "shared-memory"}[plan.cells[trial.cell].transport]
    return outcome(trial, actual_transport=carried, seconds=seconds, samples=len(raw), samples_file=path)


def test_further_trials_go_only_to_expectations_that_they_can_decide(tmp_path: Path) -> None:
    sizes = {size: (cell(size=size), cell(size=size, transport="shm")) for size in (64, 1024)}
    asked = first_rounds(plan(*sizes[64], *sizes[1024]), 1)
    asked = msgspec.structs.replace(
        asked,
        deciding=Deciding(BUDGET_S),
        expectations=tuple(faster(f"size={size},transport=udp", f"size={size},transport=shm") for size in sizes),
    )
    outcomes = [measure(tmp_path, asked, each) for each in asked.trials]

    def extend(longer: Plan) -> bool:
        outcomes.extend(measure(tmp_path, longer, each) for each in longer.trials[len(outcomes) :])
        return True

    spent = lambda: sum(each.seconds for each in outcomes)  # noqa: E731
    _, reached = Until(tmp_path, asked, [*DESCRIPTIONS.values()], [], clock=spent).settle(asked, outcomes, extend)

    assert reached is not None
    assert not reached.met
    assert reached.undecided == (2, 3), "the expectation about cells 0 and 1 is decided"
    rounds = {index: {each.number for each in outcomes if each.cell == index} for index in CELLS}
    first, decided = next(look_trials(asked)), max(rounds[0])
    assert rounds[0] == rounds[1] == {*range(1, decided + 1)}
    assert decided > first, "otherwise cells 2 and 3 could not miss a round"
    assert not rounds[2] & {*range(first + 1, decided + 1)}
    assert max(rounds[2]) > decided, "the remaining time goes to cells 2 and 3"
