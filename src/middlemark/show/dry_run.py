"""What a run would measure, without measuring it."""

from collections import Counter

from middlemark.document.numbers import ABSENT
from middlemark.model.cell import Cell
from middlemark.model.expectation import Expectation
from middlemark.model.parts import NothingToJudge, parts_of
from middlemark.model.plan import Plan
from middlemark.model.units import format_percent, format_seconds, format_size
from middlemark.plan.estimate import estimate_seconds, estimate_trial
from middlemark.show.lines import aligned, hanging
from middlemark.verdicts.names import WORDS, size, subject, words

_MOST_SIZES = 6
_MOST_NOTES = 5


def render(plan: Plan, width: int, *, verbose: bool = False) -> str:
    """Return the total, a line for each sweep and the notes; ``verbose``: every configuration and every note."""
    seconds = estimate_seconds(plan)
    lines = [
        f"{len(plan.cells)} configurations, {len(plan.trials)} trials, about {_time(seconds)}; "
        f"order from seed {plan.seed}. Nothing was measured.",
        *aligned(_sweeps(plan), right=True),
    ]
    if verbose:
        trials = Counter(each.cell for each in plan.trials)
        lines += [
            f"{name}: {_levels(cell)}, {_counted(trials[at], 'trial')}"
            for at, (cell, name) in enumerate(zip(plan.cells, plan.names, strict=True))
        ]
    if plan.floors:
        lines.append(_floors(plan))
    if plan.precision is not None:
        lines.append(
            f"then further rounds until medians are known to ± {format_percent(plan.precision.part)}, within "
            f"{format_seconds(plan.precision.budget_s)} in all"
        )
    if plan.race is not None:
        heats = _counted(sum(len(each) > 1 for each in plan.race.heats), "race")
        lines.append(
            f"then further rounds of those that may be the best, in {heats}, within "
            f"{format_seconds(plan.race.budget_s)} in all"
        )
    if plan.deciding is not None:
        budget = format_seconds(plan.deciding.budget_s)
        lines.append(f"then further rounds until every expectation is decided, within {budget} in all")
    lines += [line for each in plan.expectations for line in hanging("expects: ", _expected(each, plan), width)]
    shown = plan.notes if verbose else plan.notes[:_MOST_NOTES]
    lines += [line for each in shown for line in hanging("note: ", f"{each.place}: {each.text}", width)]
    more = [f"{len(plan.notes) - len(shown)} more notes"] if len(shown) < len(plan.notes) else []
    if not verbose:
        lines.append(f"--verbose lists {' and '.join(['every configuration', *more])}")
    return "\n".join(lines) + "\n"


def _sweeps(plan: Plan) -> list[tuple[str, ...]]:
    """Return a row for each sweep: how many configurations at each size, its trials, its time; the heading first."""
    sizes = sorted({each.size for each in plan.cells})
    few = len(sizes) <= _MOST_SIZES
    counts = Counter((name, cell.size) for name, cell in zip(plan.names, plan.cells, strict=True))
    trials: Counter[str] = Counter()
    seconds = dict.fromkeys(plan.names, 0.0)
    for trial in plan.trials:
        name = plan.names[trial.cell]
        trials[name] += 1
        seconds[name] += estimate_trial(plan.cells[trial.cell], trial)
    heads = [format_size(each) for each in sizes] if few else ["configurations", "sizes"]
    rows = [("configurations of" if few else "", *heads, "trials", "about")]
    for name in dict.fromkeys(plan.names):
        at = [counts[name, each] for each in sizes]
        told = [str(each) if each else ABSENT for each in at] if few else [str(sum(at)), str(sum(map(bool, at)))]
        rows.append((name, *told, f"{trials[name]:,}", _time(seconds[name])))
    return rows


def _expected(expected: Expectation, plan: Plan) -> str:
    """Return what is expected, and of how much of the plan."""
    try:
        parts = parts_of(expected, plan)
    except NothingToJudge as why:
        return f"{expected.say}: untestable: {why}"
    if not parts:
        return f"{expected.say}: untestable"
    what = "configuration" if parts[0].b is None else "pair"
    return f"{expected.say}: {expected.claimed}, of {_counted(len(parts), 'edge' if parts[0].a.name else what)}"


def _floors(plan: Plan) -> str:
    floors = frozenset(plan.floors)
    seconds = sum(estimate_trial(plan.cells[trial.cell], trial) for trial in plan.trials if trial.cell in floors)
    cells = _counted(
        len(floors), "of these configurations is the machine alone", "of these configurations are the machine alone"
    )
    return f"{cells}, measured beside the others, about {_time(seconds)}; --no-floors leaves them out"


def _levels(cell: Cell) -> str:
    return ", ".join(filter(None, (subject(cell), size(cell), words(cell, WORDS))))


def _counted(count: int, what: str, several: str | None = None) -> str:
    return f"{count} {what if count == 1 else several or f'{what}s'}"


def _time(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
