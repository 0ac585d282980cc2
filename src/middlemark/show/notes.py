"""What stands below the table: the machine, where the time went, every warning, and how to read the columns."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.text import Text

from middlemark.document.numbers import ABSENT, us
from middlemark.document.table import Column
from middlemark.document.warnings import warnings_of
from middlemark.show.lines import hanging, wrapped
from middlemark.stats.noise import percent
from middlemark.stats.result import Noise, TrialNoise
from middlemark.verdicts.names import (
    CONTRADICTED,
    EXPERIMENT,
    is_contradicted,
    is_unprotected,
    plain,
    size,
    warning_name,
    words,
)
from middlemark.verdicts.rows import Row

_MOST_NAMED = 4
"""Rows named beside the words of the worst."""
_MEANS = (
    "µs of the messages near the median, part after part; they add up. → is the way out with the copying into the"
    " reply, ← the way back; what no stamp divides is in between"
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
"""Of the columns of parts, in the order of time."""
_REPLY = "reply "
_LEAST = 12
"""A narrower first column is not worth having: below that the parts are told in words."""


def numbers_of(rows: Sequence[Row]) -> dict[str, int]:
    """Return a number for each warning's code, from 1, in the order the table meets them."""
    codes = dict.fromkeys(each.code for row in rows for each in row.result.warnings)
    return {code: number for number, code in enumerate(codes, start=1)}


def group_of(row: Row, varied: frozenset[str]) -> str:
    """Return the size and the experiment of a row: the group that it stands in."""
    cell = row.result.cell
    return ", ".join(filter(None, (size(cell), words(cell, varied & frozenset(EXPERIMENT)))))


def machine_lines(rows: Sequence[Row], width: int) -> Iterator[Text]:
    """Return what the machine did meanwhile, in one line, wrapped; nothing where nobody looked at it."""
    told = machine_summary([row.result.noise for row in rows if row.result.noise is not None])
    if told:
        yield from map(Text, hanging("Machine  ", told, width))
        yield Text()


def machine_summary(noises: Sequence[Noise]) -> str:
    """Return what the trials of a whole run saw, in words; empty: nothing."""
    trials = [trial for noise in noises for trial in noise.trials]
    parts = [*_taken(trials), *_lengths(trials)]
    return f"{', '.join(parts)}{_tail(trials)}" if parts else ""


def _taken(trials: Sequence[TrialNoise]) -> Iterator[str]:
    for field, what in (
        ("others_share", "of the roles' processors' time taken by others"),
        ("delay_share", "of the time spent waiting for a processor where roles sleep"),
        ("steal_share", "stolen by the hypervisor"),
    ):
        known = [share for each in trials if (share := getattr(each, field)) is not None]
        if known and (field == "others_share" or max(known) > 0):
            yield f"{percent(sum(known) / len(known))} {what}"


def _lengths(trials: Sequence[TrialNoise]) -> Iterator[str]:
    for field, what in (("longest_spell_ns", "longest time away"), ("longest_gap_ns", "longest gap around a trial")):
        known = [ns for each in trials if (ns := getattr(each, field)) is not None]
        if known:
            ns = max(known)
            yield f"{what} " + (f"{ns / 1e3:,.3g} µs" if ns < 1e6 else f"{ns / 1e6:,.3g} ms")


def _tail(trials: Sequence[TrialNoise]) -> str:
    attributed = [each.above_p99_9 for each in trials if each.above_p99_9]
    samples = sum(each.samples for each in attributed)
    if not samples:
        return ""
    machine, middleware = sum(each.machine for each in attributed), sum(each.middleware for each in attributed)
    parts = (
        f"{machine:,} {'is' if machine == 1 else 'are'} the machine's" if machine else "none are the machine's",
        f"{f'at least {middleware:,}' if middleware else 'none for certain'} the middleware's",
        f"{samples - machine - middleware:,} unknown",
    )
    return f"; of {samples:,} samples above p99.9, {', '.join(parts)}"


def breakdown_lines(rows: Sequence[Row], varied: frozenset[str], width: int) -> Iterator[Text]:
    """Return where the time of each row went, grouped as the table is; of a row without parts the reason."""
    measured = [each for each in rows if each.result.failed is None]
    if not measured:
        return
    yield Text("Where the time goes", style="bold")
    yield from (Text(line, style="dim") for line in hanging("  ", _MEANS, width))
    for title, members in groupby(measured, key=lambda row: group_of(row, varied)):
        yield from (Text(line, style="bold") for line in wrapped(title, width))
        yield from _parts_of(list(members), width)
    yield Text()


