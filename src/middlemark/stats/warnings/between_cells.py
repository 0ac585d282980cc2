"""Warnings about a cell and other cells of its run: a size that costs no time, or more bytes than memcpy moves."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from middlemark.model.cell import Cell, carrier_due
from middlemark.model.description import ANY, Description
from middlemark.model.outcome import RunWarning
from middlemark.model.units import format_size
from middlemark.stats.baselines import by_rate
from middlemark.stats.result import CellResult

FASTEST_COPY = 200e9
"""No processor copies this number of bytes per second: eight times the bandwidth of a memory channel, twice that of a
cache.

If memcpy was measured, twice its bandwidth is used instead, because data in a cache is copied faster."""

SEEN = 0.2
"""A missing copy is noticed only if copying would take at least this share of the smaller message's time. A smaller
share may be noise."""

MemcpyOf = Callable[[Sequence[CellResult], int], float | None]
"""Returns the bytes per second of memcpy at a size, in this run; None: memcpy was not measured."""


def with_warnings_between(
    results: Sequence[CellResult], descriptions: Mapping[str, Description], memcpy: MemcpyOf = lambda *_: None
) -> tuple[CellResult, ...]:
    """Return the results, each with the warnings that come from a comparison with the other results."""
    smallest: dict[Cell, CellResult] = {}
    for each in sorted(results, key=lambda result: result.cell.size):
        smallest.setdefault(_but_size(each.cell), each)
    copied = {size: memcpy(results, size) for size in {each.cell.size for each in results}}
    warned = []
    for each in results:
        copies = copied[each.cell.size]
        small = smallest[_but_size(each.cell)]
        found = (
            above_memcpy(each.cell, bandwidth(each, descriptions), copies),
            None if handed_over(each.cell, descriptions) else size_costs_nothing(small, each, copies),
        )
        warnings = (*each.warnings, *(warning for warning in found if warning))
        warned.append(msgspec.structs.replace(each, warnings=warnings))
    return tuple(warned)


def _but_size(cell: Cell) -> Cell:
    return msgspec.structs.replace(cell, size=0)


def bandwidth(result: CellResult, descriptions: Mapping[str, Description]) -> float | None:
    """Return the bytes per second that arrived. For a ping-pong: the bytes of both directions per median round trip.

    None for a ping-pong that declares to hand over, because it copies no bytes.
    """
    if result.cell.pattern != "ping-pong":
        return result.bytes_per_s
    trip = result.round_trip_ns
    if trip is None or not trip.p50 or _declared(result.cell, descriptions):
        return None
    return 2 * result.cell.size * 1e9 / trip.p50


def above_memcpy(cell: Cell, bytes_per_s: float | None, memcpy_bytes_per_s: float | None) -> RunWarning | None:
    """Return the warning about a bandwidth above that of memcpy at the same size, because bytes cannot have been moved.

    Each publisher may copy on its own processor, so N publishers may reach N times the bandwidth.
    """
    if bytes_per_s is None or memcpy_bytes_per_s is None or bytes_per_s <= cell.publishers * memcpy_bytes_per_s:
        return None
    return RunWarning(
        "above-memcpy",
        f"{bytes_per_s / 1e9:.3g} GB/s is more than the {memcpy_bytes_per_s / 1e9:.3g} GB/s of memcpy on this "
        f"machine at {format_size(cell.size)}: a pointer was passed, or the receiver never saw the bytes",
        "quote its message rate and its latency, never its bytes per second"
        if cell.payload == "untouched"
        else "a filled payload is written and read outside of the timed span: quote messages per second, or compare "
        "with --payload untouched to see whether a pointer is handed over",
    )


def handed_over(cell: Cell, descriptions: Mapping[str, Description]) -> bool:
    """Say whether a cell declares that no payload is moved within the timed span.

    A loan and the memory of one process move no payload. But a pong copies a filled payload into its reply within the
    round trip, and a stream's publisher fills each message within the time that determines its rate. In these cases
    every byte is copied or written, whatever the middleware does.
    """
    timed_with_payload = cell.pattern == "ping-pong" or by_rate(cell)
    return _declared(cell, descriptions) and not (cell.payload == "filled" and timed_with_payload)


def _declared(cell: Cell, descriptions: Mapping[str, Description]) -> bool:
    described = descriptions.get(cell.adapter)
    due = carrier_due(cell, described) if described else None
    return cell.loan or due == "process-memory" or (due == ANY and cell.processes == 1)


def size_costs_nothing(small: CellResult, large: CellResult, memcpy_bytes_per_s: float | None) -> RunWarning | None:
    """Return the warning about a large message that takes no longer than a small one, although it must be copied.

    The slowest trial of the large message is compared with the fastest trial of the small message, because trials vary.
    """
    small_ns, large_ns = min(_times(small), default=0.0), max(_times(large), default=0.0)
    if not small_ns or not large_ns:
        return None
    fastest = 2 * memcpy_bytes_per_s if memcpy_bytes_per_s else FASTEST_COPY
    copy_ns = 1e9 * (large.cell.size - small.cell.size) / fastest
    if copy_ns < SEEN * small_ns or large_ns >= small_ns + copy_ns:
        return None
    return RunWarning(
        "size-costs-nothing",
        f"{format_size(large.cell.size)} took {large_ns / 1000:.3g} µs and {format_size(small.cell.size)} took "
        f"{small_ns / 1000:.3g} µs: copying the additional bytes takes at least {copy_ns / 1000:.3g} µs, so a "
        "pointer was passed, but the row has neither a loan nor a single process",
        "request this with --loan or --processes 1, or look up in the adapter's README which pointers it hands over",
    )


def _times(result: CellResult) -> list[float]:
    """Return the time per message of each trial in ns: from its rate if ``by_rate``, else the median latency."""
    rate = by_rate(result.cell)
    return [1e9 / each if rate else each for each in result.trial_values if each > 0]
