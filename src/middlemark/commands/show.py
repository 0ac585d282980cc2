"""``middlemark show``: prints a stored run."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.problems import MeasureError, Problem, RequestError

if TYPE_CHECKING:
    from middlemark.verdicts.rows import Row


@click.command(name="show")
@click.argument("run", default="runs", metavar="[RUN]", type=click.Path(path_type=Path))
@click.option("--only", metavar="KEY=VALUE", multiple=True, help="Print only these configurations; may be repeated.")
@click.option("--rows", is_flag=True, help="Print every configuration with all its figures.")
@click.option("--metric", metavar="M,…", help="Print these columns of the rows: p99.9, start, memory.pong, …")
@click.option("--warnings", is_flag=True, help="Print every warning in full.")
@click.option("--breakdown", is_flag=True, help="Print where the time of each row went.")
def command(run: Path, only: tuple[str, ...], rows: bool, metric: str | None, warnings: bool, breakdown: bool) -> int:
    """Print a stored run: the summary, or with --rows every figure.

    RUN is the folder of a run, or a folder of such folders (then the newest run counts; default: runs).
    """
    from middlemark.document import document_of, with_experiments
    from middlemark.document.runs import seconds_of
    from middlemark.runs.answer import is_question, show_answer
    from middlemark.runs.read import damaged, newest, read_measured
    from middlemark.show import View, output, render

    chosen, metrics = _chosen(only), _metrics(metric)
    measured = read_measured(newest(run))
    for each in damaged(measured):
        output.tell(each)
    took = seconds_of(measured) or 0.0
    whole = rows or breakdown or bool(metrics)
    if is_question(measured) and not (whole or warnings or only):
        return _ended(show_answer(measured, "table"))
    document = with_experiments(document_of([measured], took=took), chosen)
    if only and not document.rows:
        raise MeasureError(f"{measured.folder}: no configuration has {', '.join(only)}", "show it without --only")
    name = "table" if whole else "notes" if warnings else "summary"
    view = output.view(View(breakdown=breakdown, warnings=warnings, metrics=metrics))
    return _ended(output.write(render(name, document, view)))


def _ended(unwritten: str | None) -> int:
    """Return the exit code. ``unwritten``: why the output could not be printed, or None."""
    from middlemark.show import output

    if unwritten is None:
        return exits.OK
    output.tell(unwritten)
    return exits.CELL_FAILED


def _metrics(typed: str | None) -> tuple[str, ...]:
    """Return the names of the metrics that were typed. Raises RequestError."""
    from middlemark.stats.metrics import METRICS, named_metrics

    names = tuple(dict.fromkeys(typed.split(","))) if typed is not None else ()
    if unknown := [each for each in names if each not in METRICS]:
        raise RequestError([Problem("--metric", f"there is no {', '.join(unknown)}; there are {named_metrics()}")])
    return names


def _chosen(only: Sequence[str]) -> "Callable[[Row], bool]":
    """Return a function that says whether --only includes a row. Raises RequestError."""
    from middlemark.model.cell import level_of
    from middlemark.suite.overrides import Only, read_only

    asked, problems = read_only(only)
    if problems:
        raise RequestError(problems)
    by_factor: dict[str, list[Only]] = {}
    for each in asked:
        by_factor.setdefault(each.factor, []).append(each)
    return lambda row: all(
        any(each.keeps(level_of(row.result.cell, factor)) for each in filters) for factor, filters in by_factor.items()
    )
