"""Ping-pong: one ping, and pongs of which some or all reply."""

from typing import Any

from middlemark.launch import evidence, stamps
from middlemark.launch.findings import counted, doubts
from middlemark.launch.patterns.pattern import Heard, Pattern, Roles
from middlemark.launch.request import Asked, Role, bounds_of, echoes, load_of, reply_timeout_s
from middlemark.launch.schedule import missed_instants, schedules
from middlemark.plan.cell import Cell


def roles(asked: Asked) -> Roles:
    """Return the ping and its pongs."""
    cell, limits = asked.cell, asked.limits
    echoing = _echoing(cell)
    ping: Role = {
        "role": "ping",
        **bounds_of(limits),
        "load": load_of(cell, asked.seed, 0),
        "reply_timeout_s": reply_timeout_s(cell, limits),
        "payload": cell.payload,
        "echoing": echoing,
        "samples_path": f"{asked.samples_stem}.npy",
        "cpu": asked.cpus[0],
    }
    pongs: list[Role] = [
        {
            "role": "pong",
            "index": index,
            "echoes": echoes(cell, index),
            "echoing": echoing,
            "payload": cell.payload,
            # Of several replies the last one ends the round trip, and whose that was is not kept.
            **(stamps.asked_of(asked, "pong") if echoing == 1 and index == 0 else {}),
            "cpu": asked.cpus[1 + index],
        }
        for index in range(cell.subscribers)
    ]
    return Roles((ping,), tuple(pongs))


def facts(heard: Heard) -> dict[str, Any]:
    """Return what the ping measured and everybody counted."""
    [ping] = heard.senders
    missed = missed_instants(heard.cell, schedules("ping", heard.senders))
    counts = counted(ping, heard.receivers)
    return {
        "counts": counts,
        "samples": ping["samples"],
        "warmup_samples": ping["warmup_samples"],
        "measured_s": ping["measured_s"],
        "samples_file": f"{heard.samples_stem}.npy",
        **stamps.facts(heard.samples_stem, [ping], heard.receivers),
        "carried_by": evidence.carried_by(
            heard.evidence,
            heard.transport,
            # One message out to however many pongs (it may be one multicast), and every reply.
            messages=counts.sent + counts.received + heard.warmed_up * (1 + _echoing(heard.cell)),
            size=heard.cell.size,
            processes=heard.cell.processes,
        ),
        "warnings": (*doubts(heard.cell, heard.limits, ping, heard.receivers), *([missed] if missed else ())),
    }


def _echoing(cell: Cell) -> int:
    """Return the replies to each message. A ping alone takes back its own."""
    return max(cell.subscribers, 1) if cell.echo == "all" else 1


PING_PONG = Pattern(
    roles=roles,
    facts=facts,
    # The ping has waited for the echoes; the other pongs may be behind.
    drains=lambda cell, role: not echoes(cell, role["index"]),
)
