"""``middlemark selftest``: A against itself, and against itself with a delay planted in it, on this machine."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from middlemark import exits
from middlemark.commands.run_ import DEFAULT_OUT, Shown, built_workers, interrupts_unwind, measure, opened_run, run_file
from middlemark.launch.outcome import Failure, TrialOutcome
from middlemark.plan import Note, Plan, make_plan
from middlemark.plan.labels import Variant, labelled, rounds
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.suite import RawOptions, Suite, load
from middlemark.units import format_percent, format_us
from middlemark.workers.description import Worker
from middlemark.workers.find import left_out

if TYPE_CHECKING:
    from middlemark.stats.result import CellResult
    from middlemark.stats.selftest import SelfTest, Setting
    from middlemark.store import RunFile

FORMATS = ("table", "json")
FEWEST_TRIALS = 6
"""Fewer cannot give a verdict, and a check that cannot fail is none."""
PILOT_ROUNDS = 5
LABELS = ("A1", "A2", "A3", "A4", "A5", "A6")
PARTS = (0.1, 0.2, 0.5)
"""Of A's p50. A difference within the margin of 5 % is none that a verdict is to find."""
WARMUP = "50ms"


def _planted_in_shm(ns: float) -> dict[str, str]:
    return {"planted_delay_ns": str(max(1, round(ns / 2)))}  # every publish has it, and a round trip has two


def _planted_in_null(ns: float) -> dict[str, str]:
    return {"every_delay_ns": str(max(1, round(ns)))}  # the pong alone has it


PLANTS = {"shm": _planted_in_shm, "null": _planted_in_null}
"""Adapter → the native settings by which a round trip takes so many ns longer."""


