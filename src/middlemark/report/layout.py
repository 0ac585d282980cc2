"""Breaking lines by the width they take on a terminal, where a character may take two columns."""

import re

from rich.cells import cell_len

_UNIT = re.compile(r"([0-9]) (%|µs|ms|s|B|KiB|MiB)(?![a-zA-Z])")
"""A number and its unit stay on one line."""


def wrapped(text: str, width: int) -> list[str]:
    """Return the text in lines of at most ``width`` columns, at least one, broken at blanks where there are any."""
    lines: list[str] = []
    line = ""
    for word in _UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text).split(" "):
        candidate = f"{line} {word}" if line else word
        if cell_len(candidate) <= width:
            line = candidate
            continue
        if line:
            lines.append(line)
        line = word
        while cell_len(line) > width:
            head = _fitting(line, width)
            lines.append(head)
            line = line[len(head) :]
    broken = [*lines, line] if line or not lines else lines
    return [each.replace("\N{NO-BREAK SPACE}", " ") for each in broken]


def _fitting(word: str, width: int) -> str:
    taken = 0
    for at, character in enumerate(word):
        taken += cell_len(character)
        if taken > width:
            return word[: max(at, 1)]
    return word


def hanging(first: str, text: str, width: int) -> list[str]:
    """Return the text wrapped behind ``first``, later lines indented to where it ends."""
    indent = cell_len(first)
    lines = wrapped(text, max(width - indent, 20))
    return [first + lines[0], *(" " * indent + line for line in lines[1:])]
