"""Runs → the document. The results are given; what is read here is one trial a cell, for its distribution."""

from collections.abc import Sequence

import msgspec

from middlemark.document.document import Document, MeasuredRun, Row, WarningSummary
from middlemark.document.rows import rows_of
from middlemark.document.runs import commands_of, title_of


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
        warnings=_warnings(rows),
        took=took,
    )


def with_verdicts(document: Document, runs: Sequence[MeasuredRun]) -> Document:
    """Return the document of these runs with all that is judged and drawn."""
    from middlemark.document.answers import answers
    from middlemark.document.distributions import distribution
    from middlemark.document.judged import JudgedDocument

    judged = JudgedDocument(document)
    shown, left_out = judged.told()
    return msgspec.structs.replace(
        document,
        comparisons=shown,
        comparisons_left_out=left_out,
        answers=answers(document, judged),
        commands=commands_of(
            document.runs, list(dict.fromkeys(factor for factor, _ in judged.families if factor != "run"))
        ),
        distributions=tuple(
            distribution(row.result, row.trials, runs[row.run].samples, runs[row.run].kept) for row in document.rows
        ),
    )


def _warnings(rows: Sequence[Row]) -> tuple[WarningSummary, ...]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        for code in dict.fromkeys(each.code for each in row.result.warnings):
            found.setdefault(code, []).append(row)
    return tuple(
        WarningSummary(
            code=code,
            count=len(members),
            text=(first := next(each for each in members[0].result.warnings if each.code == code)).text,
            advice=first.advice,
            cells=tuple(row.index for row in members),
        )
        for code, members in sorted(found.items(), key=lambda item: -len(item[1]))
    )
