"""Hand-made events of workers during a trial and at its end."""

from typing import Any

from middlemark.model.protocol import (
    Account,
    Counts,
    DoneEvent,
    MeasuringEvent,
    PingResult,
    PongResult,
    Resources,
    TickEvent,
)

_EVENTS: dict[str, type[Account]] = {"tick": TickEvent, "measuring": MeasuringEvent, "done": DoneEvent}
_MORE: dict[str, dict[str, Any]] = {
    "tick": {"role": "publisher", "phase": "measuring", "samples": 0, "elapsed_s": 1.0},
    "measuring": {},
    "done": {"role": "publisher"},
}


def event(name: str, at_ns: int, *, roles: tuple[Counts, ...] = (), **used: Any) -> Account:
    """Return a ``tick``, ``measuring`` or ``done``. ``used``: fields of its resources; the others are 0."""
    resources = Resources(**{**dict.fromkeys(Resources.__struct_fields__, 0), "threads": (), **used})
    return _EVENTS[name](at_ns=at_ns, roles=roles, resources=resources, **_MORE[name])


def ping(sent: int, **given: Any) -> PingResult:
    """Return the result of a ping that sent ``sent`` messages and got every reply."""
    fields = dict.fromkeys(PingResult.__struct_fields__, 0) | {"scheduled": None, "late_sends": None, "unsent": None}
    fields |= {"samples": sent, "sent": sent, "received": sent, "measured_s": 1.0, "ticks_per_second": 1e9}
    return PingResult(**{**fields, "event": "result", "ended": "samples", "last_error": "", **given})


def pong(received: int, index: int = 0, **given: Any) -> PongResult:
    """Return the result of a pong that echoed all messages."""
    fields = dict.fromkeys(PongResult.__struct_fields__, 0) | {"received": received, "echoed": received, "index": index}
    return PongResult(**{**fields, "event": "result", "ended": "stopped", "last_error": "", **given})
