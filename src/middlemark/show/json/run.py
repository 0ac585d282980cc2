"""The JSON of a run: the outputs of ``run --format json`` and of a study, and the run of ``selftest``."""

from collections.abc import Sequence

import msgspec

from middlemark.document.changes import RunChanges
from middlemark.document.document import Document, ExpectationResult, Expected
from middlemark.document.runs import clock_of, notes_of, sources_of
from middlemark.document.statements import reason
from middlemark.model.description import WrittenIn
from middlemark.model.plan import Fitted, Precision, Reached
from middlemark.model.protocol import Clock, Reliability, Via
from middlemark.model.run import HostMachine, Machine, NotTried, Run
from middlemark.show.expectations import JudgedClaim, Word, judged_claims
from middlemark.show.json.cell import CellOutput, cell_output
from middlemark.show.json.output import Number, Output, composed, fields_of, filled, printed
from middlemark.suite.study import Study
from middlemark.verdicts.experiments import JudgedExperiment, JudgedRow, Standing, figure_of
from middlemark.verdicts.growth import Growth
from middlemark.verdicts.interop import PairedRow
from middlemark.verdicts.languages import ClientCost
from middlemark.verdicts.rows import Row, latency_of
from middlemark.verdicts.scaling import Scaling, ScalingPoint
from middlemark.verdicts.scorecards import Scorecard

SCHEMA = 2


class MachineOutput(Output, frozen=True, kw_only=True):
    """The machine that the trials ran on; all null if the run was imported."""

    hostname: str | None = None
    cpu_model: str | None = None
    processors: int | None = None
    kernel: str | None = None
    os: str | None = None


HostOutput = composed(
    "Host",
    "One of several machines that a run was measured on, and the interface that leads to it.",
    (HostMachine,),
    fields_of(HostMachine, {"machine": MachineOutput}),
)


class AdapterOutput(Output, frozen=True, kw_only=True):
    """An adapter that the run measured."""

    name: str
    title: str
    version: str
    licence: str
    language: WrittenIn
    is_raw_transport: bool
    """True for a raw transport of the machine, false for a middleware."""


class RunOutput(Output, frozen=True, kw_only=True):
    """The run as a whole."""

    suites: tuple[str, ...]
    started: str
    """ISO 8601, UTC."""
    seconds: float
    """Seconds from the start of the run to its end. For a killed run: the sum of its trials."""
    middlemark: str
    machine: MachineOutput
    machines: tuple[HostOutput, ...]  # type: ignore[valid-type]
    """The hosts on which the trials ran; empty: the trials ran on one machine."""
    clock: Clock | None
    """The clock's cost and resolution: medians over the trials; null: no trial ended."""
    adapters: tuple[AdapterOutput, ...]
    folder: str
    seed: int
    interrupted: bool
    planned_trials: int
    done_trials: int
    notes: tuple[str, ...]
    """Notes on what the plan changed or left out, and why."""
    precision: Precision | None
    """The precision that ``--until-precise`` asked for."""
    fitted: Fitted | None
    """Numbers of trials without and with ``--budget``, and how much wider intervals become; null: all trials fit into
    the budget."""
    reached: Reached | None
    """How adding rounds ended; null: the plan adds no rounds."""
    imported: tuple[str, ...]
    """The logs of other tools that the run was read from."""


class ExpectationOutput(ExpectationResult, Output, frozen=True, kw_only=True):
    """An expectation with its verdict."""


class PointOutput(Output, frozen=True, kw_only=True):
    """A level of a factor, with the cell's median. ``times``: the median divided by the median at the lowest level."""

    cell: int
    """Index into ``cells``."""
    level: str
    median: Number | None
    times: Number | None
    low: Number | None
    high: Number | None


class GrowthOutput(Output, frozen=True, kw_only=True):
    """How one metric grows along a factor while all other factors stay the same."""

    factor: str
    line: str
    metric: str
    unit: str
    points: tuple[PointOutput, ...]


class ScalingPointOutput(ScalingPoint, Output, frozen=True, kw_only=True):
    """One level of a power law."""

    median: Number  # written with few digits
    residual: Number


class ScalingOutput(Output, frozen=True, kw_only=True):
    """How one figure of a crowd grows along a factor: as a power law, by the Theil-Sen slope of the logarithms."""

    adapter: str
    transport: str
    line: str
    along: str
    figure: str
    unit: str
    levels: tuple[int, ...]
    points: tuple[ScalingPointOutput, ...]
    exponent: Number
    low: Number
    high: Number
    coefficient: float
    residual: Number
    standing: str | None
    reference: str | None
    difference: Number | None
    difference_low: Number | None
    difference_high: Number | None
    rounds: int
    holds_to: int | None
    breaks_at: int | None
    breaks_because: str | None
    breaks_absent: str | None


class PublishedBaseline(msgspec.Struct, frozen=True, kw_only=True):
    """A raw transport with which rows are compared. ``figure``: as in the rows."""

    cell: int
    name: str
    figure: Number | None


