"""A cell → what the workers are told: ``settings`` and ``roles`` of docs/protocol.md. Pure."""

from collections.abc import Mapping
from typing import Any

import msgspec

from middlemark.plan.cell import Cell, Limits

REPLY_TIMEOUT_PER_BYTE_S = 1 / (32 << 20)
"""Added to the reply timeout: 64 MiB, which some middlewares move at 100 MiB/s both ways, get 2 s more."""

Role = dict[str, Any]
"""One of ``roles`` in ``configure``."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the roles of one trial follow from."""

    cell: Cell
    limits: Limits
    cpus: tuple[int | None, ...]
    """Each role's processor, senders first; None: not pinned."""
    samples_stem: str
    """Absolute; the names of the trial's samples files begin so."""
    seed: int
    kept: tuple[int, int]
    """Records that each publisher and each subscriber of a stream may keep raw."""


def settings_of(cell: Cell) -> dict[str, Any]:
    """Return the settings that follow from the cell alone."""
    return {
        "pattern": cell.pattern,
        "transport": cell.transport,
        "reliability": cell.reliability,
        "reception": cell.receive,
        "depth": cell.depth,
        "loan": cell.loan,
        "one_process": cell.processes == 1,
        "message_bytes": cell.size,
        "publishers": cell.publishers,
        "subscribers": cell.subscribers,
        "topics": cell.topics,
        "workers": 1 if cell.processes == 1 else cell.publishers + cell.subscribers,
        "native": dict(cell.native),
    }


def load_of(cell: Cell, seed: int, sender: int) -> dict[str, Any]:
    """Return how that sender spends its time. Senders of one trial draw instants of their own."""
    if cell.burst is not None:
        return {"kind": "burst", "burst": cell.burst, "recovery_s": cell.recovery_s or 0.0}
    if isinstance(cell.rate, str):
        assert cell.rate == "max", "a search measures rates, never itself"
        return {"kind": "max"}
    return {"kind": "rate", "rate_hz": cell.rate, "arrivals": cell.arrivals, "seed": seed + sender}


def bounds_of(limits: Limits) -> dict[str, Any]:
    """Return how long any sender goes on."""
    return {
        "samples": limits.samples,
        "duration_s": limits.duration_s,
        "warmup_s": limits.warmup_s,
        "limit_s": limits.limit_s,
    }


def reply_timeout_s(cell: Cell, limits: Limits) -> float:
    """Return how long a sender waits for a reply to a message of the cell's size."""
    return limits.reply_timeout_s + cell.size * REPLY_TIMEOUT_PER_BYTE_S


def echoes(cell: Cell, pong: int) -> bool:
    """Say whether that pong replies."""
    return cell.echo == "all" or pong == 0


def role_name(role: Mapping[str, Any]) -> str:
    """Return ``ping``, ``server``, ``pong 0``, ``publisher 0``, …: how errors name a role."""
    return str(role["role"]) if role["role"] in ("ping", "server") else f"{role['role']} {role['index']}"
