"""The columns of figures, a table of them for each pattern, and which of them fit."""

from collections.abc import Mapping, Sequence

import msgspec

from middlemark.report.columns import calls, round_trips, streams
from middlemark.report.columns.column import NEVER_HIDDEN, Column
from middlemark.report.numbers import ABSENT
from middlemark.report.run_facts import RunFacts
from middlemark.stats.result import CellResult

__all__ = ["COLUMNS", "HEADS", "Column", "fitting"]

COLUMNS = {"ping-pong": round_trips.COLUMNS, "stream": streams.COLUMNS, "request-reply": calls.COLUMNS}
"""By pattern."""

HEADS = {"ping-pong": "round trip in µs", "stream": "stream, times in µs", "request-reply": "call in µs"}
"""What stands above the rows' names: what the times are, and their unit."""


def fitting(
    results: Sequence[CellResult], facts: RunFacts, numbers: Mapping[str, int], width: int
) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit in ``width``, each as wide as its widest text, and those that had to give way.

    ``results`` are of one pattern. A column that no row has anything in is neither.
    """
    told = [each for each in results if each.failed is None]
    shown: list[Column] = []
    for column in COLUMNS[results[0].cell.pattern] if results else ():
        texts = [column.tell(each, facts, numbers) for each in told]
        if column.always or any(text not in ("", ABSENT) for text in texts):
            widest = max([len(column.title), *map(len, texts)])
            shown.append(msgspec.structs.replace(column, width=widest))
    hidden: list[Column] = []
    while sum(each.width + 2 for each in shown) > width and any(each.keeps < NEVER_HIDDEN for each in shown):
        gone = min(shown, key=lambda each: each.keeps)
        shown.remove(gone)
        hidden.append(gone)
    return shown, hidden
