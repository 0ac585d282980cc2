"""Measure further sizes of crowds, each in fresh processes, until it is known at which size each one breaks."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Breaking, Plan, Reached
from middlemark.plan.breaking import FurtherSize, with_further_sizes
from middlemark.plan.estimate import estimate_trial
from middlemark.verdicts.breaking import find_break
from middlemark.verdicts.scaling import ALONG, level_along, lines_along


def search_breaks(
    plan: Plan, breaking: Breaking, outcomes: Sequence[TrialOutcome], extend: Callable[[Plan], bool]
) -> tuple[bool, Reached | None]:
    """Measure one size between the highest that held and the lowest that broke, for each line of crowds, and again.

    Return as ``Until.settle``. Everything follows from the stored trials, so an interrupted search continues.
    """
    while True:
        due = [*_due(plan, breaking, outcomes)]
        spent_s = sum(each.seconds for each in outcomes if each.order >= breaking.planned)
        chosen: list[FurtherSize] = []
        left_s = breaking.budget_s - spent_s
        for each in due:
            left_s -= breaking.trials * _expected_s(plan, each, outcomes)
            if left_s >= 0 and each.cell not in [other.cell for other in chosen]:
                chosen.append(each)
        if not chosen:
            reached = Reached(
                rounds=max(trial.number for trial in plan.trials),
                seconds=sum(each.seconds for each in outcomes),
                met=not due,
                undecided=tuple(sorted({each.model for each in due})),
            )
            return True, reached
        plan = with_further_sizes(plan, chosen, breaking.trials)
        if not extend(plan):
            return False, None


def _due(plan: Plan, breaking: Breaking, outcomes: Sequence[TrialOutcome]) -> Iterator[FurtherSize]:
    """Yield the next size of each line of crowds. A line has at least two planned sizes."""
    measured: dict[int, list[TrialOutcome]] = {}
    for each in outcomes:
        measured.setdefault(each.cell, []).append(each)
    first = {trial.cell for trial in plan.trials[: breaking.planned]} - set(plan.baselines)
    for along in ALONG:
        for line in lines_along(dict(enumerate(plan.cells)), along):
            if len({level_along(plan.cells[each], along) for each in line if each in first}) < 2:
                continue
            levels: dict[int, list[TrialOutcome]] = {}
            for cell in line:
                levels.setdefault(level_along(plan.cells[cell], along), []).extend(measured.get(cell, ()))
            found = find_break(levels, along)
            level = found.next_level
            if level is not None:
                model = next(each for each in line if level_along(plan.cells[each], along) == found.breaks_at)
                yield FurtherSize(model, msgspec.structs.replace(plan.cells[model], **{along: level}))


def _expected_s(plan: Plan, size: FurtherSize, outcomes: Sequence[TrialOutcome]) -> float:
    """Return the expected seconds of a trial at this size: a trial that breaks waits for the last publisher."""
    taken = [each.seconds for each in outcomes if each.cell == size.model]
    trial = next(each for each in plan.trials if each.cell == size.model)
    return max(estimate_trial(size.cell, trial), sum(taken) / len(taken) if taken else 0.0)
