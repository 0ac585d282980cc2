"""What the roles reported → counts and doubts. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from middlemark.launch.outcome import Counts, Doubt
from middlemark.launch.request import echoes
from middlemark.plan.cell import Cell, Limits

Result = Mapping[str, Any]
"""A ``result`` event of docs/protocol.md."""


def counted(ping: Result, pongs: Sequence[Result]) -> Counts:
    """Add up what both ends counted.

    ``damaged`` is the least number of exchanges (a message to one pong and its reply) that explains what was found.
    """
    return Counts(
        sent=ping["sent"],
        received=ping["received"],
        lost=ping["lost"],
        late=ping["late"],
        # What a pong found twice or out of order came back so, and the ping has counted it.
        duplicated=ping["duplicated"],
        reordered=ping["reordered"],
        damaged=ping["damaged"] + _damaged_at(pongs) - _found_by_both(ping, pongs),
        publish_failed=ping["publish_failed"] + sum(pong["publish_failed"] for pong in pongs),
    )


def _damaged_at(pongs: Sequence[Result]) -> int:
    return sum(pong["damaged"] for pong in pongs)


def _found_by_both(ping: Result, pongs: Sequence[Result]) -> int:
    """Return how much of the damage that the ping found may be what pongs had found before and echoed.

    A pong echoes a damaged message as it came, and only then can the ping find it too; whether it did (of several
    replies it checks the last one in full) or found other damage from the way back, neither can tell.
    """
    came_back: int = sum(min(pong["damaged"], pong["echoed"]) for pong in pongs)
    return min(int(ping["damaged"]), came_back)


def doubts(cell: Cell, limits: Limits, ping: Result, pongs: Sequence[Result]) -> list[Doubt]:
    """Return what the roles' own words make doubtful; what can be seen in the figures is for ``stats``."""
    counts = counted(ping, pongs)
    found = []
    if ping["ended"] == "full":
        found.append(
            Doubt(
                code="ended-early",
                text=f"the memory for samples was full after {ping['measured_s']:.3g} s; the trial ended there",
                advice="a shorter --duration, or --samples",
            )
        )
    if ping["ended"] == "limit":
        found.append(
            Doubt(
                code="ended-early",
                text=f"the limit of {limits.limit_s:g} s came after {counts.sent} messages",
                advice="fewer --samples, or a higher limit in the suite",
            )
        )
    words = dict.fromkeys(f"{event['role']}: {event['last_error']}" for event in [ping, *pongs] if event["last_error"])
    if counts.publish_failed:
        found.append(
            Doubt(
                code="publish-failed",
                text=f"{counts.publish_failed} publishes failed: {'; '.join(words) or 'no reason given'}",
                advice="they count as lost",
            )
        )
    if both := _found_by_both(ping, pongs):
        found.append(
            Doubt(
                code="damaged",
                text=f"at least: the ping found {ping['damaged']} and the pongs {_damaged_at(pongs)}, "
                f"and {both} of these may be the same, echoed as they came",
            )
        )
    # One-process and echoing pongs: what the ping lost on the way out shows at the pong too.
    silent = [pong["index"] for pong in pongs if counts.sent and pong["received"] == 0]
    if silent:
        found.append(
            Doubt(code="pong-received-nothing", text=f"pongs {silent} received none of {counts.sent} messages")
        )
    missed = sum(max(0, counts.sent - pong["received"]) for pong in pongs if not echoes(cell, pong["index"]))
    if missed:
        found.append(
            Doubt(
                code="loss",
                text=f"pongs that do not echo missed {missed} messages",
                advice="a deeper history, or reliable",
            )
        )
    return found
