"""Runs → the document. The results are given; what is read here is one trial a cell, for its distribution."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from middlemark.document.document import Document, MeasuredRun, Row
from middlemark.document.expectations import expectations_of
from middlemark.document.growth import growths
from middlemark.document.rows import rows_of
from middlemark.document.runs import commands_of, title_of
from middlemark.document.scorecards import scorecards
from middlemark.document.warnings import warnings_of

if TYPE_CHECKING:
    from middlemark.document.judged import JudgedDocument


def document_of(
    runs: Sequence[MeasuredRun], *, generated: str = "", middlemark: str = "", took: float = 0.0
) -> Document:
    """Return what was measured, without verdicts.

    ``generated``: when, ISO 8601 in UTC; ``middlemark``: by which version; ``took``: the seconds it took.
    """
    rows = rows_of(runs)
    return Document(
        title=title_of(runs),
        generated=generated,
        middlemark=middlemark,
        runs=tuple(runs),
        rows=rows,
        warnings=warnings_of(rows),
        expectations=expectations_of(runs, rows),
        took=took,
        growths=growths(rows),
        scorecards=scorecards(rows, runs),
    )


def with_matrices(document: Document, chosen: Callable[[Row], bool] = lambda _: True) -> Document:
    """Return the document with its matrices; of the ``chosen`` rows alone, judged together with all others."""
    from middlemark.document.judged import JudgedDocument
    from middlemark.document.levels import cost_tables
    from middlemark.document.matrix import matrices

    rows, judged = tuple(filter(chosen, document.rows)), JudgedDocument(document)
    return msgspec.structs.replace(
        document,
        rows=rows,
        warnings=warnings_of(rows),
        matrices=matrices(rows, judged),
        costs=cost_tables(rows, judged),
    )


def with_verdicts(document: Document, runs: Sequence[MeasuredRun], judged: "JudgedDocument | None" = None) -> Document:
    """Return the document of these runs with all that is judged and drawn; ``judged``: where it was already."""
    from middlemark.document.answers import answers
    from middlemark.document.distributions import distribution
    from middlemark.document.judged import JudgedDocument
    from middlemark.document.levels import cost_tables
    from middlemark.document.matrix import matrices
    from middlemark.document.standings import standings, usual

    judged = judged or JudgedDocument(document)
    shown, left_out = judged.told()
    stand = standings(document, judged)
    return msgspec.structs.replace(
        document,
        comparisons=shown,
        comparisons_left_out=left_out,
        answers=answers(document, judged),
        standings=stand,
        usual=usual(stand),
        matrices=matrices(document.rows, judged),
        costs=cost_tables(document.rows, judged),
        commands=commands_of(
            document.runs, list(dict.fromkeys(factor for factor, _ in judged.families if factor != "run"))
        ),
        distributions=tuple(
            distribution(row.result, row.trials, runs[row.run].samples, runs[row.run].kept) for row in document.rows
        ),
    )
