"""The settings of rows, in the form of the middleware, to copy."""

from collections.abc import Iterator

from middlemark.document.document import Document
from middlemark.model.own_settings import commented
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.names import ASKED, plain, words
from middlemark.verdicts.rows import Row


def settings_to_copy(document: Document, row: Row) -> str:
    """Return the row's settings, below a comment with its version and levels.

    A row without settings has only the text of the comment.
    """
    cell, own = row.result.cell, row.result.settings
    adapter = next((each for each in document.runs[row.run].file.adapters if each.name == cell.adapter), None)
    named = f"{adapter.title} {adapter.version}".strip() if adapter else cell.adapter
    levels = plain(f"{named}: transport {cell.transport}, {words(cell, (*ASKED, 'receive'))}")
    return commented(own.language, [levels]) + own.text if own else levels


def winners(document: Document) -> Iterator[Row]:
    """Yield the winner of each experiment, and the rows that tie with it. Yield every row if there is no experiment."""
    if not document.experiments:
        yield from document.rows
        return
    found: dict[int, Row] = {}
    for experiment in document.experiments:
        tied = experiment.ranked if experiment.verdict == "tie" else ()
        rows = [each.row for each in tied if each.standing in (Standing.BEST, Standing.EQUIVALENT)]
        rows = rows or ([experiment.winner.row] if experiment.winner else [])
        found |= {row.index: row for row in rows}
    yield from found.values()
