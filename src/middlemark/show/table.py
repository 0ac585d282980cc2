"""The table for people: rows that may be compared stand together, floors first, every figure named with its unit.

Laid out here and not by rich's Table, whose cells cannot span columns: a failed row says why in words.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from rich.cells import cell_len
from rich.text import Text

from middlemark.document.document import Document, Row
from middlemark.document.numbers import ABSENT, brief, share, us
from middlemark.document.rows import base_of, orders_by
from middlemark.document.runs import clock_line, machine_line, notes_of, precision_of, sources_of
from middlemark.document.words import (
    EXPERIMENT,
    UNTOLD,
    WORDS,
    copies_alone,
    meeting,
    plain,
    size,
    usual,
    varying,
    words,
)
from middlemark.model.cell import Cell
from middlemark.model.run import Run
from middlemark.model.units import format_seconds
from middlemark.show import View, expectations
from middlemark.show.columns import HEADS, Bases, Column, fitting
from middlemark.show.lines import hanging, printed, wrapped
from middlemark.show.notes import breakdown_lines, footnotes, legend, machine_lines, numbers_of
from middlemark.stats.result import Best, CellResult, CurveStep
from middlemark.stats.warnings.cells import NOT_MEASURED

_ALONE = ("payload", "pin", "priority")
"""Factors that what copies alone has in common with the others."""
_GAP = "  "
_LEAST = 22
"""A narrower first column is not worth a further column of figures."""
_NARROWEST = 18
_STEPS = ("offered/s", "msgs/s", "lost", "p50", "p99")
_KNEE = "← knee"
_INDENT = "      "


class _Layout(msgspec.Struct, frozen=True):
    """How the rows of one pattern are laid out: the name's width, then the columns; ``hidden`` had no room."""

    head: str
    first: int
    shown: Sequence[Column]
    hidden: Sequence[Column]


def render(document: Document, view: View) -> str:
    """Return the report, ``view.width`` (at least 60) columns wide at most. Colour adds ANSI styles alone."""
    return printed(_lines(document, max(view.width, 60), view), view)


def _lines(document: Document, width: int, view: View) -> Iterator[Text]:
    rows = document.rows
    yield from heading(document, rows, width)
    varied = varying([row.result for row in rows])
    together = _groups(rows, varied)
    ordered = [row for _, members in together for row in members]
    numbers = numbers_of(ordered)
    patterns = dict.fromkeys(row.result.cell.pattern for row in ordered)
    bases = {
        row.index: base_of([each for each in members if not each.floor]) for _, members in together for row in members
    }
    layouts = {
        each: _layout([row for row in rows if row.result.cell.pattern == each], numbers, bases, width, view.metrics)
        for each in patterns
    }
    for title, members in together:
        layout = layouts[members[0].result.cell.pattern]
        yield Text()
        yield from (Text(line, style="bold") for line in wrapped(title, width))
        reached = [row for row in members if not _unreached(row)]
        if any(row.result.failed is None for row in reached):
            yield _header(layout)
        for row in reached:
            yield from _row(row, numbers, layout, width)
            yield from _steps(row.result)
        if len(reached) < len(members):
            missing = "; ".join(row.title for row in members if _unreached(row))
            yield from (Text(line, style="dim") for line in hanging("  not reached: ", missing, width))
    yield Text()
    yield from machine_lines(rows, width)
    if view.breakdown:
        yield from breakdown_lines(ordered, varied, width)
    yield from footnotes(ordered, varied, numbers, width, whole=view.warnings)
    columns = {str(pattern): (each.shown, each.hidden) for pattern, each in layouts.items()}
    yield from legend(columns, rows, width)
    if document.expectations:
        yield Text()
        yield from expectations.lines(document, width)


