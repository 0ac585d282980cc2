"""Verdicts on settings of which the truth is known: how many are false, and which differences are found. Pure.

Every two labels of A are held against each other: any verdict of faster or slower there is false. Each label of A is
held against each planted delay: slower is found, faster is false. Comparisons of A with itself are judged together, as
`compare` judges what a run has, and each alone, a family of one, as two settings are: the strictest question, because
a larger family makes false verdicts rarer. Planted delays are judged alone.
"""

import itertools
import math
import statistics
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.model.cell import Cell
from middlemark.stats.comparisons import Comparison, Pairing, Side, compare
from middlemark.stats.signed_rank import most_extreme
from middlemark.stats.verdict import CONFIDENCE, MARGIN, Verdict

ALLOWED = 1 - CONFIDENCE
"""The share of comparisons of A with itself that may be called different."""
FOUND = 0.8
"""A difference is one to hope for when at least this share of the comparisons found it."""
METRICS = ("p50", "p99")


class Planted(msgspec.Struct, frozen=True):
    """A with a delay in every round trip."""

    label: str
    part: float
    """Of A's p50 in the pilot: 0.1 is a tenth."""
    delay_ns: float


class SelfTestCell(msgspec.Struct, frozen=True):
    """What one A is: ``cell`` has no label, ``same`` are the labels under which it is measured."""

    cell: Cell
    pilot_ns: float
    """Its p50, by which the delays were chosen."""
    same: tuple[str, ...]
    planted: tuple[Planted, ...]


class VerdictCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How comparisons of one kind ended, of those with six pairs and more. Two that share a label hang together."""

    faster: int
    slower: int
    equivalent: int
    undecided: int
    trials_needed: int | None
    """The median over the undecided ones; None: there are none, or more than 10,000 would be needed."""

    @property
    def comparisons(self) -> int:
        """Return how many there are."""
        return self.faster + self.slower + self.equivalent + self.undecided

    @property
    def different(self) -> int:
        """Return how many were called different."""
        return self.faster + self.slower


class Same(msgspec.Struct, frozen=True):
    """A against itself by one metric."""

    setting: SelfTestCell
    metric: str
    tally: VerdictCounts
    """Each judged alone."""
    together: int
    """How many were called different where all of them are judged together."""
    typical: float | None
    """The median of all its trials, in ns."""
    scatter: float | None
    """Half the span of the middle 68 % of its trials, as a part of the typical; None: fewer than six trials."""


class Power(msgspec.Struct, frozen=True):
    """A against A with a delay, by p50."""

    setting: SelfTestCell
    planted: Planted
    tally: VerdictCounts
    part: float | None
    """The delay as a part of A's p50 in the run itself."""
    measured: float | None
    """By what part it was slower: the median of the shifts."""

    @property
    def is_found(self) -> bool:
        """Say whether it is a difference that one may hope to see."""
        return self.tally.comparisons > 0 and self.tally.slower >= FOUND * self.tally.comparisons


def highest_rate(found: int, of: int) -> float:
    """Return the upper 95 % limit, one-sided, of the rate behind ``found`` of ``of`` (Clopper and Pearson, 1934)."""
    # As long to import as all the rest. See docs/decisions/0018.
    from scipy.special import betaincinv  # type: ignore[import-untyped]

    return 1.0 if found >= of else float(betaincinv(found + 1, of - found, CONFIDENCE))


