"""Estimated duration of a plan, for ``--dry-run`` and for the first minutes of the progress display."""

import math

from middlemark.model.cell import STEP_S, Cell
from middlemark.model.load import mean_interval_s
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.model.version import adapter_of
from middlemark.plan.pinning import count_roles

SEARCH_STEPS = 12
"""The number of rates that a search usually tries. The highest rate that passes is then measured in full."""
CURVE_STEPS = 11
"""The number of rates of a curve, including saturation."""
TRIAL_OVERHEAD_S = 0.3
"""Time in s of a trial for starting and ending the workers, for discovery, and for storing the samples."""
FURTHER_PROCESS_S = 0.06
"""Additional time in s for each worker process beyond two."""
ROUND_TRIP_S = 60e-6
ROUND_TRIP_PER_BYTE_S = 1.5e-9
COPYING_S = 0.3e-6
COPYING_PER_BYTE_S = 0.5e-9
"""Time in s per byte in which one process fills a message, copies it out and back, and checks it."""
MESSAGE_S = 5e-6
"""Time in s between two messages of a stream at full rate."""
MESSAGE_PER_BYTE_S = 0.7e-9
WAITING_FOR_LOST_S = {"reliable": 1.0, "best-effort": 0.25}
"""Reliability → time in s that a subscriber waits for missing messages after the last message, before they count as
lost."""
PROOF_S = 4.5
"""Duration in s of the trials that prove the protection of a cell. These trials run once for each cell."""
SLOW_START_S = {("fastdds", "tcp"): 0.2, ("zenoh", "tcp"): 0.2, ("ros1", ""): 0.5}
"""(adapter, transport; empty: every transport) → additional time for discovery in s. The time for ROS 1 includes the
start of the ROS master."""
JOIN_AND_LEAVE_S = 10.0
"""Time in s of the phases join and leave of a crowd. Some middlewares notice a leave only after 20 s."""
STORM_S = 5.0
"""Time in s of the phase storm of a crowd, in addition to its pause."""
HANDSHAKE_S = 0.2
"""Additional time in s for each process of a middleware that authenticates its peers."""


def copying_seconds(size: int) -> float:
    """Return the expected seconds to fill a message of ``size`` bytes, copy it out and back, and check it."""
    return COPYING_S + size * COPYING_PER_BYTE_S


def estimate_seconds(plan: Plan) -> float:
    """Return the expected seconds of the whole plan on an ordinary machine."""
    protected = {trial.cell for trial in plan.trials if plan.cells[trial.cell].security != "none"}
    proofs = sum(PROOF_S for each in protected if plan.cells[each].subscribers)
    return proofs + sum(estimate_trial(plan.cells[trial.cell], trial) for trial in plan.trials)


def estimate_trial(cell: Cell, trial: Trial) -> float:
    """Return the expected seconds of one trial of the cell, from its first process to its last.

    If trials run side by side, each has an equal share of the time.
    """
    processes = _processes(cell)
    starting = TRIAL_OVERHEAD_S + FURTHER_PROCESS_S * max(0, processes - 2) + _slow_start(cell, processes)
    limits = trial.limits
    step = starting + limits.warmup_s + min(limits.duration_s or STEP_S, STEP_S, limits.limit_s)
    if cell.rate == "curve":
        return CURVE_STEPS * step
    searching = SEARCH_STEPS * step if cell.rate == "sustainable" else 0.0
    alone = searching + starting + limits.warmup_s + _measuring_seconds(cell, limits)
    return alone if trial.turn is None else alone / trial.turn.seats


def _processes(cell: Cell) -> int:
    """Return the number of worker processes of a trial. The graph of a workload says which nodes share a process."""
    if cell.processes == 1:
        return 1
    if cell.workload is not None:
        return len(cell.workload.processes) * cell.copies
    if cell.pattern == "crowd":
        return math.ceil(cell.participants / cell.participants_per_process)
    return count_roles(cell.pattern, cell.publishers, cell.subscribers)


def _slow_start(cell: Cell, processes: int) -> float:
    adapter = adapter_of(cell.adapter)
    slow = sum(SLOW_START_S.get((adapter, transport), 0.0) for transport in (cell.transport, ""))
    authenticates = cell.security != "none" and cell.adapter != cell.transport and cell.subscribers > 0
    return slow + (HANDSHAKE_S * processes if authenticates else 0.0)


def _measuring_seconds(cell: Cell, limits: Limits) -> float:
    if cell.pattern == "crowd":  # the idle phase and the talk, the join and the leave, and the storm
        storm = 0.0 if cell.storm_s is None else cell.storm_s + STORM_S
        return 2 * (limits.duration_s or 0.0) + JOIN_AND_LEAVE_S + storm
    waiting = WAITING_FOR_LOST_S[cell.reliability] if _may_lose(cell) else 0.0
    if limits.duration_s is not None:
        return min(limits.duration_s, limits.limit_s) + waiting
    interval = _message_seconds(cell) if cell.pattern == "stream" else _round_trip_seconds(cell)
    return min((limits.samples or 0) * mean_interval_s(cell, interval), limits.limit_s) + waiting


def _may_lose(cell: Cell) -> bool:
    """Say whether a stream at full rate may lose messages: its history overwrites, or best effort does not resend."""
    flood = cell.pattern == "stream" and not isinstance(cell.rate, float)
    return flood and (cell.depth is not None or cell.reliability == "best-effort")


def _message_seconds(cell: Cell) -> float:
    readers = cell.subscribers / cell.topics
    return (MESSAGE_S + cell.size * MESSAGE_PER_BYTE_S) * cell.publishers * (1 + readers) / 2


def _round_trip_seconds(cell: Cell) -> float:
    if cell.subscribers == 0:
        return copying_seconds(cell.size)
    replies = cell.subscribers if cell.echo == "all" else 1
    return (ROUND_TRIP_S + cell.size * ROUND_TRIP_PER_BYTE_S) * cell.publishers * (1 + replies) / 2
