"""A history as text, Markdown, CSV and JSON."""

from rich.text import Text

from middlemark.document.history import changes_table, commands_of, method, series_table
from middlemark.history import History
from middlemark.show import View
from middlemark.show.json.history import HistoryRow, history_output, history_rows
from middlemark.show.markdown import escaped, table
from middlemark.show.records import render
from middlemark.show.terminal import command_lines, paragraph, printed, terminal
from middlemark.verdicts.names import plain


def render_text(history: History, width: int, *, series: bool = False) -> str:
    """Return the sentence, the changes, the commands that compare runs, and notes.

    ``series``: return every series in addition.
    """
    lines = paragraph(f"{history.folder}: {history.sentence}", width)
    for shown in filter(None, (changes_table(history), series_table(history) if series and history.series else None)):
        lines += [Text(), *terminal(shown, width, name=16)]
    commands = commands_of(history)
    if commands:
        lines.append(Text())
    for each in commands:
        lines += [Text(line) for line in command_lines("compare: ", plain(each), width)]
    for each in method(history):
        lines += [Text(), *paragraph(each, width)]
    return printed(lines, View(width=width))


def render_markdown(history: History) -> str:
    """Return the sentence, the tables and the commands as Markdown."""
    lines = [escaped(history.sentence[0].upper() + history.sentence[1:]) + ".", ""]
    for shown in filter(None, (changes_table(history), series_table(history) if history.series else None)):
        lines += [f"**{shown.title}**", "", *table(shown), ""]
    lines += [f"    {plain(each)}" for each in commands_of(history)]
    lines += [f"\n{escaped(each)}" for each in method(history)]
    return "\n".join(lines) + "\n"


def render_data(output_format: str, history: History) -> str:
    """Return the history as ``json``, or as ``csv`` with a row for each point."""
    return render(output_format, history_output(history), HistoryRow, history_rows(history))