class PublishedRow(msgspec.Struct, frozen=True, kw_only=True):
    """The standing of a row in its experiment. ``cell``: the index of the row in ``cells``."""

    cell: int
    name: str
    standing: Standing
    reason: str
    figure: Number | None
    """The row's figure: in ns; for throughput in messages per second; for deadline as a part of the deadline."""
    ratio: Number | None
    """The row's time divided by the baseline's time; null: the row has no baseline."""
    candidate: bool
    """True if the row is the best of its middleware."""
    hands_over: bool
    doubt: str | None


class PublishedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment at one size by one metric."""

    size: int
    metric: str
    carrier: str | None
    """The carrier to which the experiment is restricted; null: any carrier."""
    levels: dict[str, str]
    verdict: str
    sure: bool
    within: float | None
    """The candidates of a tie differ by less than this fraction; null: there is no tie."""
    winner: int | None
    """The index of the cell with the best figure; null: no cell has a figure."""
    copying: PublishedBaseline | None
    handing_over: PublishedBaseline | None
    rows: tuple[PublishedRow, ...]


class InteropOutput(Output, frozen=True, kw_only=True):
    """The exchange of messages between one adapter's senders and another's receivers, under one load."""

    cell: int
    """Index into ``cells``."""
    senders: str
    receivers: str
    size: int
    """Bytes of a message."""
    reliability: Reliability
    interoperates: bool
    why: str | None
    """Why the adapters exchange no messages; null: they exchange messages."""
    p50_ns: Number | None
    """The cell's round trip, or the one-way latency of a stream; null: no message was exchanged."""
    standing: Standing
    """The cell's standing in its experiment, which also contains the pairs with one adapter on both sides."""


class LanguageOutput(Output, frozen=True, kw_only=True):
    """A client in another language beside the adapter of the same middleware, under one load."""

    cell: int
    """The client's index in ``cells``."""
    beside: int
    """The index of the other adapter's cell."""
    language: WrittenIn
    libraries: tuple[str, str]
    """Name and version of the library that moves the messages: the client's, and the other adapter's."""
    same_library: bool
    """False: language and library differ, so there is no verdict on the language."""
    times: Number
    """The client's time per message divided by that of the other adapter."""
    standing: Standing | None
    """The client's standing beside the other adapter: ``slower``, ``best`` (faster), ``equivalent``, ``undecided``,
    ``too_few_trials`` or ``no_common_rounds``. null: language and library differ."""


class WayOutput(Output, frozen=True, kw_only=True):
    """A cell with a router or a discovery server beside the cell that is the same but direct."""

    cell: int
    """Index into ``cells``."""
    beside: int
    """The index of the direct cell."""
    via: Via
    times: Number
    """The time per message, or per round trip, divided by that of the direct cell; over the common rounds."""
    low: Number | None
    """The lower end of the 95 % interval of ``times``; ``high`` is the upper end. null: too few common rounds."""
    high: Number | None
    standing: Standing
    """``slower``, ``best`` (faster), ``equivalent``, ``undecided``, ``too_few_trials`` or ``no_common_rounds``."""
    companion_ns: Number | None
    """Processor time of the router or server for each message received, in ns. A round trip counts once."""


class ResultOutput(Output, frozen=True, kw_only=True):
    """The result of a run: its facts, expectations, experiments and cells."""

    schema: int = SCHEMA
    """The version of this format, which changes when a field changes its meaning."""
    run: RunOutput
    expectations: tuple[ExpectationOutput, ...]
    """The expectations of the run; expectations that do not hold come first."""
    not_tried: tuple[NotTried, ...]
    experiments: tuple[PublishedExperiment, ...]
    """The experiments, each with its verdict."""
    cells: tuple[CellOutput, ...]  # type: ignore[valid-type]
    growth: tuple[GrowthOutput, ...]
    scaling: tuple[ScalingOutput, ...]
    """The power laws of crowds; empty: no crowd was measured at three numbers of participants or topics."""
    scorecards: tuple[Scorecard, ...]
    interop: tuple[InteropOutput, ...]
    """The pairs of different adapters, and the adapters of these pairs with themselves; empty: no pair was measured."""
    languages: tuple[LanguageOutput, ...]
    """The cost of a client's language, for each client that was measured together with the adapter of its
    middleware."""
    via: tuple[WayOutput, ...]
    """The cost of a router or a discovery server, for each cell that was measured also without it."""
    since_last_run: RunChanges | None
    """The significant changes since the last run of the same suites on this machine; null: there is no such run, or
    this is no output of ``run``."""


def result_output(document: Document) -> ResultOutput:
    """Return the result of the first run, with the cells of all runs."""
    return filled(
        ResultOutput,
        document,
        run=run_output(document),
        expectations=expectations_output(document.expectations),
        experiments=tuple(map(_experiment, document.experiments)),
        cells=tuple(
            cell_output(row.result, [each.trial for each in document.over_time if each.row == row.index])
            for row in document.rows
        ),
        growth=tuple(map(_growth, document.growths)),
        scaling=tuple(map(_scaling, document.scalings)),
        interop=tuple(_paired(each) for table in document.interop for each in table.rows),
        languages=tuple(map(_language, document.languages)),
        via=tuple(filled(WayOutput, each, cell=each.row.index, beside=each.direct.index) for each in document.ways),
    )


