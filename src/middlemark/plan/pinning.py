"""The processors on which the roles of a cell run, and whether the roles may spin on these processors."""

import msgspec

from middlemark.model.levels import Level
from middlemark.model.spelling import listing
from middlemark.model.units import format_count


class Pinning(msgspec.Struct, frozen=True):
    """The pinning of a cell's roles; ``pin`` is the level in ``Cell``."""

    pin: tuple[int, ...] | None
    no_such: str | None = None
    """The error about processors that do not exist on this machine; None: no error."""
    crowded: str | None = None
    """The error about more spinning roles than processors; None: no error."""


def count_roles(pattern: str, publishers: int, subscribers: int) -> int:
    """Return the number of roles: a ping and its pongs, clients and a server, or publishers and subscribers."""
    return (1 if pattern == "ping-pong" else publishers) + (1 if pattern == "request-reply" else subscribers)


def place(
    level: Level, receive: str, pattern: str, publishers: int, subscribers: int, cpus: tuple[int, ...]
) -> Pinning:
    """Return the processors for all roles, senders first, for a level of ``pin``.

    ``cpus``: the processors that this process may use, at least one.

    If there are more roles than processors, the first processors are used again. Under ``poll`` every role spins and
    needs its own processor. Under ``block`` and ``listen`` no role spins permanently: a publisher sleeps until its
    schedule and spins only briefly.
    """
    # The participants of a crowd share all processors.
    roles = len(cpus) if pattern == "crowd" else count_roles(pattern, publishers, subscribers)
    pin: tuple[int, ...] | None = None
    if level == "auto":
        pin = cpus[:roles] if len(cpus) > 1 else None
    elif isinstance(level, tuple):
        pin = level[:roles]
        strangers = [str(each) for each in dict.fromkeys(level) if each not in cpus]
        if strangers:
            which = (
                f"processors {listing(strangers)} are not ones"
                if len(strangers) > 1
                else f"processor {strangers[0]} is not one"
            )
            return Pinning(pin, f"{which} this process may use ({listing(map(str, cpus))})")
    if receive != "poll":
        return Pinning(pin)
    room = len(set(pin)) if pin is not None else len(cpus)
    if roles <= room:
        return Pinning(pin)
    where = (
        f"pin {','.join(map(str, pin))} names"
        if isinstance(level, tuple) and pin
        else "there is"
        if room == 1
        else "there are"
    )
    processors = format_count(room, "processor")
    who = {
        "ping-pong": format_count(subscribers, "subscriber"),
        "stream": f"{format_count(publishers, 'publisher')} and {format_count(subscribers, 'subscriber')}",
        "request-reply": format_count(publishers, "client"),
    }[pattern]
    advice = (
        "block or listen instead"
        if roles > len(cpus)
        else f"name {roles} of the processors in pin ({listing(map(str, cpus))})"
    )
    return Pinning(pin, crowded=f"poll with {who} has {roles} roles spinning, but {where} {processors}; {advice}")
