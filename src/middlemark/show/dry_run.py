"""What a run would measure, without measuring it."""

import io

from middlemark.document.words import WORDS, size, subject, words
from middlemark.model.cell import Cell
from middlemark.model.plan import Plan
from middlemark.model.units import format_percent, format_seconds
from middlemark.plan.estimate import estimate_trial


def render(plan: Plan, seconds: float) -> str:
    """Return one line a cell, the notes, and the estimate. ``seconds``: how long the whole would take."""
    out = io.StringIO()
    trials = [0] * len(plan.cells)
    for trial in plan.trials:
        trials[trial.cell] += 1
    for cell, name, count in zip(plan.cells, plan.names, trials, strict=True):
        out.write(f"{name}: {_levels(cell)}, {_counted(count, 'trial')}\n")
    if plan.floors:
        out.write(_floors(plan))
    for note in plan.notes:
        out.write(f"note: {note.place}: {note.text}\n")
    if plan.precision is not None:
        out.write(
            f"then further rounds until medians are known to ± {format_percent(plan.precision.part)}, within "
            f"{format_seconds(plan.precision.budget_s)} in all\n"
        )
    out.write(
        f"{len(plan.cells)} configurations, {len(plan.trials)} trials, about {_time(seconds)}; "
        f"order from seed {plan.seed}. Nothing was measured.\n"
    )
    return out.getvalue()


def _floors(plan: Plan) -> str:
    floors = frozenset(plan.floors)
    seconds = sum(estimate_trial(plan.cells[trial.cell], trial) for trial in plan.trials if trial.cell in floors)
    cells = _counted(
        len(floors), "of these configurations is the machine alone", "of these configurations are the machine alone"
    )
    return f"{cells}, measured beside the others, about {_time(seconds)}; --no-floors leaves them out\n"


def _levels(cell: Cell) -> str:
    return ", ".join(filter(None, (subject(cell), size(cell), words(cell, WORDS))))


def _counted(count: int, what: str, several: str | None = None) -> str:
    return f"{count} {what if count == 1 else several or f'{what}s'}"


def _time(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
