"""``middlemark show``: prints stored runs."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from middlemark import exits
from middlemark.commands.options import formats, metric_option, only_option, runs_argument
from middlemark.commands.page import option, page
from middlemark.model.spelling import did_you_mean, there_are
from middlemark.problems import Problem, RequestError
from middlemark.show import PRINTED

if TYPE_CHECKING:
    from middlemark.verdicts.rows import MeasuredRun, Row


@page(
    "show",
    ("show", "the newest run in runs/"),
    ("show runs/2026-11-28_10-00-00-first-look --rows", "every row of this run"),
    ("show --format json", "the output of the verb that made the run, with --format json"),
)
@runs_argument("Folders of runs; a folder of such folders means its newest (default: runs).")
@only_option("Print", "What is shown")
@option("--rows", is_flag=True, group="What is shown", help="Print every configuration with all its figures.")
@metric_option("Print these columns of the rows: p99.9, start, memory.pong, …")
@option("--warnings", is_flag=True, group="What is shown", help="Print every warning in full.")
@option("--breakdown", is_flag=True, group="What is shown", help="Print where the time of each row went.")
@option(
    "--settings",
    is_flag=True,
    group="What is shown",
    help="Print the settings of the best rows as their middlewares' configuration files or as code, to copy.",
)
@formats(*PRINTED)
def command(
    runs: tuple[str, ...],
    only: tuple[str, ...],
    rows: bool,
    metric: str | None,
    warnings: bool,
    breakdown: bool,
    settings: bool,
    output_format: str,
) -> int:
    """Print the runs; return the exit code."""
    from middlemark.runs.printing import PrintOptions, text_of_several
    from middlemark.runs.read import read_runs
    from middlemark.show import View, output
    from middlemark.stats.metrics import read_metrics

    chosen, problems = _chosen(only)
    metrics, wrong = read_metrics(metric)
    if problems := [*problems, *wrong]:
        raise RequestError(problems)
    asked = {"settings": settings, "table": rows or breakdown or metrics, "notes": warnings, "summary": only}
    parts = tuple(part for part, wanted in asked.items() if wanted)[:1]
    view = View(breakdown=breakdown, warnings=warnings, metrics=metrics)
    options = PrintOptions(output_format=output_format, parts=parts, view=view, chosen=chosen)
    read = read_runs(runs, output.tell)
    if problems := [problem for run in read for problem in _not_measured(only, run)]:
        raise RequestError(problems)
    return exits.CELL_FAILED if output.failed(text_of_several(read, options)) else exits.OK


def _not_measured(only: Sequence[str], run: "MeasuredRun") -> "Iterator[Problem]":
    """Yield a problem for each --only that matches no configuration of the run."""
    from middlemark.model.cell import FACTORS, level_of
    from middlemark.suite.overrides import read_only

    for each in read_only(only)[0]:
        levels = {level_of(cell, each.factor) for cell in run.file.plan.cells}
        if not any(map(each.keeps, levels)):
            show = FACTORS[each.factor].kind.show
            shown = sorted(map(show, levels))
            typed = each.values[0]
            hint = did_you_mean(typed, shown) if isinstance(typed, str) else there_are(shown)
            yield Problem(each.place, f"no configuration of {run.name} matches; {hint}")


def _chosen(only: Sequence[str]) -> "tuple[Callable[[Row], bool] | None, list[Problem]]":
    """Return a function that says whether --only includes a row (None: every row), and the problems of --only."""
    from middlemark.model.cell import level_of
    from middlemark.suite.overrides import Only, read_only

    asked, problems = read_only(only)
    by_factor: dict[str, list[Only]] = {}
    for each in asked:
        by_factor.setdefault(each.factor, []).append(each)

    def chosen(row: "Row") -> bool:
        return all(
            any(each.keeps(level_of(row.result.cell, factor)) for each in filters)
            for factor, filters in by_factor.items()
        )

    return chosen if by_factor else None, problems
