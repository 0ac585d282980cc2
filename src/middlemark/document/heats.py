"""How the races of a run stand, by its stored trials: what each trial says of its candidate, and who left."""

from collections.abc import Mapping, Sequence

from middlemark.model.plan import Race
from middlemark.model.run import Run
from middlemark.stats.candidates import Attempts, Heat, Place, attempt, heats
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary

ByCell = Mapping[int, Sequence[TrialSummary]]


def places_of(run: Run, trials: ByCell, samples: SamplesOf, kept: KeptOf) -> Mapping[int, Place]:
    """Return where the candidates stand, by their cells; none do where the run is no race."""
    race = run.file.plan.race
    if race is None:
        return {}
    found = heats_of(run, race, attempts_of(run, race, trials, samples, kept))
    return {
        cell: Place(number, heat.left.get(cell))
        for number, (cells, heat) in enumerate(zip(race.heats, found, strict=True))
        for cell in cells
    }


def attempts_of(run: Run, race: Race, trials: ByCell, samples: SamplesOf, kept: KeptOf) -> Attempts:
    """Return what each trial says of its candidate."""
    descriptions = {each.name: each for each in run.file.adapters}
    cells = run.file.plan.cells
    return {
        index: {
            each.outcome.number: attempt(cells[index], each, race.wanted, samples, kept, descriptions)
            for each in trials.get(index, ())
        }
        for heat in race.heats
        for index in heat
    }


def heats_of(run: Run, race: Race, attempts: Attempts) -> tuple[Heat, ...]:
    """Return how each race stands after what was measured; one whose time is spent has its last look."""
    return heats(race, attempts, _whole_rounds(run), spent=run.file.reached is not None)


def _whole_rounds(run: Run) -> int:
    """Return the number of the last round of which, and before which, every trial has ended."""
    ended = {each.order for each in run.outcomes}
    lacking = [each.number for each in run.file.plan.trials if each.order not in ended]
    last = max((each.number for each in run.file.plan.trials), default=0)
    return min(lacking) - 1 if lacking else last
