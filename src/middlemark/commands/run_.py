"""``middlemark run``: plan, measure, keep, show."""

import contextlib
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import click
import msgspec

from middlemark import __version__, exits
from middlemark.commands.options import run_options
from middlemark.launch.outcome import TrialOutcome
from middlemark.plan import Plan, estimate_seconds, make_plan
from middlemark.plan.rounds import until_precise as planned_until_precise
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.suite import RawOptions, Suite, load
from middlemark.suite.precision import FIRST_ROUNDS, Precise, read_precision
from middlemark.workers.description import Worker
from middlemark.workers.find import find_workers, left_out

if TYPE_CHECKING:
    from middlemark.report.document import MeasuredRun
    from middlemark.stats.result import CellResult
    from middlemark.store import RunFile, RunWriter

DEFAULT_OUT = "runs"

NOT_KEPT = ("disk", "samples")
"""Failures of trials that were measured and could not be stored, or not be read back."""


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
    precise, problems = read_precision(until_precise, budget, focus, options.trials)
    if resume is not None:
        beside = bool(suites or out or dry_run or until_precise or budget or focus or options != RawOptions())
        return measure(*_resumed(Path(resume), beside, workers), workers, shown)
    if precise is not None:
        options = msgspec.structs.replace(options, trials=str(FIRST_ROUNDS))
    checked, plan = _plan(suites, options, workers, [*problems, *_interface_problems(interface)], precise)
    if dry_run:
        _show_plan(plan)
        return exits.OK
    file = run_file(plan, checked, workers)
    return measure(lambda: opened_run(Path(out or DEFAULT_OUT), file), (), workers, shown)


