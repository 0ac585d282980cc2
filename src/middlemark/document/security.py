"""The cost of security, in sentences and as tables: a line for each level, compared with ``none``."""

from collections.abc import Sequence

from middlemark.document.matrix import MARKS
from middlemark.document.numbers import ABSENT, brief, ratio, us
from middlemark.document.table import Column, Line, Table, TableCell
from middlemark.model.outcome import ProtectionProof
from middlemark.model.spelling import listing
from middlemark.model.units import format_count, format_size
from middlemark.stats.result import CellResult
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.names import is_unprotected
from middlemark.verdicts.rows import Row
from middlemark.verdicts.security import LEVELS, NONE, Cost, CostLine, CostTable

_WORDS = {
    "payload_not_seen": ("payload not seen", "PAYLOAD SEEN", "payload"),
    "stranger_refused": ("stranger refused", "STRANGER LET IN", "stranger"),
    "unauthorised_refused": ("unauthorised refused", "UNAUTHORISED LET IN", "permissions"),
}
"""Proof → the words if it holds, the words if it failed, and the subject of the proof."""


def proof_in_short(result: CellResult) -> str:
    """Return the proofs that hold or failed: ``payload not seen, stranger refused``.

    Empty: the cell is not protected.
    """
    if result.cell.security == "none" or result.failed is not None:
        return ""
    seen = ((getattr(result.proof, field, None), words) for field, words in _WORDS.items())
    return ", ".join(words[0 if holds else 1] for holds, words in seen if holds is not None) or "not proven"


def proof_in_full(result: CellResult) -> str:
    """Return the proofs that were made, and the reason of each proof that was not made."""
    absent = dict(result.proof.absent) if result.proof else {}
    whys = (f"{of}: {why}" for field, (_, _, of) in _WORDS.items() if (why := absent.get(field.replace("_", "-"))))
    return "; ".join(filter(None, (proof_in_short(result), *whys)))


_MEANS = {
    "=": f"as {NONE}",
    "~": f"difference from {NONE} undecided",
    "?": "too few trials for a verdict",
    "#": "fewer than six rounds in common",
    "!": "not in force",
}


def headline(tables: Sequence[CostTable]) -> str:
    """Return the least and the greatest cost of each level, the strongest level first.

    Empty: ``none`` was not measured.
    """
    levels_in_words: list[str] = []
    for level in reversed(LEVELS[1:]):
        measured = [
            (cost.times, f"{line.name} at {format_size(size)}")
            for line in tables[0].lines
            if line.level == level
            for size, cost in zip(tables[0].sizes, line.costs, strict=True)
            if cost and cost.times
        ]
        if not measured:
            continue
        (least, where), (most, there) = min(measured), max(measured)
        if levels_in_words:
            levels_in_words.append(f"{level} {' to '.join(dict.fromkeys(map(ratio, (least, most))))}")
        elif len(measured) == 1:
            levels_in_words.append(f"{level} takes {ratio(most)} times as long as {NONE} ({there})")
        else:
            levels_in_words.append(
                f"{level} takes {ratio(least)} ({where}) to {ratio(most)} times ({there}) as long as {NONE}"
            )
    if not levels_in_words:
        return ""
    costs = [cost for line in tables[0].lines for cost in line.costs if cost]
    few = [cost.row.result.trials for cost in costs if cost.standing is Standing.TOO_FEW_TRIALS]
    unsure = f"Undecided with {format_count(min(few), 'trial')} each: " if few else ""
    return f"{unsure}{'; '.join(levels_in_words)}."


def proven(rows: Sequence[Row]) -> str:
    """Return in how many of the protected rows the protection is proven. Memory copies do not count."""
    protected = [row for row in rows if row.result.cell.security != NONE and row.result.cell.subscribers]
    rows = [row for row in protected if row.result.failed is None]
    if not rows:
        return ""
    held = sum(map(_holds, (row.result.proof for row in rows)))
    if held == len(rows):
        every = f"all {held:,} protected rows" if held > 1 else "the protected row"
        return f"Proven: protection was in force in {every}."
    failed = [row.name for row in rows if row.result.proof and row.result.proof.failed]
    text = f"Proven: protection was in force in {held:,} of {format_count(len(rows), 'protected row')}"
    return f"{text}; not in {listing(list(dict.fromkeys(failed)))}." if failed else f"{text}."


def _holds(proof: ProtectionProof | None) -> bool:
    """Say whether the protection is proven: no proof failed, and a stranger was refused."""
    return proof is not None and not proof.failed and proof.stranger_refused is True


def table_of(table: CostTable) -> Table:
    """Return the cost of each level as a table: the figure, and its ratio to the figure at ``none``."""
    costs = [cost for line in table.lines for cost in line.costs if cost]
    marks = {_mark(each) for each in costs}
    legend = [f"{mark} {means}" for mark, means in _MEANS.items() if mark in marks]
    if any(each.standing is Standing.SLOWER for each in costs):
        legend.append(f"unmarked: significantly slower than {NONE}")
    last = len(table.sizes)
    return Table(
        title=f"{'messages/s' if table.by_rate else 'p50 in µs'}, and time per message ÷ that at {NONE}: {table.title}",
        columns=tuple(Column(format_size(size), last - at) for at, size in enumerate(table.sizes)),
        lines=tuple(_line(table, each) for each in table.lines),
        legend=tuple(legend),
    )


def _line(table: CostTable, line: CostLine) -> Line:
    name = line.name if line.level == NONE else f"  {line.level}"
    return Line(name, tuple(TableCell(_text(table, each)) for each in line.costs))


def _text(table: CostTable, cost: Cost | None) -> str:
    if cost is None:
        return ABSENT
    figure = brief(1e9 / cost.ns) if table.by_rate else us(cost.ns)
    return "\t".join((figure, ratio(cost.times), _mark(cost)))


def _mark(cost: Cost) -> str:
    return "!" if is_unprotected(cost.row.result) else MARKS.get(cost.standing, "")
