"""Shape of one trial's latencies over time and of their distribution: drift, slow start, two modes, rare events.

Consecutive samples of a trial are correlated and have a heavy tail, so nothing here assumes that they are independent.
Medians of blocks are compared. Two modes must be further apart than noise explains.
"""

import itertools
import math
from collections.abc import Sequence
from statistics import NormalDist

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.stats.quantiles import Numbers

MOST_LOOKED_AT = 1 << 15
"""The shape is computed from at most this number of samples. That is enough, because a relevant part is a tenth of the
samples."""

MATTERS = 0.10
"""The least relative change of the median within a trial that is reported: twice the margin of ``compare``, because one
trial is less certain than several."""

Values = npt.NDArray[np.float64]


class Drift(msgspec.Struct, frozen=True):
    """A change of the latency from the first samples to the last.

    ``part``: the change relative to the first; < 0: it fell.
    """

    part: float
    p: float


class SlowStart(msgspec.Struct, frozen=True):
    """A slow start.

    The first ``part`` of the samples (0 to 1) has the median ``first_ns``, the others have ``later_ns``.
    """

    part: float
    first_ns: float
    later_ns: float


class Modes(msgspec.Struct, frozen=True):
    """The two modes of a bimodal distribution: the lower mode's share of the samples, and the median of each mode."""

    share: float
    low_ns: float
    high_ns: float


def thinned(values: Numbers) -> Values:
    """Return at most ``MOST_LOOKED_AT`` samples in their order: a random sample from each of equally long sections.

    Every k-th sample could be in the same slot of a ring buffer, so samples are random. The draws are deterministic.
    """
    if len(values) <= MOST_LOOKED_AT:
        return values.astype(np.float64)
    bounds = np.arange(MOST_LOOKED_AT + 1) * len(values) // MOST_LOOKED_AT
    drawn = np.random.default_rng(0).random(MOST_LOOKED_AT) * np.diff(bounds)
    return values[bounds[:-1] + drawn.astype(np.int64)].astype(np.float64)


def drift(values: Values, blocks: int = 16, fewest: int = 60, alpha: float = 0.01) -> Drift | None:
    """Return the drift of the medians of blocks; None: it is not significant, or too small to matter.

    There are ``blocks`` blocks with at least ``fewest`` samples each. The slope of the medians' logarithms is the
    Theil-Sen estimate (Sen, 1968). Its significance is from the Mann-Kendall test (Mann, 1945; Kendall, 1975). The
    blocks are few and long, so that correlated samples are in one block and the medians are almost independent.
    """
    if len(values) < blocks * fewest:
        return None
    medians = np.log(np.maximum(_medians(values, blocks), 1.0))
    first, second = np.triu_indices(blocks, 1)
    differences = medians[second] - medians[first]
    part = math.expm1(float(np.median(differences / (second - first))) * (blocks - 1))
    score = float(np.sign(differences).sum())
    spread = math.sqrt(blocks * (blocks - 1) * (2 * blocks + 5) / 18)
    p = 2 * NormalDist().cdf(-max(0.0, abs(score) - 1) / spread)
    return Drift(part, p) if abs(part) > MATTERS and p < alpha else None


