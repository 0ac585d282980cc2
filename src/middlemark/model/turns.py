"""Turns: the trials of a round run side by side, and one sends at a time, in random order."""

import math
import random
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from middlemark.model.plan import Trial

GUARD_S = 0.1
"""Nobody sends in the first and the last part of a turn, because the trials do not start at exactly the same time."""
GUARD_SHARE = 0.05
"""Each of the two parts is at most this share of a turn."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a trial in a group of trials that run side by side."""

    seat: int
    """From 0."""
    seats: int
    seed: int
    """The seed of the order of the turns. All trials of the group have the same."""


def turns_of(turn: Turn, turn_s: float, duration_s: float) -> Iterator[float]:
    """Yield the beginning of each turn of the trial, in s since the start.

    In each cycle every trial has one turn, in an order of its own.
    """
    for cycle in range(math.ceil(duration_s / (turn_s * turn.seats))):
        order = list(range(turn.seats))
        random.Random(f"{turn.seed}/{cycle}").shuffle(order)
        begin_s = (cycle * turn.seats + order.index(turn.seat)) * turn_s
        if begin_s < duration_s:
            yield begin_s


def instants_of(turn: Turn, turn_s: float, duration_s: float, rate_hz: float) -> "array[int]":
    """Return the instant of each message in ns since the start, as uint64 in host order."""
    guard_s = min(GUARD_S, GUARD_SHARE * turn_s)
    messages = max(1, math.floor((turn_s - 2 * guard_s) * rate_hz + 1e-6))
    return array(
        "Q",
        (
            round((begin_s + guard_s + number / rate_hz) * 1e9)
            for begin_s in turns_of(turn, turn_s, duration_s)
            for number in range(messages)
        ),
    )


def side_by_side(trials: "Sequence[Trial]") -> "Iterator[tuple[Trial, ...]]":
    """Yield the trials in groups that run side by side. A trial without a turn is a group of its own."""
    groups: dict[object, list[Trial]] = {}
    for each in trials:
        key = each.order if each.turn is None else (each.number, each.turn.seed)
        groups.setdefault(key, []).append(each)
    yield from map(tuple, groups.values())
