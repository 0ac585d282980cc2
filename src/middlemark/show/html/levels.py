"""What each level of security costs, in the report: the sentences and tables of the terminal."""

from typing import Any

from middlemark.document.document import Document
from middlemark.document.levels import NONE, CostTable, headline, proven
from middlemark.document.numbers import ratio
from middlemark.model.units import format_size
from middlemark.show.levels import figure, legend, mark_of, title

Json = dict[str, Any]


def levels(document: Document) -> Json | None:
    """Return what they cost and whether they were in force; None where there is nothing to compare."""
    if not document.costs:
        return None
    return {
        "conclusion": headline(document.costs),
        "proven": proven(document.rows),
        "tables": [*map(_table, document.costs)],
    }


def _table(table: CostTable) -> Json:
    return {
        "title": title(table),
        "columns": [*map(format_size, table.sizes)],
        "lines": [
            {
                "name": line.name,
                "level": line.level,
                "plain": line.level == NONE,
                "entries": [
                    cost and {"figure": figure(table, cost), "times": ratio(cost.times), "mark": mark_of(cost).strip()}
                    for cost in line.costs
                ],
            }
            for line in table.lines
        ],
        "legend": " · ".join(legend(table)),
    }
