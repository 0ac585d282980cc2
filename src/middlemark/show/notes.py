"""Notes below the table: the machine, where the time goes, warnings, and the legend of the columns."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich.text import Text

from middlemark.document.document import Document
from middlemark.document.numbers import ABSENT, us
from middlemark.document.screen import disturbed, warnings_of
from middlemark.document.table import Column, Line, Table, cells, facts
from middlemark.model.units import format_count
from middlemark.show import View
from middlemark.show.terminal import laid_out, paragraph, printed, terminal
from middlemark.stats.noise import percent
from middlemark.stats.result import Noise, TrialNoise
from middlemark.verdicts.names import (
    CONTRADICTED,
    EXPERIMENT,
    is_contradicted,
    is_unprotected,
    size,
    varying,
    warning_name,
    words,
)
from middlemark.verdicts.rows import Row

_MOST_NAMED = 4
"""A warning names at most this number of rows."""
_MEANS = (
    "The parts of a message's time in µs, for messages near the median; the parts add up to the whole. →: the "
    "way out, with the copy into the reply; ←: the way back; in between: time that no stamp separates"
)
_TITLES = {
    "wait for its turn": "its turn",
    "serialize": "serialize",
    "write": "write",
    "write and take together": "write+take",
    "transport": "transport",
    "wake-up": "wake-up",
    "transport and wake-up": "transport+wake-up",
    "in between": "in between",
    "take": "take",
    "deserialize": "deserialize",
    "copy": "copy",
}
"""Part of the time → title of its column, in the order of time."""
_REPLY = "reply "
_LEAST = 12
"""The least width of the first column. If it would be narrower, the parts are written as text."""


def render(document: Document, view: View) -> str:
    """Return all warnings of the rows by kind, with each row's text.

    Without warnings, return a sentence that says so.
    """
    rows, width = document.rows, max(view.width, 60)
    none = [] if document.warnings else [Text("No row has a warning.")]
    notes = footnotes(rows, varying([row.result for row in rows]), numbers_of(rows), width, whole=True)
    return printed(
        (*paragraph(disturbed(rows), width, "bold yellow"), *machine_lines(rows, width), *none, *notes), view
    )


def numbers_of(rows: Sequence[Row]) -> dict[str, int]:
    """Return a number for each warning's code, from 1, in the order of the table."""
    codes = dict.fromkeys(each.code for row in rows for each in row.result.warnings)
    return {code: number for number, code in enumerate(codes, start=1)}


def group_of(row: Row, varied: frozenset[str]) -> str:
    """Return the size and the experiment of a row: the title of its group."""
    cell = row.result.cell
    return ", ".join(filter(None, (size(cell), words(cell, varied & frozenset(EXPERIMENT)))))


def machine_lines(rows: Sequence[Row], width: int) -> Iterator[Text]:
    """Yield the disturbances by the machine in one wrapped line. Yields nothing if disturbances were not measured."""
    summary = machine_summary([row.result.noise for row in rows if row.result.noise is not None])
    yield from (*paragraph(summary, width, first="Machine  "), *([Text()] if summary else []))


def machine_summary(noises: Sequence[Noise]) -> str:
    """Return the disturbances of all trials of a run, in words. Empty: disturbances were not measured."""
    trials = [trial for noise in noises for trial in noise.trials]
    parts = [*_taken(trials), *_lengths(trials)]
    return f"{', '.join(parts)}{_tail(trials)}" if parts else ""


def _taken(trials: Sequence[TrialNoise]) -> Iterator[str]:
    for field, what in (
        ("others_share", "of the roles' processors' time taken by others"),
        ("delay_share", "of the time spent waiting for a processor where roles sleep"),
        ("steal_share", "stolen by the hypervisor"),
    ):
        shares = [share for each in trials if (share := getattr(each, field)) is not None]
        if shares and (field == "others_share" or max(shares) > 0):
            yield f"{percent(sum(shares) / len(shares))} {what}"


def _lengths(trials: Sequence[TrialNoise]) -> Iterator[str]:
    for field, what in (("longest_spell_ns", "longest time away"), ("longest_gap_ns", "longest gap around a trial")):
        times = [ns for each in trials if (ns := getattr(each, field)) is not None]
        if times:
            ns = max(times)
            yield f"{what} " + (f"{ns / 1e3:,.3g} µs" if ns < 1e6 else f"{ns / 1e6:,.3g} ms")


def _tail(trials: Sequence[TrialNoise]) -> str:
    attributed = [each.above_p99_9 for each in trials if each.above_p99_9]
    samples = sum(each.samples for each in attributed)
    if not samples:
        return ""
    machine, middleware = sum(each.machine for each in attributed), sum(each.middleware for each in attributed)
    parts = (
        f"the machine delayed {f'{machine:,}' if machine else 'none'}",
        f"the middleware {f'at least {middleware:,}' if middleware else 'none for certain'}",
        f"{samples - machine - middleware:,} unknown",
    )
    return f"; of {samples:,} samples above p99.9, {', '.join(parts)}"


