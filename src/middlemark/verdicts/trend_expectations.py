"""Verdicts on expectations of trends. The decision is that of ``--fail-if 'rss grows by …'``.

The intervals are those of each long trial: all slopes of a trial are right with a probability of 95 %.
"""

from collections.abc import Sequence

from middlemark.model.expectation import Expectation, GrowthBound
from middlemark.model.parts import NothingToJudge, Subject, parts_of
from middlemark.model.plan import Plan
from middlemark.stats.expectations import ClaimVerdict, JudgedPart
from middlemark.stats.trends import FEWEST
from middlemark.verdicts.judged_expectation import JudgedExpectation, Spoiled
from middlemark.verdicts.long_trials import JudgedGrowth, LongTrial, Trend, judged_growth


def judged_trend(expected: Expectation, claim: GrowthBound, plan: Plan, long: Sequence[LongTrial]) -> JudgedExpectation:
    """Return the verdict: one trend above the bound refutes the claim, and all within the bound confirm it."""
    try:
        parts = parts_of(expected, plan)
    except NothingToJudge as why:
        return _untestable(expected, [Spoiled(None, str(why))])
    found = {
        part.a: [judged_growth(each, claim.resource, claim.per_hour) for each in long if each.cell == part.a.cell]
        for part in parts
    }
    spoiled = [Spoiled(subject, _why(subject, claim, long)) for subject, some in found.items() if not _trends(some)]
    judged = [each for some in found.values() for each in some]
    above, undecided = ([each for some in judged for each in getattr(some, name)] for name in ("above", "undecided"))
    if spoiled and not above:
        return _untestable(expected, spoiled)
    verdict = ClaimVerdict.DOES_NOT_HOLD if above else ClaimVerdict.UNDECIDED if undecided else ClaimVerdict.HOLDS
    part, trend = max(
        (
            (part, each)
            for part in parts
            for each in (above or undecided or _trends(judged))
            if each in _trends(found[part.a])
        ),
        key=lambda each: each[1].high,
    )
    return JudgedExpectation(
        expectation=expected,
        verdict=verdict,
        shown=JudgedPart(part=part, estimate=trend.per_hour, low=trend.low, high=trend.high, trials=len(judged)),
        trend=trend,
        parts=len(parts),
        trials=min(len(some) for some in found.values()),
        cells=tuple(dict.fromkeys(part.a.cell for part in parts)),
    )


def _trends(judged: Sequence[JudgedGrowth]) -> list[Trend]:
    return [trend for each in judged for trend in (*each.above, *each.undecided, *each.within)]


def _why(subject: Subject, claim: GrowthBound, long: Sequence[LongTrial]) -> str:
    if any(each.cell == subject.cell for each in long):
        return f"has no slope of {claim.resource}, which needs {FEWEST} records: measure longer"
    return "has no records: measure for 10 minutes or more, or set record_every"


def _untestable(expected: Expectation, spoiled: Sequence[Spoiled]) -> JudgedExpectation:
    return JudgedExpectation(expectation=expected, verdict=ClaimVerdict.UNTESTABLE, spoiled=tuple(spoiled))
