"""Comparisons for programs, from ``compare`` and from ``selftest``, which compares a setting with itself."""

from collections.abc import Collection, Sequence

from middlemark.document.document import Document
from middlemark.model.asked import SelfTestCell
from middlemark.show.json.output import Number, Output, filled, printed
from middlemark.show.json.run import RunOutput, run_output
from middlemark.stats.comparisons import Comparison, TimesRawTransport, times_raw_transports
from middlemark.stats.metrics import METRICS
from middlemark.stats.selftest import ALLOWED, Power, SelfTest
from middlemark.stats.verdict import MARGIN
from middlemark.verdicts.names import distinguishing_factors, what

SCHEMA = 2


class ComparisonOutput(Output, frozen=True, kw_only=True):
    """B compared with A by one metric. Shifts are fractions: 0.1 is 10 % more than A."""

    what: str
    """Subject and levels that A and B have in common."""
    a: str
    b: str
    metric: str
    unit: str
    a_median: float
    b_median: float
    shift: float
    low: float | None
    """The lower end of the interval of the shift; ``high`` is the upper end. null: too few pairs."""
    high: float | None
    p: float
    p_family: float
    pairs: int
    verdict: str
    """In the metric's words: faster, slower, less, more, equivalent, undecided. Or ``eliminated``: the race eliminated
    B and not A. Or ``A eliminated``."""
    trials_needed: int | None
    marks: tuple[str, ...]
    """Reasons why A and B may not be comparable."""
    a_raw_transport: TimesRawTransport | None
    """The raw transport of A's carrier, and A's figure divided by the raw transport's figure; null: no such
    transport."""
    b_raw_transport: TimesRawTransport | None


class CompareOutput(Output, frozen=True, kw_only=True):
    """The comparisons between two runs, or between cells of one run."""

    schema: int = SCHEMA
    margin: float
    """Differences up to this fraction do not matter: 0.05 is 5 %."""
    edge: str | None
    """The edge of a workload whose figures are compared; null: the whole workload."""
    comparisons: tuple[ComparisonOutput, ...]


def render_compare(comparisons: Sequence[Comparison], margin: float, edge: str | None = None) -> str:
    """Return the output of ``compare`` in JSON."""
    return printed(CompareOutput(margin=margin, edge=edge, comparisons=comparisons_output(comparisons)), indent=1)


def comparisons_output(comparisons: Sequence[Comparison]) -> tuple[ComparisonOutput, ...]:
    """Return the comparisons, each in the form of the JSON."""
    factors = distinguishing_factors(each.pairing for each in comparisons)
    return tuple(_comparison(each, factors) for each in comparisons)


def _comparison(each: Comparison, factors: Collection[str]) -> ComparisonOutput:
    (a, b), (a_median, b_median) = each.pairing.names, each.medians
    a_raw_transport, b_raw_transport = times_raw_transports(each)
    return filled(
        ComparisonOutput,
        *(each.judged, each, each.pairing),
        what=what(each.pairing, factors),
        a=a,
        b=b,
        a_median=a_median,
        b_median=b_median,
        unit=METRICS[each.metric].unit,
        verdict=each.word,
        a_raw_transport=a_raw_transport,
        b_raw_transport=b_raw_transport,
    )


class FalseVerdicts(Output, frozen=True, kw_only=True, rename={"wrong": "false"}):
    """How often a setting was judged faster or slower than itself."""

    wrong: int
    """False verdicts if each comparison is judged alone."""
    together: int
    """False verdicts if all comparisons of a setting and metric are judged together, as by ``compare``."""
    comparisons: int
    rate: float | None
    allowed: float
    at_most: float | None
    """The upper 95 % limit of the rate of false verdicts."""
    worth: int | None
    """The number of independent comparisons that are worth as much as the comparisons, which are correlated because
    they share labels."""
    chance: float
    """The probability of at least this number of false verdicts, if their true rate is the highest allowed rate."""
    holds: bool


class SameOutput(Output, frozen=True, kw_only=True):
    """The results of comparing a setting with itself by one metric."""

    metric: str
    median_ns: Number | None
    scatter: float | None
    """Half the range of the middle 68 % of the setting's trials, as a fraction of the median."""
    comparisons: int
    faster: int
    slower: int
    equivalent: int
    undecided: int
    trials_needed: int | None
    together: int


class PlantedOutput(Output, frozen=True, kw_only=True):
    """A setting compared with itself plus a planted delay, by p50."""

    label: str
    part: float
    """The delay as a fraction of the p50 in the pilot."""
    delay_ns: Number
    part_in_run: float | None
    """The delay as a fraction of the p50 in the run itself."""
    measured: float | None
    """The measured shift of the p50, as a fraction."""
    comparisons: int
    faster: int
    slower: int
    equivalent: int
    undecided: int
    trials_needed: int | None
    found: bool


class SettingOutput(Output, frozen=True, kw_only=True):
    """The results of the selftest for one setting."""

    adapter: str
    transport: str
    size: int
    receive: str
    pilot_p50_ns: Number
    same: tuple[SameOutput, ...]
    planted: tuple[PlantedOutput, ...]
    smallest_found: float | None
    """The smallest planted delay that was found, as a fraction of the p50."""


class SelfTestOutput(Output, frozen=True, kw_only=True):
    """How often a verdict is false on this machine, and which differences are found."""

    schema: int = SCHEMA
    run: RunOutput
    trials: int
    margin: float
    false_verdicts: FalseVerdicts
    settings: tuple[SettingOutput, ...]
    comparisons: tuple[ComparisonOutput, ...]


def render_selftest(test: SelfTest, document: Document) -> str:
    """Return one object. A fraction of 0.1 is 10 %, times are in ns, and a figure that was not measured is null."""
    together = {"together": test.false_together, "comparisons": test.compared}
    output = SelfTestOutput(
        run=run_output(document),
        trials=test.rounds,
        margin=MARGIN,
        false_verdicts=filled(FalseVerdicts, test, wrong=test.false, allowed=ALLOWED, **together),
        settings=tuple(_setting(test, each) for each in test.settings),
        comparisons=comparisons_output(test.comparisons),
    )
    return printed(output, indent=1)


def _setting(test: SelfTest, setting: SelfTestCell) -> SettingOutput:
    same = (each for each in test.same if each.setting == setting)
    planted = (each for each in test.power if each.setting == setting)
    smallest = test.smallest_found(setting)
    return filled(
        SettingOutput,
        setting.cell,
        pilot_p50_ns=setting.pilot_ns,
        same=tuple(filled(SameOutput, each.tally, each, median_ns=each.typical) for each in same),
        planted=tuple(map(_planted, planted)),
        smallest_found=smallest and smallest.part,
    )


def _planted(of: Power) -> PlantedOutput:
    return filled(PlantedOutput, of.planted, of.tally, of, part_in_run=of.part, found=of.is_found)
