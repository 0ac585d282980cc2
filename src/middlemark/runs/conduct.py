"""The steps that every verb that measures shares: find workers, plan, measure, print, choose the exit code."""

import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import click

from middlemark import __version__, exits, interrupts
from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.pairs import NO_INTEROP
from middlemark.model.plan import Note, Plan
from middlemark.model.units import format_count
from middlemark.model.version import adapter_of
from middlemark.plan import make_plan
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.runs.fail_if import FailIf
from middlemark.suite import Suite
from middlemark.workers.find import LATER, NO_CANDIDATES, find_workers, left_out
from middlemark.workers.later import build_asked, left_for_later

if TYPE_CHECKING:
    from middlemark.model.run import NotTried, RunFile
    from middlemark.sites.cluster import Cluster
    from middlemark.stats.result import CellResult
    from middlemark.store import RunWriter
    from middlemark.verdicts.rows import MeasuredRun

DEFAULT_OUT = "runs"

NOT_KEPT = ("disk", "samples")
"""Codes of failures of trials that were measured, but could not be stored or read back."""


class Built(NamedTuple):
    """Adapter → its worker for the adapters that are built, and the reason for each other adapter."""

    workers: dict[str, Worker]
    absent: dict[str, str]
    unchecked: tuple[str, ...] = ()
    """The adapters that a run would build first. A dry run cannot check their capabilities."""

    def in_language(self, language: str | None) -> "Built":
        """Return only the raw transports and the middlewares in this language; None: everything.

        Raises RequestError if none.
        """
        if language is None:
            return self
        kept = {
            name: worker
            for name, worker in self.workers.items()
            if worker.description.is_raw_transport or worker.description.language == language
        }
        if all(worker.description.is_raw_transport for worker in kept.values()):
            text = f"no requested adapter that is built is in {language}; `middlemark list adapters` shows all"
            raise RequestError([Problem("--language", text)])
        return self._replace(workers=kept)


def built_workers(asked: Iterable[str] = (), *, only: bool = False, dry_run: bool = False) -> Built:
    """Return the workers. If a worker does not answer, this is reported and the worker is left out.

    Raises MeasureError if there are no workers.

    ``asked``: names of adapters, or ``all``. Adapters that are not built yet are built first (workers.later).
    ``only``: the caller uses no other adapters, besides baselines.
    ``dry_run``: builds nothing, and returns no workers without an error if none is built.
    """
    asked = tuple(asked)
    if not dry_run:
        build_asked(asked)
    later = left_for_later()
    if later and not asked:
        names = ", ".join(later)
        click.echo(
            f"middlemark: not built yet: {names}; to build them, name them in a run or use ./middlemark build", err=True
        )
    found, broken = find_workers(asked if only else ())
    for each in broken:
        click.echo(f"middlemark: {each.name} is left out: {each.path} {each.reason}", err=True)
    if not found and not (dry_run and later):
        raise MeasureError(
            "no adapter was found in MIDDLEMARK_WORKERS, in the package or on the PATH",
            "in a checkout, `./middlemark build` builds the adapters; to see what is found: middlemark list adapters",
        )
    workers = {worker.description.name: worker for worker in found}
    silent = {each.name: f"its worker does not work: {each.path} {each.reason}" for each in broken}
    absent = left_out() | {name: why for name, why in silent.items() if name not in workers}
    return Built(workers, absent, tuple(later) if dry_run else ())


def names_all(suites: Sequence[Suite]) -> bool:
    """Return true if each sweep names its adapters, so that the run uses no others."""
    return all("all" not in sweep.adapters for suite in suites for sweep in suite.sweeps)


def named_adapters(suites: Sequence[Suite]) -> list[str]:
    """Return the adapters that these suites name. A suite without names means all adapters that are built."""
    asked = [sweep.adapters for suite in suites for sweep in suite.sweeps]
    return [str(name) for each in asked if each != ("all",) for name in each]


