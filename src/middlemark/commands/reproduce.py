"""``middlemark reproduce``: a published study measured again, and each of its claims judged."""

from pathlib import Path

import click
import msgspec

from middlemark import exits
from middlemark.commands.options import fail_if_option, formats, out_option, quiet_option
from middlemark.commands.page import argument, option, page
from middlemark.model.expectation import Deciding
from middlemark.model.units import format_count
from middlemark.plan.rounds import first_rounds
from middlemark.problems import Problem, RequestError
from middlemark.runs.conduct import (
    DEFAULT_OUT,
    RunOptions,
    built_workers,
    measure,
    named_adapters,
    names_all,
    opened_run,
    plan_here,
    run_file,
    without_refused,
)
from middlemark.runs.fail_if import EXPECTATIONS, UNDECIDED, read_fail_if
from middlemark.runs.printing import print_run
from middlemark.sites.machine import read_machine
from middlemark.suite import load, raw_options
from middlemark.suite.overrides import read_budget
from middlemark.suite.study import also_awake, read_study, study_names

BUDGET = "30m"


def _studies(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    return [name for name in study_names() if name.startswith(typed)]


@page(
    "reproduce",
    ("reproduce --list", "the studies"),
    ("reproduce ros-mira-yarp", "measures one study again"),
    (
        "reproduce cyclonedds-page --budget 10m --fail-if expectations",
        "for a script: exits with 4 if a claim does not hold",
    ),
    notes=(
        "Each claim is reproduced, undecided, or untestable here (with the reason). A claim that fails is called "
        "contradicted on the document's kind of machine, and not reproduced here on other machines. Absolute "
        "times of other hardware are untestable; their ratios, orders and shapes are testable. On a virtual "
        "machine each claim is also judged with awake processors (--awake), because waking a halted processor "
        "takes longer there than most differences.",
    ),
)
@argument("name", metavar="[NAME]", required=False, shell_complete=_studies, says="The study.")
@option("--list", "lists", is_flag=True, group="Output", help="List the studies.")
@option("--budget", metavar="TIME", default=BUDGET, group="How long", help="The most time for added rounds.")
@out_option("NAME")
@formats("text", "json", "csv", "markdown", "html")
@quiet_option()
@fail_if_option(
    "Exit with 4 if the condition is met. 'expectations': a claim does not hold; 'undecided': a claim does not "
    "hold, is "
    "undecided or is untestable."
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
    """Measure the study until each claim is decided or the budget is spent; return the exit code."""
    if lists:
        return _list()
    if name is None:
        raise RequestError([Problem("reproduce", f"which study? There are {', '.join(study_names())}")])
    study = read_study(name)
    budget_s, problems = read_budget(budget)
    conditions, wrong = read_fail_if(fail_if, (EXPECTATIONS, UNDECIDED))
    if problems := [*problems, *wrong]:
        raise RequestError(problems)
    virtual = bool(read_machine().virtual)
    suites = load([str(study.suite)], raw_options(awake="false,true" if virtual else None))
    built = built_workers(named_adapters(suites), only=names_all(suites))
    plan = plan_here(suites, built)
    if virtual:
        plan = msgspec.structs.replace(plan, expectations=also_awake(plan.expectations))
    plan = without_refused(plan, suites, built.workers, "lo")
    # One round is measured even if it exceeds the budget, so that every claim has a figure.
    plan = msgspec.structs.replace(first_rounds(plan, 1), deciding=Deciding(budget_s))
    file = run_file(plan, suites, built)
    shown = RunOptions("lo", output_format, quiet, fail_if=conditions, failures_are_results=True)

    return measure(lambda: opened_run(Path(out or DEFAULT_OUT), file), (), built.workers, shown, print_run)


def _list() -> int:
    from middlemark.show.output import write_facts

    studies = [read_study(each) for each in study_names()]
    write_facts(*((each.name, f"{each.title}: {format_count(len(each.claims), 'claim')}") for each in studies))
    return exits.OK
