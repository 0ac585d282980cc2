"""``middlemark reproduce``: a published study measured again, and each of its claims judged."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from middlemark import exits
from middlemark.commands.options import GATES
from middlemark.model.expectation import Deciding
from middlemark.plan.rounds import first_rounds
from middlemark.problems import Problem, RequestError
from middlemark.runs.conduct import (
    DEFAULT_OUT,
    RunOptions,
    built_workers,
    measure,
    named_adapters,
    opened_run,
    plan_here,
    run_file,
    without_refused,
)
from middlemark.suite import load, raw_options
from middlemark.suite.overrides import read_budget
from middlemark.suite.study import Study, read_study, study_names

if TYPE_CHECKING:
    from middlemark.verdicts.rows import MeasuredRun

BUDGET = "30m"
FORMATS = ("text", "json", "markdown")


@click.command(name="reproduce")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--list", "lists", is_flag=True, help="List the studies.")
@click.option("--budget", metavar="TIME", default=BUDGET, show_default=True, help="The most time for added rounds.")
@click.option("--out", metavar="DIR", help="Where the run's folder <time>-NAME is made (default: runs).")
@click.option("--format", "output_format", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--quiet", is_flag=True, help="No progress, only the result.")
@click.option(
    "--fail-if",
    "fail_if",
    multiple=True,
    type=click.Choice(GATES),
    help="Exit with 4 if a claim is contradicted; undecided: also if one is undecided or untestable.",
)
def command(
    name: str | None,
    lists: bool,
    budget: str,
    out: str | None,
    output_format: str,
    quiet: bool,
    fail_if: tuple[str, ...],
) -> int:
    """Measure a published study again, until each of its claims is decided or the budget is spent.

    A claim is reproduced, contradicted, undecided, or untestable here with the reason. Absolute times of other
    hardware are untestable; their ratios, orders and shapes are testable. Without --fail-if no verdict changes the
    exit code.
    """
    if lists:
        return _list()
    if name is None:
        raise RequestError([Problem("reproduce", f"which study? There are {', '.join(study_names())}")])
    study = read_study(name)
    budget_s, problems = read_budget(budget)
    if problems:
        raise RequestError(problems)
    suites = load([str(study.suite)], raw_options())
    built = built_workers(named_adapters(suites))
    plan = without_refused(plan_here(suites, built), suites, built.workers, "lo")
    # One round is measured whatever the budget: every claim has its figure then.
    plan = msgspec.structs.replace(first_rounds(plan, 1), deciding=Deciding(budget_s))
    file = run_file(plan, suites, built)
    shown = RunOptions("lo", output_format, quiet, fail_if=fail_if, failures_are_results=True)

    return measure(lambda: opened_run(Path(out or DEFAULT_OUT), file), (), built.workers, shown, partial(_print, study))


def _print(study: Study, run: "MeasuredRun", shown: RunOptions, seconds: float) -> str | None:  # noqa: ARG001
    """Print the claims in the order of the study; return why they could not be printed."""
    from middlemark.document.expectations import expected_of
    from middlemark.runs.report import write_report_of
    from middlemark.show import View, output
    from middlemark.show.expectations import render_markdown, render_text
    from middlemark.show.json.run import render_study

    places = {each.id: at for at, each in enumerate(run.file.plan.expectations)}
    expected = sorted(expected_of(run), key=lambda each: places[each.id])
    if shown.output_format == "json":
        text = render_study(study, run, expected)
    elif shown.output_format == "markdown":
        text = render_markdown(study, run, expected)
    else:
        text = render_text(study, run, expected, output.view(View()))
    unwritten = output.write(text)
    write_report_of(run, quiet=shown.quiet)
    return unwritten


def _list() -> int:
    from middlemark.show.output import write_facts

    studies = [read_study(each) for each in study_names()]
    write_facts(*((each.name, f"{each.title}: {len(each.claims)} claims") for each in studies))
    return exits.OK
