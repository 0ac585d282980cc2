"""What was expected and what came of it, on the terminal: one line each, those that do not hold first."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from middlemark.document.document import Document
from middlemark.document.expectations import counted
from middlemark.document.runs import decided_of
from middlemark.show.lines import wrapped
from middlemark.stats.expectations import Verdict

MARKS = {
    Verdict.DOES_NOT_HOLD: ("✗", "bold red"),
    Verdict.CANNOT_TELL: ("~", "yellow"),
    Verdict.UNTESTABLE: ("–", "dim"),
    Verdict.HOLDS: ("✓", "green"),
}
_LEAST_SAID = 20
"""Of a line: what is expected gives way to what came of it."""


def lines(document: Document, width: int, most: int | None = None) -> Iterator[Text]:
    """Yield a heading and a line each, at most ``most`` of them; None: all, each with everything that bears on it."""
    found = document.expectations
    if not found:
        return
    heading = f"Expected: {counted(found)}{decided_of(document.runs[0])}"
    yield from (Text(line, style="bold") for line in wrapped(heading, width)[:2])
    shown = found if most is None or len(found) <= most else found[: most - 1]
    for each in shown:
        mark, style = MARKS[each.verdict]
        if most is None:
            for at, line in enumerate(wrapped(each.sentence, width - 2)):
                yield Text.assemble((f"{mark if at == 0 else ' '} ", style), line)
            continue
        say = _cut(each.say, max(_LEAST_SAID, width - 4 - cell_len(each.short)))
        yield Text.assemble((f"{mark} ", style), _cut(f"{say}: {each.short}", width - 2))
    if len(shown) < len(found):
        yield Text(f"  and {len(found) - len(shown)} more, with --rows", style="dim")


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{text[: width - 1]}…"
