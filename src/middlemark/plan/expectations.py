"""Expectations beside a plan: which of them nothing can match, and how many trials can tell of the others."""

from collections.abc import Iterator, Sequence

from middlemark.model.expectation import ALPHA, Claim, Expectation, fewest_trials
from middlemark.model.parts import ClaimPart, NothingToJudge, parts_of, sides_of
from middlemark.model.plan import Plan
from middlemark.plan.targets import Context
from middlemark.problems import Problem
from middlemark.suite.sweep import Suite


def unmatched(plan: Plan, suites: Sequence[Suite], context: Context) -> list[Problem]:
    """Return a problem for each expectation that nothing of the plan can be held against.

    Where ``--only``, ``skip_unsupported`` or a missing adapter may have left it out it is none: it is untestable here.
    """
    return [] if context.only or _skips(suites) else [*_problems(plan, context)]


def trials_that_tell(plan: Plan) -> int:
    """Return the fewest trials by which every expectation can be decided, also by one of its parts alone; 0: none is.

    Each of m expectations has an m-th of the error, and each of its parts a part of that.
    """
    parts = [found for each in plan.expectations if (found := _parts(each, plan))]
    return fewest_trials(ALPHA / len(parts) / max(map(len, parts))) if parts else 0


def _parts(expected: Expectation, plan: Plan) -> tuple[ClaimPart, ...]:
    try:
        return parts_of(expected, plan)
    except NothingToJudge:
        return ()


def _skips(suites: Sequence[Suite]) -> bool:
    return any(sweep.skip_unsupported for suite in suites for sweep in suite.sweeps)


def _problems(plan: Plan, context: Context) -> Iterator[Problem]:
    for each in plan.expectations:
        if _adapters(each.claim) & context.absent.keys():
            continue
        try:
            parts_of(each, plan)
        except NothingToJudge as why:
            yield Problem(each.place, str(why))


def _adapters(claim: Claim) -> set[object]:
    return {level for side in sides_of(claim) for level in side.levels.levels.get("adapter", ())}
