"""``middlemark export``: a stored run in the formats of other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.problems import MeasureError, Problem, RequestError

if TYPE_CHECKING:
    from middlemark.commands.exporting import Material

TEXTS = {
    "google-benchmark": ".benchmark.json",
    "csv": ".csv",
    "latencytest": ".latencytest.txt",
    "roundtrip": ".roundtrip.txt",
    "ddsperf": ".ddsperf.txt",
    "junit": ".junit.xml",
}
"""Formats of one file, and what its name ends in."""
FOLDERS = ("hdr", "parquet")
"""Formats of a folder."""


@click.command(name="export")
@click.argument("run", metavar="RUN")
@click.option("--to", "to", required=True, metavar="FORMAT", help=", ".join((*TEXTS, *FOLDERS)))
@click.option("--out", metavar="PATH", help="The file, or for hdr and parquet the folder; - is stdout.")
@click.option("--by", metavar="FACTOR", help="junit: a test case a comparison of that factor's levels.")
@click.option("--baseline", metavar="LEVEL|RUN", help="junit: the level (with --by) or the run that is compared with.")
@click.option("--metric", default="p50", metavar="M,…", help="junit: p50, p99, throughput, cpu, memory (default: p50).")
@click.option("--margin", default="5%", metavar="PERCENT", help="junit: what is smaller does not matter (5%).")
@click.option("--fail-if", "fail_if", multiple=True, metavar="'M slower than P'", help="junit: only that is a failure.")
def command(
    run: str,
    to: str,
    out: str | None,
    by: str | None,
    baseline: str | None,
    metric: str,
    margin: str,
    fail_if: tuple[str, ...],
) -> int:
    """Write RUN for other tools: into the run's own folder unless --out names another place."""
    problems = []
    if to not in TEXTS and to not in FOLDERS:
        problems.append(Problem("--to", f"there is no {to}; there are {', '.join((*TEXTS, *FOLDERS))}"))
    if to != "junit" and (by or baseline or fail_if):
        problems.append(Problem("--by, --baseline, --fail-if", "are for verdicts, which only junit has"))
    if to in FOLDERS and out == "-":
        problems.append(Problem("--out", f"{to} makes a folder of files, which stdout cannot be"))
    if problems:
        raise RequestError(problems)

    from middlemark.commands.exporting import compared, material, whole_file, whole_folder

    of_run = material(Path(run))
    if to in FOLDERS:
        return whole_folder(of_run, to, Path(out) if out else of_run.folder / to)
    verdicts = compared(run, by, baseline, metric, margin, fail_if) if by or baseline else None
    if verdicts is None and fail_if:
        raise RequestError([Problem("--fail-if", "wants something to compare: --by FACTOR or --baseline RUN")])
    text = _text(of_run, to) if verdicts is None else verdicts(of_run)
    if out == "-":
        from middlemark.commands.output import write

        unwritten = write(text)
        if unwritten is not None:
            raise MeasureError(unwritten)
        return exits.OK
    return whole_file(text, Path(out) if out else of_run.folder / f"{of_run.folder.resolve().name}{TEXTS[to]}")


def _text(of_run: "Material", to: str) -> str:
    from middlemark import report
    from middlemark.exports import google_benchmark, junit
    from middlemark.report import View, long_csv

    if to == "google-benchmark":
        return google_benchmark.render(of_run.facts, of_run.results, of_run.trials)
    if to == "csv":
        return long_csv.render(of_run.facts, of_run.results)
    if to == "junit":
        return junit.of_cells(of_run.facts, of_run.results)
    return report.render(to, of_run.facts, of_run.results, View(samples_of=of_run.samples_of))
