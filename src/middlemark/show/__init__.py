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

FORMATS = ("summary", "table", "json", "csv", "latencytest", "roundtrip", "ddsperf")
"""What ``--format`` takes: each is a module of that name."""


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
    """Return the document in the format of that module, ending in a newline."""
    text: str = importlib.import_module(f"middlemark.show.{name}").render(document, view)
    return text
