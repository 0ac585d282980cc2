"""``middlemark diagnose``: finds the limits of the machine that a run's rows met, and tries to lift one."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from middlemark import exits
from middlemark.commands.options import LISTED, check_names, checks, formats, quiet_option, runs_argument
from middlemark.commands.page import option, page
from middlemark.model.asked import TriedLimit
from middlemark.model.spelling import did_you_mean, there_are
from middlemark.problems import MeasureError, Problem, RequestError

if TYPE_CHECKING:
    from middlemark.runs.conduct import RunOptions
    from middlemark.runs.diagnose import Diagnosis
    from middlemark.show.json.machine import DiagnoseOutput
    from middlemark.verdicts.rows import MeasuredRun

ANY = "*"
TRIALS = 10
"""The default number of pairs of trials. Ten pairs find a shift of 10 % in nine of ten cases."""


@page(
    "diagnose",
    ("diagnose", "the limits that the newest run met"),
    ("diagnose --try", "lifts the first limit, and measures before and after"),
    ("diagnose runs/today --try rmem_max", "lifts this limit"),
    notes=("Only limits with evidence in the trials are printed.",),
)
@runs_argument("Folders of runs; a folder of such folders means its newest (default: runs).")
@option(
    "--try", "tried", is_flag=False, flag_value=ANY, metavar="[CHECK]", group="What is measured", shell_complete=checks,
    help="Lift the limit CHECK (default: the first one that a setting can lift) and measure the rows that met it, "
    "interleaved with and without the limit. The setting is restored.",
)  # fmt: skip
@option(
    "--trials",
    default=TRIALS,
    type=click.IntRange(1, 1000),
    metavar="N",
    group="How long",
    help="Number of trials before the change, and after the change.",
)
@option(
    "--out",
    metavar="DIR",
    group="Output",
    default_text="the parent folder of RUN",
    help="Where the run of --try is stored.",
)
@formats(*LISTED)
@quiet_option()
def command(
    runs: tuple[str, ...], tried: str | None, trials: int, out: str | None, output_format: str, quiet: bool
) -> int:
    """Print the limits, or try to lift one limit; return the exit code."""
    from middlemark.runs.diagnose import diagnosed
    from middlemark.runs.read import read_runs
    from middlemark.show import output

    if tried is not None and len(runs) > 1:
        raise RequestError([Problem("--try", f"lifts a limit of one run, but {len(runs)} runs are named")])
    found = [(run, diagnosed(run)) for run in read_runs(runs, output.tell)]
    if tried is not None:
        [(run, limits)] = found
        return _try(run, _chosen(limits, tried), trials, Path(out) if out else run.folder.parent, output_format, quiet)
    if output_format == "text":
        text = "".join(_text(*each, several=len(found) > 1) for each in found)
    else:
        text = _listed(output_format, found)
    return exits.CELL_FAILED if output.failed(text) else exits.OK


def _text(run: "MeasuredRun", found: "tuple[Diagnosis, ...]", *, several: bool) -> str:
    from middlemark.show import output
    from middlemark.show.terminal import wrapped
    from middlemark.suite.request import shown_path

    folder = shown_path(run.folder)
    lines = [line for each in found for line in wrapped(each.sentence, output.width())]
    if any(each.lift for each in found):
        lines += wrapped(f"To measure before and after: middlemark diagnose {folder} --try", output.width())
    title = [f"{folder}:"] if several else []
    return "\n".join([*title, *(lines or ["The trials have no evidence that a row met a limit."])]) + "\n"


def _chosen(found: "tuple[Diagnosis, ...]", name: str) -> "Diagnosis":
    """Return the limit to lift. Raises RequestError if there is no evidence of the limit, or if no setting lifts it."""
    able = [each for each in found if each.lift is not None]
    chosen = next((each for each in (able if name == ANY else found) if name in (ANY, each.check)), None)
    if chosen is not None and chosen.lift is not None:
        return chosen
    if chosen is not None:
        text = f"no setting here lifts it: {chosen.sentence}"
    elif name == ANY:
        text = found[0].sentence if found else "the trials have no evidence that a row met a limit"
    else:
        limits = there_are([each.check for each in able]) if able else "and of no other limit that a setting lifts"
        text = f"no trial has evidence of {name}; {limits}"
        if name not in check_names():
            text = f"there is no check {name}; {did_you_mean(name, check_names())}"
    raise RequestError([Problem("--try", text)])


def _try(run: "MeasuredRun", found: "Diagnosis", trials: int, out: Path, output_format: str, quiet: bool) -> int:
    from middlemark.runs.conduct import RunOptions, built_workers, measure, opened_run, run_file, without_refused
    from middlemark.runs.diagnose import trial_plan
    from middlemark.suite import Suite

    built = built_workers()
    plan = trial_plan(run, found, trials, secrets.randbits(32))
    if absent := sorted({name for cell in plan.cells for name in cell.sides} - built.workers.keys()):
        raise MeasureError(f"{', '.join(absent)} is not built here", "middlemark list adapters shows why")
    suites = (Suite(name=f"try-{found.check}", place="diagnose --try", sweeps=()),)
    plan = without_refused(plan, suites, built.workers, "lo")
    assert found.lift is not None
    file = msgspec.structs.replace(run_file(plan, suites, built), tried=TriedLimit(found.check, found.lift))
    shown = RunOptions("lo", output_format, quiet, failures_are_results=True)
    return measure(lambda: opened_run(out, file), (), built.workers, shown, _print)


def _print(run: "MeasuredRun", shown: "RunOptions") -> str | None:
    """Print the verdict; return why it could not be printed."""
    from middlemark.runs.diagnose import render_tried
    from middlemark.runs.printing import placed
    from middlemark.runs.report import write_report_of
    from middlemark.show import output

    unwritten = output.write(render_tried(placed(run, shown.output_format), shown.output_format))
    write_report_of(run, quiet=shown.quiet)
    return unwritten


def _listed(output_format: str, found: "Sequence[tuple[MeasuredRun, tuple[Diagnosis, ...]]]") -> str:
    """Return the limits of all runs: as JSON a document for each run, in other formats one table."""
    from middlemark.show.json.machine import LimitRow, limit_rows
    from middlemark.show.json.output import printed
    from middlemark.show.records import render

    outputs = [_output(*each) for each in found]
    if output_format == "json":
        return "".join(printed(each, indent=1) for each in outputs)
    rows = [row for each in outputs for row in limit_rows(each)]
    return render(output_format, outputs[0], LimitRow, rows)


def _output(run: "MeasuredRun", found: "tuple[Diagnosis, ...]") -> "DiagnoseOutput":
    from middlemark.runs.diagnose import named
    from middlemark.show.json.machine import DiagnoseOutput, LimitedRow, LimitOutput

    def one(each: "Diagnosis") -> LimitOutput:
        lift = each.lift
        return LimitOutput(
            check=each.check,
            sentence=each.sentence,
            rows=tuple(
                LimitedRow(row=named(run.file.plan.cells[limit.cell]), symptom=limit.symptom, seen=limit.seen)
                for limit in each.limits
            ),
            setting=lift.name if lift else "",
            before=lift.before if lift else "",
            after=lift.after if lift else "",
            command=lift.command if lift else "",
            advice=each.limits[0].advice,
        )

    return DiagnoseOutput(run=str(run.folder), limits=tuple(map(one, found)))
