"""The cost of a router or a discovery server: each row that has one, beside the row that is the same but direct."""

from collections.abc import Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.protocol import Via
from middlemark.stats.baselines import by_rate
from middlemark.stats.metrics import COMPANION
from middlemark.verdicts.beside import beside, metric_of
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.rows import Row, grouped, per_message_ns

DIRECT: Via = "direct"
_MAY_DIFFER = ("via", "label", "unknown")


class WayCost(msgspec.Struct, frozen=True, kw_only=True):
    """A row with a router or a discovery server beside the direct row."""

    row: Row
    direct: Row
    times: float
    """The row's time per message, or per round trip, divided by that of the direct row; over the common rounds."""
    low: float | None
    """The lower end of the interval of ``times``; ``high`` is the upper end. None: too few common rounds."""
    high: float | None
    standing: Standing
    companion_ns: float | None
    """Processor time of the router or server for each message received, in ns. A round trip counts once."""

    @property
    def via(self) -> Via:
        """The level of the row."""
        return self.row.result.cell.via


def way_costs(rows: Sequence[Row], comparisons: Comparisons) -> tuple[WayCost, ...]:
    """Return each row with a router or server that was measured also without it, in the order of the rows."""
    measured = [row for row in rows if per_message_ns(row.result) and row.result.cell.workload is None]
    direct = {_rest(row): row for row in measured if row.result.cell.via == DIRECT}
    pairs = [
        (other, row)
        for row in measured
        if row.result.cell.via != DIRECT and (other := direct.get(_rest(row))) is not None
    ]
    for metric, some in grouped(pairs, lambda pair: metric_of(pair[1])).items():
        comparisons.also_judge(some, metric)
    return tuple(_cost(row, other, comparisons) for other, row in pairs)


def _rest(row: Row) -> tuple[object, ...]:
    """Return a key that is equal for rows that differ only in the way of their messages."""
    fields = (each for each in Cell.__struct_fields__ if each not in _MAY_DIFFER)
    return (row.run, *(getattr(row.result.cell, each) for each in fields))


def _cost(row: Row, direct: Row, comparisons: Comparisons) -> WayCost:
    standing, found = beside(row, direct, comparisons)
    times = (per_message_ns(row.result) or 0.0) / (per_message_ns(direct.result) or 1.0)
    ends: tuple[float | None, float | None] = (None, None)
    if found is not None and found.judged.low is not None and found.judged.high is not None:
        shifted = [1 + each for each in (found.judged.shift, found.judged.low, found.judged.high)]
        times, *ends_found = [1 / each for each in shifted] if by_rate(row.result.cell) else shifted
        ends = (min(ends_found), max(ends_found))
    return WayCost(
        row=row,
        direct=direct,
        times=times,
        low=ends[0],
        high=ends[1],
        standing=standing,
        companion_ns=row.result.median(f"cpu.{COMPANION}"),
    )
