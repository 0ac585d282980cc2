"""Lines of text: broken by the width they take on a terminal, and the heads of logs."""

import io
import re
from collections.abc import Iterable

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from middlemark.model.run import Run
from middlemark.show import View
from middlemark.stats.result import CellResult
from middlemark.verdicts.names import WORDS, plain, subject, words

_UNIT = re.compile(r"([0-9]) (%|µs|ms|s|B|KiB|MiB)(?![a-zA-Z])")
"""A number and its unit stay on one line."""


_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|\S)+""")
"""A word of a command, as a shell reads it."""


def wrapped(text: str, width: int) -> list[str]:
    """Return the text, plain, in lines of up to ``width`` columns, at least one, broken at blanks if there are any."""
    lines: list[str] = []
    line, width = "", max(width, 1)
    for word in _UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", plain(text)).split(" "):
        candidate = f"{line} {word}" if line else word
        if cell_len(candidate) <= width:
            line = candidate
            continue
        if line:
            lines.append(line)
        *chopped, line = chop_cells(word, width) or [""]
        lines += chopped
    broken = [*lines, line] if line or not lines else lines
    return [each.replace("\N{NO-BREAK SPACE}", " ") for each in broken]


def cut(text: str, width: int) -> str:
    """Return the text in at most ``width`` columns of the terminal, the end of it given up for a mark."""
    return text if cell_len(text) <= width else f"{chop_cells(text, width - 1)[0] if width > 1 else ''}…"


def printed(lines: Iterable[Text], view: View) -> str:
    """Return lines of at most ``view.width`` (at least 60) columns as text. Colour adds ANSI styles alone."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=max(view.width, 60),
        force_terminal=view.colour,
        color_system="standard" if view.colour else None,
        no_color=not view.colour,
        legacy_windows=False,
        _environ={},
    )
    for line in lines:
        line.rstrip()
        console.print(line, soft_wrap=True, highlight=False)
    return out.getvalue()


def hanging(first: str, text: str, width: int) -> list[str]:
    """Return the text wrapped behind ``first``, later lines indented to where it ends."""
    indent = cell_len(first)
    lines = wrapped(text, max(width - indent, 20))
    return [first + lines[0], *(" " * indent + line for line in lines[1:])]


def paragraph(text: str, width: int, style: str = "", *, first: str = "", most: int | None = None) -> list[Text]:
    """Return the text wrapped behind ``first`` in one style, at most so many lines; of no text none."""
    return [Text(line, style=style) for line in hanging(first, text, width)[:most]] if text else []


def command_lines(first: str, command: str, width: int) -> list[str]:
    """Return a command wrapped as ``hanging`` does, so that a shell takes the lines as one; no word is broken."""
    indent = cell_len(first)
    lines = [""]
    for word in _WORD.findall(command):
        if lines[-1] and cell_len(f"{lines[-1]} {word}") > width - indent - 2:
            lines[-1] += " \\"
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return [first + lines[0], *(" " * indent + line for line in lines[1:])]


def log_head(run: Run) -> str:
    """Return the first line of a log as other tools print it: what was run, and how far it came."""
    cut = f", interrupted after {len(run.outcomes)} of {run.planned_trials} trials" if run.file.interrupted else ""
    return f"# {plain(', '.join(run.file.suites))}, {run.file.started}{cut}"


def log_title(result: CellResult) -> str:
    """Return what a log says above a cell: what is measured, in which version, and how."""
    version = f" {result.version}" if result.version else ""
    return f"# {plain(subject(result.cell) + version)}: {plain(words(result.cell, WORDS))}"
