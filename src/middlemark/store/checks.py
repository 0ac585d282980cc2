"""What the values of a run must agree in, beyond the type and the bounds that each field declares."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from middlemark.model.cell import FACTORS, wrong_levels
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Trial
from middlemark.model.run import RunFile


class InvalidFile(Exception):
    """What is wrong, with its place in the file: ``plan.cells[3].priority: 'fifo:x' is no priority``."""


def check_run(file: RunFile) -> None:
    """Raise Wrong unless everything in ``run.json`` refers to something that is there."""
    for each in _of_run(file):
        raise InvalidFile(each)


def check_outcome(outcome: TrialOutcome, trials: Mapping[int, Trial]) -> None:
    """Raise Wrong unless it is the outcome of one of these trials of the plan, with files in the run's own folder."""
    for each in _of_outcome(outcome, trials):
        raise InvalidFile(each)


def _of_run(file: RunFile) -> Iterator[str]:
    plan = file.plan
    cells = range(len(plan.cells))
    if len(plan.names) != len(plan.cells):
        yield f"plan.names: there are {len(plan.names)} of {len(plan.cells)} configurations"
    # Of what another tool measured, the levels may be some that nobody can ask for here: a thousand subscribers.
    for index, cell in enumerate(() if file.imported else plan.cells):
        for field, why in wrong_levels(cell):
            yield f"plan.cells[{index}].{field}: {why}"
    orders = set()
    for index, trial in enumerate(plan.trials):
        if trial.cell not in cells:
            yield f"plan.trials[{index}].cell: there is no configuration {trial.cell}"
        if trial.order in orders:
            yield f"plan.trials[{index}].order: {trial.order} is that of another trial"
        orders.add(trial.order)
    for name, weight in plan.scorecard:
        if not 0 < weight <= 1e6:
            yield f"plan.scorecard: {weight} is no weight of {name}"
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


def _of_outcome(outcome: TrialOutcome, trials: Mapping[int, Trial]) -> Iterator[str]:
    trial = trials.get(outcome.order)
    if trial is None:
        yield f"order: the plan has no trial {outcome.order}"
    elif (outcome.cell, outcome.number) != (trial.cell, trial.number):
        said, due = f"{outcome.cell}, {outcome.number}", f"{trial.cell}, {trial.number}"
        yield f"cell, number: {said}; of trial {trial.order} they are {due}"
    if outcome.measured_s and outcome.measured_s < 1e-9:
        yield f"measured_s: nothing is measured within {outcome.measured_s:g} s"
    for place, path in _files(outcome):
        if not _inside(path):
            yield f"{place}: is not within the run's folder"


def _files(outcome: TrialOutcome) -> Iterator[tuple[str, str]]:
    if outcome.samples_file is not None:
        yield "samples_file", outcome.samples_file
    for field in ("files", "stamps"):
        for index, file in enumerate(getattr(outcome, field)):
            yield f"{field}[{index}].path", file.path
            if file.histogram_path is not None:
                yield f"{field}[{index}].histogram_path", file.histogram_path


def _inside(path: str) -> bool:
    """Whether it leads to nowhere else as it is written; links that its owner has put there are followed."""
    there = PurePosixPath(path)
    return "\0" not in path and there != PurePosixPath() and not there.is_absolute() and ".." not in there.parts
