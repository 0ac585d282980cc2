"""``middlemark selftest``: compares a configuration with itself, and with itself plus a planted delay."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from middlemark import exits
from middlemark.commands.options import LISTED, formats, out_option, quiet_option
from middlemark.commands.page import option, page
from middlemark.interrupts import unwind
from middlemark.model.asked import Planted, SelfTestCell
from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import Failure
from middlemark.model.plan import Note, Plan
from middlemark.model.units import format_percent, format_us, parse_percent
from middlemark.plan.native import accepts
from middlemark.plan.rounds import Variant, first_rounds, labelled
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.runs.conduct import (
    DEFAULT_OUT,
    Built,
    RunOptions,
    built_workers,
    measure,
    opened_run,
    plan_here,
    run_file,
)
from middlemark.suite import Suite, load, raw_options

if TYPE_CHECKING:
    from middlemark.stats.selftest import SelfTest
    from middlemark.verdicts.rows import MeasuredRun

FEWEST_TRIALS = 6
"""The fewest trials. With fewer trials every verdict is undecided, so the self-test could not fail."""
PILOT_ROUNDS = 5
LABELS = ("A1", "A2", "A3", "A4", "A5", "A6")
PLANT = "10%,20%,50%"
"""The planted delays in percent of A's p50. All are above the margin of 5 %, so verdicts should find them."""
MOST_PLANTED = 10.0
WARMUP = "50ms"


def _planted_in_shm(ns: float) -> dict[str, str]:
    return {"planted_delay_ns": str(max(1, round(ns / 2)))}  # each publish is delayed, and a round trip has two


def _planted_in_null(ns: float) -> dict[str, str]:
    return {"every_delay_ns": str(max(1, round(ns)))}  # only the pong delays, once a round trip


PLANTS = {"shm": _planted_in_shm, "null": _planted_in_null}
"""Adapter → function that returns the native settings which make a round trip longer by a number of ns."""


@page(
    "selftest",
    ("selftest", "ten trials, about two minutes"),
    ("selftest --trials 20 --plant 5%,10%", "smaller differences need more trials"),
    notes=(
        "One configuration is measured under six labels and with planted delays, in one run: through the raw transport "
        "of shared memory and through the null adapter. Then the verdicts of `compare` are checked against the planted "
        "delays. The exit code is 4 if significantly more than 5 % of the verdicts are false.",
    ),
)
@option("--trials", default="10", metavar="N", group="How long", help="Number of trials of each setting, at least six.")
@option("--duration", default="0.15s", metavar="TIME", group="How long", help="How long a trial measures.")
@option(
    "--plant",
    default=PLANT,
    metavar="PERCENT,…",
    separator=",",
    group="What is measured",
    help="The delays that are planted (added on purpose), in percent of the p50.",
)
@out_option("selftest")
@formats(*LISTED)
@quiet_option()
def command(trials: str, duration: str, plant: str, out: str | None, output_format: str, quiet: bool) -> int:
    """Measure, judge the verdicts and print how many are false; return the exit code."""
    import middlemark.runs.measure  # noqa: F401  imported before Ctrl-C raises

    with unwind():
        built = built_workers(PLANTS, only=True)
        parts, problems = _parts(plant)
        suites, plan = _base(trials, duration, built, problems)
        typical = _pilot(plan, built.workers, quiet)
    if typical is None:
        click.echo("middlemark: interrupted in the pilot; nothing is kept", err=True)
        return exits.INTERRUPTED
    settings = [_setting(plan.cells[index], each, parts) for index, each in enumerate(typical)]
    plan = _planned(plan, settings)
    file = msgspec.structs.replace(run_file(plan, suites, built), selftest=tuple(settings))
    shown = _Shown()
    status = measure(
        lambda: opened_run(Path(out or DEFAULT_OUT), file),
        (),
        built.workers,
        RunOptions("lo", output_format, quiet),
        shown,
    )
    if status != exits.OK or shown.test is None:
        return status
    if shown.test.rounds < FEWEST_TRIALS:
        return exits.CELL_FAILED
    return exits.OK if shown.test.holds else exits.WORSE


def _parts(text: str) -> tuple[tuple[float, ...], list[Problem]]:
    """Return the planted delays as parts of the p50 (0.1 is 10 %), the smallest first, and the problems."""
    parts: set[float] = set()
    for each in text.split(","):
        try:
            part = parse_percent(each)
        except ValueError as error:
            return (), [Problem("--plant", str(error))]
        if not 0 < part <= MOST_PLANTED:
            return (), [Problem("--plant", f"{each} cannot be planted; a delay is more than 0% and at most 1000%")]
        parts.add(part)
    return tuple(sorted(parts)), []


