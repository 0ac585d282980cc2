"""Check that the values of a run agree. The decoder checks the type and bounds of each field."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from middlemark.model.cell import FACTORS, wrong_levels
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Trial
from middlemark.model.run import RunFile


class InvalidFile(Exception):
    """A value is wrong. The text begins with its place: ``plan.cells[3].priority: 'fifo:x' is not a priority``."""


def check_run(file: RunFile) -> None:
    """Raise InvalidFile if a reference in ``run.json`` is invalid."""
    for each in _run_problems(file):
        raise InvalidFile(each)


def check_outcome(outcome: TrialOutcome, trials: Mapping[int, Trial]) -> None:
    """Raise InvalidFile if this is the outcome of none of these trials, or if a file is outside of the run's folder."""
    for each in _outcome_problems(outcome, trials):
        raise InvalidFile(each)


def _run_problems(file: RunFile) -> Iterator[str]:
    plan = file.plan
    cells = range(len(plan.cells))
    if len(plan.names) != len(plan.cells):
        yield f"plan.names: there are {len(plan.names)} names for {len(plan.cells)} configurations"
    # Other tools may have levels that Middlemark refuses, such as a thousand subscribers.
    for index, cell in enumerate(() if file.imported else plan.cells):
        for field, why in wrong_levels(cell):
            yield f"plan.cells[{index}].{field}: {why}"
    orders = set()
    for index, trial in enumerate(plan.trials):
        if trial.cell not in cells:
            yield f"plan.trials[{index}].cell: there is no configuration {trial.cell}"
        if trial.order in orders:
            yield f"plan.trials[{index}].order: another trial also has {trial.order}"
        orders.add(trial.order)
    for name, weight in plan.scorecard:
        if not 0 < weight <= 1e6:
            yield f"plan.scorecard: {weight} is not a weight of {name}"
    for name in (name for each in plan.together for name in each if name not in FACTORS):
        yield f"plan.together: there is no factor {name}"
    named = {
        "plan.baselines": plan.baselines,
        "plan.precision.focus": plan.precision.focus if plan.precision else (),
        "plan.race.experiments": [each for heat in plan.race.experiments for each in heat] if plan.race else (),
        "reached.undecided": file.reached.undecided if file.reached else (),
        "reached.unmeasured": file.reached.unmeasured if file.reached else (),
    }
    for place, indices in named.items():
        for each in indices:
            if each not in cells:
                yield f"{place}: there is no configuration {each}"


def _outcome_problems(outcome: TrialOutcome, trials: Mapping[int, Trial]) -> Iterator[str]:
    trial = trials.get(outcome.order)
    if trial is None:
        yield f"order: the plan has no trial {outcome.order}"
    elif (outcome.cell, outcome.number) != (trial.cell, trial.number):
        found, expected = f"{outcome.cell}, {outcome.number}", f"{trial.cell}, {trial.number}"
        yield f"cell, number: {found}; trial {trial.order} has {expected}"
    if outcome.measured_s and outcome.measured_s < 1e-9:
        yield f"measured_s: {outcome.measured_s:g} s is too short for a measurement"
    for place, path in _files(outcome):
        if not _is_inside(path):
            yield f"{place}: is not inside the run's folder"


def _files(outcome: TrialOutcome) -> Iterator[tuple[str, str]]:
    if outcome.samples_file is not None:
        yield "samples_file", outcome.samples_file
    if outcome.histogram_file is not None:
        yield "histogram_file", outcome.histogram_file
    for field in ("files", "stamps"):
        for index, file in enumerate(getattr(outcome, field)):
            yield f"{field}[{index}].path", file.path
            if file.histogram_path is not None:
                yield f"{field}[{index}].histogram_path", file.histogram_path


def _is_inside(path: str) -> bool:
    """Say whether a path, as written, stays inside the folder. Symbolic links of the folder's owner are followed."""
    there = PurePosixPath(path)
    return "\0" not in path and there != PurePosixPath() and not there.is_absolute() and ".." not in there.parts
