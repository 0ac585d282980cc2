"""What a contest came to: one verdict, whoever tells it and in however many words."""

import math
from collections.abc import Iterable, Sequence

import msgspec

from middlemark.document.contests import Contest
from middlemark.document.document import Row
from middlemark.document.judged import JudgedDocument
from middlemark.document.words import warning_name
from middlemark.stats.comparisons import Comparison
from middlemark.stats.floors import by_rate
from middlemark.stats.race import FINALISTS
from middlemark.stats.verdict import MARGIN, Verdict
from middlemark.stats.warnings.cells import SERIOUS

NEAR = 0.1
"""Those that surely differ by no more tie when nothing more is measured; told are by how much, and what tells more."""
WIDEST = 1 / 3
"""The same of those that may be alike: the interval of each difference holds 0."""


class Outcome(msgspec.Struct, frozen=True):
    """The verdict of one contest.

    ``best``: every other is slower, or left the race so. ``tie``: every other is slower, equivalent, or one of a few
    that surely differ by no more than ``within``. ``alone``: there is no other.
    ``undecided``: something cannot be told, or what cannot be judged has a lower figure.
    """

    verdict: str
    sure: bool
    """best or tie, and no figure in it is doubtful."""
    beside: tuple[tuple[Row, Comparison | None], ...]
    """Every other contender, held against the first."""
    gone: tuple[Row, ...] = ()
    """Those that left the race as slower before there could be a verdict."""
    within: float = MARGIN
    """Those that tie surely differ from the first by less than this part."""

    def of(self, *verdicts: Verdict | None) -> Sequence[Row]:
        """Return the others of which that is the verdict; None: they were not compared."""
        return [row for row, each in self.beside if (each.judged.verdict if each else None) in verdicts]

    @property
    def is_open(self) -> bool:
        """Whether more trials could tell more."""
        return is_open(self.verdict, self.within)

    @property
    def level(self) -> Sequence[Row]:
        """The others that tie with the first, or are equivalent to it where something else is open."""
        return self.of(Verdict.EQUIVALENT, *([Verdict.CANNOT_TELL] if self.verdict == "tie" else []))

    @property
    def open(self) -> Sequence[Row]:
        """The others of which nothing sure can be said."""
        return self.of(Verdict.BETTER, None, *([] if self.verdict == "tie" else [Verdict.CANNOT_TELL]))


def is_open(verdict: str, within: float) -> bool:
    """Say whether more trials could tell more: nothing is decided, or a tie is a wide one."""
    return verdict == "undecided" or (verdict == "tie" and within > MARGIN)


def outcome_of(contest: Contest, judged: JudgedDocument) -> Outcome:
    """Return what can be told of it."""
    best, *others = contest.contenders
    beside = tuple(
        (other, judged.find(best.index, other.index, "p99" if contest.by == "p99" else metric_of(other)))
        for other in others
    )
    verdicts = {each.judged.verdict if each else None for _, each in beside}
    within = MARGIN
    if not others:
        verdict = "undecided" if contest.short else "best" if contest.gone else "alone"
    elif contest.has_lower_unjudged or Verdict.BETTER in verdicts:
        verdict = "undecided"
    elif verdicts <= {Verdict.WORSE, Verdict.EQUIVALENT}:
        verdict = "tie" if Verdict.EQUIVALENT in verdicts else "best"
    else:
        staying = [each for _, each in beside if each is None or each.judged.verdict is not Verdict.WORSE]
        within = apart(staying)
        verdict = "tie" if len(staying) < FINALISTS and within < math.inf else "undecided"
    doubtful = any(map(doubt_of, contest.contenders))
    return Outcome(verdict, verdict in ("best", "tie") and not doubtful, beside, contest.gone, within)


def apart(beside: Iterable[Comparison | None]) -> float:
    """Return by what part they surely differ at most from the first, in whole percent; infinite: too much for a tie."""
    farthest, alike = 0.0, True
    for each in beside:
        if each is None or each.judged.low is None or each.judged.high is None:
            return math.inf
        farthest = max(farthest, -math.log1p(each.judged.low), math.log1p(each.judged.high))
        alike = alike and each.judged.low <= 0 <= each.judged.high
    if farthest > math.log1p(WIDEST if alike else NEAR):
        return math.inf
    return max(math.ceil(100 * math.expm1(farthest)) / 100, MARGIN)


def doubt_of(row: Row) -> str:
    """Return in two words why the row's median may be of something else, or of two things; empty: nothing says so."""
    return next((warning_name(each.code) for each in row.result.warnings if each.code in SERIOUS), "")


def metric_of(row: Row) -> str:
    """Return the metric that a row is judged by."""
    return "throughput" if by_rate(row.result.cell) else "p50"
