"""The outputs of ``doctor`` and ``diagnose`` for programs."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from middlemark.model.setting import SettingKind
from middlemark.show.json.output import Output, composed, fields_of, printed
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
    """The worst first."""
    probes: Probes  # type: ignore[valid-type]


def render_doctor(found: Sequence[Finding], checks: int, tried: Tried | None) -> str:
    """Return the findings and the figures of the probes: {} if there were none."""
    probes = Probes() if tried is None else Probes(**msgspec.structs.asdict(tried))
    return printed(DoctorOutput(checks=checks, findings=tuple(found), probes=probes))


class LimitedRow(Output, frozen=True, kw_only=True):
    """A row that met a limit."""

    row: str
    symptom: str
    seen: str
    """The evidence."""


class LimitOutput(Output, frozen=True, kw_only=True):
    """A limit, the rows that met it, and the setting that lifts it; empty texts: no setting of this machine does."""

    check: str
    sentence: str
    rows: tuple[LimitedRow, ...]
    setting: str
    before: str
    after: str
    command: str
    advice: str
    """How to lift the limit, if it is not a setting of the machine."""


class DiagnoseOutput(Output, frozen=True, kw_only=True):
    """The limits that the rows of a run met."""

    schema: int = SCHEMA
    run: str
    limits: tuple[LimitOutput, ...]


class Change(Output, frozen=True, kw_only=True):
    """A setting of the running machine, which can be put back."""

    kind: SettingKind
    target: str
    """A sysctl's name; a path under /sys or /proc; a file that is held open with the value; a tmpfs and its bytes."""
    value: str


class LiftOutput(Output, frozen=True, kw_only=True):
    """One way to lift a limit: a setting of the machine or of the middleware's own, before and after."""

    name: str
    before: str
    after: str
    command: str
    """The command that a user would type."""
    keep: str
    """How to make the change permanent."""
    change: Change | None
    """Null: it is a setting of the middleware."""


class TriedLimitOutput(Output, frozen=True, kw_only=True):
    """A limit that was lifted for some trials: the rows before and after."""

    schema: int = SCHEMA
    check: str
    lift: LiftOutput
    verdicts: tuple[str, ...]
    run: str
