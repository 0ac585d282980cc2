"""The cells of all runs in one sequence, each with its names, headline figure, baseline and race."""

import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from middlemark.model.cell import experiment, subject
from middlemark.model.plan import Raced
from middlemark.model.run import Run
from middlemark.model.times import Summary
from middlemark.stats.baselines import baselines, by_rate, carrier_of, hands_over, nearest_raw_transports
from middlemark.stats.candidates import Attempt, InRace, RaceState, attempt, holds, race_states
from middlemark.stats.result import CellResult
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary
from middlemark.verdicts.names import (
    EXPERIMENT,
    is_contradicted,
    is_unprotected,
    joined,
    labels,
    size,
    unusual,
    usual,
    varying,
    words,
)

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


class MeasuredRun(Run, frozen=True, kw_only=True):
    """A run with its results in the order of the plan's cells, and the functions that read its samples."""

    trials: Sequence[Sequence[TrialSummary]]
    results: Sequence[CellResult]
    samples: SamplesOf
    kept: KeptOf


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of a run. ``index``: the row's index in the document; ``run``: the index of the run."""

    index: int
    run: int
    result: CellResult
    trials: Sequence[TrialSummary]
    carrier: str | None
    """The carrier that the row's transport must use; None: unknown."""
    is_raw_transport: bool
    """True for a raw transport, false for a middleware."""
    bench_only: bool
    hands_over: bool
    """True if a pointer or an index is passed and no byte is copied. The row's baseline then also copies no byte."""
    title: str
    """The row's name in the table of its run. The heading of the table has the usual levels."""
    name: str
    """Adapter, transport and the levels that are not usual: ``fastdds shm, loan``. Unique within its experiment."""
    label: str
    """The row's label, unique within the document."""
    series: str
    """The label without the size. Rows with the same series are one line over sizes."""
    raw_transport_row: int | None
    """The index of the raw transport with the same carrier, for ``times_raw_transport``; None: there is none."""
    baseline_row: int | None
    """The index of the row's baseline: the fastest raw transport in its experiment that copies, or hands over, as the
    row does. None: there is none."""
    ratio: float | None
    """The row's headline figure divided by the baseline's figure; less is better; None: the row has no baseline."""
    in_race: InRace | None = None
    """The row's state in its race. None: the row was in no race."""

    @property
    def is_eliminated(self) -> bool:
        """True if the row was eliminated from its race."""
        return self.in_race is not None and self.in_race.eliminated is not None


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Return key → items with this key. Keys are in the order of their first items."""
    found: dict[Key, list[Item]] = {}
    for each in items:
        found.setdefault(key(each), []).append(each)
    return found


def rows_of(runs: Sequence[MeasuredRun]) -> tuple[Row, ...]:
    """Return the rows of all runs, in the order of their plans."""
    results = [result for run in runs for result in run.results]
    varied = varying(results)
    # Grouped by pattern, because a stream and a ping-pong have different default histories.
    common = {
        pattern: usual([each for each in results if each.cell.pattern == pattern], varied)
        for pattern in {each.cell.pattern for each in results}
    }
    several = len({run.name for run in runs}) > 1
    rows: list[Row] = []
    for at, run in enumerate(runs):
        descriptions = {each.name: each for each in run.file.adapters}
        cells = [each.cell for each in run.results]
        medians = [headline_figure(each) for each in run.results]
        raw_transports = nearest_raw_transports(
            cells, medians, descriptions, [each.actual_transport for each in run.results]
        )
        fastest = baselines(cells, medians, descriptions)
        races = in_races(run, dict(enumerate(run.trials)), run.samples, run.kept)
        begin = len(rows)
        titles = labels(run.results)
        each_cell = zip(run.results, run.trials, raw_transports, fastest, titles, strict=True)
        for number, (result, trials, raw, baseline, title) in enumerate(each_cell):
            described = descriptions.get(result.cell.adapter)
            asked = unusual(result.cell, common[result.cell.pattern])
            levels = joined(", ", words(result.cell, varied & frozenset(EXPERIMENT)), *asked)
            where = run.name if several else ""
            rows.append(
                Row(
                    index=len(rows),
                    run=at,
                    result=result,
                    trials=trials,
                    carrier=carrier_of(result.cell, descriptions, result.actual_transport),
                    is_raw_transport=bool(described and described.is_raw_transport),
                    bench_only=bool(described and described.bench_only),
                    hands_over=hands_over(result.cell, descriptions),
                    title=title,
                    name=joined(", ", subject(result.cell), result.cell.label or "", *asked),
                    label=joined(" · ", subject(result.cell), size(result.cell), levels, where),
                    series=joined(" · ", subject(result.cell), levels, where),
                    raw_transport_row=None if raw is None or result.times_raw_transport is None else begin + raw.cell,
                    baseline_row=None if baseline is None else begin + baseline.cell,
                    ratio=_ratio(result, None if baseline is None else run.results[baseline.cell]),
                    in_race=races.get(number),
                )
            )
    return _unique(rows)


def _ratio(result: CellResult, baseline: CellResult | None) -> float | None:
    figure, base = headline_figure(result), headline_figure(baseline) if baseline else None
    return figure / base if figure and base else None


def _unique(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Append the sweep to labels and names that are not unique.

    If a text is still not unique, append the row's number.
    """
    labels = [each.label for each in rows]
    names = [(each.name, each.run, experiment(each.result.cell)) for each in rows]
    further = zip(_further(rows, labels), _further(rows, names), strict=True)
    return tuple(
        msgspec.structs.replace(
            row,
            label=joined(" · ", row.label, *of_label),
            series=joined(" · ", row.series, *of_label[:1]),
            name=joined(", ", row.name, *of_name),
        )
        for row, (of_label, of_name) in zip(rows, further, strict=True)
    )


