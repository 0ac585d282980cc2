"""``middlemark publish``: makes public results from stored runs, and checks them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.commands.options import runs_argument
from middlemark.commands.page import option, page
from middlemark.problems import Problem, RequestError

if TYPE_CHECKING:
    from middlemark.show.json.published import PublishedFinding
    from middlemark.verdicts.rows import MeasuredRun


@page(
    "publish",
    ("publish runs/2026-11-28_10-00-00-amr --to results", "one small file, to contribute"),
    ("publish --check results", "finds edits, and verdicts that do not follow from the figures"),
    notes=(
        "A file has the figures of every trial and no samples. The names of host and user, paths and addresses are "
        "left out. A run that is too doubtful is refused, with the reason.",
    ),
)
@runs_argument("Folders of runs, or with --check files of results; a folder means all its files.")
@option("--to", metavar="DIR", default="results", group="Output", help="Where the files are written.")
@option("--check", is_flag=True, group="Output", help="Check published files instead; exit with 4 if one is wrong.")
def command(runs: tuple[str, ...], to: str, check: bool) -> int:
    """Publish runs, or check files; return the exit code."""
    if check:
        return _check([Path(each) for each in runs or (to,)])
    from middlemark.publish.files import finished, name_of, names_here, refusals, text_of
    from middlemark.publish.private import private_parts
    from middlemark.publish.result import published
    from middlemark.runs.read import read_runs
    from middlemark.runs.report import written
    from middlemark.show.output import tell

    status = exits.OK
    folder = Path(to)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RequestError([Problem("--to", f"{folder}: {error.strerror or error}")]) from None
    for run in read_runs(runs, tell):
        if reasons := refusals(run):
            tell(f"{run.folder}: is not published: {'; '.join(reasons)}")
            status = exits.WORSE
            continue
        result = finished(published(run, *_doctor(run)))
        if private := private_parts(result, names_here(run)):
            tell(f"{run.folder}: is not published: {'; '.join(private[:3])}; measure without these settings")
            status = exits.WORSE
            continue
        path = folder / name_of(result)
        if problems := written(path, text_of(result)):
            tell(problems[0])
            return exits.CELL_FAILED
        click.echo(path)
    return status


def _doctor(run: "MeasuredRun") -> "tuple[list[PublishedFinding] | None, str | None]":
    """Return the findings of ``doctor``, or the reason why there are none: the run was measured on another machine."""
    from middlemark.show.json.published import PublishedFinding
    from middlemark.sites.machine import read_machine
    from middlemark.system.registry import findings
    from middlemark.system.root import Root

    if run.file.machines:
        return None, "the run was measured between several hosts"
    here = read_machine()
    if (here.host, here.cpu, here.kernel) != (run.file.machine.host, run.file.machine.cpu, run.file.machine.kernel):
        return None, "the run was published on another machine, or with another kernel"
    return [PublishedFinding(check=each.check, severity=each.severity) for each in findings(Root())], None


def _check(paths: list[Path]) -> int:
    """Print every problem of each file; return the exit code."""
    from middlemark.publish.files import InvalidResult, problems_of, read_result
    from middlemark.publish.site import result_files
    from middlemark.show.output import tell

    wrong = 0
    files = [file for path in paths for file in (result_files(path) if path.is_dir() else [path])]
    if not files:
        raise RequestError([Problem("--check", f"{', '.join(map(str, paths))}: there is no published result")])
    for path in files:
        try:
            problems = problems_of(read_result(path))
        except InvalidResult as error:
            tell(str(error))
            wrong += 1
            continue
        for each in problems:
            tell(f"{path}: {each}")
        wrong += bool(problems)
        if not problems:
            click.echo(f"{path}: nothing is wrong")
    return exits.WORSE if wrong else exits.OK
