"""Verdicts on the expectations of a run: holds, does not hold, undecided, untestable (docs/decisions/0039).

An expectation holds if the interval of every part is inside the claimed band. It does not hold if the interval and the
band of any part do not overlap.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Description
from middlemark.model.expectation import (
    ALPHA,
    Bound,
    Expectation,
    GrowthBound,
    NoInfluence,
    Untestable,
    fewest_trials,
)
from middlemark.model.parts import ClaimPart, NothingToJudge, Subject, parts_of
from middlemark.model.plan import Plan
from middlemark.model.times import NAMES, QUANTILES
from middlemark.stats import rates
from middlemark.stats.baselines import carrier_of, used_another_transport
from middlemark.stats.expectations import (
    ClaimVerdict,
    Figures,
    JudgedPart,
    Look,
    judged_part,
    looks,
    share_of,
    trials_needed,
)
from middlemark.stats.metrics import METRICS
from middlemark.stats.trials import TrialSummary, at_edge
from middlemark.stats.warnings.trials import not_in_force
from middlemark.verdicts.judged_expectation import JudgedExpectation, Spoiled
from middlemark.verdicts.long_trials import LongTrial
from middlemark.verdicts.trend_expectations import judged_trend

LATER_THAN_ANY: Mapping[str, float] = {**{NAMES[each]: float(1 - q) for each, q in QUANTILES.items()}, "max": 0.0}
"""Name of a quantile → share of messages. If a larger share is lost, the quantile is above any bound."""


def judge_expectations(
    plan: Plan,
    trials: Sequence[Sequence[TrialSummary]],
    descriptions: Mapping[str, Description],
    long: Sequence[LongTrial] = (),
    *,
    ended: bool = True,
) -> tuple[JudgedExpectation, ...]:
    """Return the verdict on each expectation of the plan. ``trials``: for each cell of the plan, in order.

    ``long``: the run's long trials, which decide the expectations of trends by their own intervals.

    The probability that any of the other verdicts is false is at most 5 %. If a run grows until its expectations are
    decided, each expectation is judged several times, at fixed numbers of trials (looks). Every look has its share of
    the error. The first look that decides counts. ``ended``: the run has ended, so the trials since the last look also
    get a look.
    """
    evidence = [_evidence(each, plan, trials, descriptions) for each in plan.expectations]
    members = [at for at, each in enumerate(evidence) if each.parts and each.fewest >= fewest_trials(ALPHA)]
    due = {at: looks(plan, evidence[at].fewest, ended=ended) for at in members}
    found: dict[int, JudgedExpectation] = {}
    while undecided := [at for at in members if at not in found]:
        level = ALPHA / len(undecided)
        decided = {at: each for at in undecided if (each := evidence[at].decided_by(due[at], level)) is not None}
        if not decided:
            break
        found |= decided
    open_ = max(1, sum(bool(each.parts) for at, each in enumerate(evidence) if at not in found))
    trends = {
        at: judged_trend(each, each.claim, plan, long)
        for at, each in enumerate(plan.expectations)
        if isinstance(each.claim, GrowthBound)
    }
    found |= trends
    return tuple(
        found.get(at) or each.undecided(ALPHA / open_ * share_of(len(due.get(at, ())) if plan.deciding else 0))
        for at, each in enumerate(evidence)
    )


class _Evidence:
    """The figures for an expectation: for each part round → value, on the scale of its band."""

    def __init__(
        self,
        expectation: Expectation,
        parts: Sequence[tuple[ClaimPart, Figures]] = (),
        spoiled: Sequence[Spoiled] = (),
    ) -> None:
        self._expectation = expectation
        self.parts = [each for each in parts if each[1]]
        self._spoiled = tuple(dict.fromkeys(spoiled))
        self.fewest = min((len(figures) for _, figures in self.parts), default=0)

    def decided_by(self, due: Iterable[Look], level: float) -> JudgedExpectation | None:
        """Return the verdict of the first look that decides; None: no look decides.

        ``level``: the error of all looks.
        """
        decided = (self._decided(level * each.share, each.trials) for each in due)
        return next((each for each in decided if each is not None), None)

    def _decided(self, level: float, trials: int) -> JudgedExpectation | None:
        """Return the verdict by the first ``trials`` trials of each part; None: these trials do not decide.

        ``level``: the probability that the verdict is false. One failing part is enough for "does not hold", so that
        verdict divides the level by the number of parts.
        """
        parts = [(part, dict(sorted(figures.items())[:trials])) for part, figures in self.parts]
        judged = [judged_part(part, figures, level / len(parts)) for part, figures in parts]
        failing = [each for each in judged if each.is_disjoint]
        if failing:
            return self._judgement(ClaimVerdict.DOES_NOT_HOLD, failing, level / len(parts))
        judged = [judged_part(part, figures, level) for part, figures in parts]
        if self._spoiled or not all(each.is_inside for each in judged):
            return None
        return self._judgement(ClaimVerdict.HOLDS, judged, level)

    def undecided(self, level: float) -> JudgedExpectation:
        """Return "undecided" with the trials that it needs, or "untestable".

        ``level``: the allowed error of a verdict.
        """
        judged = [judged_part(part, figures, level) for part, figures in self.parts]
        if self._spoiled or not judged:
            return self._judgement(ClaimVerdict.UNTESTABLE, judged, level)
        outside = [at for at, each in enumerate(judged) if each.room < 0]
        open_ = outside or [at for at, each in enumerate(judged) if not each.is_inside] or range(len(judged))
        one_of = len(judged) if outside else 1  # for "does not hold", one failing part is enough
        needed = [trials_needed(judged[at], self.parts[at][1], level / one_of) for at in open_]
        possible = [each for each in needed if each is not None]
        decided = possible if outside or len(possible) == len(needed) else []
        enough = (min if outside else max)(decided, default=None)
        return msgspec.structs.replace(self._judgement(ClaimVerdict.UNDECIDED, judged, level), trials_needed=enough)

    def _judgement(self, verdict: ClaimVerdict, judged: Sequence[JudgedPart], level: float) -> JudgedExpectation:
        return JudgedExpectation(
            expectation=self._expectation,
            verdict=verdict,
            shown=min(judged, key=lambda each: each.room, default=None),
            parts=len(self.parts),
            confidence=1 - level,
            trials=self.fewest,
            spoiled=self._spoiled if verdict is ClaimVerdict.UNTESTABLE else (),
            cells=tuple(dict.fromkeys(subject.cell for part, _ in self.parts for subject in part.subjects)),
        )


def _evidence(
    expected: Expectation,
    plan: Plan,
    trials: Sequence[Sequence[TrialSummary]],
    descriptions: Mapping[str, Description],
) -> _Evidence:
    if isinstance(expected.claim, Untestable):
        return _Evidence(expected, spoiled=[Spoiled(None, expected.claim.why)])
    if isinstance(expected.claim, GrowthBound):
        return _Evidence(expected)
    if expected.metric not in METRICS:
        return _Evidence(expected, spoiled=[Spoiled(None, f"there is no metric {expected.metric}")])
    try:
        parts = parts_of(expected, plan)
    except NothingToJudge as why:
        return _Evidence(expected, spoiled=[Spoiled(None, str(why))])
    measured = {
        subject: _Measured(expected, subject, plan.cells[subject.cell], trials[subject.cell], descriptions)
        for part in parts
        for subject in part.subjects
    }
    spoiled = [Spoiled(subject, each.spoiled) for subject, each in measured.items() if each.spoiled]
    found = [
        (part, _ratios(measured[part.a].figures, measured[part.b].figures) if part.b else measured[part.a].figures)
        for part in parts
        if all(not measured[subject].spoiled or measured[subject].against for subject in part.subjects)
    ]
    apart = [part for part, figures in found if not figures and part.b]
    spoiled += [Spoiled(part.b, "has no round in common with the other side") for part in apart]
    return _Evidence(expected, found, spoiled)


def _ratios(a: Figures, b: Figures) -> Figures:
    return {at: b[at] / a[at] for at in sorted(a.keys() & b.keys()) if a[at] > 0 and b[at] > 0}


class _Measured:
    """The figures of one subject by round. ``spoiled``: the reason why they are no evidence; empty: they are evidence.

    ``against``: messages were lost, so the figures can refute an upper bound but cannot confirm one. Lost messages
    count as later than any bound, so the latency of the received messages is a lower limit.
    """

    def __init__(
        self,
        expected: Expectation,
        subject: Subject,
        cell: Cell,
        trials: Sequence[TrialSummary],
        descriptions: Mapping[str, Description],
    ) -> None:
        metric = METRICS[expected.metric]
        measured = [each for each in trials if each.outcome.failed is None]
        seen = measured if subject.edge is None else [at_edge(each, subject.edge) for each in measured]
        self.figures: dict[int, float] = {}
        self.against = False
        self.spoiled = _misplaced(cell, measured, descriptions)
        if not measured and not self.spoiled:
            failed = next((each.outcome.failed.text for each in trials if each.outcome.failed), "")
            self.spoiled = f"was not measured{f': {failed}' if failed else ''}"
        for each in seen:
            figure = metric.figure(cell, each)
            lost, of = _lost(each)
            if _is_latest(expected) and lost > LATER_THAN_ANY[expected.metric] * of:
                figure = math.inf
            elif lost > _allowed(expected) * of and not self.spoiled:
                self.spoiled = f"lost {lost:,} of {of:,} messages in trial {each.outcome.number}"
                self.against = _is_latest(expected)
            if figure is not None:
                self.figures[each.outcome.number] = figure
        if not self.figures and not self.spoiled:
            self.spoiled = f"has no {expected.metric}: measure longer, or expect another metric"


def _misplaced(cell: Cell, measured: Sequence[TrialSummary], descriptions: Mapping[str, Description]) -> str:
    """Return how the trials differed from their cell's levels; empty: they did not."""
    for each in measured:
        if used_another_transport(cell, each.outcome, descriptions):
            due = carrier_of(cell, descriptions)
            return (
                f"the actual transport was {each.outcome.actual_transport}, not {due}, in trial {each.outcome.number}"
            )
        if placed := not_in_force(cell, each.outcome.placed):
            return f"was not placed as asked in trial {each.outcome.number}: {placed.text}"
    return ""


def _lost(trial: TrialSummary) -> tuple[int, int]:
    """Return (number of lost messages, number of expected messages) of a trial."""
    counted = rates.counts(trial.outcome)
    return (counted.lost, counted.received + counted.lost) if counted else (0, 0)


def _is_latest(expected: Expectation) -> bool:
    """Say whether the claim is an upper bound of a latency quantile: lost messages count as later than any bound."""
    bounded = isinstance(expected.claim, Bound) and expected.claim.band.high is not None
    return bounded and expected.metric in LATER_THAN_ANY


def _allowed(expected: Expectation) -> float:
    """Return the share of messages that may be lost. It is 0 for latencies, because a lost message has no latency."""
    if isinstance(expected.claim, NoInfluence):
        return expected.claim.max_loss
    return 0.0 if METRICS[expected.metric].latency else math.inf
