"""Verdicts on settings whose true difference is known: how many are false, and which differences are found.

A setting A is measured under several labels, and with a delay that is added on purpose (planted). Every two labels of A
are compared: any verdict of faster or slower is false. Each label of A is compared with each planted delay: slower is
right, faster is false. Comparisons of A with itself are judged in two ways: all together, as `compare` does for a run,
and each one alone, as `compare` does for two settings. Alone is the stricter test, because false verdicts are rarer in
a larger family. Comparisons with planted delays are judged alone.
"""

import itertools
import math
import statistics
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.model.asked import Planted, SelfTestCell
from middlemark.model.cell import Cell
from middlemark.stats.comparisons import Comparison, Pairing, Side, compare
from middlemark.stats.signed_rank import most_extreme
from middlemark.stats.verdict import CONFIDENCE, MARGIN, Verdict

ALLOWED = 1 - CONFIDENCE
"""The largest share of the comparisons of A with itself that may have the verdict faster or slower (false verdicts)."""
FOUND = 0.8
"""A difference counts as found if at least this share of the comparisons finds it."""
METRICS = ("p50", "p99")


class VerdictCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of verdicts of comparisons with at least six pairs. Comparisons that share a label are correlated."""

    faster: int
    slower: int
    equivalent: int
    undecided: int
    trials_needed: int | None
    """Median over the undecided comparisons. None: no comparison is undecided, or it would need more than
    10,000 trials."""

    @property
    def comparisons(self) -> int:
        """Number of comparisons."""
        return self.faster + self.slower + self.equivalent + self.undecided

    @property
    def different(self) -> int:
        """Number of comparisons with the verdict faster or slower."""
        return self.faster + self.slower


class Same(msgspec.Struct, frozen=True):
    """The setting A, compared with itself by one metric."""

    setting: SelfTestCell
    metric: str
    tally: VerdictCounts
    """Verdicts, each comparison judged alone."""
    together: int
    """Number of comparisons with the verdict faster or slower, if all are judged together."""
    typical: float | None
    """Median of all trials of A, in ns."""
    scatter: float | None
    """Half the range of the middle 68 % of A's trials, relative to ``typical``; None: fewer than six trials."""


class Power(msgspec.Struct, frozen=True):
    """The setting A, compared by p50 with A plus a delay."""

    setting: SelfTestCell
    planted: Planted
    tally: VerdictCounts
    part: float | None
    """The delay as a share of A's p50 in the run itself."""
    measured: float | None
    """The measured difference: the median of the shifts."""

    @property
    def is_found(self) -> bool:
        """True if at least the share ``FOUND`` of the comparisons found the delay."""
        return self.tally.comparisons > 0 and self.tally.slower >= FOUND * self.tally.comparisons


def highest_rate(found: int, compared: int) -> float:
    """Return the upper one-sided 95 % limit of a rate if ``found`` of ``compared`` were found (Clopper-Pearson)."""
    # Imported late, because this import takes as long as all others together. See docs/decisions/0018.
    from scipy.special import betaincinv  # type: ignore[import-untyped]

    return 1.0 if found >= compared else float(betaincinv(found + 1, compared - found, CONFIDENCE))


