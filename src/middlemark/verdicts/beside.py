"""The standing of one row beside another that differs from it in one thing only, such as the language."""

from middlemark.stats.baselines import by_rate
from middlemark.stats.comparisons import Comparison
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import Verdict
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.rows import Row

_STANDINGS = {Verdict.WORSE: Standing.SLOWER, Verdict.BETTER: Standing.BEST, Verdict.EQUIVALENT: Standing.EQUIVALENT}


def metric_of(row: Row) -> str:
    """Return the metric by which the row is compared."""
    return "throughput" if by_rate(row.result.cell) else "p50"


def beside(row: Row, other: Row, comparisons: Comparisons) -> tuple[Standing, Comparison | None]:
    """Return the standing of the row beside the other one, where ``BEST`` is faster, and their comparison.

    The comparison is None if the rows have too few rounds in common for an interval.
    """
    found = comparisons.find(other.index, row.index, metric_of(row))
    if found is not None and found.judged.low is not None:
        return _STANDINGS.get(found.judged.verdict, Standing.UNDECIDED), found
    few = min(row.result.trials, other.result.trials) < FEWEST
    return (Standing.TOO_FEW_TRIALS if few else Standing.NO_COMMON_ROUNDS), None
