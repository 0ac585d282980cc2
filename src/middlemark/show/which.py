"""The answer to `which` on one screen."""

from collections.abc import Sequence

from middlemark.document.screen import not_tried_text
from middlemark.document.which import answer, below, how_sure, race_sentences, table_of
from middlemark.model.run import NotTried
from middlemark.show.layout import terminal
from middlemark.show.lines import command_lines, hanging
from middlemark.verdicts.names import plain
from middlemark.verdicts.race import RaceVerdict


def render_table(
    verdict: RaceVerdict, folder: str, width: int, next_command: str | None, left_out: Sequence[NotTried] = ()
) -> str:
    """Return the answer in its first lines, then the candidates that came near, what is doubtful, what to do next."""
    first = (answer(verdict), how_sure(verdict), not_tried_text(left_out))
    lines = [
        *(line for text in first if text for line in hanging("", text, width)),
        "",
        *(line.plain.rstrip() for line in terminal(table_of(verdict), width)),
        "",
        *(line for text in below(verdict, folder, next_command) for line in hanging("", text, width)),
        *(command_lines("next: ", next_command, width) if next_command else ()),
    ]
    return plain_lines(lines)


def render_races(verdicts: Sequence[RaceVerdict], width: int) -> str:
    """Return the answer of each race of a run in which there was anything to choose."""
    return plain_lines([line for text in race_sentences(verdicts) for line in hanging("", text, width)])


def plain_lines(lines: Sequence[str]) -> str:
    """Return the lines as one text; whatever a middleware calls itself stays on its line."""
    return "".join(f"{plain(each)}\n" for each in lines)
