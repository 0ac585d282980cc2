"""``middlemark history``: the runs of a folder as series over time, with their changes."""

from pathlib import Path

import click

from middlemark import exits
from middlemark.commands.options import formats, margin_option, stored
from middlemark.commands.page import argument, option, page
from middlemark.problems import Problem, RequestError


@page(
    "history",
    ("history runs before/nightly", "the changes in the runs of two folders, in the order of their dates"),
    ("history nightly --fail-if change", "for a nightly job; exits with 4 if a figure became worse"),
    notes=(
        "A series needs 12 runs of the same suite on the same machine. To judge one commit, compare it with another "
        "build in the same run: run --against.",
    ),
)
@argument(
    "named",
    metavar="[DIR|RUN]…",
    nargs=-1,
    type=click.Path(path_type=Path),
    shell_complete=stored,
    says="Folders that contain runs, and single runs. Default: runs.",
)
@option(
    "--series", is_flag=True, group="What is shown", help="Also print each series, with its first and newest figure."
)
@option(
    "--last",
    metavar="N",
    default="500",
    group="What is shown",
    help="Search only the newest N runs of each suite and machine.",
)
@margin_option()
@formats("text", "json", "csv", "markdown")
@option(
    "--fail-if",
    "fail_if",
    metavar="change",
    multiple=True,
    group="Output",
    help="Exit with 4 if the newest change of a series made its figure worse.",
)
def command(
    named: tuple[Path, ...], series: bool, last: str, margin: str, fail_if: tuple[str, ...], output_format: str
) -> int:
    """Print the changes; return the exit code."""
    from middlemark.document.history import sentence_of
    from middlemark.runs.history import history
    from middlemark.runs.read import RUNS
    from middlemark.show import output
    from middlemark.show.history import render_data, render_markdown, render_text

    paths = named or (Path(RUNS),)
    most = _last(last, fail_if)
    found = history(*paths, last=most, margin=_margin(margin), warn=output.tell, begun=_begun)
    if output_format == "text":
        text = render_text(found, output.width(), series=series)
    elif output_format == "markdown":
        text = render_markdown(found)
    else:
        text = render_data(output_format, found)
    if output.failed(text):
        return exits.CELL_FAILED
    worse = [each for each in found.changed if each.changes[-1].is_worse] if fail_if else []
    for each in worse:
        output.tell(sentence_of(each, each.changes[-1]))
    return exits.WORSE if worse else exits.OK


def _last(typed: str, fail_if: tuple[str, ...]) -> int:
    problems = [
        Problem("--fail-if", f"'{each}' is not a condition of history; write change")
        for each in fail_if
        if each.strip() != "change"
    ]
    if not typed.isdecimal() or int(typed) < 1:
        problems.append(Problem("--last", f"'{typed}' is not a number of runs"))
    if problems:
        raise RequestError(problems)
    return int(typed)


def _margin(typed: str) -> float:
    from middlemark.model.units import parse_percent

    try:
        return parse_percent(typed)
    except ValueError as error:
        raise RequestError([Problem("--margin", str(error))]) from None


def _begun(number: int, count: int) -> None:
    """Print that samples of many runs are read for the first time, which takes a second for a large run.

    Prints nothing for up to 20 runs, and only before the first run.
    """
    if number == 1 and count > 20:
        click.echo(f"middlemark: reading the samples of {count:,} runs for the first time", err=True)
