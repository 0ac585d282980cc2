"""``middlemark run``: plan, measure, keep, show."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from middlemark import exits
from middlemark.commands.options import run_options
from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan
from middlemark.plan import estimate_seconds, make_plan
from middlemark.plan.rounds import until_precise as planned_until_precise
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.runs.conduct import DEFAULT_OUT, Shown, built_workers, interrupts_unwind, measure, opened_run, run_file
from middlemark.suite import RawOptions, Suite, load
from middlemark.suite.overrides import FIRST_ROUNDS, PrecisionAsked, read_precision
from middlemark.workers.find import left_out

if TYPE_CHECKING:
    from middlemark.document import MeasuredRun
    from middlemark.store import RunWriter


@click.command(name="run")
@run_options
def command(
    suites: tuple[str, ...],
    options: RawOptions,
    dry_run: bool,
    out: str | None,
    interface: str,
    until_precise: str | None,
    budget: str | None,
    focus: tuple[str, ...],
    resume: str | None,
    output_format: str,
    breakdown: bool,
    quiet: bool,
) -> int:
    """Measure SUITE… (names from `middlemark list suites`, or paths); without one, first-look, or what options say."""
    with interrupts_unwind():  # the workers that are asked what they are must not be left behind
        workers = built_workers()
    shown = Shown(interface, output_format, quiet, breakdown)
    precise, problems = read_precision(until_precise, budget, focus, options.keys.get("trials"))
    if resume is not None:
        beside = bool(suites or out or dry_run or until_precise or budget or focus or options != RawOptions())
        return measure(*_resumed(Path(resume), beside, workers), workers, shown, _print)
    if precise is not None:
        options = msgspec.structs.replace(options, keys={**options.keys, "trials": str(FIRST_ROUNDS)})
    checked, plan = _plan(suites, options, workers, [*problems, *_interface_problems(interface)], precise)
    if dry_run:
        _show_plan(plan)
        return exits.OK
    file = run_file(plan, checked, workers)
    return measure(lambda: opened_run(Path(out or DEFAULT_OUT), file), (), workers, shown, _print)


def _plan(
    suites: Sequence[str],
    options: RawOptions,
    workers: Mapping[str, Worker],
    problems: list[Problem],
    precise: PrecisionAsked | None,
) -> tuple[tuple[Suite, ...], Plan]:
    """Check everything before anything is complained about: what is wrong is told at once, ``problems`` first."""

    def plan_of(checked: Sequence[Suite], only: Sequence[str]) -> Plan:
        return make_plan(
            checked,
            [worker.description for worker in workers.values()],
            cpus=sorted(os.sched_getaffinity(0)),
            seed=secrets.randbits(32),
            only=only,
            absent=left_out(),
        )

    try:
        checked = load(suites, options)
    except RequestError as error:
        problems += error.problems
        try:  # the names of adapters and transports can be checked whatever is wrong with the rest
            named = {name: typed for name, typed in options.keys.items() if name in ("adapter", "transport")}
            plan_of(load((), RawOptions(keys={"adapter": "all"} | named)), ())
        except RequestError as further:
            problems += further.problems
        raise RequestError(list(dict.fromkeys(problems))) from None
    try:
        plan = plan_of(checked, options.only)
        if precise is not None:
            plan = planned_until_precise(plan, precise)
    except RequestError as error:
        raise RequestError([*problems, *error.problems]) from None
    if problems:
        raise RequestError(problems)
    return checked, plan


def _interface_problems(name: str) -> list[Problem]:
    import socket

    known = [each for _, each in socket.if_nameindex()]
    if name in known:
        return []
    return [Problem("--interface", f"there is no network interface {name}; there are {', '.join(known)}")]


def _show_plan(plan: Plan) -> None:
    from middlemark.show.dry_run import render

    click.echo(render(plan, estimate_seconds(plan)), nl=False)


def _resumed(
    folder: Path, beside: bool, workers: Mapping[str, Worker]
) -> "tuple[Callable[[], RunWriter], tuple[TrialOutcome, ...]]":
    """Return how to open that run, and what it has. What is not as it was then is refused, all of it at once.

    ``beside``: something else was asked for in the same breath.
    """
    from middlemark.runs.measure import differences
    from middlemark.runs.read import stored_run
    from middlemark.store import StoreError, reopen_run

    run = stored_run(folder)
    problems = [Problem("--resume", each) for each in differences(run.file, workers)]
    if beside:
        problems.append(
            Problem("--resume", "goes on with what was asked then: leave suites, factors, --out and --dry-run out")
        )
    if problems:
        raise RequestError(problems)

    def opened() -> "RunWriter":
        try:
            return reopen_run(run)
        except StoreError as refused:
            raise MeasureError(str(refused), "wait for it, or measure anew") from None

    return opened, run.outcomes


def _print(run: "MeasuredRun", shown: Shown, seconds: float) -> str | None:
    """Print the results and write the report beside them; return why the results could not be printed."""
    from middlemark.document import document_of
    from middlemark.runs.report import tell_beside
    from middlemark.show import output, render
    from middlemark.stats.cells import samples_by_cell

    samples = samples_by_cell(run.file.plan, run.outcomes, run.samples)
    view = output.view(breakdown=shown.breakdown, samples_of=samples)
    unwritten = output.write(render(shown.output_format, document_of([run], took=seconds), view))
    tell_beside(run, quiet=shown.quiet)
    return unwritten
