"""The load of a cell (number of senders, rate, arrivals): its valid combinations of levels, and its words."""

import math
from collections.abc import Iterator, Mapping
from typing import cast

import msgspec

from middlemark.model.cell import FACTORS, MOST_CROWD_TOPICS, SEARCHES, Cell
from middlemark.model.levels import Level
from middlemark.model.protocol import Load
from middlemark.model.units import format_percent, format_rate, format_seconds

LOAD = tuple(each.name for each in FACTORS.values() if each.load)
"""The factors of the load. They depend on each other, but not on the adapter."""

LoadLevels = Mapping[str, Level]
"""Level of every factor of the load, by the factor's name."""


class InvalidCombination(msgspec.Struct, frozen=True):
    """The reason why some levels cannot be combined.

    ``text``: about ``factor``, with the next step; ``rule``: the broken rule.
    """

    rule: str
    factor: str
    text: str


def invalid(load: LoadLevels, duration_s: float | None) -> Iterator[InvalidCombination]:
    """Yield the reasons why these levels cannot make a cell; nothing if the levels can be combined."""
    pattern, rate, burst = load["pattern"], load["rate"], load["burst"]
    if pattern == "ping-pong":
        for factor in ("publishers", "topics"):
            if load[factor] != 1:
                text = f"{factor} {load[factor]} under ping-pong, which has only one; take pattern stream"
                yield InvalidCombination(f"one of {factor}", factor, text)
    if pattern == "request-reply":
        for factor, what in (("subscribers", "one server replies"), ("topics", "there is one service")):
            if load[factor] != 1:
                text = f"{factor} {load[factor]} under request-reply, where {what}; its clients are publishers"
                yield InvalidCombination(f"one of {factor}", factor, text)
    if pattern == "crowd":
        yield from _invalid_crowd(load)
    if pattern == "stream":
        ends = {factor: cast("int", load[factor]) for factor in ("publishers", "subscribers")}
        topics = cast("int", load["topics"])
        lacking = [f"{factor} {count}" for factor, count in ends.items() if count < topics]
        if lacking:
            text = f"topics {topics} with {' and '.join(lacking)}: each topic needs publisher and subscriber"
            yield InvalidCombination("deserted topic", "topics", f"{text}; give at least {topics}, or fewer topics")
    else:
        if rate in SEARCHES:
            text = f"rate {rate} under {pattern}: only the rate of a stream is searched for; take pattern stream"
            yield InvalidCombination("search", "rate", text)
        if burst is not None:
            text = f"burst {burst} under {pattern}: only streams have bursts; take pattern stream"
            yield InvalidCombination("burst of a stream", "burst", text)
    if burst is not None and rate != "max":
        text = f"burst {burst} at rate {FACTORS['rate'].kind.show(rate)}: a burst is sent as fast as possible"
        step = "leave the rate out and set the pace with recovery"
        yield InvalidCombination("burst at a rate", "burst", f"{text}; {step}")
    if isinstance(rate, float) and duration_s is not None and rate * duration_s < 1:
        text = f"rate {format_rate(rate)} brings no message within the duration of {format_seconds(duration_s)}"
        yield InvalidCombination("slow", "rate", f"{text}; measure for at least {format_seconds(math.ceil(1 / rate))}")


def _invalid_crowd(load: LoadLevels) -> Iterator[InvalidCombination]:
    participants, topics = cast("int", load["participants"]), cast("int", load["topics"])
    for factor in ("publishers", "subscribers"):
        if load[factor] != 1:
            text = f"{factor} {load[factor]} in a crowd, whose participants publish and subscribe; give participants"
            yield InvalidCombination(f"one of {factor} in a crowd", factor, text)
    if load["rate"] == "max":
        text = "rate max in a crowd, whose topics have a rate; give a rate, such as 1 Hz"
        yield InvalidCombination("rate of a crowd", "rate", text)
    if load["arrivals"] != "periodic":
        text = f"arrivals {load['arrivals']} in a crowd: its topics are periodic"
        yield InvalidCombination("arrivals of a crowd", "arrivals", text)
    if participants * topics > MOST_CROWD_TOPICS:
        text = f"topics {topics} of each of {participants} participants: at most {MOST_CROWD_TOPICS} in a crowd"
        step = f"give at most {max(1, MOST_CROWD_TOPICS // participants)} topics"
        yield InvalidCombination("topics of a crowd", "topics", f"{text}; {step}")


def meaningless(load: LoadLevels) -> Iterator[InvalidCombination]:
    """Yield each level that has no effect with the other levels, although a user may expect an effect."""
    for name in LOAD:
        factor = FACTORS[name]
        if factor.applies is not None and load[name] != factor.idle and not factor.applies.when(load):
            shown = f"{name} {factor.kind.show(load[name])}"
            yield InvalidCombination(name, name, factor.applies.otherwise.format(shown))


def settled(load: LoadLevels) -> LoadLevels:
    """Return the load; a factor without effect gets its default, so that equal cells compare equal."""
    return {
        name: level if rule is None or (rule.when(load) and not rule.moot(load)) else FACTORS[name].idle
        for name, level in load.items()
        for rule in (FACTORS[name].applies,)
    }


def request_of(cell: Cell, seed: int, sender: int) -> Load:
    """Return the load of one sender. Each sender of a trial has its own random instants."""
    if cell.burst is not None:
        return Load(kind="burst", burst=cell.burst, recovery_s=cell.recovery_s or 0.0)
    if isinstance(cell.rate, str):
        assert cell.rate == "max", "a search measures rates, never itself"
        return Load()
    return Load(kind="rate", rate_hz=cell.rate, arrivals=cell.arrivals, seed=seed + sender)


def mean_interval_s(cell: Cell, own_s: float) -> float:
    """Return the mean time in s between two messages of a sender. Without a limit it needs ``own_s`` per message."""
    if isinstance(cell.rate, float):
        own_s = max(own_s, 1 / cell.rate)
    return own_s + (cell.recovery_s or 0.0) / cell.burst if cell.burst is not None else own_s


def most_in_bursts(cell: Cell, seconds: float) -> int | None:
    """Return the most messages that a sender can send in bursts. None: only the sender's speed is a limit."""
    if cell.burst is None or not cell.recovery_s:
        return None
    return math.ceil(seconds / cell.recovery_s + 1) * cell.burst


def rate_in_words(cell: Cell) -> str:
    """Return the rate in words: ``rate 1 kHz poisson``, ``bursts of 100, 90 ms apart``, ``one at a time``."""
    if cell.workload is not None:
        return ""
    if cell.burst is not None:
        return f"bursts of {cell.burst:,}, {format_seconds(cell.recovery_s or 0.0)} apart"
    poisson = " poisson" if cell.arrivals == "poisson" else ""
    if isinstance(cell.rate, int | float):
        return f"rate {format_rate(cell.rate)}{poisson}"
    if cell.rate == "max":
        return "as fast as possible" if cell.pattern == "stream" else "one at a time"
    limits = [f"loss up to {format_percent(cell.max_loss)}"] if cell.rate == "sustainable" else []
    if cell.rate == "sustainable" and cell.max_p99_s is not None:
        limits.append(f"p99 up to {format_seconds(cell.max_p99_s)}")
    return ", ".join([f"rate {cell.rate}{poisson}", *limits])


def lower(cell: Cell) -> str:
    """Return advice on how to send fewer messages at a time."""
    if cell.burst is not None:
        return "or a smaller --burst, or a longer --recovery"
    if cell.pattern != "stream":
        return "or a lower --rate"
    return "or a lower --rate: --rate sustainable finds the highest rate that is within --max-loss"
