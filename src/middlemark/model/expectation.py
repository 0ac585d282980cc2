"""Expectations about a plan's cells (``[[expect]]``): the user's requirements, or published claims."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.growth import Resource
from middlemark.model.levels import Level
from middlemark.model.selection import Selection
from middlemark.model.workload import Workload

ALPHA = 0.05
"""Probability that at least one verdict on a run's expectations is false."""
LINK_SHARES = frozenset(("link_share", "payload_share"))
"""Metrics that exist only with an emulated link."""


class Picked(msgspec.Struct, frozen=True, omit_defaults=True):
    """The selection for one side of a claim: cells by level and sweep.

    With ``topic``: edges of the cells' workloads.
    """

    text: str
    """The selection as the user wrote it."""
    levels: Selection = Selection()
    sweep: str = ""
    topic: str = ""
    """The topic of the selected edges. Empty: whole cells are selected."""
    to: str = ""
    """The receiving node of the selected edges; empty: any node."""

    def matches(self, cell: Cell, name: str) -> bool:
        """Say whether the cell is selected. ``name`` is the cell's name in the plan: suite and sweep."""
        return (not self.sweep or name.partition(": ")[2] == self.sweep) and self.levels.matches(cell)

    def edges(self, cell: Cell) -> Iterator[tuple[int, str]]:
        """Yield (number, ``topic → node``) of each edge of the topic. Each copy of a robot has its own edges.

        Yields nothing if the cell has no such topic.
        """
        graph = carried(cell)
        for index, (number, node) in enumerate(graph.edges if graph else ()):
            name = graph.topics[number].name if graph else ""
            if _own(name) == self.topic and self.to in ("", node, _own(node)):
                yield index, f"{name} → {node}"


def carried(cell: Cell) -> Workload | None:
    """Return the workload of a cell, scaled and copied; None: the cell has no workload."""
    return cell.workload and cell.workload.under(cell.scale, cell.copies)


def _own(name: str) -> str:
    """Return the name of a topic or node without the prefix of its copy: ``image`` for ``2/image``."""
    number, slash, rest = name.partition("/")
    return rest if slash and number.isdigit() else name


class Band(msgspec.Struct, frozen=True):
    """The claimed range of a figure, or of the ratio of B to A. None: no bound on that side."""

    low: float | None = None
    high: float | None = None


class Bound(msgspec.Struct, frozen=True, tag_field="kind", tag="bound"):
    """The claim that each cell's own figure lies within ``band``, in the unit of its metric: ns, bytes or a share."""

    of: Picked
    band: Band


class Ratio(msgspec.Struct, frozen=True, tag_field="kind", tag="ratio"):
    """The claim that B's figure divided by A's lies within ``band``.

    ``said`` is the form in which the ratio was written and is reported.
    """

    a: Picked
    b: Picked
    band: Band
    said: Literal["direction", "change", "ratio"]


class NoInfluence(msgspec.Struct, frozen=True, tag_field="kind", tag="no influence"):
    """The claim that both sides, or all levels of factor ``along``, are equivalent and lose at most ``max_loss``."""

    sides: tuple[Picked, ...]
    """The two sides, or one side if ``along`` is set."""
    along: str
    band: Band
    max_loss: float


class Order(msgspec.Struct, frozen=True, tag_field="kind", tag="order"):
    """The claim that each side is significantly worse than the side before.

    ``band``: the side's figure divided by the previous side's figure.
    """

    sides: tuple[Picked, ...]
    band: Band


class Crossover(msgspec.Struct, frozen=True, tag_field="kind", tag="crossover"):
    """The claim that B divided by A lies within ``band`` from level ``at`` on, and within ``before`` below."""

    factor: str
    a: Picked
    b: Picked
    at: Level
    band: Band
    before: Band


class TimesAt(msgspec.Struct, frozen=True):
    """The claimed ``band`` of the figure at level ``to``, divided by the figure at level ``start``."""

    to: Level
    band: Band


class Shape(msgspec.Struct, frozen=True, tag_field="kind", tag="shape"):
    """The claim about how the figure grows along a factor, from level ``start`` to other levels."""

    of: Picked
    along: str
    start: Level
    growth: tuple[TimesAt, ...]


class GrowthBound(msgspec.Struct, frozen=True, tag_field="kind", tag="trend"):
    """The claim that a resource of each cell's workers grows by at most ``per_hour``: bytes or items per hour."""

    of: Picked
    resource: Resource
    per_hour: float

    @property
    def band(self) -> Band:
        """The band of the slope."""
        return Band(None, self.per_hour)


class Untestable(msgspec.Struct, frozen=True, tag_field="kind", tag="untestable"):
    """A claim that this tool cannot test; ``why`` is the reason that the claim's author wrote."""

    why: str


Claim = Bound | Ratio | NoInfluence | Order | Crossover | Shape | GrowthBound | Untestable


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """One ``[[expect]]``."""

    id: str
    say: str
    claim: Claim
    claimed: str
    """The claim in words: ``p99.9 at most 5ms``."""
    metric: str = ""
    place: str = ""

    @property
    def kind(self) -> str:
        """The kind in reports: bound, link share, direction, change, ratio, …, or untestable."""
        if isinstance(self.claim, Ratio):
            return self.claim.said
        if self.metric in LINK_SHARES:
            return "link share"
        return str(self.claim.__struct_config__.tag)


def with_level(claim: Claim, field: str, level: Level) -> Claim:
    """Return the claim, restricted to the cells with this level of a field."""

    def restricted(value: object) -> object:
        match value:
            case Picked(levels=levels):
                chosen = msgspec.structs.replace(levels, levels={**levels.levels, field: (level,)})
                return msgspec.structs.replace(value, levels=chosen)
            case tuple():
                return tuple(map(restricted, value))
        return value

    fields = {name: restricted(getattr(claim, name)) for name in claim.__struct_fields__}
    return msgspec.structs.replace(claim, **fields)


class Deciding(msgspec.Struct, frozen=True):
    """The budget for deciding expectations: rounds are added until all are decided, or the time is spent."""

    budget_s: float


def fewest_trials(level: float) -> int:
    """Return the fewest trials with which a two-sided test can reach the significance level ``level``."""
    trials = 1
    while 2.0 ** (1 - trials) > level:
        trials += 1
    return trials
