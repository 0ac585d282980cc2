"""What the answering role of a round trip is asked to stamp, and where its stamps are found. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from middlemark.launch.outcome import SamplesFile, Started
from middlemark.launch.request import Asked

Result = Mapping[str, Any]
"""A ``result`` event of docs/protocol.md."""


def asked_of(asked: Asked, role: str) -> dict[str, Any]:
    """Return the fields of the one pong or server that every round trip of the trial goes through."""
    limits = asked.limits
    senders = asked.cell.publishers if role == "server" else 1
    return {
        "samples_path": _path(asked.samples_stem, role),
        "samples": None if limits.samples is None else limits.samples * senders,
        "duration_s": limits.duration_s,
    }


def facts(stem: str, callers: Sequence[Result], answerers: Sequence[Result]) -> dict[str, Any]:
    """Return the fields of ``TrialOutcome``; nothing where a worker of an earlier build says nothing of stamps."""
    return {
        "stamps": tuple(
            SamplesFile(
                role=each["role"], index=each["index"], path=_path(stem, each["role"]), samples=int(each["stamped"])
            )
            for each in answerers
            if each.get("stamped")
        ),
        "starts": tuple(
            Started(index=each["index"], ticks=each["start_ticks"], ticks_per_second=each["ticks_per_second"])
            for each in callers
            if "start_ticks" in each
        ),
    }


def _path(stem: str, role: str) -> str:
    return f"{stem}-{role}-0.npy"