def _parts_of(rows: Sequence[Row], width: int) -> Iterator[Text]:
    used = {each.part.removeprefix(_REPLY) for row in rows for each in row.result.breakdown or ()}
    widths = {part: max(7, len(title)) for part, title in _TITLES.items() if part in used}
    longest = max(cell_len(row.title) for row in rows)
    first = min(longest, width - 2 - 2 - 9 - sum(each + 2 for each in widths.values()))
    aligned = first >= min(longest, _LEAST)
    if widths and aligned:
        titles = "  ".join(_TITLES[part].rjust(each) for part, each in widths.items())
        yield Text(f"  {'':<{first}}      whole  {titles}", style="dim")
    for row in rows:
        parts = {each.part: each.ns for each in row.result.breakdown or ()}
        if not parts:
            reason = plain(row.result.breakdown_absent or "nothing was stamped")
            yield from map(Text, hanging("  ", f"{row.title}: not told, {reason}", width))
        elif aligned:
            yield from map(Text, _aligned(row.title, parts, widths, first))
        else:
            listed = ", ".join(f"{part} {us(ns)}" for part, ns in parts.items())
            yield from map(Text, hanging("  ", f"{row.title}: {us(sum(parts.values()))} µs = {listed}", width))
        if row.result.coding_absent:
            text = f"{row.title}: not told, {plain(row.result.coding_absent)}"
            yield from (Text(line, style="dim") for line in hanging("  ", text, width))


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


def footnotes(
    rows: Sequence[Row], varied: frozenset[str], numbers: Mapping[str, int], width: int, *, whole: bool
) -> Iterator[Text]:
    """Return the warnings by their kind: how many rows, the worst of them or (``whole``) each one, each remedy once."""
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
                texts.setdefault(plain(warning.text), []).append(f"{row.title} at {group_of(row, varied)}")
        named = warning_name(code) if warning_name(code) == code else f"{warning_name(code)} ({code})"
        counted = "1 row" if kind.count == 1 else f"{kind.count:,} rows"
        worst = "" if whole or len(texts) == 1 else ", the worst first"
        head = hanging(f"{number:>3}  ", f"{plain(named)}: {counted}{worst}", width)
        yield from (Text(line, style="yellow") for line in head)
        for text, about in list(texts.items())[: None if whole else 1]:
            more = 0 if whole else max(0, len(about) - _MOST_NAMED)
            told = [*about[:_MOST_NAMED], f"and {more} more"] if more else about
            yield from map(Text, hanging("     ", f"{plain('; '.join(told))}: {text}", width))
        if kind.advice:
            yield from map(Text, hanging("     → ", plain(kind.advice), width))
    if not whole:
        yield Text("     --warnings tells each row's own words", style="dim")
    yield Text()


def legend(
    columns: Mapping[str, tuple[Sequence[Column], Sequence[Column]]], rows: Sequence[Row], width: int
) -> Iterator[Text]:
    """Return what each column says, and which had to give way. ``columns``: those shown and hidden, by pattern."""

    def entry(title: str, means: str) -> Iterator[Text]:
        return (Text(line, style="dim") for line in hanging(f"  {title:<10} ", means, width))

    for pattern, (shown, _) in columns.items():
        yield Text("How to read it" if len(columns) == 1 else f"How to read it: {pattern}", style="bold")
        for each in shown:
            yield from entry(each.title, each.means)
    if len(columns) != 1:
        yield Text("How to read all of it", style="bold")
    unprotected = [row for row in rows if is_unprotected(row.result)]
    if any(is_contradicted(row.result) and row not in unprotected for row in rows):
        yield from entry(
            CONTRADICTED, "carried by something else than the transport asked for: not a figure of that transport"
        )
    if unprotected:
        yield from entry(CONTRADICTED, "a proof of the security asked for has failed: not a figure of that level")
    yield from entry(ABSENT, "not measured, or fewer than ten samples lie beyond that quantile")
    hidden = dict.fromkeys(each.title for _, hidden in columns.values() for each in hidden)
    if hidden:
        yield from entry("left out", f"{', '.join(hidden)}: no room at this width; --format csv has everything")
