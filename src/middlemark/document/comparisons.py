"""One comparison in words, and as the row of a table."""

from middlemark.document.numbers import ABSENT, measured, part
from middlemark.stats.comparisons import Comparison
from middlemark.stats.metrics import METRICS
from middlemark.stats.verdict import Judgement, Verdict
from middlemark.verdicts.names import plain


def verdict_of(each: Comparison) -> str:
    """Return the verdict, and of what cannot be told how many trials would tell."""
    told = each.judged.verdict is not Verdict.CANNOT_TELL
    return each.word if told else f"{each.word} ({trials_wanted(each.judged.trials_needed)} trials would)"


def trials_wanted(needed: int | None) -> str:
    """Return a number of trials in words; None: beyond 10,000."""
    return "more than 10,000" if needed is None else f"about {needed:,}"


def interval_of(judged: Judgement) -> str:
    """Return the interval of the shift: ``-1.0 % … +3.0 %``."""
    return ABSENT if judged.low is None or judged.high is None else f"{part(judged.low)} … {part(judged.high)}"


def row_of(each: Comparison, what: str, mark: str) -> tuple[str, ...]:
    """Return what is compared, the metric, both medians, the shift with its interval, the pairs and the verdict."""
    names = " → ".join(each.pairing.names) + (f" ({mark})" if mark else "")
    figures = (measured(median, METRICS[each.metric].unit) for median in each.medians)
    shift = (part(each.judged.shift), interval_of(each.judged), str(each.judged.pairs))
    return (plain(f"{what}: {names}" if what else names), each.metric, *figures, *shift, verdict_of(each))
