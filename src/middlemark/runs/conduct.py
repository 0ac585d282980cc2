"""A run from its folder to its exit code: what every verb that measures does."""

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import click

from middlemark import __version__, exits, interrupts
from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Note, Plan
from middlemark.model.version import adapter_of
from middlemark.plan import make_plan
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.suite import Suite
from middlemark.workers.find import find_workers, left_out
from middlemark.workers.later import LATER, build_asked, left_for_later

if TYPE_CHECKING:
    from middlemark.model.run import NotTried, RunFile
    from middlemark.sites.cluster import Cluster
    from middlemark.stats.result import CellResult
    from middlemark.store import RunWriter
    from middlemark.verdicts.rows import MeasuredRun

DEFAULT_OUT = "runs"

NOT_KEPT = ("disk", "samples")
"""Failures of trials that were measured and could not be stored, or not be read back."""


class Built(NamedTuple):
    """The workers that are here, by adapter; and for each adapter that is known but not here, why."""

    workers: dict[str, Worker]
    absent: dict[str, str]
    unchecked: tuple[str, ...] = ()
    """Adapters that a run would build first: a plan that is only shown cannot say what they honour."""


def built_workers(asked: Iterable[str] = (), *, dry_run: bool = False) -> Built:
    """Return the workers; those that do not answer are told and left out. MeasureError: there are none.

    ``asked``: adapters that are named, or ``all``; those that are not built are built now (workers.later).
    ``dry_run``: nothing is built, and that there is none yet is no error.
    """
    asked = tuple(asked)
    if not dry_run:
        build_asked(asked)
    later = left_for_later()
    if later and not asked:
        names = ", ".join(later)
        click.echo(
            f"middlemark: not built yet: {names}; ./middlemark build, or a run that names one, builds it", err=True
        )
    found, broken = find_workers()
    for each in broken:
        click.echo(f"middlemark: {each.name} is left out: {each.path} {each.reason}", err=True)
    if not found and not (dry_run and later):
        raise MeasureError(
            "no adapter was found: workers are looked for in MIDDLEMARK_WORKERS, in the package and on the PATH",
            "in a checkout `./middlemark build` builds them; `middlemark list adapters` shows what is found",
        )
    workers = {worker.description.name: worker for worker in found}
    silent = {each.name: f"its worker does not work: {each.path} {each.reason}" for each in broken}
    absent = left_out() | {name: why for name, why in silent.items() if name not in workers}
    return Built(workers, absent, tuple(later) if dry_run else ())


def named_adapters(suites: Sequence[Suite]) -> list[str]:
    """Return the adapters that these suites name; where they name none they mean those that are built."""
    levels = [sweep.levels("adapter") for suite in suites for sweep in suite.sweeps]
    return [str(name) for each in levels if each.named for name in each.values]


def not_tried(plan: Plan, named: Sequence[str], built: Built) -> "tuple[NotTried, ...]":
    """Return who was meant and did not take part, and the command with which it would.

    ``named``: the adapters that were asked for; none, or ``all``: every one was meant.
    """
    from middlemark.model.run import NotTried

    meant = None if not named or "all" in named else {adapter_of(each) for each in named}
    tried = {cell.adapter for cell in plan.cells}
    found = [
        NotTried(name, "not built", f"./middlemark build {name}")
        if why.startswith(LATER)
        else NotTried(name, why.partition(" (")[0])
        for name, why in sorted(built.absent.items())
    ]
    notes = {note.text.partition(" ")[0]: note.text for note in plan.notes}
    for name, worker in built.workers.items():
        described = worker.description
        if name not in tried and "@" not in name and not described.is_raw_transport and not described.bench_only:
            found.append(NotTried(name, notes.get(name, "it has nothing that does what is asked")))
    return tuple(each for each in found if meant is None or each.adapter in meant)


def raw_transports_of(built: Built) -> tuple[str, ...]:
    """Return the adapters that are raw transports."""
    return tuple(name for name, worker in built.workers.items() if worker.description.is_raw_transport)


def plan_here(suites: Sequence[Suite], built: Built, only: Sequence[str] = (), hosts: Sequence[str] = ()) -> Plan:
    """Return the plan of these suites with the workers and processors that are here, in an order of its own.

    ``hosts``: by name, that roles may be on.
    """
    return make_plan(
        suites,
        [worker.description for worker in built.workers.values()],
        cpus=sorted(os.sched_getaffinity(0)),
        seed=secrets.randbits(32),
        only=only,
        absent=built.absent,
        unchecked=built.unchecked,
        hosts=hosts,
    )


def without_refused(plan: Plan, suites: Sequence[Suite], workers: Mapping[str, Worker], interface: str) -> Plan:
    """Return the plan without what its own workers refuse, where that may be skipped; else raise RequestError."""
    from middlemark.trial.refusals import refusals

    refused = interrupts.run(refusals(plan, workers, interface))
    if not refused:
        return plan
    from middlemark.plan.rounds import without
    from middlemark.show.progress import describe

    of: dict[str, list[str]] = {}
    for number, error in refused.items():
        text = f"{error.text} ({error.advice})" if error.advice else error.text
        of.setdefault(text, []).append(describe(plan.cells[number]))
    told = [(first if not others else f"{first} and {len(others)} more", text) for text, (first, *others) in of.items()]
    problems = [Problem(place, text) for place, text in told]
    if len(refused) < len(plan.cells):
        if all(sweep.skip_unsupported for suite in suites for sweep in suite.sweeps):
            return without(plan, refused, [Note(place, f"left out: {text}") for place, text in told])
        problems.append(Problem("--skip-unsupported", "leaves out what is refused and measures the rest"))
    raise RequestError(problems)


