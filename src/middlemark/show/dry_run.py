"""The output of a dry run: the plan, its trials and the estimated time."""

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.text import Text

from middlemark.document.numbers import ABSENT
from middlemark.document.table import Table, table_of
from middlemark.model.cell import subject
from middlemark.model.expectation import Expectation
from middlemark.model.parts import NothingToJudge, parts_of
from middlemark.model.plan import Plan, Trial
from middlemark.model.units import format_count, format_percent, format_seconds
from middlemark.plan.estimate import estimate_seconds, estimate_trial
from middlemark.show import View
from middlemark.show.terminal import paragraph, printed, terminal
from middlemark.verdicts.names import WORDS, size, words

_MOST_SIZES = 6
_MOST_NOTES = 5


def render(plan: Plan, width: int, *, verbose: bool = False) -> str:
    """Return the total, a line for each sweep, and the notes. ``verbose``: every configuration and every note."""
    return printed(_lines(plan, width, verbose=verbose), View(width=width))


def _lines(plan: Plan, width: int, *, verbose: bool) -> Iterator[Text]:
    counted = f"{format_count(len(plan.cells), 'configuration')}, {format_count(len(plan.trials), 'trial')}"
    total = f"{counted}, about {_time(estimate_seconds(plan))}"
    yield from paragraph(f"{total}; order from seed {plan.seed}. Nothing was measured.", width)
    yield from terminal(_sweeps(plan), width, wraps=True)
    trials = Counter(each.cell for each in plan.trials)
    for at, (cell, name) in enumerate(zip(plan.cells, plan.names, strict=True) if verbose else ()):
        levels = ", ".join(
            filter(
                None,
                (
                    subject(cell),
                    "" if cell.workload else size(cell),
                    words(cell, WORDS),
                    format_count(trials[at], "trial"),
                ),
            )
        )
        yield from paragraph(levels, width, first=f"{name}: ")
    for sentence in _further(plan):
        yield from paragraph(sentence, width)
    for expected in plan.expectations:
        yield from paragraph(_expected(expected, plan), width, first="expects: ")
    shown = plan.notes if verbose else plan.notes[:_MOST_NOTES]
    for note in shown:
        yield from paragraph(f"{note.place}: {note.text}", width, first="note: ")
    if not verbose:
        left_out = len(plan.notes) - len(shown)
        yield Text(f"--verbose lists every configuration{f' and {left_out} more notes' if left_out else ''}")


def _sweeps(plan: Plan) -> Table:
    """Return a row for each sweep: its number of configurations at each size, its number of trials, and its time.

    A workload counts as one size.
    """
    sizes = dict.fromkeys(size(each) for each in sorted(plan.cells, key=lambda cell: cell.size))
    few = len(sizes) <= _MOST_SIZES
    counts = Counter((name, size(cell)) for name, cell in zip(plan.names, plan.cells, strict=True))
    rows = []
    for name in dict.fromkeys(plan.names):
        trials = [each for each in plan.trials if plan.names[each.cell] == name]
        at = [counts[name, each] for each in sizes]
        texts = [str(each) if each else ABSENT for each in at] if few else [str(sum(at)), str(sum(map(bool, at)))]
        rows.append((name, *texts, f"{len(trials):,}", _time(_seconds(plan, trials))))
    heads = sizes if few else ("configurations", "sizes")
    return table_of(("configurations of" if few else "", *heads, "trials", "about"), rows)


def _further(plan: Plan) -> Iterator[str]:
    """Yield a sentence about the raw transports, and a sentence for each reason to add rounds."""
    if baselines := frozenset(plan.baselines):
        about = _time(_seconds(plan, [each for each in plan.trials if each.cell in baselines]))
        text = f"{len(baselines)} of these configurations measure raw transports as baselines"
        yield f"{text}, about {about}; --no-baseline leaves them out"
    if plan.precision is not None:
        yield _rounds(f"until medians are known to ± {format_percent(plan.precision.part)}", plan.precision.budget_s)
    if plan.race is not None:
        races = format_count(sum(len(each) > 1 for each in plan.race.experiments), "race")
        yield _rounds(f"of the candidates that may be the best, in {races}", plan.race.budget_s)
    if plan.deciding is not None:
        yield _rounds("until every expectation is decided", plan.deciding.budget_s)
    if plan.breaking is not None:
        budget = format_seconds(plan.breaking.budget_s)
        yield f"then further sizes of each crowd, until the size at which it breaks is known, within {budget}"


def _rounds(which: str, budget_s: float) -> str:
    return f"then further rounds {which}, within {format_seconds(budget_s)} in all"


def _expected(expected: Expectation, plan: Plan) -> str:
    """Return an expectation, and the number of edges, configurations or pairs that must be decided for it."""
    try:
        parts = parts_of(expected, plan)
    except NothingToJudge as why:
        return f"{expected.say}: untestable: {why}"
    if not parts:
        return f"{expected.say}: untestable"
    what = "edge" if parts[0].a.name else "configuration" if parts[0].b is None else "pair"
    return f"{expected.say}: {expected.claimed}, of {format_count(len(parts), what)}"


def _seconds(plan: Plan, trials: Iterable[Trial]) -> float:
    return sum(estimate_trial(plan.cells[each.cell], each) for each in trials)


def _time(seconds: float) -> str:
    return format_seconds(max(1, round(seconds)))
