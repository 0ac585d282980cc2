"""Wrap text to a width. Imports little, because help pages and errors must appear at once."""

import os
import re
from collections.abc import Iterable, Iterator

from rich.cells import cell_len, chop_cells

_UNIT = re.compile(r"([0-9]) (%|µs|ms|s|min|h|B|KiB|MiB|Hz|kHz)(?![a-zA-Z])")
"""A number with its unit. A line is never broken between them."""
_REMARK = re.compile(r"\((?:default: [^()]{1,16}|may be repeated)\)")
"""A short remark about an option. It is never broken across lines."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
_COMMAND = re.compile(r"(?<![\w./-])(?:\./)?middlemark (?=[a-z]|VERB)")
"""The first word of a command of Middlemark within a text."""


def as_typed(text: str) -> str:
    """Return the text with each command of Middlemark as the user types it.

    ``./middlemark`` puts the name by which it was started into the variable ``MIDDLEMARK_NAME``, because `middlemark`
    is no command in a checkout. Files and data for programs always contain `middlemark`.
    """
    name = os.environ.get("MIDDLEMARK_NAME", "middlemark")
    return text if name == "middlemark" else _COMMAND.sub(lambda _: f"{name} ", text)


def wrap(text: str, width: int) -> list[str]:
    """Return a text without line breaks in lines of at most ``width`` columns, broken at blanks if possible.

    Returns at least one line. If the line before the last has several words, the last line has at least two. Commands
    are as the user types them.
    """
    lines: list[str] = []
    line, width = "", max(width, 1)
    whole = _REMARK.sub(lambda found: found[0].replace(" ", _NO_BREAK), as_typed(text))
    for word in _UNIT.sub(rf"\1{_NO_BREAK}\2", whole).split(" "):
        candidate = f"{line} {word}" if line else word
        if cell_len(candidate) <= width:
            line = candidate
            continue
        if line:
            lines.append(line)
        *chopped, line = chop_cells(word, width) or [""]
        lines += chopped
    if line or not lines:
        lines.append(line)
    last = len(lines) - 1
    if lines[-1].startswith("(") and _REMARK.fullmatch(lines[-1].replace(_NO_BREAK, " ").rstrip(".")):
        last -= 1  # the remark gets a line of its own
    if last > 0 and " " not in lines[last]:
        before, _, word = lines[last - 1].rpartition(" ")
        if " " in before.strip() and cell_len(f"{word} {lines[last]}") <= width:
            lines[last - 1 : last + 1] = [before, f"{word} {lines[last]}"]
    return [each.replace(_NO_BREAK, " ") for each in lines]


def definitions(entries: Iterable[tuple[str, str]], width: int, most: int = 28) -> Iterator[str]:
    """Yield terms and their meanings in two columns. A term longer than ``most`` has a line of its own."""
    listed = list(entries)
    first = min(max((cell_len(term) for term, _ in listed), default=0), most)
    for term, meaning in listed:
        lines = wrap(meaning, max(width - first - 4, 20))
        if cell_len(term) > first:
            yield f"  {term}"
        else:
            yield f"  {term}{' ' * (first - cell_len(term))}  {lines.pop(0)}".rstrip()
        yield from (f"{' ' * (first + 4)}{line}" for line in lines)