def not_tried(plan: Plan, named: Sequence[str], built: Built) -> "tuple[NotTried, ...]":
    """Return the requested adapters that are not in the plan, each with the reason and the command that builds it.

    ``named``: the requested adapters. Empty, or with ``all`` in it: every adapter.
    """
    from middlemark.model.run import NotTried

    meant = None if not named or "all" in named else {adapter_of(each) for each in named}
    tried = {each for cell in plan.cells for name in cell.sides for each in (name, adapter_of(name))}
    found = [
        NotTried(name, "not built", f"./middlemark build {name}")
        if why.startswith(LATER)
        else NotTried(name, re.sub(r" \([^()]*\)$", "", why))  # without the advice at the end
        for name, why in sorted(built.absent.items())
        if name not in NO_CANDIDATES or meant is not None
    ]
    notes = {note.text.partition(" ")[0]: note.text for note in plan.notes}
    for name, worker in built.workers.items():
        described = worker.description
        if name not in tried and "@" not in name and not described.is_raw_transport and not described.bench_only:
            found.append(NotTried(name, notes.get(name, "it supports no requested configuration")))
    return tuple(each for each in found if meant is None or each.adapter in meant)


def raw_transports_of(built: Built) -> tuple[str, ...]:
    """Return the adapters that are raw transports."""
    return tuple(name for name, worker in built.workers.items() if worker.description.is_raw_transport)


def plan_here(suites: Sequence[Suite], built: Built, only: Sequence[str] = (), hosts: Sequence[str] = ()) -> Plan:
    """Return the plan of these suites for the workers and processors of this machine, with a random seed.

    ``hosts``: names of the hosts on which roles may run.
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
    """Return the plan without the cells that workers refuse.

    Raises RequestError if workers refuse all cells, or if they refuse some and --skip-unsupported is not set.
    """
    from middlemark.trial.refusals import refusals

    refused = interrupts.run(refusals(plan, workers, interface))
    if not refused:
        return plan
    from middlemark.plan.rounds import without
    from middlemark.show.progress import describe

    cells_of: dict[str, list[str]] = {}
    for number, error in refused.items():
        text = f"{error.text} ({error.advice})" if error.advice else error.text
        cells_of.setdefault(text, []).append(describe(plan.cells[number]))
    reasons = [
        (f"{first} and {len(others)} more" if others else first, text) for text, (first, *others) in cells_of.items()
    ]
    problems = [Problem(place, text) for place, text in reasons]
    if len(refused) < len(plan.cells):
        if all(sweep.skip_unsupported for suite in suites for sweep in suite.sweeps):
            return without(plan, refused, [Note(place, f"left out: {text}") for place, text in reasons])
        problems.append(Problem("--skip-unsupported", "leaves out these configurations and measures the others"))
    raise RequestError(problems)


class RunOptions(NamedTuple):
    """The options of a verb that decide how a run is measured and printed."""

    interface: str
    output_format: str
    quiet: bool
    verbose: bool = False
    breakdown: bool = False
    rows: bool = False
    fail_if: FailIf = FailIf()
    """The conditions of ``--fail-if`` on expectations. ``undecided`` also means untestable or not holding."""
    failures_are_results: bool = False
    """True if the exit code does not change when a configuration fails."""


class Show(Protocol):
    """A function that prints the results of a run."""

    def __call__(self, run: "MeasuredRun", shown: RunOptions) -> str | None:
        """Print ``run`` as stored. Returns None, or the reason why it could not be printed."""


def run_file(
    plan: Plan,
    suites: Sequence[Suite],
    built: Built,
    cluster: "Cluster | None" = None,
    named: Sequence[str] | None = None,
) -> "RunFile":
    """Return the content of run.json for a run that begins now.

    ``cluster``: the hosts of the run. ``named``: the requested adapters; None: the adapters that the suites name.
    """
    from middlemark.model.run import RunFile
    from middlemark.sites.machine import read_machine
    from middlemark.store.run import utc_now

    used = dict.fromkeys(name for cell in plan.cells for name in cell.sides)
    return RunFile(
        middlemark=__version__,
        suites=tuple(suite.name for suite in suites),
        suite_texts=_texts(suites),
        command=tuple(word.encode(errors="backslashreplace").decode() for word in sys.argv),
        started=utc_now(),
        commit=_commit(),
        seed=plan.seed,
        machine=read_machine(),
        machines=() if cluster is None else cluster.machines,
        adapters=tuple(built.workers[name].description for name in used),
        not_tried=not_tried(plan, named_adapters(suites) if named is None else named, built),
        plan=plan,
    )


def opened_run(out: Path, file: "RunFile") -> "RunWriter":
    """Create the run's folder in ``out``. Raises MeasureError if it cannot be created."""
    from middlemark.store import StoreError, open_run

    try:
        return open_run(out, file)
    except StoreError as refused:
        raise MeasureError(str(refused), "choose another folder with --out DIR") from None


