"""``middlemark export``: a stored run in the formats of other tools."""

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.problems import MeasureError, Problem, RequestError, extra_module
from middlemark.show import EXPORTED, FORMATS

if TYPE_CHECKING:
    from middlemark.document import Document
    from middlemark.runs.sides import ComparisonRequest


@click.command(name="export")
@click.argument("run", metavar="RUN")
@click.option("--to", "to", required=True, metavar="FORMAT", help=", ".join(EXPORTED))
@click.option("--out", metavar="PATH", help="The file to write, or the folder for hdr and parquet; - is stdout.")
@click.option("--by", metavar="FACTOR", help="junit: one test case for each comparison of this factor's levels.")
@click.option("--reference", metavar="LEVEL|RUN", help="junit: the level (with --by) or the run to compare with.")
@click.option("--metric", default="p50", metavar="M,…", help="junit: p50, p99, throughput, cpu, memory (default: p50).")
@click.option(
    "--margin", default="5%", metavar="PERCENT", help="junit: smaller differences do not matter (default: 5%)."
)
@click.option(
    "--fail-if",
    "fail_if",
    multiple=True,
    metavar="'M slower than P'",
    help="junit: a test case fails only if it shows this.",
)
def command(
    run: str,
    to: str,
    out: str | None,
    by: str | None,
    reference: str | None,
    metric: str,
    margin: str,
    fail_if: tuple[str, ...],
) -> int:
    """Write RUN for other tools, into the run's own folder unless --out names another place."""
    problems = []
    if to not in EXPORTED:
        problems.append(Problem("--to", f"there is no {to}; there are {', '.join(EXPORTED)}"))
    if to != "junit" and (by or reference or fail_if):
        problems.append(Problem("--by, --reference, --fail-if", "are for verdicts, which only junit has"))
    if to in EXPORTED and FORMATS[to].folder and out == "-":
        problems.append(Problem("--out", f"{to} makes a folder of files, which stdout cannot be"))
    if problems:
        raise RequestError(problems)

    from middlemark.document import document_of, with_experiments
    from middlemark.runs.read import damaged, read_measured, trials_of
    from middlemark.runs.sides import ComparisonRequest
    from middlemark.show import View, output, render
    from middlemark.stats.cells import samples_by_cell

    folder = Path(run)
    measured = read_measured(folder)
    for each in damaged(measured):
        output.tell(each)
    document = document_of([measured], took=sum(each.seconds for each in measured.outcomes))
    if FORMATS[to].folder:
        path = Path(out) if out else folder / to
        format_ = importlib.import_module(f"middlemark.show.{to}")
        modules = [extra_module(each, to, f"--to {to}") for each in format_.MODULES]
        if path.exists():
            raise MeasureError(f"{path}: is there already", "remove it, or name another folder with --out DIR")
        kept = partial(trials_of, measured, warn=output.tell)

        def fill(draft: Path) -> None:
            format_.write(document, draft, kept, *modules)

        return _written(path, lambda: output.make_whole(path, fill))
    if by or reference:
        runs = [run] if by else [str(reference), run]
        text = _compared(
            document, ComparisonRequest(runs, by, reference if by else None, metric, margin, fail_if, "table")
        )
    elif fail_if:
        raise RequestError([Problem("--fail-if", "needs something to compare: --by FACTOR or --reference RUN")])
    else:
        samples = samples_by_cell(measured.file.plan, measured.outcomes, measured.samples)
        document = with_experiments(document) if FORMATS[to].judged else document
        text = render(to, document, View(samples_of=samples))
    if out == "-":
        unwritten = output.write(text)
        if unwritten is not None:
            raise MeasureError(unwritten)
        return exits.OK
    path = Path(out) if out else folder / f"{folder.resolve().name}{FORMATS[to].ending}"
    return _written(path, lambda: output.write_whole(path, text, named=out is not None))


def _compared(document: "Document", asked: "ComparisonRequest") -> str:
    """Return the JUnit document with a test case for each verdict."""
    from middlemark.runs.sides import asked_pairings
    from middlemark.show import junit, output

    pairings = asked_pairings(asked, anyway=False, warn=output.tell)
    metrics = tuple(dict.fromkeys((*asked.metrics, *(name for name, _ in asked.gates))))
    judged = pairings.judged(metrics, asked.part)
    missed = {(id(each.pairing), metric) for metric, _, each in pairings.missed(asked)}
    failures = {index for index, each in enumerate(judged) if (id(each.pairing), each.metric) in missed}
    return junit.of_comparisons(document, judged, failures if asked.gates else None, asked.part)


def _written(path: Path, write: Callable[[], None]) -> int:
    """Call ``write`` and print the path. Raises MeasureError with the path."""
    try:
        write()
    except OSError as error:
        raise MeasureError(f"{path}: {error.strerror or error}", "name another place with --out") from None
    click.echo(path)
    return exits.OK
