"""Further rounds of a plan whose cells are to be known to a given precision. Pure."""

import random

import msgspec

from middlemark.plan.cell import Plan, Precision, Trial
from middlemark.plan.estimate import estimate_trial
from middlemark.plan.honour import level_of, show_level
from middlemark.problems import Problem, RequestError
from middlemark.suite.precision import Precise
from middlemark.suite.spelling import listing
from middlemark.units import format_seconds


def until_precise(plan: Plan, asked: Precise) -> Plan:
    """Return the plan with what was asked of its precision. RequestError when no cell is meant or no round fits.

    Floors that stand beside the others go along: nobody waits for theirs, unless the focus names them.
    """
    problems: list[Problem] = []
    named = any(each.factor in ("adapter", "transport") for each in asked.focus)
    beside = frozenset(() if named else plan.floors)
    chosen = [index for index in range(len(plan.cells)) if index not in beside]
    for each in asked.focus:
        there = [level_of(plan.cells[index], each.factor) for index in chosen]
        kept = [index for index, level in zip(chosen, there, strict=True) if level in each.values]
        if not kept:
            known = listing(show_level(each.factor, level) for level in dict.fromkeys(there))
            asked_for = listing(show_level(each.factor, level) for level in each.values)
            problems.append(Problem(each.place, f"no cell has {each.factor} {asked_for}; the cells have {known}"))
        else:
            chosen = kept
    first = [trial for trial in plan.trials if trial.number == 1]
    needed = sum(estimate_trial(plan.cells[trial.cell], trial) for trial in first)
    if needed > asked.budget_s:
        text = f"one round of {len(first)} trials takes about {format_seconds(float(round(needed)))}"
        problems.append(Problem("--budget", f"{text}: give more, or measure fewer cells (--only)"))
    if problems:
        raise RequestError(problems)
    precision = Precision(part=asked.part, budget_s=asked.budget_s, focus=tuple(chosen))
    return msgspec.structs.replace(plan, precision=precision)


def with_another_round(plan: Plan) -> Plan:
    """Return the plan with one more round: every cell once, in an order that its seed and the round alone decide."""
    last = max(trial.number for trial in plan.trials)
    number = last + 1
    draw = random.Random(f"{plan.seed}/{number}")
    model = {trial.cell: trial for trial in plan.trials if trial.number == last}
    due = sorted(model)
    draw.shuffle(due)
    further: list[Trial] = [
        msgspec.structs.replace(model[cell], order=len(plan.trials) + place, number=number, seed=draw.getrandbits(32))
        for place, cell in enumerate(due)
    ]
    return msgspec.structs.replace(plan, trials=(*plan.trials, *further))