def measure(
    opened: "Callable[[], RunWriter]",
    earlier: Sequence[TrialOutcome],
    workers: Mapping[str, Worker],
    shown: RunOptions,
    show: Show,
    cluster: "Cluster | None" = None,
) -> int:
    """Measure the trials of a run, print the results with ``show`` and return the exit code.

    ``opened``: opens the run for writing. ``earlier``: the outcomes of trials that are already measured. ``cluster``:
    the hosts; None: only this machine.
    """
    # Import now: an exception inside an import, such as KeyboardInterrupt, may be swallowed.
    from middlemark.runs.measure import measure_trials
    from middlemark.runs.read import measured
    from middlemark.store import StoreError

    outcomes: list[TrialOutcome] = [*earlier]
    with interrupts.unwind():
        writer = opened()
        _report_lacks_of_container(writer.file.plan)
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
    unwritten = show(run, shown)
    if unwritten is not None:
        click.echo(f"middlemark: {unwritten}; the run is kept in {writer.folder}", err=True)
    unkept = _unkept(results, len(plan.trials), error)
    if unkept is not None:
        click.echo(f"middlemark: {unkept}", err=True)
        click.echo("  make room there or choose another folder with --out DIR, and measure again", err=True)
    # For `which`, a failed candidate is part of the answer.
    asked = shown.failures_are_results or (plan.race is not None and plan.race.question)
    status = _status([] if asked else results, ending.complete, unwritten or unkept)
    return exits.WORSE if shown.fail_if and ending.complete and _missed(run, shown.fail_if) else status


def _report_lacks_of_container(plan: Plan) -> None:
    from middlemark.sites.container import lacking, this_container

    container = this_container()
    for each in lacking(container, plan.cells) if container else ():
        click.echo(f"middlemark: this container: {each}", err=True)


def _missed(run: "MeasuredRun", fail_if: FailIf) -> bool:
    """Print a sentence for each expectation that makes the command fail. Return whether there is any."""
    from middlemark.document.expectations import expected_of
    from middlemark.stats.expectations import ClaimVerdict

    grown = _grown(run, fail_if)
    if not fail_if.judges_expectations:
        return grown
    failing = (
        [ClaimVerdict.DOES_NOT_HOLD]
        if not fail_if.undecided
        else [each for each in ClaimVerdict if each != ClaimVerdict.HOLDS]
    )
    found = expected_of(run)
    missed = [each for each in found if each.verdict in failing]
    for each in missed:
        click.echo(f"middlemark: {each.sentence}", err=True)
    undecided = sum(each.verdict is ClaimVerdict.UNDECIDED for each in found if each not in missed)
    if undecided:
        more = "a larger --budget adds more rounds" if run.file.plan.deciding else "--until-decided adds rounds"
        click.echo(f"middlemark: {undecided} of {format_count(len(found), 'expectation')} undecided; {more}", err=True)
    return bool(missed) or grown


def _grown(run: "MeasuredRun", fail_if: FailIf) -> bool:
    """Print a sentence for each resource that grows by more than allowed. Return whether the command fails."""
    from middlemark.document.over_time import trend_text
    from middlemark.verdicts.long_trials import judged_growth, long_trials

    failing = False
    for trial in long_trials(run) if fail_if.grows else ():
        for resource, per_hour in fail_if.grows:
            growth = judged_growth(trial, resource, per_hour)
            failing = failing or bool(growth.above) or (fail_if.undecided and bool(growth.undecided))
            for each in (*growth.above, *growth.undecided):
                name = run.file.plan.cells[trial.cell].adapter
                click.echo(f"middlemark: {name}, {each.role}: {resource} {trend_text(each)}", err=True)
    return failing


def _unkept(results: Sequence["CellResult"], planned: int, error: str | None) -> str | None:
    """Return a sentence about results that could not be stored; None: all results are stored."""
    if error is not None:
        return f"the run ended early: {error}; earlier results are kept"
    lost = [failure for result in results for failure in result.failures if failure.code in NOT_KEPT]
    return f"{len(lost)} of {format_count(planned, 'trial')} could not be kept: {lost[0].text}" if lost else None


def _commit() -> str:
    """Return the commit of the work tree in which the command runs; empty: no work tree, or no git."""
    asked = ("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    try:
        found = subprocess.run(asked, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""


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
    # If a pair does not interoperate, this is a result and no failure.
    failed = [result.failed is not None and result.failed.code != NO_INTEROP for result in results]
    status = exits.of_cells(failed) if results else exits.OK
    return exits.CELL_FAILED if status == exits.OK and missing else status
