"""Write outputs that are lists: as JSON the whole output, as CSV and Markdown a row for each record."""

from collections.abc import Iterable

import msgspec

from middlemark.document.table import Column, Line, Table, cells
from middlemark.show.csv import field, written
from middlemark.show.json.output import builtins, printed
from middlemark.show.markdown import table


def render(
    output_format: str,
    output: msgspec.Struct,
    kind: type[msgspec.Struct],
    records: Iterable[msgspec.Struct],
    indent: int = 2,
) -> str:
    """Return a list as ``json``, ``csv`` or ``markdown``.

    ``kind``: the type of the records, whose fields are no structs.
    """
    if output_format == "json":
        return printed(output, indent)
    rows = [[field(value) for value in builtins(each).values()] for each in records]
    if output_format == "csv":
        return written(kind.__struct_fields__, rows)
    head, *titles = (name.replace("_", " ") for name in kind.__struct_fields__)
    shown = [Line(first, cells(*others)) for first, *others in rows]
    columns = tuple(Column(title, left=True) for title in titles)
    return "\n".join(table(Table(head=head, columns=columns, lines=tuple(shown)))) + "\n"
