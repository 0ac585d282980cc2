"""A run for programs: ``run --format json`` and what ``selftest`` says of its run."""

from collections.abc import Sequence

import msgspec

from middlemark.document.document import Document, ExpectationResult, Expected
from middlemark.document.numbers import exact
from middlemark.document.published import PublishedExperiment, published
from middlemark.document.runs import clock_of, notes_of, sources_of
from middlemark.model.plan import Precision, Reached
from middlemark.model.protocol import Clock
from middlemark.model.run import HostMachine, Machine, NotTried
from middlemark.show.json.cell import CellOutput, cell_output
from middlemark.show.json.output import Number, Output, composed, fields_of
from middlemark.verdicts.growth import Grown, Growth
from middlemark.verdicts.scorecards import Scorecard

SCHEMA = 1


class MachineOutput(Output, frozen=True, kw_only=True):
    """The machine that the trials ran on; all null where the run was imported."""

    hostname: str | None = None
    cpu_model: str | None = None
    processors: int | None = None
    kernel: str | None = None
    os: str | None = None


HostOutput = composed(
    "Host",
    "One of several machines that a run was measured on, and what it is reached by.",
    (HostMachine,),
    fields_of(HostMachine, {"machine": MachineOutput}),
)


class AdapterOutput(Output, frozen=True, kw_only=True):
    """An adapter that took part."""

    name: str
    title: str
    version: str
    licence: str
    floor: bool
    """It is a raw transport of the machine, not a middleware."""


class RunOutput(Output, frozen=True, kw_only=True):
    """The run as a whole."""

    suites: tuple[str, ...]
    started: str
    """ISO 8601, UTC."""
    seconds: float
    """What the command took; 0 where the run was only read."""
    middlemark: str
    machine: MachineOutput
    machines: tuple[HostOutput, ...]  # type: ignore[valid-type]
    """The hosts, where trials ran on several; else empty."""
    clock: Clock | None
    """The medians over the trials; null without a trial."""
    adapters: tuple[AdapterOutput, ...]
    folder: str
    seed: int
    interrupted: bool
    planned_trials: int
    done_trials: int
    notes: tuple[str, ...]
    """What the plan changed or left out, and why."""
    precision: Precision | None
    """What ``--until-precise`` asked for."""
    reached: Reached | None
    """How the adding of rounds ended; null: none were to be added."""
    imported: tuple[str, ...]
    """The logs of other tools that the run was read from."""


class ExpectationOutput(ExpectationResult, Output, frozen=True, kw_only=True):
    """What was expected, and what came of it."""


class PointOutput(Output, frozen=True, kw_only=True):
    """A cell of a line: the median at one level, and how many times that at the lowest level it is."""

    cell: int
    """Index into ``cells``."""
    level: str
    median: Number | None
    times: Number | None
    low: Number | None
    high: Number | None


class GrowthOutput(Output, frozen=True, kw_only=True):
    """How one metric grows along a factor, with all else the same."""

    factor: str
    line: str
    metric: str
    unit: str
    points: tuple[PointOutput, ...]


class ResultOutput(Output, frozen=True, kw_only=True):
    """The result of a run: what it was, what was expected of it, its cells."""

    schema: int = SCHEMA
    """The version of this form: it changes when a field changes its meaning."""
    run: RunOutput
    expectations: tuple[ExpectationOutput, ...]
    """Those that do not hold first."""
    not_tried: tuple[NotTried, ...]
    experiments: tuple[PublishedExperiment, ...]
    """What a reader can choose from, each with its verdict."""
    cells: tuple[CellOutput, ...]  # type: ignore[valid-type]
    growth: tuple[GrowthOutput, ...]
    scorecards: tuple[Scorecard, ...]


def result_output(document: Document) -> ResultOutput:
    """Return all of the first run, and the cells of all."""
    return ResultOutput(
        run=run_output(document),
        expectations=expectations_output(document.expectations),
        not_tried=document.not_tried,
        experiments=published(document),
        cells=tuple(cell_output(row.result) for row in document.rows),
        growth=tuple(map(_growth, document.growths)),
        scorecards=document.scorecards,
    )


def run_output(document: Document) -> RunOutput:
    """Return the first run as a whole."""
    run = document.runs[0]
    file = run.file
    adapters = tuple(
        AdapterOutput(**{name: getattr(each, name) for name in AdapterOutput.__struct_fields__})
        for each in file.adapters
    )
    return RunOutput(
        suites=file.suites,
        started=file.started,
        seconds=document.took,
        middlemark=file.middlemark,
        machine=_machine(run.machine),
        machines=tuple(map(_host, file.machines)),
        clock=clock_of(run),
        adapters=adapters,
        folder=str(run.folder),
        seed=file.seed,
        interrupted=file.interrupted,
        planned_trials=run.planned_trials,
        done_trials=len(run.outcomes),
        notes=notes_of(run),
        precision=file.plan.precision,
        reached=file.reached,
        imported=sources_of(run),
    )


def expectations_output(expected: Sequence[Expected]) -> tuple[ExpectationOutput, ...]:
    """Return what was expected and what came of it."""
    names = ExpectationOutput.__struct_fields__
    return tuple(ExpectationOutput(**{name: getattr(each, name) for name in names}) for each in expected)


def _machine(machine: Machine | None) -> MachineOutput:
    if machine is None:
        return MachineOutput()
    return MachineOutput(
        hostname=machine.host,
        cpu_model=machine.cpu,
        processors=machine.processors,
        kernel=machine.kernel,
        os=machine.system,
    )


def _host(host: HostMachine) -> Output:
    return HostOutput(**msgspec.structs.asdict(host) | {"machine": _machine(host.machine)})


def _growth(of: Growth) -> GrowthOutput:
    points = tuple(map(_point, of.points))
    return GrowthOutput(factor=of.factor, line=of.line, metric=of.metric, unit=of.unit, points=points)


def _point(point: Grown) -> PointOutput:
    ratios = {name: exact(getattr(point, name)) for name in ("median", "times", "low", "high")}
    return PointOutput(cell=point.row, level=point.level, **ratios)
