"""The raw transports with which each cell is compared: the raw transport with the same carrier, and the baseline.

``times_raw_transport`` is the cell's time divided by the time of the raw transport with the same carrier (usually 1 or
more). Round trips, and streams with a schedule or bursts, are compared by their p50. Streams as fast as possible, or at
a rate that a search found, are compared by their rate, because their latency is queueing.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from middlemark.model.cell import EXPERIMENT, OF_MIDDLEWARE, Cell, carrier_due, experiment
from middlemark.model.description import ANY, Description, raw_transport_carrier
from middlemark.model.outcome import TrialOutcome
from middlemark.stats.result import CellResult

_FOLLOWS = tuple(EXPERIMENT.index(field) for field in ("receive", "security"))
"""Indices in ``EXPERIMENT`` of the factors that may differ between a cell and its raw transport."""

LEAST_COPYING_NS = 1000.0
"""The shortest round trip, in ns, from which a copying rate is computed. Reading the clock takes 50 to 110 ns of it."""


class RawTransport(msgspec.Struct, frozen=True):
    """A raw transport's cell.

    ``label``: its name, and the levels in which it differs from the compared cell: ``udp, block``.
    """

    cell: int
    label: str


def by_rate(cell: Cell) -> bool:
    """Say whether the cell is compared with raw transports by its rate. Other cells are compared by their p50."""
    return cell.pattern == "stream" and isinstance(cell.rate, str) and cell.burst is None


def hands_over(cell: Cell, descriptions: Mapping[str, Description]) -> bool:
    """Say whether the cell passes only a pointer or the index of a chunk, so that no byte of a message is copied.

    The transport's description decides. If the description has no ``hands_over``, cells with a loan hand over, and
    other cells copy.
    """
    description = descriptions.get(cell.adapter)
    transport = description.transport(cell.transport) if description else None
    return cell.loan if transport is None or transport.hands_over is None else cell.loan in transport.hands_over


def carrier_of(cell: Cell, descriptions: Mapping[str, Description], actual_transport: str | None = None) -> str | None:
    """Return the carrier that the cell's transport must use; None: no adapter describes the transport.

    If the middleware chooses its carrier, return ``actual_transport``, which is None without evidence.
    """
    description = descriptions.get(cell.adapter)
    due = carrier_due(cell, description) if description else None
    return actual_transport if due == ANY else due


def common_actual_transport(outcomes: Iterable[TrialOutcome]) -> str | None:
    """Return the actual transport of the measured trials. None: the trials differ, or none has evidence."""
    carriers = {each.actual_transport for each in outcomes if each.failed is None and each.actual_transport}
    return carriers.pop() if len(carriers) == 1 else None


def used_another_transport(cell: Cell, outcome: TrialOutcome, descriptions: Mapping[str, Description]) -> bool:
    """Say whether the actual transport differs from the carrier of the cell's transport. False without evidence."""
    due = carrier_of(cell, descriptions, outcome.actual_transport)
    return due is not None and outcome.actual_transport not in (None, due)


def nearest_raw_transports(
    cells: Sequence[Cell],
    medians: Sequence[float | None],
    descriptions: Mapping[str, Description],
    actual_transports: Sequence[str | None] = (),
) -> tuple[RawTransport | None, ...]:
    """Return for each cell the raw transport with the cell's carrier; None: the run has no such raw transport.

    For a cell of a raw transport, this is the cell itself. ``medians``, in ns, by cell: the p50, or if ``by_rate`` the
    time per message (1e9 divided by the rate). If a middleware chooses its carrier, ``actual_transports`` (by cell) has
    it; without evidence any carrier is accepted. If several raw transports are equally near, the fastest is returned.
    """
    measured = _by_experiment(cells, medians, descriptions)

    def nearest(index: int) -> RawTransport | None:
        cell = cells[index]
        description = descriptions.get(cell.adapter)
        if description and description.is_raw_transport:
            return RawTransport(index, _label(cell, description)) if medians[index] is not None else None
        carrier = raw_transport_carrier(
            carrier_of(cell, descriptions, actual_transports[index] if actual_transports else None)
        )
        anything = carrier is None and description is not None and carrier_due(cell, description) == ANY
        for way in _ways(cell):
            candidates = [
                each
                for each in measured.get(_experiment(cell, way), [])
                if anything or carrier_of(cells[each], descriptions) == carrier
            ]
            for loan in (True, False) if cell.loan else (False,):
                alike = [each for each in candidates if cells[each].loan == loan]
                if alike:
                    best = min(alike, key=lambda each: (_distance(cell, cells[each]), medians[each]))
                    return RawTransport(best, _labelled(cell, cells[best], descriptions))
        return None

    return tuple(nearest(index) for index in range(len(cells)))