def slow_start(values: Values, blocks: int = 64, fewest: int = 20) -> SlowStart | None:
    """Return the slow start: first samples that are slower than the settled rest of the trial.

    None: there is no slow start, or there are fewer than 200 samples.

    The second half counts as settled. The first blocks are the slow start as long as their median is above every
    settled block's. It must also be above the settled level by a tenth, and by four deviations (MAD) of the settled
    medians. About steady states and warm-up: Barrett et al., "Virtual machine warmup blows hot and cold" (2017).
    """
    blocks = min(blocks, len(values) // fewest)
    if blocks < 10:
        return None
    medians = _medians(values, blocks)
    settled = medians[blocks // 2 :]
    level = float(np.median(settled))
    deviation = 1.4826 * float(np.median(np.abs(settled - level)))
    bound = max(level * (1 + MATTERS), level + 4 * deviation, float(settled.max()))
    slow = medians > bound
    leading = blocks if slow.all() else int(np.argmin(slow))
    if not 0 < leading < blocks // 2:
        return None
    begins = _bounds(len(values), blocks)[leading]
    return SlowStart(begins / len(values), float(np.median(values[:begins])), float(np.median(values[begins:])))


def modes(
    values: Values, *, fewest: int = 500, least: float = 0.10, apart: float = 1.25, depth: float = 0.5
) -> Modes | None:
    """Return the two modes of a bimodal distribution, each with at least a tenth of the samples; None: not bimodal.

    The density of the logarithms is smoothed with a bandwidth as for 400 independent samples (Silverman's rule, 1986,
    section 3.4). The bandwidth is at least two steps of the clock, so that the clock's steps are not taken for modes.
    Between two modes, the density must fall below half of the lower peak. The latency of the slower mode must be at
    least 1.25 times that of the faster. Akinshin's "Lowland multimodality detection" (2020) also requires depth and
    weight. Tests with p-values, such as Hartigan's dip test, assume independent samples; on correlated samples they
    find two modes where there is one.
    """
    positive = np.sort(values[values > 0])
    if len(positive) < fewest:
        return None
    low, quarter, three_quarters, high = (
        float(positive[int(q * (len(positive) - 1))]) for q in (0.005, 0.25, 0.75, 0.995)
    )
    logs = np.log(positive)
    spread = math.log(three_quarters / quarter) / 1.349
    # The median distance of adjacent values: a step of the clock if values are sparse, almost zero if they are dense.
    distinct = np.unique(positive[(positive >= low) & (positive <= high)])
    step = float(np.median(np.diff(distinct))) / quarter if len(distinct) > 1 else 0.0
    bandwidth = max(0.9 * spread * 400**-0.2, 2 * step, 0.02)
    grid, density = _smoothed(logs, bandwidth)
    best: tuple[float, float] | None = None
    for at in _valleys(density):
        left, right = int(np.argmax(density[:at])), at + int(np.argmax(density[at:]))
        ratio = float(density[at] / min(density[left], density[right]))
        share = float(np.searchsorted(logs, grid[at])) / len(logs)
        if ratio < depth and least <= share <= 1 - least and grid[right] - grid[left] >= math.log(apart):
            best = min(best or (ratio, grid[at]), (ratio, float(grid[at])))
    if best is None:
        return None
    cut = int(np.searchsorted(logs, best[1]))
    return Modes(cut / len(positive), float(np.median(positive[:cut])), float(np.median(positive[cut:])))


def incidents(values: Numbers, above: float, gap: int = 10) -> tuple[int, int]:
    """Return (number of samples above a value, number of clusters). Samples up to ``gap`` apart are one cluster.

    This is the runs estimator of Smith and Weissman ("Estimating the extremal index", 1994). The certainty of a tail
    quantile depends on the number of independent events, and not on the number of samples above the quantile.
    """
    places = np.flatnonzero(values > above)
    return len(places), int(1 + (np.diff(places) > gap).sum()) if len(places) else 0


def _bounds(count: int, blocks: int) -> list[int]:
    return [count * block // blocks for block in range(blocks + 1)]


def _medians(values: Values, blocks: int) -> Values:
    bounds = _bounds(len(values), blocks)
    return np.array([_middle(values[a:b]) for a, b in itertools.pairwise(bounds)])


def _middle(values: Values) -> float:
    """Return the median. For so few values np.median takes ten times as long, and a run has 100,000 blocks."""
    low, high = (len(values) - 1) // 2, len(values) // 2
    ordered = np.partition(values, high if low == high else (low, high))
    return (float(ordered[low]) + float(ordered[high])) / 2


def _smoothed(logs: Values, bandwidth: float) -> tuple[Values, Values]:
    """Return (grid, density on the grid): a histogram smoothed by a Gaussian. A step is a quarter of the bandwidth."""
    low, high = float(logs[int(0.005 * len(logs))]), float(logs[int(0.995 * (len(logs) - 1))])
    step = bandwidth / 4
    edges = np.arange(low - 4 * bandwidth, high + 4 * bandwidth + step, step)
    counts = np.histogram(logs, edges)[0].astype(np.float64)
    kernel = np.exp(-0.5 * (np.arange(-16, 17) / 4) ** 2)
    return (edges[:-1] + edges[1:]) / 2, np.convolve(counts, kernel, mode="same")


def _valleys(density: Values) -> Sequence[int]:
    inner = np.arange(1, len(density) - 1)
    lowest = (density[inner] <= density[inner - 1]) & (density[inner] <= density[inner + 1])
    return [int(each) for each in inner[lowest]]