class SelfTest(msgspec.Struct, frozen=True):
    """What came of it all."""

    same: tuple[Same, ...]
    power: tuple[Power, ...]
    comparisons: tuple[Comparison, ...]
    rounds: int
    """The most pairs that any comparison had."""
    chance: float
    """How likely so many false verdicts or more are where noise alone decides, at the highest rate that is allowed."""
    worth: int | None
    """As many independent comparisons would scatter as those of A with itself do; None: nothing was compared."""

    @property
    def settings(self) -> tuple[SelfTestCell, ...]:
        """Return what was compared with itself, each once."""
        return tuple({each.setting.cell: each.setting for each in self.same}.values())

    @property
    def false(self) -> int:
        """Return how many comparisons of A with itself were called different, each judged alone."""
        return sum(each.tally.different for each in self.same)

    @property
    def false_together(self) -> int:
        """Return how many were called different where those of a setting and metric are judged together."""
        return sum(each.together for each in self.same)

    @property
    def of(self) -> int:
        """Return how many comparisons of A with itself there were."""
        return sum(each.tally.comparisons for each in self.same)

    @property
    def rate(self) -> float | None:
        """Return the share of false verdicts; None: nothing was compared."""
        return self.false / self.of if self.of else None

    @property
    def at_most(self) -> float | None:
        """Return the highest rate that so few false verdicts leave possible (95 %, one-sided)."""
        return (
            None
            if self.worth is None
            else highest_rate(min(self.worth, math.ceil(self.false * self.worth / self.of)), self.worth)
        )

    @property
    def holds(self) -> bool:
        """Say whether what was found, each judged alone, is compatible with at most 5 % of false verdicts."""
        return self.false <= ALLOWED * self.of or self.chance > ALLOWED

    @property
    def called_faster(self) -> int:
        """Return how often A with a delay was called faster than A."""
        return sum(each.tally.faster for each in self.power)

    @property
    def missed(self) -> int:
        """Return how often a delay beyond the margin was called equivalent."""
        return sum(each.tally.equivalent for each in self.power if each.part is not None and each.part > MARGIN)

    def smallest_found(self, setting: SelfTestCell) -> Planted | None:
        """Return that setting's least delay that was found, with every larger one; None: not even the largest."""
        found = None
        mine = sorted((each for each in self.power if each.setting == setting), key=lambda each: -each.planted.part)
        for each in itertools.takewhile(lambda each: each.is_found, mine):
            found = each.planted
        return found


def reckon(sides: Sequence[Side], settings: Sequence[SelfTestCell], margin: float = MARGIN) -> SelfTest:
    """Return what the verdicts on the measured sides say. A label that has no trial is left out of the count."""
    same: list[Same] = []
    power: list[Power] = []
    every: list[Comparison] = []
    for setting in settings:
        mine = {each.cell.label: each for each in sides if _is_of(each.cell, setting.cell)}
        of_a = [mine[label] for label in setting.same if label in mine]
        for metric in METRICS:
            judged = _judged(itertools.combinations(of_a, 2), metric, margin)
            together = compare([each.pairing for each in judged if each.judged.low is not None], [metric], margin)
            every += judged
            values = [value for each in of_a for value in each.figures[metric].values()]
            typical = statistics.median(values) if values else None
            same.append(Same(setting, metric, _tally(judged), _tally(together).different, typical, scatter(values)))
        typical = next(each.typical for each in same if each.setting == setting and each.metric == METRICS[0])
        for planted in setting.planted:
            b = [mine[planted.label]] if planted.label in mine else []
            judged = _judged(itertools.product(of_a, b), METRICS[0], margin)
            every += judged
            measured = statistics.median(each.judged.shift for each in judged) if judged else None
            part = planted.delay_ns / typical if typical else None
            power.append(Power(setting, planted, _tally(judged), part, measured))
    rounds = max((each.judged.pairs for each in every), default=0)
    chance, worth = _beside_noise(same, rounds)
    return SelfTest(tuple(same), tuple(power), tuple(every), rounds, chance, worth)


