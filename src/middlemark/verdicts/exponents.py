"""Compare the exponents of power laws, paired by round: one figure may grow significantly faster than another.

Each round has a trial at every level, so each round has an exponent of its own. The exponents of A and B in the same
round are paired, as the figures of two configurations are elsewhere: the Hodges-Lehmann shift, its exact interval, and
the p-value over all pairs of the family. An exponent's difference is a difference of logarithms, so the rule of
``stats.verdict`` applies to it without a change.
"""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence

import msgspec

from middlemark.stats.interval import FEWEST
from middlemark.stats.power_law import FEWEST_LEVELS, power_law
from middlemark.stats.verdict import Judgement, Verdict, judge
from middlemark.verdicts.experiments import Standing

MARGIN = 0.1
"""The smallest difference of exponents that matters. It is 26 % for each factor of ten in the number."""

Rounds = Mapping[int, Mapping[int, float]]
"""Round → level → figure, all positive."""


class Steepness(msgspec.Struct, frozen=True, kw_only=True):
    """The standing of one power law among those of the same figure, in the same experiment.

    ``best``: the exponent is significantly smaller than all others. ``slower``: the figure grows significantly faster
    than that of the reference, which has the smallest exponent.
    """

    standing: Standing
    reference: int | None = None
    """Index of the reference among the compared power laws; None: this is the reference."""
    difference: float | None = None
    """The exponent minus the reference's, over the levels that both have; None: no round has three levels of both."""
    low: float | None = None
    """The lower end of the 95 % interval of ``difference``; None: fewer than six common rounds."""
    high: float | None = None
    rounds: int = 0
    """The number of common rounds."""


def steepness(
    groups: Sequence[tuple[Hashable, Sequence[tuple[float, Rounds]]]],
) -> list[list[Steepness]]:
    """Return the standing of each power law in its group. A group: its figure, and (exponent, rounds) of each law.

    All groups with the same figure are one family.
    """
    judged: dict[tuple[int, int, int], Judgement] = {}
    for figure in dict.fromkeys(name for name, _ in groups):
        family: dict[tuple[int, int, int], dict[int, tuple[float, float]]] = {}
        for number, (name, laws) in enumerate(groups):
            if name == figure:
                family |= {
                    (number, a, b): pairs
                    for a, b in itertools.combinations(_by_exponent(laws), 2)
                    if (pairs := _paired(laws[a][1], laws[b][1]))
                }
        found = judge(
            [*family.values()],
            higher_is_better=[False] * len(family),
            questions=[number for number, _, _ in family],
            margin=math.expm1(MARGIN),
        )
        judged |= dict(zip(family, found, strict=True))
    return [_standings(number, laws, judged) for number, (_, laws) in enumerate(groups)]


def _by_exponent(laws: Sequence[tuple[float, Rounds]]) -> list[int]:
    return sorted(range(len(laws)), key=lambda each: laws[each][0])


def _paired(a: Rounds, b: Rounds) -> dict[int, tuple[float, float]]:
    """Return round → the growth of A and of B when the number becomes e times as large, over their common levels."""
    found = {}
    for number in sorted(a.keys() & b.keys()):
        common = sorted(a[number].keys() & b[number].keys())
        if len(common) >= FEWEST_LEVELS:
            laws = [power_law([(float(at), each[number][at]) for at in common]) for each in (a, b)]
            if laws[0] is not None and laws[1] is not None:
                found[number] = (math.exp(laws[0].exponent), math.exp(laws[1].exponent))
    return found


def _standings(
    group: int, laws: Sequence[tuple[float, Rounds]], judged: Mapping[tuple[int, int, int], Judgement]
) -> list[Steepness]:
    if len(laws) == 1:
        return [Steepness(standing=Standing.ONLY)]
    reference, *others = _by_exponent(laws)
    found = {each: _standing(reference, each, judged.get((group, reference, each)), laws) for each in others}
    standings = {each.standing for each in found.values()}
    own = next(
        (each for each in (Standing.TOO_FEW_TRIALS, Standing.NO_COMMON_ROUNDS) if standings == {each}),
        Standing.BEST if standings == {Standing.SLOWER} else Standing.UNDECIDED,
    )
    if own is Standing.UNDECIDED and standings <= {Standing.SLOWER, Standing.EQUIVALENT}:
        own = Standing.EQUIVALENT
    found[reference] = Steepness(standing=own)
    return [found[each] for each in range(len(laws))]


def _standing(reference: int, other: int, judged: Judgement | None, laws: Sequence[tuple[float, Rounds]]) -> Steepness:
    enough = min(_rounds(laws[reference][1]), _rounds(laws[other][1])) >= FEWEST
    few = Standing.NO_COMMON_ROUNDS if enough else Standing.TOO_FEW_TRIALS
    if judged is None:
        return Steepness(standing=few, reference=reference)
    by_verdict = {Verdict.WORSE: Standing.SLOWER, Verdict.EQUIVALENT: Standing.EQUIVALENT}
    bounded = judged.low is not None and judged.high is not None
    return Steepness(
        standing=by_verdict.get(judged.verdict, Standing.UNDECIDED) if bounded else few,
        reference=reference,
        difference=math.log1p(judged.shift),
        low=None if judged.low is None else math.log1p(judged.low),
        high=None if judged.high is None else math.log1p(judged.high),
        rounds=judged.pairs,
    )


def _rounds(rounds: Rounds) -> int:
    """Return the number of rounds that have an exponent of their own."""
    return sum(len(each) >= FEWEST_LEVELS for each in rounds.values())
