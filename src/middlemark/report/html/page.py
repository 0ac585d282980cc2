"""Fills the template: what is text goes through Jinja's escaping, data into a JSON block that no text can end."""

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from middlemark.problems import MeasureError
from middlemark.report.html.wording import WORDING

LIBRARIES = "libraries.js"
"""D3 and Observable Plot with their licences, made by ``web/build``."""

_HERE = Path(__file__).parent

_SCRIPTS = (
    "words",
    "selection",
    "choice",
    "style",
    "labels",
    "table",
    "figure",
    "filters",
    "by_size",
    "ranges",
    "latency",
    "distribution",
    "time",
    "load",
    "costs",
    "forest",
    "decision",
    "order",
    "answer",
    "page",
)
"""Our modules, each after those that it imports from: joined in this order they are one script."""

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.mjs";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) (\w+))", re.MULTILINE)

_ENDS_A_SCRIPT = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def render_html(document: Any) -> str:
    """Return the page of a report's document. Raises MeasureError where the figures' libraries are not there."""
    from jinja2 import Environment, FileSystemLoader, select_autoescape

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = _plain(document)
    return environment.get_template("report.html").render(
        document=page,
        failures=[cell for cell in page["cells"] if cell.get("failed")],
        data=data_block(document),
        libraries=_libraries(),
        script=script(),
        styles=(_HERE / "report.css").read_text(encoding="utf-8"),
        **WORDING,
    )


def data_block(document: Any) -> str:
    """Return the document as JSON in which no text can end the element around it, nor a line of a script."""
    return msgspec.json.encode(document).decode().translate(_ENDS_A_SCRIPT)


@cache
def script() -> str:
    """Return our JavaScript as one script: a page opened from disk may not load modules, so each becomes a block."""
    blocks = [_block(name) for name in _SCRIPTS]
    return "\n".join(['"use strict";', "const modules = {};", *blocks])


def _block(name: str) -> str:
    """Return a module as a block of its own scope: its imports come from ``modules``, its exports go there."""
    source = (_HERE / "scripts" / f"{name}.mjs").read_text(encoding="utf-8")
    exported = ", ".join(_EXPORT.findall(source))
    inside = _EXPORT.sub("", _IMPORT.sub(r"const \1 = modules.\2;", source))
    return f"{{ // {name}\n{inside}modules.{name} = {{ {exported} }};\n}}"


@cache
def _libraries() -> str:
    for folder in _places():
        file = folder / LIBRARIES
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise MeasureError(
        "an HTML report needs D3 and Observable Plot, and they are not there",
        "in a checkout: packaging/setup/setup.sh again web; else install the package anew where npm is reached",
    )


def _places() -> list[Path]:
    """Where the libraries may lie: where MIDDLEMARK_WEB says, in the package, or built in the checkout around it."""
    named = [Path(each) for each in os.environ.get("MIDDLEMARK_WEB", "").split(os.pathsep) if each]
    package = _HERE.parents[1]
    return [*named, package / "web", package.parents[1] / "build" / "web"]


def _plain(document: Any) -> Mapping[str, Any]:
    """Return what the template reads, as the JSON has it."""
    if isinstance(document, Mapping):
        return document
    plain: Mapping[str, Any] = msgspec.to_builtins(document)
    return plain