def _plan(
    suites: Sequence[str],
    options: RawOptions,
    workers: Mapping[str, Worker],
    problems: list[Problem],
    precise: Precise | None,
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
            plan_of(load((), RawOptions(adapter=options.adapter or "all", transport=options.transport)), ())
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


def built_workers() -> dict[str, Worker]:
    """Return the workers by name; those that do not answer are told and left out. MeasureError: there are none."""
    found, broken = find_workers()
    for each in broken:
        click.echo(f"middlemark: {each.name} is left out: {each.path} {each.reason}", err=True)
    if not found:
        raise MeasureError(
            "no adapter was found: workers are looked for in MIDDLEMARK_WORKERS, in the package and on the PATH",
            "in a checkout ./middlemark builds them; `middlemark list adapters` shows what is found",
        )
    return {worker.description.name: worker for worker in found}


def _show_plan(plan: Plan) -> None:
    from middlemark.report.dry_run import render

    click.echo(render(plan, estimate_seconds(plan)), nl=False)


class Shown(NamedTuple):
    """How a run is measured and shown, whatever is in it."""

    interface: str
    output_format: str
    quiet: bool
    breakdown: bool = False


class Show(Protocol):
    """Prints what came of a run; returns why it could not be printed."""

    def __call__(self, run: "MeasuredRun", output_format: str, seconds: float) -> str | None:
        """``seconds`` is what the run took."""


def run_file(plan: Plan, suites: Sequence[Suite], workers: Mapping[str, Worker]) -> "RunFile":
    """Return what is kept of a run that begins now."""
    from middlemark.store import RunFile
    from middlemark.store.machine import read_machine
    from middlemark.store.run import utc_now

    used = dict.fromkeys(cell.adapter for cell in plan.cells)
    return RunFile(
        middlemark=__version__,
        suites=tuple(suite.name for suite in suites),
        suite_texts=_texts(suites),
        command=tuple(word.encode(errors="backslashreplace").decode() for word in sys.argv),
        started=utc_now(),
        seed=plan.seed,
        machine=read_machine(),
        adapters=tuple(workers[name].description for name in used),
        plan=plan,
    )


def opened_run(out: Path, file: "RunFile") -> "RunWriter":
    """Make the run's folder in ``out``. MeasureError where that cannot be."""
    from middlemark.store import StoreError, open_run

    try:
        return open_run(out, file)
    except StoreError as refused:
        raise MeasureError(str(refused), "choose another folder with --out DIR") from None


def _resumed(
    folder: Path, beside: bool, workers: Mapping[str, Worker]
) -> "tuple[Callable[[], RunWriter], tuple[TrialOutcome, ...]]":
    """Return how to open that run, and what it has. What is not as it was then is refused, all of it at once.

    ``beside``: something else was asked for in the same breath.
    """
    from middlemark.commands.resume import differences
    from middlemark.commands.stored import stored_run
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


def measure(
    opened: "Callable[[], RunWriter]",
    known: Sequence[TrialOutcome],
    workers: Mapping[str, Worker],
    shown: Shown,
    show: Show | None = None,
) -> int:
    """Measure all that is not ``known`` of the run that is opened. ``show`` tells what came of it; None: the table."""
    from middlemark.commands.measured import summarised
    from middlemark.commands.report_ import tell_beside

    # Before interrupts unwind: an exception at any instruction of an import may be swallowed there.
    from middlemark.commands.trials import measure_trials
    from middlemark.store import StoreError

    outcomes: list[TrialOutcome] = [*known]
    begin = time.monotonic()
    with interrupts_unwind():
        writer = opened()
        ending = measure_trials(writer, outcomes, workers, interface=shown.interface, quiet=shown.quiet)
        error = ending.error
        try:
            writer.close(interrupted=not ending.complete, error=error, reached=ending.reached)
        except StoreError as failure:
            error = error or str(failure)
    plan = writer.file.plan
    run = summarised(writer.file, outcomes, writer.folder)
    results = run.results
    seconds = time.monotonic() - begin
    if show is None:
        unwritten = _print(run, shown.output_format, seconds, breakdown=shown.breakdown)
        tell_beside(run, quiet=shown.quiet)
    else:
        unwritten = show(run, shown.output_format, seconds)
    if unwritten is not None:
        click.echo(f"middlemark: {unwritten}; the run is kept in {writer.folder}", err=True)
    unkept = _unkept(results, len(plan.trials), error)
    if unkept is not None:
        click.echo(f"middlemark: {unkept}", err=True)
        click.echo("  make room there or choose another folder with --out DIR, and measure again", err=True)
    return _status(results, ending.complete, unwritten or unkept)


@contextlib.contextmanager
def interrupts_unwind() -> Iterator[None]:
    """Within, where there is something to clear away, SIGINT is a KeyboardInterrupt; elsewhere it ends the process."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _unkept(results: Sequence["CellResult"], planned: int, error: str | None) -> str | None:
    """Return what the run's folder did not take, with the path; None: all that was measured is there."""
    if error is not None:
        return f"the run ended early: {error}; what was measured before is kept"
    lost = [failure for result in results for failure in result.failures if failure.code in NOT_KEPT]
    return f"{len(lost)} of {planned} trials could not be kept: {lost[0].text}" if lost else None


def _texts(suites: Sequence[Suite]) -> dict[str, str]:
    texts = {}
    for suite in suites:
        path = Path(suite.place)
        if path.is_file():
            texts[suite.name] = path.read_text(encoding="utf-8", errors="replace")
    return texts


def _print(run: "MeasuredRun", output_format: str, seconds: float, *, breakdown: bool) -> str | None:
    """Return why the results could not be printed."""
    from middlemark.commands import output
    from middlemark.commands.facts import run_facts
    from middlemark.report import View, render
    from middlemark.stats.cells import samples_by_cell

    facts = run_facts(run.file, run.outcomes, Path(run.folder), seconds)
    view = View(
        width=shutil.get_terminal_size((100, 24)).columns if output.is_terminal() else 100,
        colour=output.is_terminal() and "NO_COLOR" not in os.environ,
        breakdown=breakdown,
        samples_of=samples_by_cell(run.file.plan, run.outcomes, run.samples),
    )
    return output.write(render(output_format, facts, run.results, view))


def _status(results: Sequence["CellResult"], complete: bool, missing: str | None) -> int:
    failed = [result.failed is not None for result in results]
    if not complete:
        return exits.INTERRUPTED
    if all(failed):
        return exits.NOTHING_MEASURED
    return exits.CELL_FAILED if any(failed) or missing else exits.OK
