"""How long a plan will take: a guess for ``--dry-run`` and for the progress display's first minutes."""

from middlemark.plan.cell import Cell, Limits, Plan, Trial

TRIAL_OVERHEAD_S = 0.3
"""Starting the workers, discovery, the end, and keeping the samples."""
ROUND_TRIP_S = 60e-6
ROUND_TRIP_PER_BYTE_S = 1.5e-9
SLOW_DISCOVERY_S = {"tcp": 0.4}
"""Middlewares that find each other over TCP wait for their announcements; floors connect at once."""


def estimate_seconds(plan: Plan) -> float:
    """Return the seconds the whole plan should take on an ordinary machine."""
    return sum(estimate_trial(plan.cells[trial.cell], trial) for trial in plan.trials)


def estimate_trial(cell: Cell, trial: Trial) -> float:
    """Return the seconds one trial of that cell should take, from its first process to its last."""
    discovery = SLOW_DISCOVERY_S.get(cell.transport, 0.0) if cell.adapter != cell.transport else 0.0
    return TRIAL_OVERHEAD_S + discovery + trial.limits.warmup_s + _measuring_seconds(cell, trial.limits)


def _measuring_seconds(cell: Cell, limits: Limits) -> float:
    if limits.duration_s is not None:
        return min(limits.duration_s, limits.limit_s)
    replies = cell.subscribers if cell.echo == "all" else 1
    round_trip = ROUND_TRIP_S + cell.size * ROUND_TRIP_PER_BYTE_S
    return min((limits.samples or 0) * round_trip * (1 + replies) / 2, limits.limit_s)