def baselines(
    cells: Sequence[Cell], medians: Sequence[float | None], descriptions: Mapping[str, Description]
) -> tuple[RawTransport | None, ...]:
    """Return each cell's baseline: the fastest raw transport of its experiment, with any carrier.

    If a cell hands over a pointer (``hands_over``), its baseline also hands over; the baseline of any other cell
    copies. Copying within one process (memcpy) transports nothing, so such a cell is no baseline and has no baseline.
    """
    measured = _by_experiment(cells, medians, descriptions)

    def fastest(cell: Cell) -> RawTransport | None:
        for way in _ways(cell):
            candidates = [
                each
                for each in measured.get(_experiment(cell, way), [])
                if hands_over(cells[each], descriptions) == hands_over(cell, descriptions)
            ]
            if candidates:
                best = min(candidates, key=lambda each: medians[each] or 0.0)
                return RawTransport(best, _labelled(cell, cells[best], descriptions))
        return None

    return tuple(None if _only_copies(cell) else fastest(cell) for cell in cells)


def memcpy_bytes_per_s(results: Sequence[CellResult], size: int) -> float | None:
    """Return the bytes per second that one processor copies in messages of this size. A round trip is two copies.

    This is an upper bound, so the fastest measured trial is used. None: there is no such trial, or its round trip took
    less than ``LEAST_COPYING_NS``. Reading the clock may then be more than a tenth of the round trip.
    """
    took = [
        trial
        for each in results
        if _only_copies(each.cell) and each.cell.size == size and each.cell.security == "none"
        for trial in (each.trial_values or ((each.round_trip_ns.p50,) if each.round_trip_ns else ()))
        if trial
    ]
    quickest = min(took, default=0.0)
    return 2 * size * 1e9 / quickest if quickest >= LEAST_COPYING_NS else None


def _by_experiment(
    cells: Sequence[Cell], medians: Sequence[float | None], descriptions: Mapping[str, Description]
) -> dict[tuple[object, ...], list[int]]:
    """Return experiment → indices of the raw transports' cells in it that have a median."""
    found: dict[tuple[object, ...], list[int]] = {}
    for index, cell in enumerate(cells):
        description = descriptions.get(cell.adapter)
        if description and description.is_raw_transport and medians[index] is not None and not _only_copies(cell):
            found.setdefault(_experiment(cell, _ways(cell)[0]), []).append(index)
    return found


def _only_copies(cell: Cell) -> bool:
    """Say whether the cell has no receiver: one process only copies."""
    return cell.subscribers == 0


def _ways(cell: Cell) -> tuple[tuple[str, str], ...]:
    """Return the receptions and security levels that a raw transport may have, the nearest to the cell first.

    A raw transport without a thread to listen on blocks instead. A raw transport that does not support the cell's level
    of security runs without security.
    """
    receptions = (cell.receive, "block") if cell.receive == "listen" else (cell.receive,)
    return tuple((receive, security) for security in dict.fromkeys((cell.security, "none")) for receive in receptions)


def _experiment(cell: Cell, way: tuple[str, str]) -> tuple[object, ...]:
    levels: tuple[object, ...] = experiment(cell)
    return (*way, *(each for at, each in enumerate(levels) if at not in _FOLLOWS))


def _distance(cell: Cell, raw_transport: Cell) -> int:
    return sum(getattr(cell, factor) != getattr(raw_transport, factor) for factor in OF_MIDDLEWARE)


def _label(cell: Cell, description: Description) -> str:
    several = len(description.transports) > 1 and cell.transport != cell.adapter
    name = f"{cell.adapter} {cell.transport}" if several else cell.adapter
    return f"{name} (loan)" if cell.loan else name


def _labelled(cell: Cell, raw_transport: Cell, descriptions: Mapping[str, Description]) -> str:
    label = _label(raw_transport, descriptions[raw_transport.adapter])
    label = label if raw_transport.receive == cell.receive else f"{label}, {raw_transport.receive}"
    return label if raw_transport.security == cell.security else f"{label}, security {raw_transport.security}"
