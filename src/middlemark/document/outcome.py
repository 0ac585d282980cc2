"""What a contest came to: one verdict, whoever tells it and in however many words."""

from collections.abc import Sequence

import msgspec

from middlemark.document.contests import Contest
from middlemark.document.document import Row
from middlemark.document.judged import JudgedDocument
from middlemark.document.words import warning_name
from middlemark.stats.comparisons import Comparison
from middlemark.stats.floors import by_rate
from middlemark.stats.verdict import Verdict
from middlemark.stats.warnings.cells import SERIOUS


class Outcome(msgspec.Struct, frozen=True):
    """The verdict of one contest.

    ``best``: every other is slower, or left the race so. ``tie``: every other is slower or equivalent. ``alone``: there
    is no other.
    ``undecided``: something cannot be told, or what cannot be judged has a lower figure.
    """

    verdict: str
    sure: bool
    """best or tie, and no figure in it is doubtful."""
    beside: tuple[tuple[Row, Comparison | None], ...]
    """Every other contender, held against the first."""
    gone: tuple[Row, ...] = ()
    """Those that left the race as slower before there could be a verdict."""

    def of(self, *verdicts: Verdict | None) -> Sequence[Row]:
        """Return the others of which that is the verdict; None: they were not compared."""
        return [row for row, each in self.beside if (each.judged.verdict if each else None) in verdicts]


def outcome_of(contest: Contest, judged: JudgedDocument) -> Outcome:
    """Return what can be told of it."""
    best, *others = contest.contenders
    beside = tuple(
        (other, judged.find(best.index, other.index, "p99" if contest.by == "p99" else metric_of(other)))
        for other in others
    )
    verdicts = {each.judged.verdict if each else None for _, each in beside}
    if not others:
        verdict = "undecided" if contest.short else "best" if contest.gone else "alone"
    elif not verdicts <= {Verdict.WORSE, Verdict.EQUIVALENT} or contest.has_lower_unjudged:
        verdict = "undecided"
    else:
        verdict = "tie" if Verdict.EQUIVALENT in verdicts else "best"
    doubtful = any(map(doubt_of, contest.contenders))
    return Outcome(verdict, verdict in ("best", "tie") and not doubtful, beside, contest.gone)


def doubt_of(row: Row) -> str:
    """Return in two words why the row's median may be of something else, or of two things; empty: nothing says so."""
    return next((warning_name(each.code) for each in row.result.warnings if each.code in SERIOUS), "")


def metric_of(row: Row) -> str:
    """Return the metric that a row is judged by."""
    return "throughput" if by_rate(row.result.cell) else "p50"
