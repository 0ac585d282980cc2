"""The slope of a series over time: Theil and Sen's estimate with its interval, after steps are taken out.

The interval of ``scipy.stats.theilslopes`` assumes independent values. The values of a process are not independent, so
it is widened by the autocorrelation at lag 1 (Hamed and Rao, 1998, with one lag), and by the uncertainty of the steps.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

FEWEST = 8
"""The fewest values of which a slope is computed."""
MOST = 240
"""A longer series is reduced to about this number of medians of consecutive values. The cost is quadratic."""
MOST_STEPS = 3
LEAST_T = 6.0
"""A step's height is at least this many of its standard errors. It is high, because the best of all positions is
tested."""
LEAST_SHARE = 0.25
"""A step's height is at least this share of the range of the series."""
EDGE = 3
"""The fewest values before a step, and after it."""
STILL = 0.25
"""If the slope of the second half is less than this share of the whole slope, the series levels off."""
MOST_CORRELATED = 0.95


class LevelStep(msgspec.Struct, frozen=True):
    """A sudden change of level. ``at_h``: hours since the beginning of the series."""

    at_h: float
    height: float


class Slope(msgspec.Struct, frozen=True, kw_only=True):
    """A slope per hour with its interval, without the steps."""

    per_hour: float
    low: float
    high: float
    hours: float
    """The time from the first value to the last."""
    steps: tuple[LevelStep, ...] = ()
    levels_off: bool = False
    """True if the second half grows much more slowly than the whole."""


def slope(
    hours: Sequence[float] | Values, values: Sequence[float] | Values, resolution: float = 0.0, confidence: float = 0.95
) -> Slope | None:
    """Return the slope of a series. None: it is too short.

    ``resolution``: the unit in which the values change. The interval includes a change by one unit over the whole time.
    """
    from scipy.stats import theilslopes  # type: ignore[import-untyped]  # it takes 0.8 s to import

    at, of = _reduced(np.asarray(hours, dtype=np.float64), np.asarray(values, dtype=np.float64))
    if len(at) < FEWEST or at[-1] <= at[0]:
        return None
    steps: list[LevelStep] = []
    while len(steps) < MOST_STEPS and (found := _step(at, of)) is not None:
        place, height = found
        steps.append(LevelStep(float((at[place - 1] + at[place]) / 2 - at[0]), height))
        of = of - height * (np.arange(len(of)) >= place)
    estimate, intercept, low, high = (float(each) for each in theilslopes(of, at, confidence))
    wider = _wider(of - intercept - estimate * at) * _confounded(at, [each.at_h for each in steps])
    span = float(at[-1] - at[0])
    least = resolution / span
    half = len(at) // 2
    second = float(theilslopes(of[half:], at[half:])[0])
    return Slope(
        per_hour=estimate,
        low=min(estimate - wider * (estimate - low), estimate - least),
        high=max(estimate + wider * (high - estimate), estimate + least),
        hours=span,
        steps=tuple(sorted(steps, key=lambda each: each.at_h)),
        levels_off=second * math.copysign(1.0, estimate) < STILL * abs(estimate),
    )


def _reduced(at: Values, of: Values) -> tuple[Values, Values]:
    if len(at) <= MOST:
        return at, of
    parts = np.array_split(np.arange(len(at)), MOST)
    return np.array([np.median(at[each]) for each in parts]), np.array([np.median(of[each]) for each in parts])


def _step(at: Values, of: Values) -> tuple[int, float] | None:
    """Return the position of the first value after the clearest step, and its height; None: there is no step.

    Each position is fitted by least squares together with a line, so that a slope is not taken for a step.
    """
    count = len(at)
    line = np.column_stack([np.ones(count), at - at.mean()])
    basis, _ = np.linalg.qr(line)
    left = of - basis @ (basis.T @ of)  # the residuals of the line
    places = np.arange(EDGE, count - EDGE + 1)
    after = (np.arange(count)[:, None] >= places).astype(np.float64)  # a column for each position
    own = after - basis @ (basis.T @ after)
    power = (own**2).sum(axis=0)
    heights = (left @ own) / power
    rests = np.maximum(float(left @ left) - heights**2 * power, 0.0)
    best = int(np.argmin(rests))
    place, height = int(places[best]), float(heights[best])
    rest = left - height * own[:, best]
    error = math.sqrt(float(rests[best]) / (count - 3) / float(power[best])) * _wider(rest)
    spread = float(of.max() - of.min())
    if (
        abs(height) < LEAST_T * error
        or abs(height) < LEAST_SHARE * spread
        or abs(height) <= 1e-9 * float(np.abs(of).max())
    ):
        return None
    return place, height


def _wider(residuals: Values) -> float:
    """Return the factor by which autocorrelation widens the interval.

    The estimate of the autocorrelation is corrected for its bias after a line was fitted (Kendall, 1954). The fewer
    independent values there are, the wider is Student's interval.
    """
    centred, count = residuals - residuals.mean(), len(residuals)
    power = float(centred @ centred)
    if power <= 1e-18 * float(residuals @ residuals + 1):
        return 1.0
    found = float(centred[:-1] @ centred[1:]) / power
    lag = min(max((found + 2 / count) / (1 - 4 / count), 0.0), MOST_CORRELATED)
    independent = max(4.0, count * (1 - lag) / (1 + lag))
    return math.sqrt((1 + lag) / (1 - lag)) * (1 + 1.5 / (independent - 2))


def _confounded(at: Values, steps: Sequence[float]) -> float:
    """Return the factor by which the steps widen the slope's interval, because a step may be a part of the slope."""
    if not steps:
        return 1.0
    centred = at - at.mean()
    indicators = np.column_stack([np.ones(len(at)), *((at - at[0] >= each).astype(np.float64) for each in steps)])
    basis, _ = np.linalg.qr(indicators)
    left = centred - basis @ (basis.T @ centred)
    return math.sqrt(float(centred @ centred) / max(float(left @ left), 1e-12 * float(centred @ centred)))
