"""The answer of ``which`` on one screen."""

import shlex
from collections.abc import Iterator, Sequence

from rich.text import Text

from middlemark.document.screen import not_tried_text
from middlemark.document.which import answer, below, deadlines, how_sure, race_sentences, table_of
from middlemark.model.run import NotTried
from middlemark.show import View
from middlemark.show.terminal import command_lines, paragraph, printed, terminal
from middlemark.verdicts.names import plain
from middlemark.verdicts.race import RaceVerdict

_MOST_SETTINGS = 10
"""Longer settings are not printed below an answer."""


def render_table(
    verdict: RaceVerdict, folder: str, width: int, next_command: str | None, left_out: Sequence[NotTried] = ()
) -> str:
    """Return the answer, the table of the first candidates, what was not tried, doubts, and the next command."""
    first = (answer(verdict), how_sure(verdict), deadlines(verdict))
    rest = (not_tried_text(left_out), *below(verdict, folder, next_command))
    lines = [
        *(line for text in first for line in paragraph(text, width)),
        Text(),
        *terminal(table_of(verdict), width),
        Text(),
        *(line for text in rest for line in paragraph(text, width)),
        *_settings_lines(verdict, folder, width),
        *map(Text, command_lines("next: ", plain(next_command), width) if next_command else ()),
    ]
    return printed(lines, View(width=width))


def _settings_lines(verdict: RaceVerdict, folder: str, width: int) -> Iterator[Text]:
    """Yield the winner's settings in the middleware's own form, or the command that prints them if they are long."""
    if verdict.verdict not in ("best", "tie"):
        return
    winner = verdict.answer[0].row.result
    if winner.settings is None:
        return
    lines = winner.settings.text.splitlines()
    if len(lines) <= _MOST_SETTINGS:
        yield Text(f"to copy, for {winner.cell.adapter} ({winner.settings.language}):")
        yield from (Text(f"  {plain(line)}") for line in lines)
        return
    begin = f"to copy ({len(lines)} lines of {winner.settings.language}): "
    yield from map(Text, command_lines(begin, shlex.join(["middlemark", "show", plain(folder), "--settings"]), width))


def render_races(verdicts: Sequence[RaceVerdict], width: int) -> str:
    """Return the answer of each race, for races with several candidates."""
    return printed([line for text in race_sentences(verdicts) for line in paragraph(text, width)], View(width=width))
