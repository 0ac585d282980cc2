"""On which processors the roles of a cell run, and whether they may spin there."""

import msgspec

from middlemark.suite.model import Level
from middlemark.suite.spelling import listing


class Placing(msgspec.Struct, frozen=True):
    """Where a cell's roles go: ``pin`` as in ``Cell``."""

    pin: tuple[int, ...] | None
    no_such: str | None = None
    """What is wrong when the request names processors that are not there; None: nothing."""
    crowded: str | None = None
    """What is wrong when more roles would spin than there are processors for them; None: nothing."""


def place(level: Level, receive: str, subscribers: int, cpus: tuple[int, ...]) -> Placing:
    """Resolve a level of ``pin`` for a ping and its pongs. ``cpus``: those this process may use, at least one."""
    roles = 1 + subscribers
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
            return Placing(pin, f"{which} this process may use ({listing(map(str, cpus))})")
    if receive != "poll":
        return Placing(pin)
    room = len(set(pin)) if pin is not None else len(cpus)
    if roles <= room:
        return Placing(pin)
    where = (
        f"pin {','.join(map(str, pin))} names"
        if isinstance(level, tuple) and pin
        else "there is"
        if room == 1
        else "there are"
    )
    processors = "1 processor" if room == 1 else f"{room} processors"
    pongs = "1 subscriber" if subscribers == 1 else f"{subscribers} subscribers"
    advice = (
        "block or listen instead"
        if roles > len(cpus)
        else f"give pin {roles} of the processors ({listing(map(str, cpus))})"
    )
    return Placing(pin, crowded=f"poll with {pongs} has {roles} roles spinning, but {where} {processors}; {advice}")
