"""A cell → what the workers are told: ``settings`` and ``roles`` of docs/protocol.md. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from middlemark.places import Place
from middlemark.plan.cell import Cell, Limits

REPLY_TIMEOUT_PER_BYTE_S = 1 / (32 << 20)
"""Added to the reply timeout: 64 MiB, which some middlewares move at 100 MiB/s both ways, get 2 s more."""


def settings_of(cell: Cell) -> dict[str, Any]:
    """Return the settings that follow from the cell alone."""
    return {
        "transport": cell.transport,
        "reliability": cell.reliability,
        "reception": cell.receive,
        "depth": cell.depth,
        "loan": cell.loan,
        "one_process": cell.processes == 1,
        "message_bytes": cell.size,
        "subscribers": cell.subscribers,
        "native": dict(cell.native),
    }


def roles_of(cell: Cell, limits: Limits, places: Sequence[Place], samples_path: str) -> list[list[dict[str, Any]]]:
    """Return the roles of each place's process: the ping first, then the pongs."""
    echoing = cell.subscribers if cell.echo == "all" else 1
    cpus = [cpu for place in places for cpu in place.role_cpus]
    ping: dict[str, Any] = {
        "role": "ping",
        "samples": limits.samples,
        "duration_s": limits.duration_s,
        "warmup_s": limits.warmup_s,
        "reply_timeout_s": limits.reply_timeout_s + cell.size * REPLY_TIMEOUT_PER_BYTE_S,
        "limit_s": limits.limit_s,
        "payload": cell.payload,
        "echoing": echoing,
        "samples_path": samples_path,
        "cpu": cpus[0],
    }
    pongs: list[dict[str, Any]] = [
        {
            "role": "pong",
            "index": index,
            "echoes": echoes(cell, index),
            "echoing": echoing,
            "payload": cell.payload,
            "cpu": cpus[1 + index],
        }
        for index in range(cell.subscribers)
    ]
    return [[ping, *pongs]] if cell.processes == 1 else [[role] for role in (ping, *pongs)]


def echoes(cell: Cell, pong: int) -> bool:
    """Say whether that pong replies."""
    return cell.echo == "all" or pong == 0


def role_name(role: Mapping[str, Any]) -> str:
    """Return ``ping`` or ``pong 0``: how errors name a role."""
    return "ping" if role["role"] == "ping" else f"pong {role['index']}"
