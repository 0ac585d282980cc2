"""The name of a row: what is measured, and those of its settings that differ within the run."""

from collections import Counter
from collections.abc import Sequence

from middlemark.report.factors import ASKED, WORDS, copies_alone, plain, subject, usual, varying
from middlemark.stats.result import CellResult

CONTRADICTED = "(!)"
"""Marks a row that was not carried by what its name says."""


def is_contradicted(result: CellResult) -> bool:
    """Say whether the evidence of what carried the data contradicts the transport that was asked for."""
    return any(each.code == "transport-contradicted" for each in result.warnings)


def labels(results: Sequence[CellResult]) -> list[str]:
    """Return a label a result: what differs from the usual is told, and where the heading says what is usual.

    Rows of one cell in two sweeps carry the sweep's name; rows with fewer trials than the others say how many.
    """
    told = usual(results, varying(results) & frozenset(ASKED))
    cells = Counter(each.cell for each in results)
    trials = Counter(each.trials for each in results if each.failed is None)
    usual_trials = trials.most_common(1)[0][0] if trials else 0

    def label(result: CellResult) -> str:
        unusual = [
            level
            for factor in told
            if (level := WORDS[factor](result.cell)) != told[factor] and not copies_alone(result.cell)
        ]
        named = result.name if cells[result.cell] > 1 else ""
        parts = [subject(result.cell), result.cell.label or "", *unusual, named]
        if result.failed is None and result.trials != usual_trials:
            parts.append("1 trial" if result.trials == 1 else f"{result.trials} trials")
        mark = f" {CONTRADICTED}" if is_contradicted(result) else ""
        return plain(", ".join(filter(None, parts))) + mark

    return [label(each) for each in results]
