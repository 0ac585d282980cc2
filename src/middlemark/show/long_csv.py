"""The result in long form: one row a cell and figure, for R, pandas and Quarto. Documented in docs/exports.md."""

import csv
import io

from middlemark.document.document import Document
from middlemark.document.figures import FIGURES, stands_for
from middlemark.model.cell import FACTORS, FIELDS
from middlemark.show import View
from middlemark.verdicts.names import plain

_NONE = {each.field: each.none or "" for each in FACTORS.values()}
_BEFORE = ("run", "started", "cell", "name", "version")
COLUMNS = (*_BEFORE, *FIELDS, "carried_by", "metric", "unit", "value", "low", "high", "trials")


def render(document: Document, _view: View) -> str:
    """Return the header and a line for each figure that was measured: what is absent has no row.

    The interval is that of the figure that stands for the cell.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    file = document.runs[0].file
    run = plain(", ".join(file.suites))
    for row in document.rows:
        result, cell, stands = row.result, row.result.cell, stands_for(row.result)
        levels = ["" if each in cell.unknown else _level(each, getattr(cell, each)) for each in FIELDS]
        before = [run, file.started, row.index, plain(result.name), plain(result.version or ""), *levels]
        for name, figure in FIGURES.items() if result.failed is None else ():
            value = figure.of(result)
            if value is not None:
                interval = (name == stands and result.interval) or (None, None)
                figures = map(_number, (value, *interval))
                writer.writerow([*before, result.carried_by or "", name, figure.unit, *figures, result.trials])
    return out.getvalue()


def _level(factor: str, level: object) -> str:
    match level:
        case None:
            return _NONE.get(factor, "")
        case bool():
            return "true" if level else "false"
        case tuple():
            return plain(";".join("=".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in level))
        case _:
            return plain(str(level))


def _number(value: float | None) -> str:
    return "" if value is None else repr(int(value)) if float(value).is_integer() else repr(float(value))
