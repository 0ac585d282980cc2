"""Compute a sentence and a verdict for each expectation of the runs; expectations that do not hold come first."""

import math
from collections.abc import Callable, Iterator, Sequence

from middlemark.document.document import Expected
from middlemark.document.numbers import measured, part, ratio
from middlemark.document.over_time import trend_text
from middlemark.model.expectation import Bound, Expectation, GrowthBound, Shape
from middlemark.model.parts import Subject
from middlemark.model.units import format_confidence, format_count, format_percent, format_seconds
from middlemark.stats.expectations import ClaimVerdict, JudgedPart
from middlemark.stats.metrics import METRICS
from middlemark.verdicts.expectations import LATER_THAN_ANY, judge_expectations
from middlemark.verdicts.judged_expectation import JudgedExpectation
from middlemark.verdicts.long_trials import Trend, long_trials
from middlemark.verdicts.names import common, plain, varied_factors
from middlemark.verdicts.rows import MeasuredRun, Row, rows_of

_FIRST = (
    ClaimVerdict.DOES_NOT_HOLD,
    ClaimVerdict.UNDECIDED,
    ClaimVerdict.UNTESTABLE,
    ClaimVerdict.HOLDS,
)
_MOST_SPOILED = 3


def expected_of(run: MeasuredRun) -> tuple[Expected, ...]:
    """Return the verdicts on the expectations of one run."""
    return expectations_of([run], rows_of([run])) if run.file.plan.expectations else ()


def expectations_of(runs: Sequence[MeasuredRun], rows: Sequence[Row]) -> tuple[Expected, ...]:
    """Return the verdicts on the expectations of all runs; ``rows``: the rows of the document."""
    found: list[Expected] = []
    for at, run in enumerate(runs):
        own_rows = [row for row in rows if row.run == at]
        descriptions = {each.name: each for each in run.file.adapters}
        judged = judge_expectations(run.file.plan, run.trials, descriptions, long_trials(run))
        found += [_expected(each, own_rows, at) for each in judged]
    return tuple(sorted(found, key=lambda each: _FIRST.index(each.verdict)))


def counted(expected: Sequence[Expected]) -> str:
    """Return the number of each verdict: ``1 of 4 does not hold, 1 is undecided, 2 hold``."""
    numbers = {verdict: sum(each.verdict is verdict for each in expected) for verdict in _FIRST}
    one_or_more = {
        ClaimVerdict.DOES_NOT_HOLD: ("does not hold", "do not hold"),
        ClaimVerdict.UNDECIDED: ("is undecided", "are undecided"),
        ClaimVerdict.UNTESTABLE: ("untestable", "untestable"),
        ClaimVerdict.HOLDS: ("holds", "hold"),
    }
    counts = [f"{number} {one_or_more[verdict][number > 1]}" for verdict, number in numbers.items() if number]
    return ", ".join([f"{counts[0].split(' ', 1)[0]} of {len(expected)} {counts[0].split(' ', 1)[1]}", *counts[1:]])


def _expected(judged: JudgedExpectation, rows: Sequence[Row], run: int) -> Expected:
    expected, shown = judged.expectation, judged.shown
    scale = _scale(expected)
    short, why = _Words(judged, rows).short_and_full()
    return Expected(
        run=run,
        id=expected.id,
        say=plain(expected.say),
        kind=expected.kind,
        claimed=plain(expected.claimed),
        measured=_rounded(shown.estimate if shown else None, scale),
        low=_rounded(shown.low if shown else None, scale),
        high=_rounded(shown.high if shown else None, scale),
        verdict=judged.verdict,
        trials_needed=judged.trials_needed,
        why=plain(why),
        short=plain(short),
        cells=tuple(rows[each].index for each in judged.cells),
    )


def _scale(expected: Expectation) -> Callable[[float], float]:
    """Return a function from a figure to the shown figure: unchanged, or minus 1 for a ratio."""
    is_unchanged = isinstance(expected.claim, Bound | Shape | GrowthBound) or expected.kind == "ratio"
    return (lambda figure: figure) if is_unchanged else (lambda figure: figure - 1)


def _rounded(figure: float | None, scale: Callable[[float], float]) -> float | None:
    """Return the figure on the scale of the claim, to six digits; None: the figure is absent or infinite."""
    return None if figure is None or figure == math.inf else float(f"{scale(figure):.6g}")


