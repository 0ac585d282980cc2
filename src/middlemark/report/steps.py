"""The lines below the row of a curve: one a step, by rising load, the knee marked."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from middlemark.report.factors import plain
from middlemark.report.numbers import ABSENT, brief, share, us
from middlemark.stats.result import CellResult, CurveStep

if TYPE_CHECKING:
    from rich.text import Text

_TITLES = ("offered/s", "msgs/s", "lost", "p50", "p99")
KNEE = "← knee"
_INDENT = "      "


def step_lines(result: CellResult) -> Iterator["Text"]:
    """Return the steps of a curve under their titles; of anything else nothing (a search shows what it found)."""
    from rich.text import Text

    if result.cell.rate != "curve" or not result.steps:
        return
    rows = [_texts(each) for each in result.steps]
    widths = [max(len(title), *(len(row[at]) for row in rows)) for at, title in enumerate(_TITLES)]
    yield Text(_INDENT + _line(_TITLES, widths), style="dim")
    for step, row in zip(result.steps, rows, strict=True):
        line = Text(_INDENT + _line(row, widths))
        if step.failed is not None:
            line.append(f"  failed: {plain(step.failed)}"[:40], style="red")
        elif step.knee:
            line.append(f"  {KNEE}", style="bold")
        yield line


def _texts(step: CurveStep) -> tuple[str, ...]:
    offered = "max" if step.offered_hz is None else brief(step.offered_hz)
    if step.failed is not None:
        return (offered, ABSENT, ABSENT, ABSENT, ABSENT)
    lost = ABSENT if step.lost is None else "0" if step.lost == 0 else share(step.lost)
    return (offered, brief(step.received_hz), lost, us(step.p50_ns), us(step.p99_ns))


def _line(texts: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))
