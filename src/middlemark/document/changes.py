"""The significant changes from an earlier run of the same suites to a later run."""

from collections.abc import Sequence

import msgspec

from middlemark.document.numbers import part
from middlemark.document.statements import some
from middlemark.model.units import format_count
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import Verdict
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import HEADLINE
from middlemark.verdicts.names import plain, varied_factors, what
from middlemark.verdicts.rows import MeasuredRun, rows_of

_MOST_NAMED = 3


class ChangedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration whose figure differs significantly between two runs."""

    row: str
    """Adapter, transport and size, and the factors in which the compared configurations differ."""
    metric: str
    word: str
    """``faster`` or ``slower``, or the metric's own words."""
    shift: float
    """Relative difference of the figure: 0.1 means that the later run's figure is a tenth higher."""


class RunChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The configurations whose headline figure differs significantly between an earlier run and a later run.

    The figure is the median round trip, the throughput, or the share of the deadline.
    """

    run: str
    """Name of the earlier run."""
    started: str
    """The time at which the earlier run began, ISO 8601."""
    compared: int
    """Number of configurations that both runs measured."""
    judged: int
    """Number of these configurations with enough trials in both runs for a verdict."""
    changes: tuple[ChangedRow, ...]
    """The changed rows, the largest change first."""

    @property
    def sentence(self) -> str:
        """The largest changes in one line."""
        if not self.compared:
            return "the runs have no configuration in common that could be compared"
        number = format_count(self.compared, "configuration")
        if not self.judged:
            return f"no change can be judged in {number}: a verdict needs {FEWEST} trials in both runs"
        if not self.changes:
            return f"nothing changed significantly in {number}"
        names = some((f"{each.row} {each.word} ({part(each.shift)})" for each in self.changes), _MOST_NAMED)
        return plain(f"{len({each.row for each in self.changes})} of {number} changed: {names}")

    @property
    def since(self) -> str:
        """A whole sentence that begins with the time of the earlier run."""
        return f"Since the last run ({self.started[:16].replace('T', ' ')} UTC): {self.sentence}."


def changes_between(earlier: MeasuredRun, later: MeasuredRun) -> RunChanges:
    """Return the significant changes, judged as ``compare EARLIER LATER`` does."""
    runs: Sequence[MeasuredRun] = (earlier, later)
    families = Comparisons(rows_of(runs), runs, between=True).families
    found = [each for metric in HEADLINE for each in families.get(("run", metric), ())]
    pairings = {id(each.pairing): each.pairing for each in found}
    factors = varied_factors([each.a.cell for each in pairings.values()])
    decided = [each for each in found if each.judged.verdict in (Verdict.BETTER, Verdict.WORSE)]
    decided.sort(key=lambda each: -abs(each.judged.shift))
    return RunChanges(
        run=earlier.name,
        started=earlier.file.started,
        compared=len(pairings),
        judged=len({id(each.pairing) for each in found if each.judged.low is not None}),
        changes=tuple(
            ChangedRow(row=what(each.pairing, factors), metric=each.metric, word=each.word, shift=each.judged.shift)
            for each in decided
        ),
    )
