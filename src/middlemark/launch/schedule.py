"""Whether senders with a rate kept to their intended instants. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.launch.outcome import Doubt, Sent
from middlemark.launch.wording import each_of, part
from middlemark.plan.cell import Cell

LATE_SHARE = 0.02
"""A schedule counts as held while no more than this part of it was sent over a period late. At 1 MHz the gaps of a
virtual machine alone (1,250 a second of 8 µs) make 1 % late; a publisher that cannot keep up makes nearly all late."""
UNSENT_SHARE = 0.001
"""And while no more than this part was not sent at all: what a publisher that cannot keep up is behind at its end."""


class Schedule(msgspec.Struct, frozen=True):
    """What became of one sender's intended instants."""

    who: str
    scheduled: int
    late: int
    unsent: int

    @property
    def held(self) -> bool:
        """Late and unsent messages were few enough."""
        return self.late <= LATE_SHARE * self.scheduled and self.unsent <= UNSENT_SHARE * self.scheduled


def schedules(role: str, senders: Iterable[Sent | Mapping[str, Any]]) -> tuple[Schedule, ...]:
    """Return the schedules of those that had one, from what is kept of them or from their results."""
    found = []
    for sender in senders:
        told = sender if isinstance(sender, Mapping) else msgspec.structs.asdict(sender)
        if told.get("scheduled"):
            who = role if role == "ping" else f"{role} {told['index']}"
            found.append(Schedule(who, told["scheduled"], told["late_sends"] or 0, told["unsent"] or 0))
    return tuple(found)


def missed_instants(cell: Cell, found: Sequence[Schedule]) -> Doubt | None:
    """Return the doubt about a rate that was not held; None: it was, or there was none."""
    missing = [each for each in found if not each.held]
    if not missing:
        return None

    def words(each: Schedule) -> str:
        parts = [f"{each.late:,} over a period late ({part(each.late, each.scheduled)})"] if each.late else []
        parts += [f"{each.unsent:,} not at all ({part(each.unsent, each.scheduled)})"] if each.unsent else []
        return f"{each.who} sent {' and '.join(parts)}, of {each.scheduled:,} due"

    rate = "" if isinstance(cell.rate, str) else f" of {cell.rate:,.6g} Hz"
    return Doubt(
        "missed-instants",
        f"the rate{rate} was not held: {each_of(missing, words)}; the latency counts from the intended instants",
        "a lower --rate, or give the sender a processor of its own (--pin 0,1)"
        + ("" if cell.receive == "poll" else " and let the receiver poll (--receive poll)"),
    )