def run_output(document: Document) -> RunOutput:
    """Return the first run as a whole."""
    run = document.runs[0]
    return filled(
        RunOutput,
        *(run, run.file, run.file.plan),
        seconds=document.took,
        machine=_machine(run.machine),
        machines=tuple(filled(HostOutput, each, machine=_machine(each.machine)) for each in run.file.machines),
        clock=clock_of(run),
        adapters=tuple(filled(AdapterOutput, each) for each in run.file.adapters),
        folder=str(run.folder),
        done_trials=len(run.outcomes),
        notes=notes_of(run),
        imported=sources_of(run),
    )


def expectations_output(expected: Sequence[Expected]) -> tuple[ExpectationOutput, ...]:
    """Return the expectations with their verdicts."""
    return tuple(filled(ExpectationOutput, each) for each in expected)


def _machine(machine: Machine | None) -> MachineOutput:
    if machine is None:
        return MachineOutput()
    return filled(MachineOutput, machine, hostname=machine.host, cpu_model=machine.cpu, os=machine.system)


def _paired(paired: PairedRow) -> InteropOutput:
    row, latency = paired.row, latency_of(paired.row.result)
    p50_ns = latency.p50 if latency else None
    return filled(InteropOutput, paired, row.result.cell, cell=row.index, p50_ns=p50_ns)


def _language(cost: ClientCost) -> LanguageOutput:
    return filled(LanguageOutput, cost, cell=cost.client.index, beside=cost.middleware.index)


def _growth(of: Growth) -> GrowthOutput:
    return filled(GrowthOutput, of, points=tuple(filled(PointOutput, each, cell=each.row) for each in of.points))


def _scaling(scaling: Scaling) -> ScalingOutput:
    return filled(ScalingOutput, scaling, points=tuple(filled(ScalingPointOutput, each) for each in scaling.points))


def _experiment(experiment: JudgedExperiment) -> PublishedExperiment:
    return filled(
        PublishedExperiment,
        experiment,
        carrier=experiment.carrier if experiment.restricted else None,
        within=experiment.within if experiment.verdict == "tie" else None,
        winner=experiment.winner and experiment.winner.row.index,
        copying=_baseline(experiment, experiment.copying),
        handing_over=_baseline(experiment, experiment.handing_over),
        rows=tuple(_row(experiment, each) for each in experiment.rows),
    )


def _row(experiment: JudgedExperiment, row: JudgedRow) -> PublishedRow:
    figure, why, doubt = experiment.shown(row.figure), reason(experiment, row), row.doubt or None
    fields = {"reason": why, "figure": figure, "candidate": row.is_candidate, "doubt": doubt}
    return filled(PublishedRow, row, row.row, cell=row.row.index, **fields)


def _baseline(experiment: JudgedExperiment, row: Row | None) -> PublishedBaseline | None:
    if row is None:
        return None
    return filled(PublishedBaseline, row, cell=row.index, figure=experiment.shown(figure_of(row, experiment.metric)))


class AwakeOutput(ExpectationOutput, frozen=True, kw_only=True):
    """The verdict on a claim, for the configurations with processors kept awake."""

    verdict: Word  # type: ignore[assignment]  # a study's claim has its own words


class ClaimOutput(ExpectationOutput, frozen=True, kw_only=True):
    """A claim of the document, with its verdict."""

    verdict: Word  # type: ignore[assignment]  # a study's claim has its own words
    """A claim that does not hold: ``contradicted`` on the document's kind of machine, else ``not reproduced here``."""
    figure: str | None
    """The claim's figure in the document."""
    contradicts: str | None
    """The place where the document contradicts its own claim; null: there is no such place."""
    awake: AwakeOutput | None
    """The verdict with processors kept awake; None: the machine is not virtual."""


class StudyOutput(Output, frozen=True, kw_only=True):
    """A published document, measured again."""

    study: str
    title: str
    document: str
    measured_on: str
    conditions: str
    here: str
    """The conditions here, and their differences from the document's conditions."""
    run: str
    expectations: tuple[ClaimOutput, ...]


def render_study(study: Study, run: Run, expected: Sequence[Expected]) -> str:
    """Return the claims of a study with their verdicts, as JSON."""
    claims = tuple(_claim(study, each) for each in judged_claims(study, run, expected))
    return printed(filled(StudyOutput, study, study=study.name, run=str(run.folder), expectations=claims))


def _claim(study: Study, claim: JudgedClaim) -> ClaimOutput:
    stated = study.claim_of(claim.expected.id)
    itself = (stated.contradicts or None) if stated else None
    awake = filled(AwakeOutput, claim.awake, verdict=claim.awake_word) if claim.awake else None
    figure = stated and stated.figure
    return filled(ClaimOutput, claim.expected, verdict=claim.word, figure=figure, contradicts=itself, awake=awake)