def heading(document: Document, rows: Sequence[Row], width: int) -> Iterator[Text]:
    """Return what stands above the table: what was run, where, with which versions, and what all rows share."""
    run = document.runs[0]
    file, results = run.file, [row.result for row in rows]
    yield Text(plain(f"{', '.join(file.suites)}, {file.started[:19].replace('T', ' ')} UTC"), style="bold")
    met = file.reached is not None and file.reached.met
    for name, text, style in (
        (
            "imported" if file.imported else "measured",
            _progress(document),
            "bold yellow" if file.interrupted else "",
        ),
        ("precision", precision_of(run, results), "" if met else "bold yellow"),
        ("machine", machine_line(run, whole=False), ""),
        ("clock", clock_line(run), ""),
        ("versions", _versions(run), ""),
        ("every row", _in_common(results), ""),
        ("kept in", str(run.folder), ""),
        *(("note", note, "") for note in notes_of(run)),
    ):
        if text:
            yield from (Text(line, style=style) for line in hanging(f"{name:<11}", plain(text), width))


def _progress(document: Document) -> str:
    run = document.runs[0]
    if run.file.imported:
        return "; ".join(sources_of(run))
    state = "; interrupted: what was measured by then is below" if run.file.interrupted else ""
    trials = f"{len(run.outcomes):,} of {run.planned_trials:,} trials in {format_seconds(document.took)}"
    return f"{trials}, seed {run.file.seed}{state}"


def _versions(run: Run) -> str:
    middleware = [f"{each.name} {each.version}".strip() for each in run.file.adapters if not each.floor]
    floors = [each.name for each in run.file.adapters if each.floor]
    told = [f"middlemark {run.file.middlemark}", *middleware]
    return ", ".join(told) + (f"; machine alone: {', '.join(floors)}" if floors else "")


def _in_common(results: Sequence[CellResult]) -> str:
    if not results:
        return ""
    varied = varying(results)
    common = words(meeting(results)[0].cell, set(WORDS) - varied)
    levels = [each for each in usual(results, varied).values() if each not in UNTOLD]
    if levels:
        common += f"{'; ' if common else ''}{', '.join(levels)} unless the row says otherwise"
    trials = Counter(each.trials for each in results if each.failed is None)
    if not trials:
        return common
    number = trials.most_common(1)[0][0]
    measured = "one trial" if number == 1 else f"{number} trials; a figure is the median of theirs"
    return f"{common}; {measured}" if common else measured


def _groups(rows: Sequence[Row], varied: frozenset[str]) -> list[tuple[str, list[Row]]]:
    """Return titles with rows: sizes ascend; what else makes a group keeps the order of the plan.

    Within a group the floors come first, then what is the less the better. What copies alone receives in no way that
    could be mixed up with another: it stands with the first round trips of its size, payload, processor and priority.
    """
    told = varied & frozenset(EXPERIMENT)
    found: dict[tuple[int, str], list[Row]] = {}
    homes: dict[tuple[object, ...], tuple[int, str]] = {}
    for row in rows:
        cell = row.result.cell
        if not copies_alone(cell):
            key = (cell.size, words(cell, told))
            found.setdefault(key, []).append(row)
            if cell.pattern == "ping-pong":
                homes.setdefault(_home(cell), key)
    for row in rows:
        cell = row.result.cell
        if copies_alone(cell):
            apart = (cell.size, ", ".join(filter(None, ("one process alone", words(cell, told & frozenset(_ALONE))))))
            found.setdefault(homes.get(_home(cell), apart), []).append(row)

    def place(row: Row) -> tuple[bool, bool, bool, float]:
        figure = orders_by(row.result)
        return (row.result.failed is not None, not row.floor, figure is None, figure or 0.0)

    return [
        (_title(told_words, members), sorted(members, key=place))
        for (_, told_words), members in sorted(found.items(), key=lambda item: item[0][0])
    ]


def _home(cell: Cell) -> tuple[object, ...]:
    return (cell.size, cell.payload, None if cell.pin is None else cell.pin[:1], cell.priority)


