"""How long a plan will take: a guess for ``--dry-run`` and for the progress display's first minutes."""

from middlemark.model.cell import STEP_S, Cell
from middlemark.model.load import mean_interval_s
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.plan.pinning import count_roles

SEARCH_STEPS = 12
"""Rates that the search for a sustainable one tries, as a rule; the last one found is then measured in full."""
CURVE_STEPS = 11
"""Rates that a curve is made of, saturation included."""
TRIAL_OVERHEAD_S = 0.3
"""Starting the workers, discovery, the end, and keeping the samples."""
FURTHER_PROCESS_S = 0.06
"""The same for each process beyond two."""
ROUND_TRIP_S = 60e-6
ROUND_TRIP_PER_BYTE_S = 1.5e-9
COPYING_S = 0.3e-6
COPYING_PER_BYTE_S = 0.5e-9
"""Of one process alone: a message filled, copied out and back, and checked."""
MESSAGE_S = 5e-6
"""From one message of a stream to the next, at full rate."""
MESSAGE_PER_BYTE_S = 0.7e-9
WAITING_FOR_LOST_S = {"reliable": 1.0, "best-effort": 0.25}
"""A subscriber that misses messages waits so long after the last one before it takes them for lost."""
PROOF_S = 3.0
"""The trials of the proof of a protected cell, once."""
SLOW_DISCOVERY_S = {"tcp": 0.4}
"""Middlewares that find each other over TCP wait for their announcements; baselines connect at once."""


def copying_seconds(size: int) -> float:
    """Return the seconds that filling, copying out and back, and checking a message of ``size`` bytes should take."""
    return COPYING_S + size * COPYING_PER_BYTE_S


def estimate_seconds(plan: Plan) -> float:
    """Return the seconds the whole plan should take on an ordinary machine."""
    protected = {trial.cell for trial in plan.trials if plan.cells[trial.cell].security != "none"}
    proofs = sum(PROOF_S for each in protected if plan.cells[each].subscribers)
    return proofs + sum(estimate_trial(plan.cells[trial.cell], trial) for trial in plan.trials)


def estimate_trial(cell: Cell, trial: Trial) -> float:
    """Return the seconds one trial of that cell should take, from its first process to its last."""
    discovery = SLOW_DISCOVERY_S.get(cell.transport, 0.0) if cell.adapter != cell.transport else 0.0
    processes = count_roles(cell.pattern, cell.publishers, cell.subscribers) if cell.processes == 2 else 1
    starting = TRIAL_OVERHEAD_S + FURTHER_PROCESS_S * max(0, processes - 2) + discovery
    limits = trial.limits
    step = starting + limits.warmup_s + min(limits.duration_s or STEP_S, STEP_S, limits.limit_s)
    if cell.rate == "curve":
        return CURVE_STEPS * step
    searching = SEARCH_STEPS * step if cell.rate == "sustainable" else 0.0
    return searching + starting + limits.warmup_s + _measuring_seconds(cell, limits)


def _measuring_seconds(cell: Cell, limits: Limits) -> float:
    waiting = WAITING_FOR_LOST_S[cell.reliability] if _may_lose(cell) else 0.0
    if limits.duration_s is not None:
        return min(limits.duration_s, limits.limit_s) + waiting
    interval = _message_seconds(cell) if cell.pattern == "stream" else _round_trip_seconds(cell)
    return min((limits.samples or 0) * mean_interval_s(cell, interval), limits.limit_s) + waiting


def _may_lose(cell: Cell) -> bool:
    """Say whether a flood overwrites what was not taken yet, or nobody brings back what was dropped."""
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
