"""The races of a run, from its stored trials: what each trial says of its candidate, and who is eliminated."""

import statistics
from collections.abc import Mapping, Sequence

from middlemark.model.run import Run
from middlemark.stats.candidates import Attempt, InRace, RaceState, attempt, holds, race_states
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary


def in_races(
    run: Run, trials: Mapping[int, Sequence[TrialSummary]], samples: SamplesOf, kept: KeptOf
) -> Mapping[int, InRace]:
    """Return by its cell how each candidate stands in its race; none of a run without one."""
    race = run.file.plan.race
    if race is None:
        return {}
    descriptions = {each.name: each for each in run.file.adapters}
    cells = run.file.plan.cells
    attempts = {
        index: {
            each.outcome.number: attempt(cells[index], each, race.wanted, samples, kept, descriptions)
            for each in trials.get(index, ())
        }
        for candidates in race.heats
        for index in candidates
    }
    # A race whose time is spent has its last look.
    states = race_states(race, attempts, _whole_rounds(run), spent=run.file.reached is not None)
    return {
        cell: _in_race(number, state, cell, [*attempts[cell].values()])
        for number, (heat, state) in enumerate(zip(race.heats, states, strict=True))
        for cell in heat
    }


def _in_race(number: int, state: RaceState, cell: int, own: Sequence[Attempt]) -> InRace:
    within = [each.within for each in own if each.within is not None]
    return InRace(
        race=number,
        eliminated=state.eliminated.get(cell),
        rounds=len(own),
        holds=holds(own),
        within=statistics.median(within) if within else None,
        state=state,
    )


def _whole_rounds(run: Run) -> int:
    """Return the number of the last round of which, and before which, every trial has ended."""
    ended = {each.order for each in run.outcomes}
    lacking = [each.number for each in run.file.plan.trials if each.order not in ended]
    last = max((each.number for each in run.file.plan.trials), default=0)
    return min(lacking) - 1 if lacking else last
