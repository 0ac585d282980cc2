"""The question that a report answers: ``Which middleware for 1 KiB messages at 1 kHz between two processes?``."""

from collections.abc import Collection, Sequence

from middlemark.document.document import Document
from middlemark.model.cell import Cell
from middlemark.model.spelling import listing
from middlemark.model.units import format_rate, format_size
from middlemark.verdicts.names import plain, words
from middlemark.verdicts.rows import Row

_MOST_LINKS = 2


def question(document: Document) -> str:
    """Return the question of a document; if the document has no rows, return its title."""
    rows = [row for row in document.rows if not row.is_raw_transport] or [*document.rows]
    if not rows:
        return document.title
    return plain(_asked(document, rows))


def _asked(document: Document, rows: Sequence[Row]) -> str:
    cells = [row.result.cell for row in rows]
    if len(document.runs) == 2 and any(each.factor == "run" for each in document.comparisons):
        return f"What changed from {document.runs[0].name} to {document.runs[1].name}?"
    if tools := dict.fromkeys(each.tool for run in document.runs for each in run.file.imported):
        return f"How fast is {_named(rows)}, measured by {listing([*tools])}?"
    if names := dict.fromkeys(each.workload.name for each in cells if each.workload):
        graph = f"the workload {listing([*names])}"
        return f"{_which(rows)} meets the deadlines of {graph}?"
    if document.costs:
        return f"What does security cost for {load(cells)}?"
    if len({row.name for row in rows}) == 1 or all(row.is_raw_transport for row in rows):
        return f"How fast is {_named(rows)} for {load(cells)}?"
    return f"{_which(rows)} for {load(cells)}?"


def _named(rows: Sequence[Row]) -> str:
    names = [*dict.fromkeys(row.name for row in rows)]
    if all(row.is_raw_transport for row in rows):
        return "this machine"
    adapters = [*dict.fromkeys(row.result.cell.middleware for row in rows)]
    return (
        names[0]
        if len(names) == 1
        else listing(adapters)
        if len(adapters) < 4
        else f"each of {len(adapters)} middlewares"
    )


def _which(rows: Sequence[Row]) -> str:
    adapters = {row.result.cell.middleware for row in rows}
    if len(adapters) > 1:
        return "Which middleware"
    transports = {row.result.cell.transport for row in rows}
    varies = "transport" if len(transports) == len({row.name for row in rows}) else "configuration"
    return f"Which {varies} of {adapters.pop()}"


def load(cells: Sequence[Cell]) -> str:
    """Return the load that the cells have in common: ``16 B to 1 MiB round trips between two processes``."""
    sizes = sorted({each.size for each in cells if "size" not in each.unknown})
    patterns = {each.pattern for each in cells}
    rates = {each.rate for each in cells}
    numbers = sorted(each for each in rates if isinstance(each, int | float))
    size = _range([format_size(each) for each in sizes])
    if patterns == {"request-reply"}:
        what = f"calls of {size}" if size else "calls"
    elif patterns == {"ping-pong"} and rates == {"max"}:
        what = f"{size} round trips".strip()
    else:
        what = f"{size} messages".strip()
    if len(numbers) == len(rates) and not any(each.burst for each in cells):
        what += f" at {_range([format_rate(each) for each in numbers])}"
    elif patterns == {"stream"} and rates == {"max"}:
        what += " as fast as possible"
    return f"{what}{_places(cells, patterns)}"


def _places(cells: Sequence[Cell], patterns: Collection[str]) -> str:
    """Return the places between which messages pass (``between two processes``), and the link."""
    subscribers = sorted({each.subscribers for each in cells})
    processes = {each.processes for each in cells}
    where = ""
    if patterns == {"crowd"}:
        participants = sorted({each.participants for each in cells})
        where = f" in a crowd of {_range([str(each) for each in participants])} participants"
    elif patterns == {"stream"} and subscribers[-1] > 1:
        where = f" to {_range([str(each) for each in subscribers])} subscribers"
    elif processes == {1}:
        where = " within one process"
    elif 1 not in processes and all(each.across == "here" for each in cells):
        where = " between two processes"
    links = dict.fromkeys(words(each, {"link"}).removeprefix("link ") for each in cells)
    if "" not in links:
        where += f" over {f'{len(links)} links' if len(links) > _MOST_LINKS else f'the link {listing([*links])}'}"
    return where


def _range(texts: Sequence[str]) -> str:
    """Return ``FIRST to LAST`` of ascending texts: ``64 B to 1 MiB``. Empty: there are no texts."""
    return " to ".join(dict.fromkeys((texts[0], texts[-1]))) if texts else ""
