"""``middlemark site``: makes a static site of published results."""

from pathlib import Path

import click

from middlemark import exits
from middlemark.commands.page import argument, option, page
from middlemark.problems import MeasureError, Problem, RequestError


@page(
    "site",
    ("site results -o site", "the pages, which open from a folder"),
    ("site --no-reports", "without the report of each result, which has half a megabyte"),
    notes=("A file that was edited, or whose verdicts do not follow from its figures, is left out and named.",),
)
@argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path("results"), says="Default: results.")
@option("--out", "-o", metavar="DIR", default="site", group="Output", help="The folder that is made.")
@option(
    "--reports/--no-reports", default=True, group="Output", default_text="yes", help="Make the report of each result."
)
def command(folder: Path, out: str, reports: bool) -> int:
    """Write the site; return the exit code."""
    from middlemark.publish.files import InvalidResult, problems_of, read_result
    from middlemark.publish.site import html_of, pages, result_files
    from middlemark.show.output import make_whole, tell

    found = {}
    left_out = 0
    for path in result_files(folder):
        try:
            result = read_result(path)
            problems = problems_of(result)
        except InvalidResult as error:
            tell(str(error))
            left_out += 1
            continue
        if problems:
            tell(f"{path}: is left out: {problems[0]}")
            left_out += 1
        else:
            found[path.stem] = result
    if not found:
        raise MeasureError(
            f"{folder}: there is no valid published result", "make one: middlemark publish RUN --to results"
        )
    made = pages(found, {name: html_of(each) for name, each in found.items()} if reports else {})

    def fill(draft: Path) -> None:
        for name, text in made:
            target = draft / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    try:
        make_whole(Path(out), fill)
    except OSError as error:
        hint = "; choose another folder, or remove it" if isinstance(error, FileExistsError) else ""
        raise RequestError([Problem("--out", f"{out}: {error.strerror or error}{hint}")]) from None
    click.echo(Path(out) / "index.html")
    return exits.CELL_FAILED if left_out else exits.OK
