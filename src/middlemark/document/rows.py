"""Every cell of every run in one sequence, with what reports call it."""

import math
from collections import Counter
from collections.abc import Sequence

import msgspec

from middlemark.document.document import MeasuredRun, Row
from middlemark.document.heats import places_of
from middlemark.document.words import EXPERIMENT, labels, plain, size, subject, unusual, usual, varying, words
from middlemark.model.times import Summary
from middlemark.stats.floors import by_rate, carrier_of, fastest_floors, floors
from middlemark.stats.result import Best, CellResult


def rows_of(runs: Sequence[MeasuredRun]) -> tuple[Row, ...]:
    """Return the rows of all runs, in the order of their plans."""
    results = [result for run in runs for result in run.results]
    varied = varying(results)
    # By pattern: a stream's history is another than a ping's, and nobody asked for either.
    common = {
        pattern: usual([each for each in results if each.cell.pattern == pattern], varied)
        for pattern in {each.cell.pattern for each in results}
    }
    several = len({run.name for run in runs}) > 1
    rows: list[Row] = []
    for at, run in enumerate(runs):
        descriptions = {each.name: each for each in run.file.adapters}
        cells = [each.cell for each in run.results]
        medians = [per_message_ns(each) for each in run.results]
        held = floors(cells, medians, descriptions, [each.carried_by for each in run.results])
        alone = fastest_floors(cells, medians, descriptions)
        places = places_of(run, dict(enumerate(run.trials)), run.samples, run.kept)
        begin = len(rows)
        titles = labels(run.results)
        each_cell = zip(run.results, run.trials, held, alone, titles, strict=True)
        for number, (result, trials, floor, fastest, title) in enumerate(each_cell):
            described = descriptions.get(result.cell.adapter)
            asked = unusual(result.cell, common[result.cell.pattern])
            told = _joined(", ", words(result.cell, varied & frozenset(EXPERIMENT)), *asked)
            where = run.name if several else ""
            rows.append(
                Row(
                    index=len(rows),
                    run=at,
                    result=result,
                    trials=trials,
                    carrier=carrier_of(result.cell, descriptions, result.carried_by),
                    floor=bool(described and described.floor),
                    bench_only=bool(described and described.bench_only),
                    title=title,
                    name=_joined(", ", subject(result.cell), *asked),
                    label=_joined(" · ", subject(result.cell), size(result.cell), told, where),
                    series=_joined(" · ", subject(result.cell), told, where),
                    floor_row=None if floor is None or result.times_floor is None else begin + floor.cell,
                    alone_row=None if fastest is None else begin + fastest.cell,
                    place=places.get(number),
                )
            )
    return _unique(rows)


def _joined(between: str, *parts: str) -> str:
    return plain(between.join(each for each in parts if each))


def _unique(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Tell rows of one label by their sweeps, and where that does not do, by their number."""
    labels = Counter(each.label for each in rows)
    named = [each.label if labels[each.label] == 1 else _joined(" · ", each.label, each.result.name) for each in rows]
    labels = Counter(named)
    return tuple(
        msgspec.structs.replace(
            row,
            label=label if labels[label] == 1 else f"{label} · #{row.index + 1}",
            series=row.series if label == row.label else _joined(" · ", row.series, row.result.name),
        )
        for row, label in zip(rows, named, strict=True)
    )


def base_of(rows: Sequence[Row]) -> Best | None:
    """Return what every ratio of these rows is of: the fastest of the machine alone in their experiment."""
    return min((each for row in rows if (each := row.result.best)), key=_best_ns, default=None)


def _best_ns(best: Best) -> float:
    return 1e9 / best.rate_hz if best.rate_hz else best.p50_ns or math.inf


def times_base(result: CellResult, base: Best | None) -> float | None:
    """Return how many times slower than that a row is."""
    ns = per_message_ns(result)
    return None if base is None or ns is None else ns / _best_ns(base)


def latency_of(result: CellResult) -> Summary | None:
    """Return the distribution that stands for the cell: one way of a stream, else the round trip."""
    return result.latency_of(result.cell)


def per_message_ns(result: CellResult) -> float | None:
    """Return what is held against a floor: p50, or of what is held by its rate the time a message takes."""
    if by_rate(result.cell):
        return 1e9 / result.rate_hz if result.rate_hz else None
    latency = latency_of(result)
    return latency.p50 if latency else None


def orders_by(result: CellResult) -> float | None:
    """Return what is the less the better: what is held against the floor."""
    if by_rate(result.cell):
        return None if result.rate_hz is None else -result.rate_hz
    latency = latency_of(result)
    return latency.p50 if latency else None


def loss_of(result: CellResult) -> float | None:
    """Return the share of messages that never came; None where nothing was expected, or nobody counted."""
    expected = result.counts.received + result.counts.lost
    return result.counts.lost / expected if expected and is_counted(result, "lost") else None


def is_counted(result: CellResult, field: str) -> bool:
    """Say whether anybody counted that: the logs of some tools do not tell."""
    return result.imported is None or field not in result.imported.not_counted
