"""An expectation with its verdict."""

import msgspec

from middlemark.model.expectation import Expectation
from middlemark.model.parts import Subject
from middlemark.stats.expectations import ClaimVerdict, JudgedPart
from middlemark.verdicts.long_trials import Trend


class Spoiled(msgspec.Struct, frozen=True):
    """The reason why an expectation cannot be tested. ``subject``: the cell whose trials cannot be used, or None."""

    subject: Subject | None
    why: str


class JudgedExpectation(msgspec.Struct, frozen=True, kw_only=True):
    """An expectation with its verdict. ``shown``: the part that decides, or the part that is farthest from holding."""

    expectation: Expectation
    verdict: ClaimVerdict
    shown: JudgedPart | None = None
    parts: int = 0
    confidence: float | None = None
    """The confidence of the interval of ``shown``, by Holm's method over all expectations of the run; None: no
    interval."""
    trials: int = 0
    """The number of trials of the part that has the fewest."""
    trials_needed: int | None = None
    """About how many trials of each cell would decide with a probability of 90 %. None: decided, or more than
    10,000."""
    spoiled: tuple[Spoiled, ...] = ()
    trend: Trend | None = None
    """The trend that decides an expectation of a trend, or that is farthest from holding."""
    cells: tuple[int, ...] = ()
    """The indices of the cells of the expectation. Their trials decide it."""