def _unfit(adapter: str, built: Built) -> list[Problem]:
    worker = built.workers.get(adapter)
    if worker is None:
        how = built.absent.get(adapter, "in a checkout, ./middlemark builds it")
        return [Problem("selftest", f"measures through {adapter}, which is not built here: {how}")]
    missing = [key for key in PLANTS[adapter](1.0) if not accepts(worker.description, key)]
    if missing:
        return [
            Problem(
                worker.path, f"has no setting {missing[0]}, because the worker is of another version; build it again"
            )
        ]
    return []


def _base(trials: str, duration: str, built: Built, problems: Sequence[Problem]) -> tuple[tuple[Suite, ...], Plan]:
    """Plan the configuration that is compared with itself, without labels and delays.

    The adapters are shm with blocking receivers, and null with polling receivers if there is more than one processor.

    Raises RequestError with ``problems`` and all problems found while planning.
    """
    awake = "poll" if len(os.sched_getaffinity(0)) > 1 else "block"
    asked = [("shm", "shm", "1k", "block"), ("null", "memory", "16k", awake)]
    suites: list[Suite] = []
    wrong = [*problems, *(each for adapter, *_ in asked for each in _unfit(adapter, built))]
    for adapter, transport, size, receive in asked:
        options = raw_options(
            adapter=adapter,
            transport=transport,
            size=size,
            receive=receive,
            trials=trials,
            duration=duration,
            warmup=WARMUP,
            baseline=False,
        )
        try:  # missing adapters are reported above, with a better message
            suites += (msgspec.structs.replace(each, name="selftest") for each in load((), options))
        except RequestError as error:
            wrong += error.problems
    if any(sweep.trials < FEWEST_TRIALS for suite in suites for sweep in suite.sweeps):
        wrong.append(
            Problem("--trials", f"{trials} give no verdict; a verdict needs at least {FEWEST_TRIALS}, usually 10")
        )
    if wrong:
        raise RequestError(list(dict.fromkeys(wrong)))
    plan = plan_here(suites, built)
    return tuple(suites[:1]), plan


def _pilot(plan: Plan, workers: Mapping[str, Worker], quiet: bool) -> list[float] | None:
    """Return the p50 in ns of each cell, from a few trials that are not stored. None: the user interrupted the pilot.

    A cell's p50 is the lower quartile of the p50s of its trials. On a bimodal machine that is the faster mode.
    """
    from middlemark.runs.scratch import measure_in_scratch

    pilot = first_rounds(plan, PILOT_ROUNDS)
    measured = measure_in_scratch(pilot, workers, quiet=quiet)
    if measured is None:
        return None
    typical = []
    for cell, trials in zip(pilot.cells, measured, strict=True):
        p50s = [times.p50 for each in trials if (times := each.times.round_trip_ns) and times.p50]
        if not p50s:
            why = next((each.outcome.failed for each in trials if each.outcome.failed), None)
            why = why or Failure("too-few", "a trial has too few samples for a p50", "give a longer --duration")
            raise MeasureError(f"the pilot through {cell.adapter} has no p50: {why.text}", why.advice)
        typical.append(sorted(p50s)[len(p50s) // 4])
    return typical


def _setting(cell: Cell, pilot_ns: float, parts: Sequence[float]) -> SelfTestCell:
    planted = tuple(Planted(f"A+{100 * part:g}%", part, float(round(part * pilot_ns))) for part in parts)
    return SelfTestCell(cell, pilot_ns, LABELS, planted)


def _planned(plan: Plan, settings: Sequence[SelfTestCell]) -> Plan:
    """Return the plan of the run: each configuration once under each label, and once with each delay."""
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
            + ", ".join(f"{format_percent(delay.part)} = {format_us(delay.delay_ns)} µs" for delay in each.planted),
        )
        for each in settings
    )
    return msgspec.structs.replace(labelled(plan, variants), notes=(*plan.notes, *notes))


class _Shown:
    """A function that prints the result of the run, and stores it for the exit code."""

    test: "SelfTest | None" = None

    def __call__(self, run: "MeasuredRun", shown: RunOptions) -> str | None:
        from middlemark.runs.printing import placed
        from middlemark.runs.selftest import render_result, result_of
        from middlemark.show import output

        self.test = result_of(run)
        return output.write(render_result(self.test, placed(run, shown.output_format), shown.output_format))