class RunOptions(NamedTuple):
    """How a run is measured and shown, whatever is in it."""

    interface: str
    output_format: str
    quiet: bool
    verbose: bool = False
    breakdown: bool = False
    fail_if: Sequence[str] = ()
    """What ends in exit code 4: ``expectations`` that do not hold, or also those that are ``undecided``."""
    failures_are_results: bool = False
    """That a configuration fails is part of what was asked, and no failure of the command."""


class Show(Protocol):
    """Prints what came of a run; returns why it could not be printed."""

    def __call__(self, run: "MeasuredRun", shown: RunOptions, seconds: float) -> str | None:
        """``seconds`` is what the run took."""


def run_file(
    plan: Plan,
    suites: Sequence[Suite],
    built: Built,
    cluster: "Cluster | None" = None,
    named: Sequence[str] | None = None,
) -> "RunFile":
    """Return what is kept of a run that begins now.

    ``cluster``: the hosts that take part; ``named``: the adapters that were asked for, None: those of the suites.
    """
    from middlemark.model.run import RunFile
    from middlemark.sites.machine import read_machine
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
        machines=() if cluster is None else cluster.machines,
        adapters=tuple(built.workers[name].description for name in used),
        not_tried=not_tried(plan, named_adapters(suites) if named is None else named, built),
        plan=plan,
    )


def opened_run(out: Path, file: "RunFile") -> "RunWriter":
    """Make the run's folder in ``out``. MeasureError where that cannot be."""
    from middlemark.store import StoreError, open_run

    try:
        return open_run(out, file)
    except StoreError as refused:
        raise MeasureError(str(refused), "choose another folder with --out DIR") from None


def measure(
    opened: "Callable[[], RunWriter]",
    known: Sequence[TrialOutcome],
    workers: Mapping[str, Worker],
    shown: RunOptions,
    show: Show,
    cluster: "Cluster | None" = None,
) -> int:
    """Measure all that is not ``known`` of the run that is opened. ``show`` tells what came of it.

    ``cluster``: the hosts that take part.
    """
    # Before interrupts unwind: an exception at any instruction of an import may be swallowed there.
    from middlemark.runs.measure import measure_trials
    from middlemark.runs.read import measured
    from middlemark.store import StoreError

    outcomes: list[TrialOutcome] = [*known]
    begin = time.monotonic()
    with interrupts.unwind():
        writer = opened()
        _tell_what_the_container_lacks(writer.file.plan)
        ending = measure_trials(
            writer, outcomes, workers, interface=shown.interface, quiet=shown.quiet, cluster=cluster
        )
        error = ending.error
        try:
            writer.close(interrupted=not ending.complete, error=error, reached=ending.reached)
        except StoreError as failure:
            error = error or str(failure)
    plan = writer.file.plan
    run = measured(writer.run(outcomes))
    results = run.results
    seconds = time.monotonic() - begin
    unwritten = show(run, shown, seconds)
    if unwritten is not None:
        click.echo(f"middlemark: {unwritten}; the run is kept in {writer.folder}", err=True)
    unkept = _unkept(results, len(plan.trials), error)
    if unkept is not None:
        click.echo(f"middlemark: {unkept}", err=True)
        click.echo("  make room there or choose another folder with --out DIR, and measure again", err=True)
    # That a candidate fails is part of the answer.
    asked = shown.failures_are_results or (plan.race is not None and plan.race.question)
    status = _status([] if asked else results, ending.complete, unwritten or unkept)
    return exits.WORSE if shown.fail_if and ending.complete and _missed(run, shown.fail_if) else status


def _tell_what_the_container_lacks(plan: Plan) -> None:
    from middlemark.sites.container import lacking, this_container

    container = this_container()
    for each in lacking(container, plan.cells) if container else ():
        click.echo(f"middlemark: this container: {each}", err=True)


def _missed(run: "MeasuredRun", fail_if: Sequence[str]) -> bool:
    """Tell the expectations that fail the run, each in a sentence, and say whether there is one."""
    from middlemark.document.expectations import expected_of
    from middlemark.stats.expectations import ClaimVerdict

    failing = (
        [ClaimVerdict.DOES_NOT_HOLD]
        if "undecided" not in fail_if
        else [each for each in ClaimVerdict if each != ClaimVerdict.HOLDS]
    )
    found = expected_of(run)
    missed = [each for each in found if each.verdict in failing]
    for each in missed:
        click.echo(f"middlemark: {each.sentence}", err=True)
    undecided = sum(each.verdict is ClaimVerdict.UNDECIDED for each in found if each not in missed)
    if undecided:
        more = "a larger --budget adds more rounds" if run.file.plan.deciding else "--until-decided adds rounds"
        click.echo(f"middlemark: {undecided} of {len(found)} expectations are undecided: {more}", err=True)
    return bool(missed)


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


def _status(results: Sequence["CellResult"], complete: bool, missing: str | None) -> int:
    if not complete:
        return exits.INTERRUPTED
    status = exits.of_cells([result.failed is not None for result in results]) if results else exits.OK
    return exits.CELL_FAILED if status == exits.OK and missing else status
