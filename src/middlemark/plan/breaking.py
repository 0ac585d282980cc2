"""Search for the size at which crowds break: a plan that allows it, and the plan with further sizes."""

import random
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.plan import Breaking, Plan, Trial
from middlemark.problems import Problem, RequestError

BUDGET = "30m"
MOST_TRIALS = 3
"""The most trials at each further size. One broken trial is enough, so more would only find rarer failures."""
OPTION = "--until-it-breaks"


class FurtherSize(NamedTuple):
    """A size to measure. ``model``: the index of the cell that it is measured like."""

    model: int
    cell: Cell


def until_it_breaks(plan: Plan, budget_s: float) -> Plan:
    """Return the plan with a search after its trials. Raises RequestError if there are no crowds of two sizes."""
    crowds = [cell for cell in plan.cells if cell.pattern == "crowd"]
    if all(len({getattr(cell, along) for cell in crowds}) < 2 for along in ("participants", "topics")):
        text = "needs crowds of at least two sizes: give --pattern crowd --participants 10,100"
        raise RequestError([Problem(OPTION, text)])
    trials = min(MOST_TRIALS, max(trial.number for trial in plan.trials))
    return msgspec.structs.replace(plan, breaking=Breaking(budget_s=budget_s, planned=len(plan.trials), trials=trials))


def with_further_sizes(plan: Plan, sizes: Sequence[FurtherSize], trials: int) -> Plan:
    """Return the plan with these cells, each with this number of trials, in interleaved rounds after all others."""
    first = 1 + max(trial.number for trial in plan.trials)
    draw = random.Random(f"{plan.seed}/{first}/sizes")
    model = {trial.cell: trial for trial in plan.trials}
    further: list[Trial] = []
    for number in range(first, first + trials):
        for at in draw.sample(range(len(sizes)), len(sizes)):
            further.append(
                msgspec.structs.replace(
                    model[sizes[at].model],
                    order=len(plan.trials) + len(further),
                    cell=len(plan.cells) + at,
                    number=number,
                    seed=draw.getrandbits(32),
                )
            )
    return msgspec.structs.replace(
        plan,
        cells=(*plan.cells, *(each.cell for each in sizes)),
        names=(*plan.names, *(plan.names[each.model] for each in sizes)),
        trials=(*plan.trials, *further),
    )