def _beside_noise(same: Sequence[Same], rounds: int) -> tuple[float, int | None]:
    """Return the chance of as many false verdicts, and what the comparisons are worth: the worst case of both.

    That is noise which outweighs any margin, and metrics that go astray together: they are of the same trials.
    """
    counts = np.zeros(RUNS, dtype=np.int64)
    for seed, (_, group) in enumerate(itertools.groupby(same, lambda each: each.setting.cell)):
        for number in (each.tally.comparisons for each in group):
            labels = (1 + math.isqrt(1 + 8 * number)) // 2
            counts += false_counts(labels, rounds, seed, ALLOWED)
    of = sum(each.tally.comparisons for each in same)
    rate, spread = float(counts.mean()) / of if of else 0.0, float(counts.var())
    chance = float(np.mean(counts >= sum(each.tally.different for each in same)))
    return chance, max(1, min(of, round(of * of * rate * (1 - rate) / spread))) if spread else None


def scatter(values: Sequence[float]) -> float | None:
    """Return half the distance from the 16th to the 84th percentile of the logarithms, as a part; None: too few.

    The standard deviation where they are normal; a few trials that went astray do not move it.
    """
    if len(values) < 6:
        return None
    cuts = statistics.quantiles((math.log(each) for each in values), n=100, method="inclusive")
    return math.expm1((cuts[83] - cuts[15]) / 2)


def _is_of(cell: Cell, setting: Cell) -> bool:
    return msgspec.structs.replace(cell, label=None, native=setting.native) == setting


def _judged(
    pairs: "itertools.combinations[tuple[Side, Side]] | itertools.product[tuple[Side, Side]]",
    metric: str,
    margin: float,
) -> list[Comparison]:
    """Judge each alone; those without a common round that has the metric are left out."""
    pairings = [Pairing(a, b, (str(a.cell.label), str(b.cell.label))) for a, b in pairs]
    return [judged for each in pairings for judged in compare([each], [metric], margin)]


def _tally(comparisons: Sequence[Comparison]) -> VerdictCounts:
    """Count those that had trials enough for a verdict: the others cannot be false, and must not look true."""
    able = [each for each in comparisons if each.judged.low is not None]
    verdicts = [each.judged.verdict for each in able]
    undecided = [each.judged.trials_needed or math.inf for each in able if each.judged.verdict is Verdict.UNDECIDED]
    needed = statistics.median_high(undecided) if undecided else math.inf
    return VerdictCounts(
        faster=verdicts.count(Verdict.BETTER),
        slower=verdicts.count(Verdict.WORSE),
        equivalent=verdicts.count(Verdict.EQUIVALENT),
        undecided=verdicts.count(Verdict.UNDECIDED),
        trials_needed=None if math.isinf(needed) else int(needed),
    )


RUNS = 4000
_CELLS = 20_000_000
"""Ranks that are held at a time, at most: runs × trials × comparisons."""


def false_counts(labels: int, trials: int, seed: int, level: float) -> npt.NDArray[np.int64]:
    """Return how many of all pairs of ``labels`` the signed-rank test calls different, in ``RUNS`` runs of A alone.

    Pairs that share a label are false together, so their count scatters by more than a binomial one. How much more has
    no closed form; it is drawn here from normal trials, with a fixed seed: the same question has the same answer.

    ``level``: the two-sided p-value at which it does. One count a run; all zero where there are too few trials.
    """
    pairs = list(itertools.combinations(range(labels), 2))
    counts = np.zeros(RUNS, dtype=np.int64)
    extreme = most_extreme(trials, level)
    if extreme < 0 or not pairs:
        return counts
    draw = np.random.default_rng(seed)
    first, second = np.array(pairs).T
    sums = trials * (trials + 1) // 2
    step = max(1, _CELLS // (trials * len(pairs)))
    for begin in range(0, RUNS, step):
        values = draw.standard_normal((min(step, RUNS - begin), trials, labels))
        differences = values[:, :, first] - values[:, :, second]
        ranks = np.abs(differences).argsort(axis=1).argsort(axis=1) + 1
        above = (ranks * (differences > 0)).sum(axis=1)
        counts[begin : begin + step] = (np.minimum(above, sums - above) <= extreme).sum(axis=1)
    return counts
