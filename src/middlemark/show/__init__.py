"""Renderers of a document: pure functions, one module for each format.

A renderer is imported only when it is used, because importing rich and numpy would slow every command's start.
"""

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from middlemark.document import Document
    from middlemark.model.outcome import TrialOutcome
    from middlemark.stats.samples import Kept, Samples

TrialsOf = Callable[[int], "Iterable[tuple[TrialOutcome, Sequence[Kept]]]"]
"""Function from the index of a row to its measured trials, each with the samples of its roles."""


class Format(msgspec.Struct, frozen=True):
    """One way to write a document."""

    module: str
    """The name of the module within this package."""
    ending: str = ""
    """The ending of an exported file's name. Empty: the format is not exported as one file."""
    printed: bool = False
    """True if ``run --format`` accepts the format."""
    function: str = "render"
    judged: bool = False
    """True if the format shows the experiments of the document."""
    folder: bool = False
    """True if the format is a folder of files. The optional dependencies of the format's name install the packages that
    write the folder."""


FORMATS = {
    "text": Format("summary", printed=True, judged=True),
    "json": Format("json", printed=True, judged=True),
    "csv": Format("csv", ".csv", printed=True),
    "markdown": Format("markdown", printed=True, judged=True),
    "html": Format("html", printed=True, judged=True),
    "csv-long": Format("csv", ".long.csv", function="render_long"),
    "google-benchmark": Format("google_benchmark", ".benchmark.json"),
    "latencytest": Format("latencytest", ".latencytest.txt", printed=True),
    "roundtrip": Format("roundtrip", ".roundtrip.txt", printed=True),
    "ddsperf": Format("ddsperf", ".ddsperf.txt", printed=True),
    "junit": Format("junit", ".junit.xml", judged=True),
    "hdr": Format("hdr", folder=True),
    "parquet": Format("parquet", folder=True),
}
"""Name in options → format. ``csv``: a row for each configuration; ``csv-long``: a row for each figure."""
PRINTED = tuple(name for name, each in FORMATS.items() if each.printed)
EXPORTED = tuple(name for name, each in FORMATS.items() if each.ending or each.folder)


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the formats.

    ``samples_of``: function from the index of a ping-pong's row to the samples of its measured trials, in order.
    ``roundtrip`` and ``ddsperf`` need it, and may call it several times.
    """

    width: int = 100
    """Width in columns: the terminal's width, or 100 for a pipe."""
    colour: bool = False
    breakdown: bool = False
    """True if ``table`` shows the parts of each row's time."""
    warnings: bool = False
    """True if ``table`` shows the warnings of every row, and not only the worst warning of each kind."""
    metrics: tuple[str, ...] = ()
    """The metrics that ``table`` shows as columns; empty: the usual columns of the pattern."""
    samples_of: "Callable[[int], Iterable[Samples]]" = lambda _: ()
    limits: tuple[str, ...] = ()
    """Sentences for ``summary`` about limits of the machine that rows met."""


_NO_VIEW = View()


def render(name: str, document: "Document", view: View = _NO_VIEW) -> str:
    """Return the document in that format, ending in a newline."""
    found = FORMATS.get(name) or Format(name)
    text: str = getattr(importlib.import_module(f"middlemark.show.{found.module}"), found.function)(document, view)
    return text
