"""The content of a report as one value, from which the terminal, Markdown, HTML, JSON, CSV and exports are rendered."""

import msgspec

from middlemark.document.changes import RunChanges
from middlemark.history import History
from middlemark.model.run import NotTried, Run
from middlemark.stats.comparisons import Comparison
from middlemark.stats.expectations import ClaimVerdict
from middlemark.stats.verdict import MARGIN
from middlemark.verdicts.experiments import JudgedExperiment
from middlemark.verdicts.growth import Growth
from middlemark.verdicts.interop import InteropTable
from middlemark.verdicts.languages import ClientCost
from middlemark.verdicts.long_trials import LongTrial
from middlemark.verdicts.rows import Row
from middlemark.verdicts.scaling import Scaling
from middlemark.verdicts.scorecards import Scorecard
from middlemark.verdicts.security import CostTable
from middlemark.verdicts.ways import WayCost
from middlemark.verdicts.workloads import Cheapest, GraphTable

Number = int | float


class HeatMap(msgspec.Struct, frozen=True, kw_only=True):
    """The latencies of one trial over time.

    ``n[i][j]``: samples in time bin i with latencies between edges j and j + 1.
    """

    t: tuple[Number, ...]
    """The middles of the time bins, in seconds since the measuring began."""
    edges_ns: tuple[Number, ...]
    n: tuple[tuple[int, ...], ...]


class Distribution(msgspec.Struct, frozen=True):
    """``curve``: percentile and ns. ``heat``: None if samples are too few, or are counted in a histogram."""

    curve: tuple[tuple[Number, Number], ...] | None = None
    heat: HeatMap | None = None
    trial: int | None = None
    """The number of the trial."""
    trials: tuple[tuple[tuple[Number, Number], ...], ...] = ()
    """A few percentiles of each trial with their latencies in ns; empty: there are too many trials."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Two rows that differ in one factor, with their comparison."""

    a: int
    b: int
    factor: str
    what: str
    """The subject and the levels that both rows have in common, in words."""
    comparison: Comparison


class Conclusion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One or a few sentences. ``cells``: the rows that the sentences are about."""

    text: str
    sure: str
    """``sure`` if there is a verdict and no figure is doubtful, else ``unsure``."""
    cells: tuple[int, ...]
    size: int | None = None


class ExpectationResult(msgspec.Struct, frozen=True, kw_only=True):
    """An expectation with its verdict, as in JSON."""

    id: str
    say: str
    kind: str
    claimed: str
    measured: float | None
    low: float | None
    """The lower end of the interval; ``high`` is the upper end. null: too few trials."""
    high: float | None
    verdict: ClaimVerdict
    trials_needed: int | None
    why: str


class Expected(ExpectationResult, frozen=True, kw_only=True):
    """An expectation with its verdict.

    ``measured``: the figure of the part of the claim that decides, or that is farthest from holding. For two sides it
    is their ratio, or the fraction by which B exceeds A. ``trials_needed``: the trials of each cell that would decide;
    None: more than 10,000.
    """

    run: int
    short: str
    """``why``, shortened to one line."""
    cells: tuple[int, ...]
    """The rows that decide the expectation."""

    @property
    def sentence(self) -> str:
        """The expectation, the verdict and the reason."""
        # If undecided, ``why`` itself begins with the verdict.
        verdict = "" if self.verdict is ClaimVerdict.UNDECIDED else f"{self.verdict}: "
        return f"{self.say}: {verdict}{self.why}"


class OverTime(msgspec.Struct, frozen=True):
    """A long trial, and the index of its row."""

    row: int
    trial: LongTrial


class WarningSummary(msgspec.Struct, frozen=True, kw_only=True):
    """All warnings of one code: the text of the worst warning, and each remedy once."""

    code: str
    count: int
    text: str
    advice: str
    cells: tuple[int, ...]
    """The rows with this warning, the worst first."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a report. ``with_experiments`` and ``with_verdicts`` fill the fields after ``margin``."""

    title: str
    generated: str
    """The time at which the document was made, ISO 8601 in UTC."""
    middlemark: str
    """The version of Middlemark that made the document."""
    runs: tuple[Run, ...]
    rows: tuple[Row, ...]
    everything: tuple[Row, ...]
    """All rows of the runs. ``rows`` has only the selected rows."""
    warnings: tuple[WarningSummary, ...]
    expectations: tuple[Expected, ...] = ()
    """The expectations of all runs. Expectations that do not hold come first."""
    not_tried: tuple[NotTried, ...] = ()
    """The adapters that were not measured, with the reason."""
    took: float = 0.0
    """The duration of the runs in s, from the start of the first to its end; for a killed run, the sum of its
    trials."""
    over_time: tuple[OverTime, ...] = ()
    """The long trials, with their verdicts on growth, drift and stalls."""
    growths: tuple[Growth, ...] = ()
    scalings: tuple[Scaling, ...] = ()
    scorecards: tuple[Scorecard, ...] = ()
    workloads: tuple[GraphTable, ...] = ()
    margin: float = MARGIN
    experiments: tuple[JudgedExperiment, ...] = ()
    """The experiments. Experiments that can be judged come first, the ones with most candidates before the others."""
    costs: tuple[CostTable, ...] = ()
    """The cost of security, for experiments that were measured with and without it."""
    interop: tuple[InteropTable, ...] = ()
    """The exchanges between different adapters; empty: the runs have no pair of different adapters."""
    languages: tuple[ClientCost, ...] = ()
    """The cost of the language of each client that was measured together with the adapter of its middleware."""
    ways: tuple[WayCost, ...] = ()
    """The cost of each router or discovery server that was measured together with the direct way."""
    cheapest: tuple[tuple[Cheapest, ...], ...] = ()
    """For each workload: the rows with the lowest cost."""
    comparisons: tuple[Compared, ...] = ()
    comparisons_left_out: dict[str, int] = {}
    """Factor → number of comparisons that are not in ``comparisons``, because there are too many."""
    answers: tuple[Conclusion, ...] = ()
    commands: tuple[str, ...] = ()
    """The commands that repeat the runs and the comparisons."""
    distributions: tuple[Distribution, ...] = ()
    """The distribution of each row."""
    since_last_run: RunChanges | None = None
    """The changes since the last run of the same suites. None: there is no earlier run, or this run is not the
    newest."""
    history: History | None = None
    """The history of the same suites on this machine. None: as for ``since_last_run``."""

    @property
    def choices(self) -> tuple[JudgedExperiment, ...]:
        """The experiments with several candidates; if there is none, all experiments. Workloads are left out."""
        messages = [each for each in self.experiments if each.metric != "deadline" and each.ranked]
        several = {(each.by, each.key) for each in messages if len(each.ranked) > 1}
        return tuple(each for each in messages if (each.by, each.key) in several or not several)
