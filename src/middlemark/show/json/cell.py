"""The JSON of one cell of a run: adapter, transport, levels and figures."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_type_hints

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from middlemark.document.numbers import exact
from middlemark.model.cell import FACTORS, Cell
from middlemark.model.description import WrittenIn
from middlemark.model.factors import Factor
from middlemark.model.link import Link, parse_link
from middlemark.model.outcome import ProtectionProof, TrialCounts
from middlemark.model.protocol import Pattern
from middlemark.model.times import Times
from middlemark.show.json.output import Fields, Number, Output, builtins, composed, exactly, fields_of, filled
from middlemark.stats.metrics import METRICS
from middlemark.stats.result import CellResult, Versions
from middlemark.verdicts.long_trials import LatencyDrift, LongTrial, Stalls, Trend
from middlemark.verdicts.rows import loss_of

_NAMED = ("adapter", "pattern", "size", "transport")
FURTHER = tuple(each for name, each in FACTORS.items() if not each.later and name not in _NAMED)
"""The factors whose keys come before ``link`` and ``native`` in the JSON of a cell, without the four in ``_NAMED``. The
keys of ``LATER`` come after ``native``."""
LATER = tuple(each for each in FACTORS.values() if each.later)
_LEVELS = get_type_hints(Cell)


def written(cell: Cell, factor: Factor) -> object:
    """Return the cell's level of the factor, as on the command line or as a list.

    Never None, because null means an absent figure.
    """
    level = getattr(cell, factor.field)
    return factor.none if level is None else list(level) if isinstance(level, tuple) else level


class MetricOutput(Output, frozen=True, kw_only=True):
    """One metric of a cell."""

    unit: str
    median: Number | None
    """The median over the trials that have a figure."""
    trials: tuple[Number | None, ...]
    """The figure of each measured trial, in order."""


class LinkText(Output, frozen=True, kw_only=True):
    """An emulated link as requested."""

    text: str
    """The link as typed after ``--link``."""


class LinkKind(Output, frozen=True, kw_only=True):
    """An emulated link, and how it was emulated."""

    how: str | None
    """How the link was emulated."""


class ImportedOutput(Output, frozen=True, kw_only=True):
    """The tool that measured an imported cell, and its logs."""

    tool: str
    files: tuple[str, ...]


LinkOutput = composed(
    "Link",
    "The emulated link between the sites of the roles.",
    (LinkText, Link, LinkKind),
    fields_of(LinkText),
    fields_of(Link),
    fields_of(LinkKind),
)


class SubjectOutput(Output, frozen=True, kw_only=True):
    """The subject of a cell. In an imported cell, a field that the log does not contain is null."""

    name: str
    """The suite of the cell, and the sweep if the sweep has a name."""
    label: str | UnsetType = UNSET
    """A label that distinguishes cells with the same levels. Absent if the levels are different."""
    adapter: str
    version: str | None
    versions: Versions
    """The versions of both sides, which differ if the sides are different adapters."""
    language: WrittenIn | None
    """The language of the interface that was measured."""
    pattern: Pattern | None
    size: int | None
    """Bytes of a message, with the header of 16 bytes."""
    transport: str | None
    """The transport that was asked for."""
    actual_transport: str | None
    """The transport that moved the messages, by the kernel's counts: shared-memory, udp, tcp, unix-socket,
    message-queue or process-memory; null if the counts do not show it."""
    protected_by: str | None
    protection_proof: ProtectionProof | None


_UNITS = ("_ns", "_hz", "_per_s")
_COUNTS = TrialCounts.__struct_fields__
_FIRST = ("trials", "failed_trials", "samples", *_COUNTS, "loss")
_APART = {*SubjectOutput.__struct_fields__, "cell", "counts", "failures", "link_how", "series_subscribers", "proof"}
"""Fields of a CellResult that the JSON has in another place than the result's other fields, or does not have."""


