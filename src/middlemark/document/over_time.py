"""The verdicts on long trials as tables: growth, drift and stalls."""

from collections.abc import Iterator, Sequence

import msgspec

from middlemark.document.document import Document, OverTime
from middlemark.document.numbers import ABSENT
from middlemark.document.table import Column, Line, Table, table_of
from middlemark.model.growth import RESOURCES
from middlemark.model.units import format_count, format_seconds
from middlemark.stats.trends import FEWEST
from middlemark.verdicts.long_trials import LatencyDrift, LongTrial, Stalls, Trend
from middlemark.verdicts.rows import Row

_NOTE = (
    "Slopes are by Theil and Sen, without steps. All intervals of a trial are right with a probability of 95 %. "
    "A stall is a second with a latency of at least 1 ms and ten times the median."
)


def over_time(document: Document) -> list[Table]:
    """Return a table for each long trial of the document's rows; if there are several, an overview comes first."""
    first = overview(document)
    shown = {row.index: row for row in document.rows}
    whole = [_table(shown[each.row], each) for each in document.over_time if each.row in shown]
    return whole if first is None else [first, *whole]


def overview(document: Document) -> Table | None:
    """Return a table with a line for each long trial: the worker whose memory grows most, the drift, and the stalls.

    None: there are fewer than two long trials.
    """
    shown = {row.index: row for row in document.rows}
    found = [(shown[each.row], each.trial) for each in document.over_time if each.row in shown]
    if len(found) < 2:
        return None
    several = len({row.index for row, _ in found}) < len(found)
    rows = [
        (f"{row.label}, round {trial.trial}" if several else row.label, *_brief_texts(trial)) for row, trial in found
    ]
    columns = (
        Column("memory per hour", 4, left=True, means="private memory of the worker that grows most"),
        Column("per million messages", 1, left=True),
        Column("p50 per hour", 3, left=True),
        Column("stalls", 2, left=True, means="seconds with a stall that the machine does not explain"),
    )
    longest = format_seconds(max(trial.seconds for _, trial in found))
    return table_of(
        ("configuration", *columns), rows, title=f"Over {longest}: {format_count(len(found), 'trial')}", notes=(_NOTE,)
    )


def _brief_texts(trial: LongTrial) -> tuple[str, str, str, str]:
    memory = max((each for each in trial.trends if each.resource == "private"), key=_growth, default=None)
    drift = next((each for each in trial.drift if each.quantile == "p50"), None)
    unexplained = sum(each.unexplained for each in trial.stalls)
    million = memory is not None and memory.verdict == "grows" and memory.per_million is not None
    return (
        ABSENT if memory is None else trend_text(memory).split("; ")[0].split(" (")[0],
        _per_million(memory).strip(" ()").removesuffix(" per million messages") if million and memory else ABSENT,
        ABSENT if drift is None else drift_text(drift),
        f"{unexplained:,}" if trial.stalls else ABSENT,
    )


def _growth(trend: Trend) -> tuple[bool, float]:
    """Return the key by which trends are ordered: certain growth first, then the largest possible growth."""
    return trend.verdict == "grows", trend.high


def _table(row: Row, found: OverTime) -> Table:
    trial = found.trial
    rest = "" if trial.ended else ", not ended"
    round_ = f", round {trial.trial}" if len(row.trials) > 1 else ""
    few = () if trial.trends else (f"A slope needs {FEWEST} records.",)
    return table_of(
        ("", Column("what", left=True), Column("verdict", left=True)),
        list(lines(trial)),
        title=f"Over {format_seconds(trial.seconds)}: {row.label}{round_}{rest}",
        notes=(*few, _NOTE),
    )


def in_paragraphs(table: Table) -> Table:
    """Return the table for a terminal: a line wraps if its sentence is long."""
    found = (
        Line("  ".join((line.name, line.cells[0].text)), (), "", (line.cells[1].text,)) for line in _aligned(table)
    )
    return msgspec.structs.replace(table, columns=(), lines=tuple(found))


def _aligned(table: Table) -> Iterator[Line]:
    """Yield the lines with their names padded to one width."""
    width = max((len(line.name) for line in table.lines), default=0)
    for line in table.lines:
        yield msgspec.structs.replace(line, name=f"{line.name:<{width}}")