class SelfTest(msgspec.Struct, frozen=True):
    """Result of a selftest."""

    same: tuple[Same, ...]
    power: tuple[Power, ...]
    comparisons: tuple[Comparison, ...]
    rounds: int
    """The largest number of pairs of a comparison."""
    chance: float
    """Probability of at least this number of false verdicts from noise alone, at the highest allowed rate."""
    worth: int | None
    """Number of independent comparisons whose false verdicts would scatter as much as those of the correlated
    comparisons. None: no comparisons."""

    @property
    def settings(self) -> tuple[SelfTestCell, ...]:
        """Every setting that was compared with itself."""
        return tuple({each.setting.cell: each.setting for each in self.same}.values())

    @property
    def false(self) -> int:
        """Number of comparisons of A with itself with the verdict faster or slower, each judged alone."""
        return sum(each.tally.different for each in self.same)

    @property
    def false_together(self) -> int:
        """Number of false verdicts if the comparisons of A with itself are judged together by setting and metric."""
        return sum(each.together for each in self.same)

    @property
    def compared(self) -> int:
        """Number of comparisons of A with itself."""
        return sum(each.tally.comparisons for each in self.same)

    @property
    def rate(self) -> float | None:
        """Share of false verdicts; None: nothing was compared."""
        return self.false / self.compared if self.compared else None

    @property
    def at_most(self) -> float | None:
        """Upper limit of the rate of false verdicts (95 %, one-sided)."""
        return (
            None
            if self.worth is None
            else highest_rate(min(self.worth, math.ceil(self.false * self.worth / self.compared)), self.worth)
        )

    @property
    def holds(self) -> bool:
        """Say whether at most 5 % of verdicts are false, or more only by chance. Each comparison is judged alone."""
        return self.false <= ALLOWED * self.compared or self.chance > ALLOWED

    @property
    def called_faster(self) -> int:
        """Number of times that A plus a delay was called faster than A."""
        return sum(each.tally.faster for each in self.power)

    @property
    def missed(self) -> int:
        """Number of times that a delay beyond the margin was called equivalent."""
        return sum(each.tally.equivalent for each in self.power if each.part is not None and each.part > MARGIN)

    def smallest_found(self, setting: SelfTestCell) -> Planted | None:
        """Return the smallest delay for which this delay and all larger ones were found; None: there is none."""
        found = None
        mine = sorted((each for each in self.power if each.setting == setting), key=lambda each: -each.planted.part)
        for each in itertools.takewhile(lambda each: each.is_found, mine):
            found = each.planted
        return found


def reckon(sides: Sequence[Side], settings: Sequence[SelfTestCell], margin: float = MARGIN) -> SelfTest:
    """Return the result from the measured sides. Labels without a trial are left out."""
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
    chance, worth = _from_noise(same, rounds)
    return SelfTest(tuple(same), tuple(power), tuple(every), rounds, chance, worth)


def _from_noise(same: Sequence[Same], rounds: int) -> tuple[float, int | None]:
    """Return ``chance`` and ``worth`` of a selftest, in the worst case.

    In the worst case, the noise is larger than any margin, and all metrics deviate together because they come from the
    same trials.
    """
    counts = np.zeros(RUNS, dtype=np.int64)
    for seed, (_, group) in enumerate(itertools.groupby(same, lambda each: each.setting.cell)):
        for number in (each.tally.comparisons for each in group):
            labels = (1 + math.isqrt(1 + 8 * number)) // 2
            counts += false_counts(labels, rounds, seed, ALLOWED)
    compared = sum(each.tally.comparisons for each in same)
    rate, spread = float(counts.mean()) / compared if compared else 0.0, float(counts.var())
    chance = float(np.mean(counts >= sum(each.tally.different for each in same)))
    return chance, max(1, min(compared, round(compared * compared * rate * (1 - rate) / spread))) if spread else None


def scatter(values: Sequence[float]) -> float | None:
    """Return half the distance from the 16th to the 84th percentile of the logarithms, as a share; None: too few.

    For a normal distribution this is the standard deviation, but a few outlying trials do not change it.
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
    """Judge each pair alone. Pairs that have no common round with the metric are left out."""
    pairings = [Pairing(a, b, (str(a.cell.label), str(b.cell.label))) for a, b in pairs]
    return [judged for each in pairings for judged in compare([each], [metric], margin)]


def _tally(comparisons: Sequence[Comparison]) -> VerdictCounts:
    """Return the counts of verdicts. Comparisons with too few trials have no verdict and are left out."""
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
"""At most this number of ranks is in memory at a time: runs × trials × comparisons."""


def false_counts(labels: int, trials: int, seed: int, level: float) -> npt.NDArray[np.int64]:
    """Return for each of ``RUNS`` simulated runs of A how many pairs of labels the signed-rank test calls different.

    Pairs that share a label tend to be false together, so the count scatters more than a binomial count. There is no
    closed form, so the counts are simulated with normally distributed trials and a fixed seed.

    ``level``: the two-sided p-value of the test. With too few trials all counts are zero.
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
