"""Below the table: where the time of each row went, a line each way."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len

from middlemark.report.factors import EXPERIMENT, plain, words
from middlemark.report.layout import hanging, wrapped
from middlemark.report.numbers import us
from middlemark.stats.result import CellResult
from middlemark.units import format_size

if TYPE_CHECKING:
    from rich.text import Text

_MEANS = (
    "µs of the messages near the median, part after part; they add up. → is the way out with the copying into the"
    " reply, ← the way back; what no stamp divides is in between"
)

_TITLES = {
    "wait for its turn": "its turn",
    "write": "write",
    "write and take together": "write+take",
    "transport": "transport",
    "wake-up": "wake-up",
    "transport and wake-up": "transport+wake-up",
    "in between": "in between",
    "take": "take",
    "copy": "copy",
}
"""Of the columns, in the order of time."""

_REPLY = "reply "
_LEAST = 12
"""A narrower first column is not worth having: below that the parts are told in words."""

Row = tuple[str, CellResult]


def breakdown_lines(
    results: Sequence[CellResult], named: Sequence[str], varied: frozenset[str], width: int
) -> Iterator["Text"]:
    """Return the rows in the order given, grouped as the table's are; of a row without parts the reason."""
    from rich.text import Text

    measured = [(plain(name), each) for name, each in zip(named, results, strict=True) if each.failed is None]
    if not measured:
        return
    yield Text("Where the time goes", style="bold")
    yield from (Text(line, style="dim") for line in hanging("  ", _MEANS, width))
    told = varied & frozenset(EXPERIMENT)

    def group(row: Row) -> str:
        return ", ".join(filter(None, (format_size(row[1].cell.size), words(row[1].cell, told))))

    for title, rows in groupby(measured, key=group):
        yield from (Text(line, style="bold") for line in wrapped(title, width))
        yield from _group(list(rows), width)
    yield Text()


def _group(rows: Sequence[Row], width: int) -> Iterator["Text"]:
    from rich.text import Text

    used = {each.part.removeprefix(_REPLY) for _, result in rows for each in result.breakdown or ()}
    columns = [part for part in _TITLES if part in used]
    widths = [max(7, len(_TITLES[part])) for part in columns]
    longest = max(cell_len(name) for name, _ in rows)
    first = min(longest, width - 2 - 2 - 9 - sum(each + 2 for each in widths))
    aligned = first >= min(longest, _LEAST)
    if columns and aligned:
        titles = "  ".join(_TITLES[part].rjust(each) for part, each in zip(columns, widths, strict=True))
        yield Text(f"  {'':<{first}}      whole  {titles}", style="dim")
    for name, result in rows:
        parts = {each.part: each.ns for each in result.breakdown or ()}
        if not parts:
            reason = plain(result.breakdown_absent or "nothing was stamped")
            yield from map(Text, hanging("  ", f"{name}: not told, {reason}", width))
        elif aligned:
            yield from map(Text, _aligned(name, parts, dict(zip(columns, widths, strict=True)), first))
        else:
            listed = ", ".join(f"{part} {us(ns)}" for part, ns in parts.items())
            yield from map(Text, hanging("  ", f"{name}: {us(sum(parts.values()))} µs = {listed}", width))


def _aligned(name: str, parts: Mapping[str, float], widths: Mapping[str, int], first: int) -> Iterator[str]:
    """Return the line of the way out, that of the way back where there is one, and what of a long name is left."""
    both = any(part.startswith(_REPLY) for part in parts)
    names = wrapped(name, first)
    ways = [("→" if both else " ", us(sum(parts.values())), ""), *([("←", "", _REPLY)] if both else [])]
    for at in range(max(len(names), len(ways))):
        label = names[at] if at < len(names) else ""
        line = f"  {label}{' ' * (first - cell_len(label))}"
        if at < len(ways):
            arrow, whole, way = ways[at]
            told = [us(parts[way + part]) if way + part in parts else "" for part in widths]
            cells = "  ".join(text.rjust(each) for text, each in zip(told, widths.values(), strict=True))
            line += f" {arrow} {whole:>7}  {cells}"
        yield line
