"""``middlemark export``: a stored run in the formats of other tools."""

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.commands.options import fail_if_option, margin_option, metric_option, runs_argument
from middlemark.commands.page import option, page
from middlemark.model.spelling import did_you_mean
from middlemark.problems import MeasureError, Problem, RequestError, extra_module
from middlemark.show import EXPORTED, FORMATS

if TYPE_CHECKING:
    from middlemark.document import Document
    from middlemark.runs.sides import ComparisonRequest
    from middlemark.verdicts.rows import MeasuredRun


def _names(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    return [name for name in EXPORTED if name.startswith(typed)]


@page(
    "export",
    ("export --to junit --by adapter", "the newest run as test cases"),
    ("export runs/today --to parquet", "every sample, for pandas and R"),
    ("export --to csv --out -", "a row for each configuration, on stdout"),
)
@runs_argument("Folders of runs; a folder of such folders means its newest (default: runs).")
@option("--to", required=True, metavar="FORMAT", group="Output", shell_complete=_names, help=", ".join(EXPORTED) + ".")
@option(
    "--out",
    metavar="PATH",
    group="Output",
    default_text="in the run's folder",
    help="The file to write, or the folder for hdr and parquet; - is stdout.",
)
@option(
    "--by",
    metavar="FACTOR",
    group="What is shown",
    help="junit: one test case for each comparison of this factor's levels.",
)
@option(
    "--reference",
    metavar="LEVEL|RUN",
    group="What is shown",
    help="junit: the level (with --by) or the run to compare with.",
)
@metric_option("junit: the figure to compare: p50, p99, throughput, cpu, memory.", default="p50")
@margin_option()
@fail_if_option("junit: a test case fails only if this condition is met, as 'p50 slower than 5%'.")
def command(
    runs: tuple[str, ...],
    to: str,
    out: str | None,
    by: str | None,
    reference: str | None,
    metric: str,
    margin: str,
    fail_if: tuple[str, ...],
) -> int:
    """Write each run; return the exit code."""
    problems = []
    if to not in EXPORTED:
        problems.append(Problem("--to", f"there is no format {to}; {did_you_mean(to, EXPORTED)}"))
    if len(runs) > 1 and (out or reference):
        problems.append(Problem("--out, --reference", f"belong to one run, but {len(runs)} runs are named"))
    if fail_if and not (by or reference):
        problems.append(Problem("--fail-if", "needs something to compare: --by FACTOR or --reference RUN"))
    if to != "junit" and (by or reference or fail_if):
        problems.append(Problem("--by, --reference, --fail-if", "are for verdicts, and only junit has verdicts"))
    if to in EXPORTED and FORMATS[to].folder and out == "-":
        problems.append(Problem("--out", f"{to} writes a folder of files, not one file; name a folder"))
    if problems:
        raise RequestError(problems)

    from middlemark.runs.read import read_runs
    from middlemark.runs.sides import ComparisonRequest
    from middlemark.show import output

    request = None
    measured = read_runs(runs, output.tell)
    if by or reference:
        folder = str(measured[0].folder)
        sides = [folder] if by else [str(reference), folder]
        request = ComparisonRequest(sides, by, reference if by else None, metric, margin, fail_if)
    for each in measured:
        _export(each, to, out, request)
    return exits.OK


def _export(measured: "MeasuredRun", to: str, out: str | None, request: "ComparisonRequest | None") -> None:
    """Write one run. Raises MeasureError."""
    from middlemark.document import document_of, with_experiments
    from middlemark.runs.read import trials_of
    from middlemark.show import View, output, render
    from middlemark.stats.cells import samples_by_cell

    folder = measured.folder
    document = document_of([measured])
    if FORMATS[to].folder:
        path = Path(out) if out else folder / to
        format_ = importlib.import_module(f"middlemark.show.{to}")
        modules = [extra_module(each, to, f"--to {to}") for each in format_.MODULES]
        if path.exists():
            raise MeasureError(f"{path}: is there already", "remove it, or name another folder with --out DIR")
        kept = partial(trials_of, measured, warn=output.tell)

        def fill(draft: Path) -> None:
            format_.write(document, draft, kept, *modules)

        _written(path, lambda: output.make_whole(path, fill))
        return
    if request is not None:
        text = _compared(document, request)
    else:
        samples = samples_by_cell(measured.file.plan, measured.outcomes, measured.samples)
        document = with_experiments(document) if FORMATS[to].judged else document
        text = render(to, document, View(samples_of=samples))
    if out == "-":
        unwritten = output.write(text)
        if unwritten is not None:
            raise MeasureError(unwritten)
        return
    path = Path(out) if out else folder / f"{folder.resolve().name}{FORMATS[to].ending}"
    _written(path, lambda: output.write_whole(path, text, named=out is not None))


def _compared(document: "Document", asked: "ComparisonRequest") -> str:
    """Return the JUnit document with a test case for each verdict."""
    from middlemark.runs.sides import asked_pairings
    from middlemark.show import junit, output

    pairings = asked_pairings(asked, anyway=False, warn=output.tell)
    metrics = tuple(dict.fromkeys((*asked.metrics, *(name for name, _ in asked.fail_if.worse))))
    judged = pairings.judged(metrics, asked.part)
    missed = {(id(each.pairing), metric) for metric, _, each in pairings.missed(asked)}
    failures = {index for index, each in enumerate(judged) if (id(each.pairing), each.metric) in missed}
    return junit.of_comparisons(document, judged, failures if asked.fail_if else None, asked.part)


def _written(path: Path, write: Callable[[], None]) -> None:
    """Call ``write``, which writes the file, and print the path. Raises MeasureError with the path."""
    try:
        write()
    except OSError as error:
        raise MeasureError(f"{path}: {error.strerror or error}", "name another place with --out") from None
    click.echo(path)
