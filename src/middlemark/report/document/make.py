"""Runs → the document. The results are given; what is read here is one trial a cell, for its distribution."""

from collections.abc import Sequence
from typing import Any

import msgspec

from middlemark.report.document.answers import answers
from middlemark.report.document.cells import cell_of
from middlemark.report.document.comparisons import Judged
from middlemark.report.document.distributions import distribution
from middlemark.report.document.factors import factors_of, levels_of
from middlemark.report.document.measured import MeasuredRun
from middlemark.report.document.model import SCHEMA, Cell, Document, DoubtSummary
from middlemark.report.document.rows import Row, rows_of
from middlemark.report.document.runs import commands_of, run_of, title_of
from middlemark.stats.verdict import MARGIN

DATA_BYTES = 4_200_000
"""Heat maps are kept for as many cells as fit into that with all else: the page, libraries and all, is to stay under
5 MB."""


def make_document(runs: Sequence[MeasuredRun], *, generated: str, middlemark: str) -> Document:
    """Return the document of these runs. ``generated``: when, ISO 8601 in UTC; ``middlemark``: by which version."""
    rows = rows_of(runs)
    levels = [levels_of(row.result.cell) for row in rows]
    judged = Judged(rows, runs)
    told, left_out = judged.told()
    document = Document(
        schema=SCHEMA,
        title=title_of(runs),
        generated=generated,
        middlemark=middlemark,
        margin=MARGIN,
        runs=tuple(run_of(at, run, rows) for at, run in enumerate(runs)),
        factors=factors_of(rows, levels, [run.name for run in runs]),
        cells=tuple(
            cell_of(row, each, distribution(row.result, row.trials, runs[row.run].samples, runs[row.run].kept))
            for row, each in zip(rows, levels, strict=True)
        ),
        comparisons=told,
        comparisons_left_out=left_out,
        answers=answers(rows, runs, judged),
        doubts_summary=_doubts(rows),
        commands=commands_of(runs, list(dict.fromkeys(factor for factor, _ in judged.families if factor != "run"))),
    )
    return _fitting(_unicode(document))


def _unicode(document: Document) -> Document:
    """Return the document with text that is no Unicode (a folder's name, say) made so, visibly."""
    try:
        msgspec.json.encode(document)
    except UnicodeEncodeError:
        return msgspec.convert(_readable(msgspec.to_builtins(document)), Document)
    return document


def _readable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_readable(key): _readable(each) for key, each in value.items()}
        case list() | tuple():
            return [_readable(each) for each in value]
        case _:
            return value


def _fitting(document: Document) -> Document:
    """Return the document with as many heat maps as fit, the most interesting first."""
    sizes = [len(msgspec.json.encode(each.heat)) if each.heat else 0 for each in document.cells]
    room = DATA_BYTES - (len(msgspec.json.encode(document)) - sum(sizes))
    kept: set[int] = set()
    for index in sorted(range(len(sizes)), key=lambda index: _interest(document.cells[index])):
        if sizes[index] <= room:
            room -= sizes[index]
            kept.add(index)
    if len(kept) == len(sizes):
        return document
    cells = tuple(
        each if index in kept else msgspec.structs.replace(each, heat=None) for index, each in enumerate(document.cells)
    )
    return msgspec.structs.replace(document, cells=cells)


def _interest(cell: Cell) -> tuple[bool, bool, int]:
    """What is doubtful is looked at first, a floor last."""
    return (cell.floor, not cell.doubts, cell.i)


def _doubts(rows: Sequence[Row]) -> tuple[DoubtSummary, ...]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        for code in dict.fromkeys(each.code for each in row.result.warnings):
            found.setdefault(code, []).append(row)
    return tuple(
        DoubtSummary(
            code=code,
            count=len(members),
            text=(first := next(each for each in members[0].result.warnings if each.code == code)).text,
            advice=first.advice,
            cells=tuple(row.index for row in members),
        )
        for code, members in sorted(found.items(), key=lambda item: -len(item[1]))
    )