def _further(rows: Sequence[Row], texts: Sequence[Hashable]) -> list[tuple[str, ...]]:
    """Return for each row the words that make its name unique: none, its sweep, or its sweep and its number."""
    once, twice = Counter(texts), Counter(zip(texts, (row.result.name for row in rows), strict=True))
    return [
        ()
        if once[each] == 1
        else (row.result.name,)
        if twice[each, row.result.name] == 1
        else (row.result.name, f"#{row.index + 1}")
        for row, each in zip(rows, texts, strict=True)
    ]


def misnamed(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows whose actual transport is not in their name, and the rows not protected as requested."""
    unprotected = [row for row in rows if is_unprotected(row.result)]
    return [row for row in rows if is_contradicted(row.result) and not is_unprotected(row.result)], unprotected


def latency_of(result: CellResult) -> Summary | None:
    """Return the one-way latency of a stream, else the round trip."""
    return result.latency_of(result.cell)


def headline_figure(result: CellResult) -> float | None:
    """Return the figure by which rows are ranked, the median over the successful trials; less is better.

    In ns: the p50 from the intended instant, or the time per message if messages are sent as fast as possible. For a
    workload: the p99 of the worst edge divided by its deadline.
    """
    if result.cell.workload is not None:
        return result.workload.worst_share if result.workload else None
    return per_message_ns(result)


def per_message_ns(result: CellResult) -> float | None:
    """Return the p50 in ns, or the time per message in ns if the cell is compared by its rate. None: no figure."""
    if by_rate(result.cell):
        return 1e9 / result.rate_hz if result.rate_hz else None
    latency = latency_of(result)
    return latency.p50 if latency else None


def place_of(row: Row) -> tuple[bool, bool, float]:
    """Return the sort key of a table's rows: raw transports come first, then rows with a lower time per message."""
    figure = per_message_ns(row.result)
    return (not row.is_raw_transport, figure is None, figure or 0.0)


def loss_of(result: CellResult) -> float | None:
    """Return the share of messages that were lost; None: no message was expected, or losses were not counted."""
    if result.imported is not None and result.imported.loss is not None:
        return result.imported.loss
    expected = result.counts.received + result.counts.lost
    return result.counts.lost / expected if expected and is_counted(result, "lost") else None


def is_counted(result: CellResult, field: str) -> bool:
    """Say whether the counter is known: in imported logs some are missing."""
    return result.imported is None or field not in result.imported.not_counted


def in_races(
    run: Run, trials: Mapping[int, Sequence[TrialSummary]], samples: SamplesOf, kept: KeptOf
) -> Mapping[int, InRace]:
    """Return cell → state of the candidate in its race; empty: the run has no race."""
    race = run.file.plan.race
    if race is None:
        return {}
    descriptions = {each.name: each for each in run.file.adapters}
    cells = run.file.plan.cells
    attempts = {
        index: {
            each.outcome.number: attempt(cells[index], each, race, samples, kept, descriptions)
            for each in trials.get(index, ())
        }
        for candidates in race.experiments
        for index in candidates
    }
    # If no time is left (``reached``), the race gets its last look.
    states = race_states(race, attempts, _whole_rounds(run), spent=run.file.reached is not None)
    return {
        cell: _in_race(number, race.metric, state, cell, [*attempts[cell].values()])
        for number, (cells, state) in enumerate(zip(race.experiments, states, strict=True))
        for cell in cells
    }


def _in_race(number: int, metric: Raced, state: RaceState, cell: int, own: Sequence[Attempt]) -> InRace:
    within = [each.within for each in own if each.within is not None]
    return InRace(
        race=number,
        metric=metric,
        eliminated=state.eliminated.get(cell),
        rounds=len(own),
        holds=holds(own),
        within=statistics.median(within) if within else None,
        state=state,
    )


def _whole_rounds(run: Run) -> int:
    """Return the number of the last round that is complete: all its trials, and those of earlier rounds, have ended."""
    ended = {each.order for each in run.outcomes}
    lacking = [each.number for each in run.file.plan.trials if each.order not in ended]
    last = max((each.number for each in run.file.plan.trials), default=0)
    return min(lacking) - 1 if lacking else last