def lines(trial: LongTrial) -> Iterator[tuple[str, str, str]]:
    """Yield (role, subject, sentence) for each verdict."""
    roles = dict.fromkeys((*(each.role for each in trial.trends), *(each.role for each in trial.stalls)))
    for role in roles:
        mine = [each for each in trial.trends if each.role == role]
        yield from ((role, each.resource, trend_text(each)) for each in mine)
        yield from ((role, each.quantile, drift_text(each)) for each in trial.drift if each.role == role)
        yield from ((role, "stalls", stalls_text(each)) for each in trial.stalls if each.role == role)


def trend_text(trend: Trend) -> str:
    """Return ``grows by 1.2 MiB/h ± 0.3``, ``does not grow by more than 10 KiB/h``, or why it is undecided."""
    half = (trend.high - trend.low) / 2
    (size, width), unit = _scaled((trend.per_hour, half), trend)
    (most,), unit_of_most = _scaled((max(trend.high, 0.0),), trend)
    if trend.verdict == "grows":
        text = f"grows by {size} {unit} ± {width}{_per_million(trend)}"
    elif trend.verdict == "does not grow":
        text = f"does not grow by more than {most} {unit_of_most}"
    elif trend.levels_off:
        text = f"undecided: {size} {unit} ± {width}, but its growth levels off"
    else:
        text = f"undecided: {size} {unit} ± {width}"
    return "; ".join((text, *_steps(trend)))


def _per_million(trend: Trend) -> str:
    if trend.per_million is None:
        return ""
    (size,), unit = _scaled((trend.per_million,), trend)
    return f" ({size} {unit.removesuffix('/h')} per million messages)"


def _steps(trend: Trend) -> Iterator[str]:
    least = RESOURCES[trend.resource].least
    for each in (step for step in trend.steps if abs(step.height) >= least):
        (height,), unit = _scaled((each.height,), trend)
        sign = "+" if each.height > 0 else ""
        yield f"a step of {sign}{height} {unit.removesuffix('/h')} after {format_seconds(3600 * each.at_h)}"


def drift_text(drift: LatencyDrift) -> str:
    """Return ``drifts by +2 %/h ± 0.3``, ``does not drift by more than 1 %/h``, or ``undecided: …``."""
    half = (drift.high - drift.low) / 2
    size = f"{_brief(100 * drift.per_hour, signed=True)} %/h ± {_brief(100 * half)}"
    if drift.verdict == "drifts":
        return f"drifts by {size}"
    if drift.verdict == "does not drift":
        return f"does not drift by more than {_brief(100 * max(abs(drift.low), abs(drift.high)))} %/h"
    return f"undecided: {size}"


def stalls_text(stalls: Stalls) -> str:
    """Return the number of unexplained stalls, the time between them, and the number that the machine explains."""
    if not stalls.count:
        return f"none: at most one in {format_seconds(stalls.low)}"
    longest = f"up to {format_seconds(stalls.longest_ns / 1e9)}"
    if not stalls.unexplained or stalls.interval_s is None:
        return f"{stalls.machine:,}, {longest}, all explained by the machine"
    most = "" if stalls.high is None else f" … {format_seconds(stalls.high)}"
    every = f"every {format_seconds(stalls.interval_s)} ({format_seconds(stalls.low)}{most})"
    machine = f"; the machine explains {stalls.machine:,} more" if stalls.machine else ""
    return f"{stalls.unexplained:,}, {longest}, {every}{machine}"


_UNITS = ((1 << 30, "GiB/h"), (1 << 20, "MiB/h"), (1 << 10, "KiB/h"), (1, "B/h"))


def _scaled(values: Sequence[float], trend: Trend) -> tuple[tuple[str, ...], str]:
    """Return the values as text, all in the unit that suits the first."""
    if RESOURCES[trend.resource].is_counted:
        return tuple(map(_brief, values)), f"{trend.resource}/h"
    factor, unit = next((each for each in _UNITS if abs(values[0]) >= each[0]), _UNITS[-1])
    return tuple(_brief(each / factor) for each in values), unit


def _brief(value: float, *, signed: bool = False) -> str:
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2g}"
    return f"+{text}" if signed and value > 0 else text
