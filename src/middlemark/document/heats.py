"""How the races of a run stand, by its stored trials: what each trial says of its candidate, and who left."""

from collections.abc import Mapping

from middlemark.document.document import MeasuredRun
from middlemark.model.plan import Race
from middlemark.stats.candidates import Attempts, Left, attempt, heats


def left_of(run: MeasuredRun) -> Mapping[int, Left]:
    """Return why candidates left their race, by their cells; none did where the run is no race."""
    race = run.file.plan.race
    if race is None:
        return {}
    return {
        cell: why for heat in heats(race, attempts_of(run, race), whole_rounds(run)) for cell, why in heat.left.items()
    }


def attempts_of(run: MeasuredRun, race: Race) -> Attempts:
    """Return what each trial says of its candidate."""
    descriptions = {each.name: each for each in run.file.adapters}
    return {
        index: {
            each.outcome.number: attempt(
                run.results[index].cell, each, race.wanted, run.samples, run.kept, descriptions
            )
            for each in run.trials[index]
        }
        for heat in race.heats
        for index in heat
    }


def whole_rounds(run: MeasuredRun) -> int:
    """Return the number of the last round of which, and before which, every trial has ended."""
    ended = {each.order for each in run.outcomes}
    lacking = [each.number for each in run.file.plan.trials if each.order not in ended]
    last = max((each.number for each in run.file.plan.trials), default=0)
    return min(lacking) - 1 if lacking else last
