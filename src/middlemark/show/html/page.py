"""Fill the template of the report.

Jinja escapes all texts. The data are a JSON block, in which no text can end the block.
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from middlemark import __version__
from middlemark.document.document import Document
from middlemark.document.table import Table
from middlemark.problems import MeasureError
from middlemark.show.html.data import data_of
from middlemark.show.html.history import svg_line
from middlemark.show.html.values import texts_of

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPT = "report.js"
"""The bundle of the modules in ``scripts``, D3 and Observable Plot with their licences, made by ``web/build``."""

STYLES = ("page", "answer", "workload", "figures", "controls", "media")
"""The style sheets in order. A later rule replaces an earlier rule of the same specificity."""

_HERE = Path(__file__).parent

_ENDS_A_SCRIPT = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def render_html(document: Document) -> str:
    """Return the page of a report's document. Raises MeasureError if its script is missing."""
    return page_of(data_of(document))


def page_of(data: Mapping[str, Any]) -> str:
    """Return the page of a document's data."""
    return (
        environment()
        .get_template("report.html")
        .render(
            document=data,
            failures=[cell for cell in data["cells"] if cell.get("failed")],
            data=data_block(data),
            script=script(),
            styles=styles(),
        )
    )


def render_tables(title: str, tables: Sequence[Table]) -> str:
    """Return a page of tables without a script. Each table has a title."""
    parts = [{**texts_of(each), "title": each.title, "notes": each.notes} for each in tables]
    template = environment().get_template("tables.html")
    return template.render(title=title, parts=parts, styles=styles(), middlemark=__version__) + "\n"


@cache
def environment() -> "Environment":
    """Return Jinja's environment, which escapes all texts and compiles each template only once."""
    from jinja2 import Environment, FileSystemLoader, select_autoescape

    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["unbroken"] = unbroken
    made.filters["svg_line"] = svg_line
    return made


def styles() -> str:
    """Return the style sheet of all pages."""
    return "".join((_HERE / "styles" / f"{name}.css").read_text(encoding="utf-8") for name in STYLES)


def unbroken(text: str) -> str:
    """Return the text with no-break spaces between numbers and their units."""
    return re.sub(r"(?<=\d) (?=([KMG]i)?B\b|[kMG]?Hz\b)", "\u00a0", text)


def data_block(data: Mapping[str, Any]) -> str:
    """Return the data as JSON, in which no text can end the script element or a line of a script."""
    return msgspec.json.encode(data).decode().translate(_ENDS_A_SCRIPT)


@cache
def script() -> str:
    """Return the report's script. Raises MeasureError if the script was not bundled."""
    for folder in _places():
        file = folder / SCRIPT
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise MeasureError(
        "an HTML report needs D3 and Observable Plot, which are missing",
        "in a checkout: packaging/setup/setup.sh again web; else reinstall the package where npm can be reached",
    )


def _places() -> list[Path]:
    """Return the folders that may contain the script: from MIDDLEMARK_WEB, of the package, and of the checkout."""
    named = [Path(each) for each in os.environ.get("MIDDLEMARK_WEB", "").split(os.pathsep) if each]
    package = _HERE.parents[1]
    return [*named, package / "web", package.parents[1] / "build" / "web"]
