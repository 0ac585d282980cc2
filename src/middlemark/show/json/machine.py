"""The outputs of ``doctor`` and ``diagnose`` for programs."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from middlemark.model.setting import SettingKind
from middlemark.show.json.output import Number, Output, composed, fields_of
from middlemark.system.check import Finding
from middlemark.system.tried import Tried

SCHEMA = 1

Probes = composed(
    "Probes",
    "Figures of the machine from probes of a few seconds. Empty with --no-probes.",
    (Tried,),
    [(name, kind | UnsetType, UNSET) for name, kind, *_ in fields_of(Tried)],
)


class DoctorOutput(Output, frozen=True, kw_only=True):
    """Settings and properties of the machine that limit a middleware or falsify results."""

    schema: int = SCHEMA
    checks: int
    """The number of checks."""
    findings: tuple[Finding, ...]
    """The findings, the worst first."""
    probes: Probes  # type: ignore[valid-type]


def doctor_output(found: Sequence[Finding], checks: int, tried: Tried | None) -> DoctorOutput:
    """Return the findings and the figures of the probes: {} without probes."""
    probes = Probes() if tried is None else Probes(**msgspec.structs.asdict(tried))
    return DoctorOutput(checks=checks, findings=tuple(found), probes=probes)


class LimitedRow(Output, frozen=True, kw_only=True):
    """A row that met a limit."""

    row: str
    symptom: str
    seen: str
    """The evidence of the limit in the trials."""


class LimitOutput(Output, frozen=True, kw_only=True):
    """A limit, the rows that met it, and the setting that lifts it; empty texts: there is no such setting."""

    check: str
    sentence: str
    rows: tuple[LimitedRow, ...]
    setting: str
    before: str
    after: str
    command: str
    advice: str
    """How to lift the limit, if no setting of the machine lifts it."""


class DiagnoseOutput(Output, frozen=True, kw_only=True):
    """The limits that the rows of a run met."""

    schema: int = SCHEMA
    run: str
    limits: tuple[LimitOutput, ...]


class LimitRow(Output, frozen=True, kw_only=True):
    """A row of a run that met a limit, as a row of CSV and Markdown. The fields after ``seen`` describe the limit."""

    run: str
    check: str
    row: str
    symptom: str
    seen: str
    setting: str
    before: str
    after: str
    command: str
    advice: str


def limit_rows(output: DiagnoseOutput) -> list[LimitRow]:
    """Return a row for each pair of a limit and a row of the run that met it."""
    same = ("check", "setting", "before", "after", "command", "advice")
    return [
        LimitRow(run=output.run, **msgspec.structs.asdict(row), **{name: getattr(limit, name) for name in same})
        for limit in output.limits
        for row in limit.rows
    ]


class HostOutput(Output, frozen=True, kw_only=True):
    """The results of the checks of one host. Times are in ns."""

    name: str
    address: str
    machine: str
    """Processor, memory, system and the network interface, in words."""
    middlemark: str
    adapters: tuple[str, ...]
    differing: dict[str, str]
    """The adapters that differ from the adapters on this machine, each with the difference."""
    round_trip_ns: Number
    """The median round trip of the connection between this machine and the host."""
    clock_uncertainty_ns: Number | None
    """The largest error of the offset between the clocks of the first host and this host; null: this is the first
    host, or the first host does not answer by UDP."""
    passing: dict[str, bool]
    """Protocol and sender → whether packets of that host arrive at a free port."""
    ready: bool
    """True if the host has adapters and the same version of Middlemark, and packets of all other hosts arrive."""


class HostsOutput(Output, frozen=True, kw_only=True):
    """The hosts in the order in which they were named."""

    schema: int = SCHEMA
    hosts: tuple[HostOutput, ...]


class ChangedSetting(Output, frozen=True, kw_only=True):
    """A setting that ``tune`` or a run changed, and that is not restored yet."""

    target: str
    before: str
    """The old value. Empty: the setting was free."""
    after: str
    file: str
    """The file that makes the change at every boot; empty: there is no such file."""
    is_orphaned: bool
    """True if the process that should restore the setting has ended."""


class TuneOutput(Output, frozen=True, kw_only=True):
    """The settings that are changed now."""

    schema: int = SCHEMA
    changed: tuple[ChangedSetting, ...]


class PlannedChange(Output, frozen=True, kw_only=True):
    """A change that doctor recommends."""

    check: str
    target: str
    now: str
    """The present value. Empty: the setting is free or cannot be read."""
    after: str
    command: str
    cannot: str
    """Why the setting cannot be set here; empty: it can be set."""


class TunePlanOutput(Output, frozen=True, kw_only=True):
    """The changes that doctor recommends."""

    schema: int = SCHEMA
    changes: tuple[PlannedChange, ...]


class Change(Output, frozen=True, kw_only=True):
    """A setting of the running machine, which can be restored."""

    kind: SettingKind
    target: str
    """A sysctl's name; a path under /sys or /proc; a file that is held open with the value; a tmpfs and its bytes."""
    value: str


class LiftOutput(Output, frozen=True, kw_only=True):
    """One way to lift a limit: a setting of the machine or of the middleware, before and after."""

    name: str
    before: str
    after: str
    command: str
    """The command that a user would type."""
    keep: str
    """How to make the change permanent."""
    change: Change | None
    """The change of the machine. Null: the setting belongs to the middleware."""


class TriedRow(Output, frozen=True, kw_only=True):
    """A row measured before and after a limit was lifted, as a row of CSV and Markdown."""

    check: str
    setting: str
    before: str
    after: str
    verdict: str


class TriedLimitOutput(Output, frozen=True, kw_only=True):
    """A limit that was lifted for some trials: the rows before and after."""

    schema: int = SCHEMA
    check: str
    lift: LiftOutput
    verdicts: tuple[str, ...]
    run: str
