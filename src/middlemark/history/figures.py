"""The figures of one run that a history needs: about 100 bytes for each configuration, instead of all samples."""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from middlemark.model.cell import FACTORS, Cell
from middlemark.model.run import Run
from middlemark.stats.baselines import by_rate
from middlemark.stats.interval import median_interval
from middlemark.stats.metrics import METRICS
from middlemark.verdicts.names import plain, words
from middlemark.verdicts.rows import MeasuredRun, Row, headline_figure, rows_of


class SeriesFigure(msgspec.Struct, frozen=True, array_like=True):
    """The headline figure of one configuration. Less is better."""

    cell: str
    """A digest of the configuration, equal in runs with the same configuration."""
    adapter: str
    transport: str
    size: int
    what: str
    """The levels that differ from the default, in words, without adapter, transport and size."""
    metric: str
    unit: str
    """``ratio``: a multiple of the baseline. Without a baseline: ``ns`` or ``deadlines``."""
    value: float
    low: float | None
    """The lower end of the interval; None: fewer than six trials."""
    high: float | None
    version: str
    baseline: str
    """The raw transport that ``value`` is divided by; empty: there is no baseline."""


class RunFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One run in the series of its suite and machine."""

    run: str
    """The name of the run's folder."""
    started: str
    repeats: tuple[str, ...]
    """Equal for all runs of the same suites on the same machine; empty: the run belongs to no series."""
    facts: Mapping[str, str] = {}
    """Possible causes of a change, by name: versions, kernel, governor, commit, text of the suite."""
    figures: Sequence[SeriesFigure] = ()


def run_figures(run: MeasuredRun) -> RunFigures:
    """Return the figures of a run. Configurations without a result have none."""
    rows = rows_of([run])
    found = [figure for row in rows if (figure := _figure(row, rows)) is not None]
    return msgspec.structs.replace(without_figures(run), facts=_facts(run), figures=tuple(found))


def without_figures(run: Run) -> RunFigures:
    """Return the run's name, start and ``repeats``, without figures.

    ``repeats`` is empty if it belongs to no series.
    """
    repeats = run.repeats if belongs_to_a_series(run) else None
    return RunFigures(run=run.name, started=run.file.started, repeats=repeats or ())


def belongs_to_a_series(run: Run) -> bool:
    """Say whether the run belongs to a series: it has ended, and is no import, selftest or ``diagnose --try``."""
    return run.repeats is not None and not run.running and not run.file.selftest and run.file.tried is None


def _figure(row: Row, rows: Sequence[Row]) -> SeriesFigure | None:
    cell, value = row.result.cell, headline_figure(row.result)
    if value is None or value <= 0 or row.bench_only:
        return None
    metric = "deadline" if cell.workload is not None else "throughput" if by_rate(cell) else "p50"
    base = None if row.baseline_row is None or row.is_raw_transport else rows[row.baseline_row]
    own = _by_round(row, metric)
    if base is not None and row.ratio:
        value = row.ratio
        others = _by_round(base, metric)
        own = {number: figure / others[number] for number, figure in own.items() if number in others}
    interval = median_interval([*own.values()])
    return SeriesFigure(
        cell=_digest(cell),
        adapter=cell.adapter,
        transport=cell.transport,
        size=cell.size,
        what=plain(words(cell, _unusual(cell))),
        metric=metric,
        unit="ratio" if base is not None else "deadlines" if metric == "deadline" else "ns",
        value=value,
        low=min(interval[0], value) if interval else None,
        high=max(interval[1], value) if interval else None,
        version=row.result.version or "",
        baseline=f"{base.result.cell.adapter} {base.result.cell.transport}" if base is not None else "",
    )


def _by_round(row: Row, metric: str) -> dict[int, float]:
    """Return the headline figure of each trial by its round; less is better."""
    found = {}
    for trial in row.trials:
        figure = METRICS[metric].figure(row.result.cell, trial) if trial.outcome.failed is None else None
        if figure:
            found[trial.outcome.number] = 1e9 / figure if metric == "throughput" else figure
    return found


_SHOWN = ("adapter", "transport", "size")


def _unusual(cell: Cell) -> list[str]:
    """Return the names of the factors whose levels differ from the defaults of ``Cell``."""
    plain_cell = Cell(adapter=cell.adapter, transport=cell.transport, size=cell.size)
    return [
        name
        for name, factor in FACTORS.items()
        if name not in _SHOWN and getattr(cell, factor.field) != getattr(plain_cell, factor.field)
    ]


def _digest(cell: Cell) -> str:
    return hashlib.sha256(msgspec.json.encode(cell)).hexdigest()[:16]


def _facts(run: Run) -> dict[str, str]:
    file, machine = run.file, run.file.machine
    facts = {
        "Middlemark": file.middlemark,
        "commit": file.commit,
        "kernel": machine.kernel,
        "system": machine.system,
        "governor": machine.governor or "",
        "clock source": machine.clocksource or "",
        "memory": str(machine.memory_bytes),
    }
    for name, text in file.suite_texts.items():
        facts[f"suite {name}"] = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]
    for each in file.adapters:
        facts[f"library of {each.name}"] = each.library
    return facts
