"""What one trial's latencies did over time, and how they lie: drift, a slow start, two modes, a tail of few incidents.

A trial's samples hang together (consecutive ones are alike) and have a heavy tail, so nothing here takes them for
independent: medians of blocks are compared, and modes must be apart by more than noise can put them.
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
"""Samples that a trial's shape is read from: of 10^8 as of 10^5, because a part that matters is a tenth of them."""

MATTERS = 0.10
"""A part of the median that a change must come to: half of it is ``compare``'s margin, and one trial is no cell."""

Values = npt.NDArray[np.float64]


class Drift(msgspec.Struct, frozen=True):
    """``part`` of what it began with that the latency rose (negative: fell) by, from the first samples to the last."""

    part: float
    p: float


class SlowStart(msgspec.Struct, frozen=True):
    """The first ``part`` of the samples took ``first_ns`` where those after it took ``later_ns``, medians."""

    part: float
    first_ns: float
    later_ns: float


class Modes(msgspec.Struct, frozen=True):
    """Two groups with a gap between them: the share of the lower one, and the median of each."""

    share: float
    low_ns: float
    high_ns: float


def thinned(values: Numbers) -> Values:
    """Return at most ``MOST_LOOKED_AT`` of the samples, in their order: one at random out of each equal stretch.

    At random, because every k-th may always meet the same slot of a ring; the draws are the same every time.
    """
    if len(values) <= MOST_LOOKED_AT:
        return values.astype(np.float64)
    bounds = np.arange(MOST_LOOKED_AT + 1) * len(values) // MOST_LOOKED_AT
    drawn = np.random.default_rng(0).random(MOST_LOOKED_AT) * np.diff(bounds)
    return values[bounds[:-1] + drawn.astype(np.int64)].astype(np.float64)


def drift(values: Values, blocks: int = 16, fewest: int = 60, alpha: float = 0.01) -> Drift | None:
    """Return a drift that is sure and matters, over the medians of ``blocks`` blocks of at least ``fewest`` samples.

    The slope of their logarithms is Theil's and Sen's (Sen, 1968), its significance Mann's and Kendall's (Mann, 1945;
    Kendall, 1975). Blocks are few and long, so that what hangs together lies within one, and their medians are next to
    independent.
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
    """Return a beginning that was slower than what the trial settled to; None also with under 200 samples.

    The second half is taken for settled. Blocks at the beginning belong to the slow start while their median lies above
    every settled block's, and above the settled level by a tenth and by four deviations (MAD) of the settled medians.
    Steady states and what comes before them: Barrett et al., "Virtual machine warmup blows hot and cold" (2017).
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
    """Return the two modes of a distribution that has two, each of at least a tenth of the samples; None of any other.

    The density of the logarithms is smoothed with a bandwidth that takes 400 samples for independent (Silverman's
    rule, 1986, section 3.4), and is never less than two steps of what the clock can tell, whose combing is no mode. A
    valley must be less than half as dense as the lower of the peaks beside it, which lie apart by a quarter. Akinshin's
    "Lowland multimodality detection" (2020) asks for depth and weight as well; a test with p-values, such as Hartigan's
    dip, takes samples for independent, and finds two modes wherever they are not.
    """
    positive = np.sort(values[values > 0])
    if len(positive) < fewest:
        return None
    low, quarter, three_quarters, high = (
        float(positive[int(q * (len(positive) - 1))]) for q in (0.005, 0.25, 0.75, 0.995)
    )
    logs = np.log(positive)
    spread = math.log(three_quarters / quarter) / 1.349
    # Two steps of the clock where values are few and far between; next to nothing where they are dense.
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
    """Return how many samples lie above that value, and in how many clusters: those up to ``gap`` apart are one.

    The runs estimator of Smith and Weissman ("Estimating the extremal index", 1994): what counts behind a quantile of
    the tail is not how many samples lie beyond it but how many independent times something happened.
    """
    places = np.flatnonzero(values > above)
    return len(places), int(1 + (np.diff(places) > gap).sum()) if len(places) else 0


def _bounds(count: int, blocks: int) -> list[int]:
    return [count * block // blocks for block in range(blocks + 1)]


def _medians(values: Values, blocks: int) -> Values:
    bounds = _bounds(len(values), blocks)
    return np.array([_middle(values[a:b]) for a, b in itertools.pairwise(bounds)])


def _middle(values: Values) -> float:
    """Return their median. Of so few, np.median takes ten times as long, and a run has a hundred thousand blocks."""
    low, high = (len(values) - 1) // 2, len(values) // 2
    ordered = np.partition(values, high if low == high else (low, high))
    return (float(ordered[low]) + float(ordered[high])) / 2


def _smoothed(logs: Values, bandwidth: float) -> tuple[Values, Values]:
    """Return a grid of a quarter of the bandwidth, and the density on it by a Gaussian kernel over a histogram."""
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
