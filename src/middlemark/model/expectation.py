"""What is expected of a plan's cells (``[[expect]]``): a requirement of one's own, or what somebody claims."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.levels import Level
from middlemark.model.selection import Selection
from middlemark.model.workload import Workload

ALPHA = 0.05
"""How often any of the verdicts on the expectations of a run may be false."""
LINK_SHARES = frozenset(("link_share", "payload_share"))
"""The metrics that only an emulated link has."""


class Picked(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one side picks: cells by their levels and their sweep, and of a workload's cells the edges of a topic."""

    text: str
    """As written."""
    levels: Selection = Selection()
    sweep: str = ""
    topic: str = ""
    """Empty: the cell as a whole."""
    to: str = ""
    """The node that receives it; empty: any."""

    def matches(self, cell: Cell, name: str) -> bool:
        """Say whether the cell is picked; ``name``: the plan's, of its suite and sweep."""
        return (not self.sweep or name.partition(": ")[2] == self.sweep) and self.levels.matches(cell)

    def edges(self, cell: Cell) -> Iterator[tuple[int, str]]:
        """Yield the edges of the topic, each with its number and as ``topic → node``; copies of a robot have their own.

        None of them: the cell has no such topic.
        """
        graph = carried(cell)
        for index, (number, node) in enumerate(graph.edges if graph else ()):
            name = graph.topics[number].name if graph else ""
            if _own(name) == self.topic and self.to in ("", node, _own(node)):
                yield index, f"{name} → {node}"


def carried(cell: Cell) -> Workload | None:
    """Return the graph of a cell, at its scale and in its copies."""
    return cell.workload and cell.workload.under(cell.scale, cell.copies)


def _own(name: str) -> str:
    """Return what a topic or a node is called in the first of several copies."""
    number, slash, rest = name.partition("/")
    return rest if slash and number.isdigit() else name


class Band(msgspec.Struct, frozen=True):
    """What a figure, or a ratio of B to A, is claimed to be; None: there is no bound on that side."""

    low: float | None = None
    high: float | None = None


class Bound(msgspec.Struct, frozen=True, tag_field="kind", tag="bound"):
    """Each cell's own figure lies within ``band``: ns, bytes, a part, as its metric has it."""

    of: Picked
    band: Band


class Ratio(msgspec.Struct, frozen=True, tag_field="kind", tag="ratio"):
    """B's figure over A's lies within ``band``. ``said``: how it was written, which is how it is told."""

    a: Picked
    b: Picked
    band: Band
    said: Literal["direction", "change", "ratio"]


class NoInfluence(msgspec.Struct, frozen=True, tag_field="kind", tag="no influence"):
    """Both sides, or every two levels of the factor ``along``, are equivalent, and lose at most ``max_loss``."""

    sides: tuple[Picked, ...]
    """Two, or one with ``along``."""
    along: str
    band: Band
    max_loss: float


class Order(msgspec.Struct, frozen=True, tag_field="kind", tag="order"):
    """Each is significantly worse than the one before it: the ratio of their figures lies within ``band``."""

    sides: tuple[Picked, ...]
    band: Band


class Crossover(msgspec.Struct, frozen=True, tag_field="kind", tag="crossover"):
    """B over A lies within ``band`` at every level of the factor from ``at`` on, and within ``before`` below it."""

    factor: str
    a: Picked
    b: Picked
    at: Level
    band: Band
    before: Band


class TimesAt(msgspec.Struct, frozen=True):
    """The figure at a level over that at the first."""

    to: Level
    band: Band


class Shape(msgspec.Struct, frozen=True, tag_field="kind", tag="shape"):
    """How the figure grows from one level of a factor to others."""

    of: Picked
    along: str
    start: Level
    growth: tuple[TimesAt, ...]


class Untestable(msgspec.Struct, frozen=True, tag_field="kind", tag="untestable"):
    """Nothing that is measured here could tell, as whoever wrote it knows."""

    why: str


Claim = Bound | Ratio | NoInfluence | Order | Crossover | Shape | Untestable


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """One ``[[expect]]``."""

    id: str
    say: str
    claim: Claim
    claimed: str
    """What is claimed, as written: ``p99.9 at most 5ms``."""
    metric: str = ""
    place: str = ""

    @property
    def kind(self) -> str:
        """Return bound, link share, direction, change, ratio, no influence, order, crossover, shape or untestable."""
        if isinstance(self.claim, Ratio):
            return self.claim.said
        if self.metric in LINK_SHARES:
            return "link share"
        return str(self.claim.__struct_config__.tag)


class Deciding(msgspec.Struct, frozen=True):
    """Rounds are added until every expectation is decided, or the time is spent."""

    budget_s: float


def fewest_trials(level: float) -> int:
    """Return the fewest trials that can tell anything with so small a chance of error, both sides together."""
    trials = 1
    while 2.0 ** (1 - trials) > level:
        trials += 1
    return trials