class Derived(Output, frozen=True, kw_only=True):
    """Figures that are computed from fields of CellResult, or that have another form there."""

    samples: int | None
    loss: float | None
    """``lost / (received + lost)``; null: no message was expected."""
    trial_values: tuple[Number, ...]
    metrics: dict[str, MetricOutput]
    """Name of a metric → the metric's figures, for every metric that the cell has."""
    interval: tuple[Number, Number] | None
    knee_hz: Number | None
    """The offered load of a curve beyond which latency or loss rises."""
    trends: tuple[Trend, ...] = ()
    """The growth of resources in each long trial; empty: no trial was long."""
    drift: tuple[LatencyDrift, ...] = ()
    stalls: tuple[Stalls, ...] = ()
    imported: ImportedOutput | None


def _figures() -> Mapping[str, Any]:
    """Return name → type for each figure of a CellResult; times and rates are Numbers."""
    types = {name: hint for name, hint in get_type_hints(CellResult).items() if name not in _APART}
    measured = [name for name, hint in types.items() if hint == float | None and name.endswith(_UNITS)]
    types |= dict.fromkeys(measured, Number | None)
    types |= dict.fromkeys(_COUNTS, int | None) | get_type_hints(Derived)
    return {name: types[name] for name in (*_FIRST, *(each for each in types if each not in _FIRST))}


_FIGURES = _figures()


def _levels(*factors: Factor) -> Fields:
    """Return a field for each factor, with the level as on the command line; null: unknown."""
    for each in factors:
        hint = _LEVELS[each.field]
        kinds = [kind for kind in get_args(hint) if kind is not NoneType] if isinstance(hint, UnionType) else [hint]
        if each.none is not None and str not in kinds:
            kinds.append(Literal[each.none])
        yield each.field, Annotated[reduce(or_, [*kinds, None]), Meta(description=each.help)]


CellOutput = composed(
    "Cell",
    "One configuration and the results of its trials.",
    (SubjectOutput, Derived, CellResult, Times, TrialCounts),
    fields_of(SubjectOutput),
    _levels(*FURTHER),
    [
        ("link", Annotated[LinkOutput | None, Meta(description="The emulated link; null: no link was emulated.")]),
        ("native", Annotated[dict[str, str] | None, Meta(description="The middleware's own settings.")]),
    ],
    _levels(*LATER),
    _FIGURES.items(),
)


def cell_document(result: CellResult) -> dict[str, Any]:
    """Return one cell as a mapping, as the JSON has it."""
    found: dict[str, Any] = builtins(cell_output(result))
    return found


def cell_output(result: CellResult, long_trials: Sequence[LongTrial] = ()) -> Output:
    """Return one cell, with the verdicts of its long trials.

    In an imported cell, a field that the log does not contain is null.
    """
    cell, counts, imported, baseline = result.cell, result.counts, result.imported, result.baseline
    own = {factor.field: written(cell, factor) for factor in FACTORS.values()} | {
        "label": UNSET if cell.label is None else cell.label,
        "protection_proof": result.proof,
        "link": cell.link and filled(LinkOutput, parse_link(cell.link), text=cell.link, how=result.link_how),
        "native": dict(cell.native),
        "metrics": {name: _metric(result, name) for name in result.metrics},
        "breakdown": result.breakdown and tuple(replace(each, ns=exact(each.ns)) for each in result.breakdown),
        "baseline": baseline and replace(baseline, p50_ns=exact(baseline.p50_ns), rate_hz=exact(baseline.rate_hz)),
        "loss": loss_of(result),
        "knee_hz": next((each.offered_hz or each.received_hz for each in result.steps if each.knee), None),
        "trends": tuple(each for trial in long_trials for each in trial.trends),
        "drift": tuple(each for trial in long_trials for each in trial.drift),
        "stalls": tuple(each for trial in long_trials for each in trial.stalls),
        "crowd": exactly(result.crowd),
        "imported": imported and filled(ImportedOutput, imported),
    }
    return filled(CellOutput, result, counts, **own | _unknown_figures(result))


def _unknown_figures(result: CellResult) -> dict[str, None]:
    """Return the fields that are null because the log of the imported cell does not contain them."""
    if result.imported is None:
        return {}
    uncounted = result.imported.not_counted
    samples = [] if result.samples else ["samples"]
    return dict.fromkeys((*result.cell.unknown, *samples, *uncounted))


def _metric(result: CellResult, name: str) -> MetricOutput:
    return filled(MetricOutput, METRICS[name], median=result.median(name), trials=result.metrics[name])
