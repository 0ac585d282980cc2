"""What is doubtful about a closed loop: round trips that do not make up its time, and waiting that was not waiting."""

from middlemark.launch.outcome import Doubt, TrialOutcome
from middlemark.plan.cell import Cell

UNACCOUNTED = 0.20
"""Of a closed loop's time, what may lie between its round trips: some 10 % is seen where a machine is overbooked."""

OWN_NS = 500
"""A message, of the bench's own time between two round trips: six stamps, a record and the counters (100 to 400 ns)."""

SLEPT = 0.1
"""Times that all workers together slept for each message, which is twice where both ends wait in the kernel."""

_FEWEST = 100


def time_unaccounted(cell: Cell, outcome: TrialOutcome, spent_ns: float, samples: int) -> Doubt | None:
    """Return the doubt about a closed loop whose round trips do not make up its time.

    ``spent_ns``: all round trips of the trial, with obtaining, filling and checking their messages. Only where every
    message is a sample: what was lost or damaged took its time as well, and other doubts tell of it.
    """
    if not _closed(cell) or outcome.counts is None or not outcome.measured_s or samples < _FEWEST:
        return None
    measured_ns = outcome.measured_s * 1e9 * cell.publishers
    left = measured_ns - spent_ns - samples * OWN_NS
    if outcome.counts.sent != samples or left <= UNACCOUNTED * measured_ns:
        return None
    return Doubt(
        "time-unaccounted",
        f"its {samples:,} round trips, with writing and checking the payloads, make up {spent_ns / 1e9:.3g} of the "
        f"{measured_ns / 1e9:.3g} s measured: {100 * left / measured_ns:.0f} % of the time passed between them",
        "an application would wait for that too: quote messages a second beside the latency, and see what the "
        "middleware does before a message and after it: perf record -g -p PID",
    )


def never_slept(cell: Cell, outcome: TrialOutcome) -> Doubt | None:
    """Return the doubt about a blocking round trip in which nobody slept: it was polled, and stands beside polling."""
    if (
        not _closed(cell)
        or cell.receive != "block"
        or cell.subscribers == 0
        or not outcome.costs
        or outcome.counts is None
    ):
        return None
    slept = sum(each.voluntary_switches for each in outcome.costs)
    messages = outcome.counts.received
    if messages < _FEWEST or slept >= SLEPT * messages:
        return None
    return Doubt(
        "reception-not-in-force",
        f"asked to block, but its roles slept {slept:,} times in {messages:,} round trips: what waits here spins, as "
        "under --receive poll",
        "hold it against rows that poll, not against rows that block; see in the adapter's README how it waits",
    )


def _closed(cell: Cell) -> bool:
    return cell.pattern != "stream" and cell.rate == "max"
