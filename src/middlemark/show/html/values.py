"""Convert structs and tables to values of the page's JSON."""

from typing import Any

from middlemark.document.numbers import rounded
from middlemark.document.table import Table

Json = dict[str, Any]


def fields(of: object, *names: str) -> Json:
    """Return field → value of a struct, with figures to four digits. A field that the struct does not have is None."""
    found = {name: getattr(of, name, None) for name in names}
    return {name: rounded(each) if isinstance(each, float) else each for name, each in found.items()}


def present(value: Json) -> Json:
    """Return the mapping without the fields that are None. This keeps the data of a thousand cells small."""
    return {name: each for name, each in value.items() if each is not None}


def texts_of(table: Table) -> Json:
    """Return a table as its texts: the titles of its columns, and its rows."""
    return {
        "header": [table.head, *(each.title for each in table.columns)],
        "rows": [[line.name, *(each.on_one_line for each in line.cells)] for line in table.lines],
    }