def _title(told: str, members: Sequence[Row]) -> str:
    """Return size, experiment, and what the ratios of these rows are of."""
    base = _base(members)
    title = ", ".join(filter(None, (size(members[0].result.cell), told)))
    if base is None:
        return title
    figure = f"{us(base.p50_ns)} µs" if base.rate_hz is None else f"{brief(base.rate_hz)}/s"
    return f"{title}; machine alone: {base.floor} {figure}"


def _base(members: Sequence[Row]) -> Best | None:
    return base_of([row for row in members if not row.floor])


def _layout(
    rows: Sequence[Row], numbers: Mapping[str, int], bases: Bases, width: int, metrics: Sequence[str]
) -> _Layout:
    """Return how these rows, all of one pattern, are laid out."""
    head = HEADS[rows[0].result.cell.pattern]
    longest = max([cell_len(head), *(cell_len(row.title) for row in rows)])
    shown, hidden = fitting(rows, numbers, bases, width - 2 - min(longest, _LEAST), metrics)
    first = min(longest, max(_NARROWEST, width - 2 - sum(len(_GAP) + each.width for each in shown)))
    return _Layout(head, first, shown, hidden)


def _unreached(row: Row) -> bool:
    return row.result.failed is not None and row.result.failed.code == NOT_MEASURED


def _header(layout: _Layout) -> Text:
    cells = [each.title.ljust(each.width) if each.left else each.title.rjust(each.width) for each in layout.shown]
    return Text(_GAP.join(["  " + layout.head.ljust(layout.first), *cells]), style="dim")


def _row(row: Row, numbers: Mapping[str, int], layout: _Layout, width: int) -> Iterator[Text]:
    first, failed = layout.first, row.result.failed
    names = wrapped(row.title, first)
    names = [names[0], *(f"  {each}" for each in wrapped(" ".join(names[1:]), first - 2))] if len(names) > 1 else names
    if failed is not None:
        see = [str(numbers[each.code]) for each in row.result.warnings]
        reason = f"failed: {plain(failed.text)}" + (f" (warnings {', '.join(see)})" if see else "")
        told = wrapped(reason, width - first - 4)
        if failed.advice:
            told += wrapped(f"→ {plain(failed.advice)}", width - first - 4)
        for at in range(max(len(names), len(told))):
            line = Text("  " + _padded(names[at] if at < len(names) else "", first) + _GAP)
            yield line.append(told[at] if at < len(told) else "", style="red")
        return
    line = Text("  " + _padded(names[0], first))
    for column in layout.shown:
        text = column.tell(row)
        line.append(_GAP)
        line.append(text.ljust(column.width) if column.left else text.rjust(column.width), style=column.style(row))
    yield line
    for name in names[1:]:
        yield Text("  " + name)


def _padded(text: str, width: int) -> str:
    return text + " " * max(0, width - cell_len(text))


def _steps(result: CellResult) -> Iterator[Text]:
    """Return the steps of a curve, by rising load; of anything else nothing (a search shows what it found)."""
    if result.cell.rate != "curve" or not result.steps:
        return
    rows = [_step(each) for each in result.steps]
    widths = [max(len(title), *(len(row[at]) for row in rows)) for at, title in enumerate(_STEPS)]

    def aligned(texts: Sequence[str]) -> str:
        return _INDENT + _GAP.join(text.rjust(width) for text, width in zip(texts, widths, strict=True))

    yield Text(aligned(_STEPS), style="dim")
    for step, row in zip(result.steps, rows, strict=True):
        line = Text(aligned(row))
        if step.failed is not None:
            line.append(f"  failed: {plain(step.failed)}"[:40], style="red")
        elif step.knee:
            line.append(f"  {_KNEE}", style="bold")
        yield line


def _step(step: CurveStep) -> tuple[str, ...]:
    offered = "max" if step.offered_hz is None else brief(step.offered_hz)
    if step.failed is not None:
        return (offered, ABSENT, ABSENT, ABSENT, ABSENT)
    lost = "0" if step.lost == 0 else share(step.lost)
    return (offered, brief(step.received_hz), lost, us(step.p50_ns), us(step.p99_ns))
