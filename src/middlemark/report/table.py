"""The table for people: rows that may be compared stand together, floors first, every figure named with its unit.

Laid out here and not by rich's Table, whose cells cannot span columns: a failed row says why in words.
"""

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from middlemark.report.breakdown import breakdown_lines
from middlemark.report.columns import HEADS, Column, fitting
from middlemark.report.factors import plain, varying
from middlemark.report.groups import BEST_HERE, groups
from middlemark.report.heading import heading
from middlemark.report.labels import is_contradicted, labels
from middlemark.report.machine import machine_lines
from middlemark.report.notes import doubt_numbers, footnotes, legend
from middlemark.report.run_facts import RunFacts
from middlemark.report.steps import step_lines
from middlemark.stats.doubts import NOT_MEASURED
from middlemark.stats.result import CellResult

if TYPE_CHECKING:
    from rich.text import Text

_GAP = "  "
_LEAST = 22
"""A narrower first column is not worth a further column of figures."""


class _Layout(msgspec.Struct, frozen=True):
    """How the rows of one pattern are laid out: the name's width, then the columns; ``hidden`` had no room."""

    head: str
    first: int
    shown: Sequence[Column]
    hidden: Sequence[Column]


def render(
    facts: RunFacts,
    results: Sequence[CellResult],
    *,
    width: int = 100,
    colour: bool = False,
    breakdown: bool = False,
) -> str:
    """Return the report, ``width`` (at least 60) columns wide at most. ``colour`` adds ANSI styles and nothing else.

    ``breakdown`` adds where the time went.
    """
    from rich.console import Console

    out = io.StringIO()
    console = Console(
        file=out,
        width=max(width, 60),
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
        _environ={},
    )
    for line in _lines(facts, results, console.width, breakdown):
        line.rstrip()
        console.print(line, soft_wrap=True, highlight=False)
    return out.getvalue()


def _lines(facts: RunFacts, results: Sequence[CellResult], width: int, breakdown: bool) -> Iterator["Text"]:
    from rich.text import Text

    from middlemark.report.layout import hanging, wrapped

    yield from heading(facts, results, width)
    named = labels(results)
    varied = varying(results)
    together = groups(facts, results, varied)
    order = [index for _, members in together for index in members]
    numbers = doubt_numbers([results[index] for index in order])
    layouts = {
        pattern: _layout(pattern, results, facts, named, numbers, width)
        for pattern in dict.fromkeys(results[index].cell.pattern for index in order)
    }
    for title, members in together:
        layout = layouts[results[members[0]].cell.pattern]
        yield Text()
        yield from (Text(line, style="bold") for line in wrapped(title, width))
        reached = [index for index in members if not _unreached(results[index])]
        if any(results[index].failed is None for index in reached):
            yield _header(layout)
        for index in reached:
            yield from _row(facts, results[index], named[index], numbers, layout, width)
            yield from step_lines(results[index])
        if len(reached) < len(members):
            missing = "; ".join(named[index] for index in members if index not in reached)
            yield from (Text(line, style="dim") for line in hanging("  not reached: ", missing, width))
    yield Text()
    yield from machine_lines(results, width)
    if breakdown:
        yield from breakdown_lines(
            [results[index] for index in order], [named[index] for index in order], varied, width
        )
    yield from footnotes([results[index] for index in order], [named[index] for index in order], varied, numbers, width)
    columns = {pattern: (each.shown, each.hidden) for pattern, each in layouts.items()}
    best = any(BEST_HERE in title for title, _ in together)
    yield from legend(columns, width, contradicted=any(map(is_contradicted, results)), best=best)


def _layout(
    pattern: str,
    results: Sequence[CellResult],
    facts: RunFacts,
    named: Sequence[str],
    numbers: dict[str, int],
    width: int,
) -> _Layout:
    from rich.cells import cell_len

    members = [index for index, each in enumerate(results) if each.cell.pattern == pattern]
    head = HEADS[pattern]
    longest = max([cell_len(head), *(cell_len(named[index]) for index in members)])
    shown, hidden = fitting([results[index] for index in members], facts, numbers, width - 2 - min(longest, _LEAST))
    first = min(longest, max(_LEAST, width - 2 - sum(len(_GAP) + each.width for each in shown)))
    return _Layout(head, first, shown, hidden)


def _unreached(result: CellResult) -> bool:
    return result.failed is not None and result.failed.code == NOT_MEASURED


def _header(layout: _Layout) -> "Text":
    from rich.text import Text

    cells = [each.title.ljust(each.width) if each.left else each.title.rjust(each.width) for each in layout.shown]
    return Text(_GAP.join(["  " + layout.head.ljust(layout.first), *cells]), style="dim")


def _row(
    facts: RunFacts,
    result: CellResult,
    label: str,
    numbers: dict[str, int],
    layout: _Layout,
    width: int,
) -> Iterator["Text"]:
    from rich.text import Text

    from middlemark.report.layout import wrapped

    first = layout.first
    names = wrapped(label, first)
    names = [names[0], *(f"  {each}" for each in wrapped(" ".join(names[1:]), first - 2))] if len(names) > 1 else names
    if result.failed is not None:
        see = [str(numbers[each.code]) for each in result.warnings]
        reason = f"failed: {plain(result.failed.text)}" + (f" (see {', '.join(see)})" if see else "")
        told = wrapped(reason, width - first - 4)
        if result.failed.advice:
            told += wrapped(f"→ {plain(result.failed.advice)}", width - first - 4)
        for at in range(max(len(names), len(told))):
            line = Text("  " + _padded(names[at] if at < len(names) else "", first) + _GAP)
            yield line.append(told[at] if at < len(told) else "", style="red")
        return
    line = Text("  " + _padded(names[0], first))
    for column in layout.shown:
        text = column.tell(result, facts, numbers)
        line.append(_GAP)
        line.append(
            text.ljust(column.width) if column.left else text.rjust(column.width), style=column.style(result, facts)
        )
    yield line
    for name in names[1:]:
        yield Text("  " + name)


def _padded(text: str, width: int) -> str:
    from rich.cells import cell_len

    return text + " " * max(0, width - cell_len(text))