def breakdown_lines(rows: Sequence[Row], varied: frozenset[str], width: int) -> Iterator[Text]:
    """Yield the parts of each row's time, in the groups of the table. A row without parts has the reason instead."""
    measured = [each for each in rows if each.result.failed is None]
    if not measured:
        return
    yield Text("Where the time goes", style="bold")
    yield from paragraph(_MEANS, width, "dim", first="  ")
    for title, members in groupby(measured, key=lambda row: group_of(row, varied)):
        table = _parts_of(title, some := [*members], in_words=False)
        if len(laid_out([table], width, _LEAST).shown) < len(table.columns):
            table = _parts_of(title, some, in_words=True)
        yield from terminal(table, width, wraps=True, name=_LEAST if table.columns else 0)
    yield Text()


def _parts_of(title: str, rows: Sequence[Row], *, in_words: bool) -> Table:
    """Return a table with a column for each part and a line for each direction. ``in_words``: the parts as text."""
    used = {each.part.removeprefix(_REPLY) for row in rows for each in row.result.breakdown or () if not in_words}
    shown = {part: Column(title, 0) for part, title in _TITLES.items() if part in used}
    lines: list[Line] = []
    for row in rows:
        found, name = row.result.breakdown or (), f"  {row.title}"
        parts = {each.part: us(each.ns) for each in found}
        out, back = (tuple(parts.get(way + each, "") for each in shown) for way in ("", _REPLY))
        whole = us(sum(each.ns for each in found))
        if not found:
            lines += facts((name, f"unknown: {row.result.breakdown_absent or 'nothing was stamped'}")).lines
        elif in_words:
            lines += facts((name, f"{whole} µs = {', '.join(map(' '.join, parts.items()))}")).lines
        else:
            lines.append(Line(name, cells("→" if any(back) else "", whole, *out)))
            lines += [Line("", cells("←", "", *back))] if any(back) else []
        if absent := row.result.coding_absent:
            lines += facts(("", f"unknown: {absent}"), style="dim").lines
    columns = (Column("", 0, left=True), Column("whole", 0), *shown.values()) if shown else ()
    return Table(title=title, columns=columns, lines=tuple(lines))


def footnotes(
    rows: Sequence[Row], varied: frozenset[str], numbers: Mapping[str, int], width: int, *, whole: bool
) -> Iterator[Text]:
    """Yield the warnings by kind: the number of rows, the worst row (``whole``: every row), and each remedy once."""
    if not numbers:
        return
    of_code = {each.code: each for each in warnings_of(rows)}
    by_index = {row.index: row for row in rows}
    yield Text("Warnings", style="bold")
    for code, number in numbers.items():
        kind = of_code[code]
        texts: dict[str, list[str]] = {}
        for row in (by_index[each] for each in kind.cells):
            for warning in (each for each in row.result.warnings if each.code == code):
                texts.setdefault(warning.text, []).append(f"{row.title} at {group_of(row, varied)}")
        name = warning_name(code)
        worst = "" if whole or len(texts) == 1 else ", the worst first"
        head = f"{name if name == code else f'{name} ({code})'}: {format_count(kind.count, 'row')}{worst}"
        yield from paragraph(head, width, "yellow", first=f"{number:>3}  ")
        for text, about in list(texts.items())[: None if whole else 1]:
            more = 0 if whole else max(0, len(about) - _MOST_NAMED)
            named = [*about[:_MOST_NAMED], f"and {more} more"] if more else about
            yield from paragraph(f"{'; '.join(named)}: {text}", width, first="     ")
        yield from paragraph(kind.advice, width, first="     → ")
    if not whole:
        yield Text("     --warnings shows the warnings of each row", style="dim")
    yield Text()


def legend(
    columns: Mapping[str, tuple[Sequence[Column], Sequence[Column]]], rows: Sequence[Row], width: int
) -> Iterator[Text]:
    """Yield the meaning of each column, and the hidden columns. ``columns``: pattern → (shown, hidden)."""
    lines: list[Line] = []
    for pattern, (shown, _) in columns.items():
        lines.append(Line("How to read it" if len(columns) == 1 else f"How to read it: {pattern}", (), "bold"))
        lines += facts(*((f"  {each.title}", each.means) for each in shown), style="dim").lines
    if len(columns) != 1:
        lines.append(Line("How to read all of it", (), "bold"))
    unprotected = [row for row in rows if is_unprotected(row.result)]
    contradicted = any(is_contradicted(row.result) and row not in unprotected for row in rows)
    other = "the actual transport is not the transport in the name, so the figure is of another transport"
    failed = "a proof of the security has failed, so the figure is not of the level in the name"
    hidden = ", ".join(dict.fromkeys(each.title for _, hidden in columns.values() for each in hidden))
    marks = facts(
        (f"  {CONTRADICTED}", other if contradicted else ""),
        (f"  {CONTRADICTED}", failed if unprotected else ""),
        (f"  {ABSENT}", "not measured, or fewer than ten samples lie beyond that quantile"),
        ("  left out", f"{hidden}: no room at this width; --format csv has everything" if hidden else ""),
        style="dim",
    )
    yield from terminal(Table(columns=(), lines=(*lines, *marks.lines)), width)
