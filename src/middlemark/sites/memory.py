"""Check that a trial fits into this machine's memory before its first process starts."""

from middlemark.model.cell import Cell, show_level
from middlemark.model.plan import Limits
from middlemark.model.units import MIB, format_size
from middlemark.plan.memory import PUBLISHER_RECORD_BYTES, SUBSCRIBER_RECORD_BYTES, kept, memory_needed
from middlemark.sites.channel import WorkerFailedError
from middlemark.system.checks.memory_available import available_bytes


def refuse_too_much(cell: Cell, limits: Limits) -> None:
    """Raise WorkerFailedError if the trial needs more memory than is available now."""
    needed, available = memory_needed(cell, limits), available_bytes()
    if available is not None and needed > available:
        raise WorkerFailedError(
            "memory",
            f"the trial may need {_mebibytes(needed)} of memory, but only {_mebibytes(available)} are available",
            _advice(cell, limits),
        )


def _advice(cell: Cell, limits: Limits) -> str:
    publisher, subscriber = kept(cell, limits)
    records = (
        cell.publishers * publisher * PUBLISHER_RECORD_BYTES + cell.subscribers * subscriber * SUBSCRIBER_RECORD_BYTES
    )
    fewer = "reduce the number of records: a shorter --duration, fewer --samples or a lower --rate"
    shallower = f"reduce the number of waiting messages: a --depth below {show_level('depth', cell.depth)}"
    if cell.size > SUBSCRIBER_RECORD_BYTES:
        shallower += ", or a smaller --size"
    if cell.subscribers > 1:
        shallower += ", or fewer --subscribers"
    if cell.pattern != "stream":
        return f"{fewer}; {shallower}"
    return fewer if records > memory_needed(cell, limits) / 2 else shallower


def _mebibytes(size: int) -> str:
    return format_size(-(-size // MIB) * MIB)