class _Words:
    """One expectation in words."""

    def __init__(self, judged: JudgedExpectation, rows: Sequence[Row]) -> None:
        self._judged = judged
        self._expected = judged.expectation
        self._rows = rows
        self._factors = varied_factors([row.result.cell for row in rows])
        is_metric = self._expected.metric in METRICS
        self._unit = METRICS[self._expected.metric].unit if is_metric else "1"

    def short_and_full(self) -> tuple[str, str]:
        """Return the reason of the verdict twice: in one line, and in full."""
        judged, shown = self._judged, self._judged.shown
        if judged.verdict is ClaimVerdict.UNTESTABLE:
            texts = [*self._spoiled()]
            more = f"; and {len(texts) - _MOST_SPOILED} more" if len(texts) > _MOST_SPOILED else ""
            return texts[0], "; ".join(texts[:_MOST_SPOILED]) + more
        assert shown is not None
        if judged.trend is not None:
            return self._trend(shown, judged.trend)
        where = self._where(shown)
        basis = f"{format_count(shown.trials, 'trial')}, {format_confidence(judged.confidence or 0)} interval"
        if judged.parts > 1:
            basis += f", {'the closest' if judged.verdict is ClaimVerdict.HOLDS else 'one'} of {judged.parts}"
        found, claimed = f"{where}{self._interval(shown)}", f"claimed {self._expected.claimed}"
        if shown.worst is not None and judged.verdict is ClaimVerdict.DOES_NOT_HOLD:
            short = f"{where}{self._worst(shown)}"
            if shown.estimate == math.inf:
                return short, f"{short}, {claimed} ({basis})"
            return short, f"{short}; the median is {self._interval(shown)}, {claimed} ({basis})"
        if judged.verdict is ClaimVerdict.UNDECIDED:
            return f"{self._more()}: {found}", f"{self._more()}: {found}, {claimed} ({basis})"
        short = found if judged.verdict is ClaimVerdict.HOLDS else f"{found}, {claimed}"
        return short, f"{found}, {claimed} ({basis})"

    def _trend(self, shown: JudgedPart, trend: Trend) -> tuple[str, str]:
        """Return the trend that decides, and with the claim. A trend that is undecided needs a longer trial."""
        found = f"{self._named(shown.part.a)}, {trend.role}: {trend.resource} {trend_text(trend)}"
        if self._judged.verdict is ClaimVerdict.UNDECIDED:
            found = f"undecided, a longer trial would decide: {found.replace('undecided: ', '')}"
        return found, f"{found}, claimed {self._expected.claimed} ({format_count(shown.trials, 'trial')})"

    def _more(self) -> str:
        if self._judged.trials_needed is None:
            return "undecided, more than 10,000 trials would decide"
        more = self._judged.trials_needed - self._judged.trials
        return f"undecided, about {more:,} more trial{'' if more == 1 else 's'} would decide"

    def _spoiled(self) -> Iterator[str]:
        for each in self._judged.spoiled:
            if each.subject is None:
                yield each.why
            else:
                yield f"{self._named(each.subject)} {each.why}"

    def _named(self, subject: Subject) -> str:
        row = self._rows[subject.cell]
        return f"{subject.name} ({row.name})" if subject.name else row.label

    def _where(self, shown: JudgedPart) -> str:
        """Return the words for the part of the claim: an edge and its row, or the levels of both sides."""
        claimed = shown.part
        if claimed.b is None:
            return (
                f"{self._named(claimed.a)}, "
                if self._judged.verdict is ClaimVerdict.DOES_NOT_HOLD
                else f"{self._named(claimed.a)}: "
            )
        if self._judged.parts == 1:
            return ""
        cells = [self._rows[each.cell].result.cell for each in claimed.subjects]
        shared = common(cells, self._factors)
        # A single size is already one of the shared levels.
        sizes = claimed.at.startswith("size ") and "→" not in claimed.at
        where = ", ".join(filter(None, (claimed.a.name, shared, "" if sizes else claimed.at)))
        return f"{where}: " if where else ""

    def _interval(self, shown: JudgedPart) -> str:
        estimate, low, high = shown.estimate, shown.low, shown.high
        if low is None or high is None:
            return f"{self._text(estimate)} (too few trials)"
        return f"{self._text(estimate)} ({self._text(low)} … {self._text(high)})"

    def _text(self, figure: float) -> str:
        if isinstance(self._expected.claim, Bound):
            return self._figure(figure)
        return f"× {ratio(figure)}" if _scale(self._expected)(1.0) == 1.0 else part(figure - 1)

    def _figure(self, figure: float) -> str:
        if figure == math.inf:
            return "never"
        return format_seconds(figure / 1e9) if self._unit.startswith("ns") else measured(figure, self._unit)

    def _worst(self, shown: JudgedPart) -> str:
        """Return which trial exceeds a bound by the most, and by how much."""
        assert shown.worst is not None
        (number, figure), band = shown.worst, shown.part.band
        trial = f"trial {number}: "
        if figure == math.inf:
            share = LATER_THAN_ANY[self._expected.metric]
            return f"{trial}{f'over {format_percent(share)} of the' if share else 'some'} messages never came"
        if band.high is not None and figure > band.high:
            late = METRICS[self._expected.metric].latency and self._unit != "medians"
            beyond = f"{self._figure(figure - band.high)} {'late' if late else 'too much'}"
        else:
            beyond = f"{self._figure((band.low or 0.0) - figure)} too little"
        return f"{trial}{beyond}, {self._expected.metric} {self._figure(figure)}"
