"""What was expected and what came of it, on the terminal: one line each, those that do not hold first."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from middlemark.document.document import Document
from middlemark.document.expectations import counted
from middlemark.document.runs import decided_of
from middlemark.show.terminal import cut, paragraph
from middlemark.stats.expectations import ClaimVerdict

MARKS = {
    ClaimVerdict.DOES_NOT_HOLD: ("✗", "bold red"),
    ClaimVerdict.CANNOT_TELL: ("~", "yellow"),
    ClaimVerdict.UNTESTABLE: ("–", "dim"),
    ClaimVerdict.HOLDS: ("✓", "green"),
}
_LEAST_SAID = 20
"""Of a line: what is expected gives way to what came of it."""


def lines(document: Document, width: int, most: int | None = None) -> Iterator[Text]:
    """Yield a heading and a line each, at most ``most`` of them; None: all, each with everything that bears on it."""
    found = document.expectations
    if not found:
        return
    yield from paragraph(f"Expected: {counted(found)}{decided_of(document.runs[0])}", width, "bold", most=2)
    shown = found if most is None or len(found) <= most else found[: most - 1]
    for each in shown:
        mark, style = MARKS[each.verdict]
        say = cut(each.say, max(_LEAST_SAID, width - 4 - cell_len(each.short)))
        text = each.sentence if most is None else cut(f"{say}: {each.short}", width - 2)
        first, *others = paragraph(text, width, first=f"{mark} ")
        first.stylize(style, 0, 1)
        yield from (first, *others)
    if len(shown) < len(found):
        yield Text(f"  and {len(found) - len(shown)} more, with --rows", style="dim")