@click.command(name="selftest")
@click.option(
    "--trials", default="10", metavar="N", show_default=True, help="Trials of each setting; six are the fewest."
)
@click.option("--duration", default="0.15s", metavar="TIME", show_default=True, help="How long a trial measures.")
@click.option("--out", metavar="DIR", help="Where the run's folder <time>-selftest is made (default: runs).")
@click.option("--format", "output_format", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--quiet", is_flag=True, help="No progress, only the result.")
def command(trials: str, duration: str, out: str | None, output_format: str, quiet: bool) -> int:
    """Say how often a verdict is false on this machine, and which differences it finds.

    One setting is measured under six labels and with three planted delays, all in one run as any other, through the
    floor of shared memory and through the scripted queue; then the verdicts of `compare` are held against the truth.
    Ends with 4 where more verdicts are false than 5 % allow.
    """
    with interrupts_unwind():
        workers = built_workers()
        suites, plan = _base(trials, duration, workers)
        medians = _pilot(plan, workers, quiet)
    if medians is None:
        click.echo("middlemark: interrupted in the pilot; nothing is kept", err=True)
        return exits.INTERRUPTED
    settings = [_setting(plan, index, each) for index, each in enumerate(medians)]
    plan = _planned(plan, settings)
    file = run_file(plan, suites, workers)
    shown = _Shown(settings)
    status = measure(
        lambda: opened_run(Path(out or DEFAULT_OUT), file), (), workers, Shown("lo", output_format, quiet), shown
    )
    if status == exits.OK and shown.test is not None and not shown.test.holds:
        return exits.WORSE
    return status


def _base(trials: str, duration: str, workers: Mapping[str, Worker]) -> tuple[tuple[Suite, ...], Plan]:
    """Plan A alone, as `run` would: through shared memory asleep, and through the scripted queue awake."""
    awake = "poll" if len(os.sched_getaffinity(0)) > 1 else "block"
    asked = [("shm", "shm", "1k", "block"), ("null", "memory", "16k", awake)]
    suites: list[Suite] = []
    for adapter, transport, size, receive in asked:
        options = RawOptions(
            adapter=adapter,
            transport=transport,
            size=size,
            receive=receive,
            trials=trials,
            duration=duration,
            warmup=WARMUP,
        )
        suites += (msgspec.structs.replace(each, name="selftest") for each in load((), options))
    if any(sweep.trials < FEWEST_TRIALS for suite in suites for sweep in suite.sweeps):
        text = f"{trials} of each cannot give a verdict; {FEWEST_TRIALS} are the fewest, 10 the usual"
        raise RequestError([Problem("--trials", text)])
    plan = make_plan(
        suites,
        [worker.description for worker in workers.values()],
        cpus=sorted(os.sched_getaffinity(0)),
        seed=secrets.randbits(32),
        absent=left_out(),
    )
    return tuple(suites[:1]), plan


def _pilot(plan: Plan, workers: Mapping[str, Worker], quiet: bool) -> list[float] | None:
    """Return A's p50 in ns, a cell each, by a few trials that are not kept; None: interrupted."""
    import statistics

    from middlemark.commands.progress import progress
    from middlemark.commands.stored import readers
    from middlemark.launch.domains import Domains
    from middlemark.launch.run import run_plan
    from middlemark.launch.trial import Site
    from middlemark.stats.trials import trial_summary

    pilot = rounds(plan, PILOT_ROUNDS)
    outcomes: list[TrialOutcome] = []
    with tempfile.TemporaryDirectory(prefix="middlemark-selftest-") as name:
        (Path(name) / "samples").mkdir()
        site = Site(name, secrets.token_hex(3), Domains(plan.seed))
        try:
            with progress(pilot, quiet=quiet) as watcher:
                if not run_plan(pilot, workers, site, outcomes.append, watcher):
                    return None
        except KeyboardInterrupt:
            return None
        samples, kept = readers(Path(name))
        medians = []
        for index, cell in enumerate(pilot.cells):
            trials = [trial_summary(cell, each, samples, kept) for each in outcomes if each.cell == index]
            known = [times.p50 for each in trials if (times := each.times["round_trip_ns"]) and times.p50]
            if not known:
                why = next((each.outcome.failed for each in trials if each.outcome.failed), None)
                why = why or Failure("too-few", "a trial has too few samples for a p50", "give a longer --duration")
                raise MeasureError(f"the pilot through {cell.adapter} has no p50: {why.text}", why.advice)
            medians.append(statistics.median(known))
    return medians


def _setting(plan: Plan, index: int, pilot_ns: float) -> "Setting":
    from middlemark.stats.selftest import Planted, Setting

    planted = tuple(Planted(f"A+{100 * part:g}%", part, float(round(part * pilot_ns))) for part in PARTS)
    return Setting(plan.cells[index], pilot_ns, LABELS, planted)


def _planned(plan: Plan, settings: "Sequence[Setting]") -> Plan:
    """Return the plan of the run: A under each label, and with each delay."""
    variants = [
        (
            *(Variant(label) for label in each.same),
            *(Variant(planted.label, PLANTS[each.cell.adapter](planted.delay_ns)) for planted in each.planted),
        )
        for each in settings
    ]
    notes = tuple(
        Note(
            each.cell.adapter,
            f"p50 of the pilot {format_us(each.pilot_ns)} µs; planted: "
            + ", ".join(f"{format_percent(of.part)} = {format_us(of.delay_ns)} µs" for of in each.planted),
        )
        for each in settings
    )
    return msgspec.structs.replace(labelled(plan, variants), notes=(*plan.notes, *notes))


class _Shown:
    """Reads the run back as `compare` does, judges it and prints what came of it."""

    def __init__(self, settings: "Sequence[Setting]") -> None:
        self._settings = settings
        self.test: SelfTest | None = None

    def __call__(
        self,
        plan: Plan,
        file: "RunFile",
        outcomes: Sequence[TrialOutcome],
        folder: Path,
        output_format: str,
        seconds: float,
    ) -> "tuple[tuple[CellResult, ...], str | None]":
        from middlemark.commands import output
        from middlemark.commands.comparing import Selection, sides_of
        from middlemark.commands.facts import run_facts
        from middlemark.commands.stored import readers
        from middlemark.report import selftest as report
        from middlemark.stats.cells import cell_results
        from middlemark.stats.selftest import reckon

        samples, kept = readers(folder)
        results = cell_results(plan, outcomes, samples, {each.name: each for each in file.adapters}, kept)
        self.test = reckon(sides_of(Selection(folder)), self._settings)
        facts = run_facts(file, outcomes, folder, seconds)
        width = shutil.get_terminal_size((100, 24)).columns if output.is_terminal() else 100
        text = {
            "table": lambda: report.render_table(self.test, facts, width),
            "json": lambda: report.render_json(self.test, facts),
        }[output_format]()
        return results, output.write(text)
