"""A document in the formats of people, programs and other tools: one file each, pure functions to text.

Each of them is imported when it is used: rich and numpy cost more than a whole start of the command may.
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
"""Given a row's place: its measured trials, and what their roles kept."""


class Format(msgspec.Struct, frozen=True):
    """One way to write a document."""

    module: str
    """Of this package."""
    ending: str = ""
    """Of an exported file's name; empty: it is not exported."""
    printed: bool = False
    """Whether ``run --format`` takes it."""
    function: str = "render"
    judged: bool = False
    """Whether it has the experiments of the document."""
    folder: bool = False
    """Whether it is a folder of files, written with packages that an extra of its name brings."""


FORMATS = {
    "summary": Format("summary", printed=True, judged=True),
    "table": Format("table", printed=True),
    "json": Format("json", printed=True, judged=True),
    "csv": Format("csv", ".csv", printed=True),
    "csv-long": Format("csv", ".long.csv", function="render_long"),
    "markdown": Format("markdown", judged=True),
    "google-benchmark": Format("google_benchmark", ".benchmark.json"),
    "latencytest": Format("latencytest", ".latencytest.txt", printed=True),
    "roundtrip": Format("roundtrip", ".roundtrip.txt", printed=True),
    "ddsperf": Format("ddsperf", ".ddsperf.txt", printed=True),
    "junit": Format("junit", ".junit.xml", judged=True),
    "hdr": Format("hdr", folder=True),
    "parquet": Format("parquet", folder=True),
}
"""Every format of a document, by its name in options. ``csv``: a row a configuration; ``csv-long``: a row a figure."""
PRINTED = tuple(name for name, each in FORMATS.items() if each.printed)
EXPORTED = tuple(name for name, each in FORMATS.items() if each.ending or each.folder)


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What a format may need beyond the document.

    ``samples_of`` gives the samples of the measured trials of the row at that place, in order: of ping-pongs, for
    ``roundtrip`` and ``ddsperf``. It may be asked several times.
    """

    width: int = 100
    """Columns of the terminal; of a pipe, what reads well."""
    colour: bool = False
    breakdown: bool = False
    """Of the table: where the time of each row went."""
    warnings: bool = False
    """Of the table: every row's own words, not the worst of each kind alone."""
    metrics: tuple[str, ...] = ()
    """Of the table: the columns, by name; none: those that are usual for the pattern."""
    samples_of: "Callable[[int], Iterable[Samples]]" = lambda _: ()
    limits: tuple[str, ...] = ()
    """Of the summary: sentences on limits of the machine that rows met."""


_NO_VIEW = View()


def render(name: str, document: "Document", view: View = _NO_VIEW) -> str:
    """Return the document in that format, ending in a newline."""
    found = FORMATS.get(name) or Format(name)
    text: str = getattr(importlib.import_module(f"middlemark.show.{found.module}"), found.function)(document, view)
    return text
