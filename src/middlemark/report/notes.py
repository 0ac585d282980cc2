"""What stands below the table: every doubt with its number and the next step, and how to read the columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from middlemark.launch.outcome import Doubt
from middlemark.report.columns import Column
from middlemark.report.factors import EXPERIMENT, plain, size, words
from middlemark.report.labels import CONTRADICTED
from middlemark.report.layout import hanging
from middlemark.report.numbers import ABSENT
from middlemark.stats.result import CellResult

if TYPE_CHECKING:
    from rich.text import Text

_MOST_ROWS = 8
"""Rows told under one doubt; the JSON has all of them."""


def doubt_numbers(results: Sequence[CellResult]) -> dict[str, int]:
    """Return a number a code, from 1, in the order the table meets them."""
    codes = dict.fromkeys(each.code for result in results for each in result.warnings)
    return {code: number for number, code in enumerate(codes, start=1)}


def footnotes(
    results: Sequence[CellResult],
    named: Sequence[str],
    varied: frozenset[str],
    numbers: Mapping[str, int],
    width: int,
) -> Iterator["Text"]:
    """Return the lines of all doubts: a code, the rows it is about, and each different advice once."""
    from rich.text import Text

    if not numbers:
        return
    yield Text("Doubts", style="bold")
    for code, number in numbers.items():
        texts, advice = _of_code(code, results, named, varied)
        yield Text(f"{number:>3}  {plain(code)}", style="yellow")
        for text, rows in list(texts.items())[:_MOST_ROWS]:
            yield from map(Text, hanging("     ", f"{plain('; '.join(rows))}: {plain(text)}", width))
        if len(texts) > _MOST_ROWS:
            yield Text(f"     and {len(texts) - _MOST_ROWS} more rows, all of them in --format json")
        for each in advice:
            yield from map(Text, hanging("     → ", plain(each), width))
    yield Text()


def _of_code(
    code: str, results: Sequence[CellResult], named: Sequence[str], varied: frozenset[str]
) -> tuple[dict[str, list[str]], list[str]]:
    texts: dict[str, list[str]] = {}
    advice: dict[str, None] = {}
    told = varied & frozenset(EXPERIMENT)
    for result, name in zip(results, named, strict=True):
        for doubt in _with_code(result.warnings, code):
            group = ", ".join(filter(None, (size(result.cell), words(result.cell, told))))
            texts.setdefault(doubt.text, []).append(f"{name} at {group}")
            if doubt.advice:
                advice[doubt.advice] = None
    return texts, list(advice)


def _with_code(doubts: Sequence[Doubt], code: str) -> list[Doubt]:
    return [each for each in doubts if each.code == code]


def legend(
    columns: Mapping[str, tuple[Sequence[Column], Sequence[Column]]],
    width: int,
    *,
    contradicted: bool,
    best: bool = False,
) -> Iterator["Text"]:
    """Return what each column says, and which had to give way. ``columns``: those shown and hidden, by pattern."""
    from rich.text import Text

    for pattern, (shown, _) in columns.items():
        yield Text("How to read it" if len(columns) == 1 else f"How to read it: {pattern}", style="bold")
        for each in shown:
            yield from (Text(line, style="dim") for line in hanging(f"  {each.title:<11}", each.means, width))
    if len(columns) != 1:
        yield Text("How to read all of it", style="bold")
    lines = []
    if contradicted:
        lines.append(
            (CONTRADICTED, "carried by something else than the transport asked for: not a figure of that transport")
        )
    if best:
        means = "the fastest floor of that size and experiment, whatever carries it: the best this machine could do"
        lines.append(("best here", means))
    lines.append((ABSENT, "not measured, or fewer than ten samples lie beyond that quantile"))
    for title, means in lines:
        yield from (Text(line, style="dim") for line in hanging(f"  {title:<11}", means, width))
    hidden = dict.fromkeys(each.title for _, hidden in columns.values() for each in hidden)
    if hidden:
        titles = ", ".join(hidden)
        text = f"{titles}: no room at this width; --format csv has everything"
        yield from (Text(line, style="dim") for line in hanging(f"  {'left out':<11}", text, width))
