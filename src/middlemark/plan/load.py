"""The load of a cell (who sends, how many, when): which levels make sense together, and which mean nothing there."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

import msgspec

from middlemark.plan.cell import Note
from middlemark.plan.honour import show_level
from middlemark.problems import Problem
from middlemark.suite.model import Level, Levels
from middlemark.units import format_rate, format_seconds

LOAD = (
    "pattern",
    "publishers",
    "subscribers",
    "topics",
    "rate",
    "arrivals",
    "burst",
    "recovery",
    "max_loss",
    "max_p99",
    "echo",
)
"""The factors of the load. They depend on each other and on no adapter."""

FOLLOWING = ("arrivals", "recovery", "max_loss", "max_p99", "echo")
"""Those of them that mean nothing beside some levels of others, and then take their default."""

SEARCHES = ("sustainable", "curve")

Load = Mapping[str, Level]
"""Factor → level, for every factor of the load."""


class Nonsense(msgspec.Struct, frozen=True):
    """Why levels make no sense together, said of ``factor``, with the next step. ``rule``: what they offend against."""

    rule: str
    factor: str
    text: str


class Loads(msgspec.Struct, frozen=True):
    """The loads of a sweep in the order of crossing, each once, and what became of the combinations that are none."""

    rows: tuple[Load, ...]
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()


def cross_loads(
    asked: Mapping[str, Levels], duration_s: float | None, *, lenient: bool, wanted: Callable[[Load], bool]
) -> Loads:
    """Cross the factors of the load.

    A combination that makes no sense is left out with a note; but when a named level makes sense in no combination at
    all it is refused (``lenient``: left out as well). What is not ``wanted`` is neither measured nor told.
    """
    loads: list[Load] = [
        dict(zip(LOAD, levels, strict=True)) for levels in itertools.product(*(asked[factor].values for factor in LOAD))
    ]
    against = [tuple(_against(load, duration_s)) for load in loads]
    rows = [load for load, reasons in zip(loads, against, strict=True) if not reasons]
    excluded = [(load, reasons) for load, reasons in zip(loads, against, strict=True) if reasons]
    hopeless = _hopeless(asked, loads, rows, excluded)
    refused: dict[Nonsense, None] = {}
    left_out: dict[Nonsense, None] = {}
    for load, reasons in excluded:
        if wanted(_settled(load)):
            for why in reasons:
                (refused if why in hopeless and not lenient else left_out)[why] = None
    meant = {pair for load in loads for pair in load.items() if pair[0] not in {each.factor for each in _idle(load)}}
    for load in loads:
        for why in _idle(load):
            if (why.factor, load[why.factor]) not in meant and asked[why.factor].named and wanted(_settled(load)):
                (left_out if lenient else refused)[why] = None
    settled = (_settled(load) for load in rows)
    return Loads(
        rows=tuple({tuple(row.values()): row for row in settled if wanted(row)}.values()),
        notes=tuple(Note(asked[each.factor].place, f"left out: {each.text}") for each in left_out),
        problems=tuple(Problem(asked[each.factor].place, each.text) for each in refused),
    )


def _hopeless(
    asked: Mapping[str, Levels],
    loads: Sequence[Load],
    rows: Sequence[Load],
    excluded: Sequence[tuple[Load, tuple[Nonsense, ...]]],
) -> set[Nonsense]:
    """Return the reasons that leave a named level without any combination: alone, or together with others."""
    broken = [(load, {each.rule for each in reasons}) for load, reasons in excluded]
    fine = {
        rule: {pair for load in rows for pair in load.items()}
        | {pair for load, rules in broken if rule not in rules for pair in load.items()}
        for rule in dict.fromkeys(each.rule for _, reasons in excluded for each in reasons)
    }
    measured = {pair for load in rows for pair in load.items()}
    dead = {pair for load in loads for pair in load.items() if pair not in measured and asked[pair[0]].named}
    hopeless: set[Nonsense] = set()
    explained: set[tuple[str, Level]] = set()
    for load, reasons in excluded:
        for why in reasons:
            alone = {pair for pair in load.items() if pair in dead and pair not in fine[why.rule]}
            if alone:
                hopeless.add(why)
                explained |= alone
    for load, reasons in excluded:
        if any(pair in dead and pair not in explained for pair in load.items()):
            hopeless |= set(reasons)
    return hopeless


def _against(load: Load, duration_s: float | None) -> Iterable[Nonsense]:
    """Yield why no cell can be made of these levels; nothing: one can."""
    pattern, rate, burst = load["pattern"], load["rate"], load["burst"]
    if pattern == "ping-pong":
        for factor in ("publishers", "topics"):
            if load[factor] != 1:
                text = f"{factor} {load[factor]} under ping-pong, which has one; take pattern stream"
                yield Nonsense(f"one of {factor}", factor, text)
    if pattern == "request-reply":
        for factor, what in (("subscribers", "one server replies"), ("topics", "there is one service")):
            if load[factor] != 1:
                text = f"{factor} {load[factor]} under request-reply, where {what}; its clients are publishers"
                yield Nonsense(f"one of {factor}", factor, text)
    if pattern == "stream":
        ends = {factor: cast("int", load[factor]) for factor in ("publishers", "subscribers")}
        topics = cast("int", load["topics"])
        lacking = [f"{factor} {count}" for factor, count in ends.items() if count < topics]
        if lacking:
            text = f"topics {topics} with {' and '.join(lacking)}: each topic needs one of both"
            yield Nonsense("deserted topic", "topics", f"{text}; give at least {topics}, or fewer topics")
    else:
        if rate in SEARCHES:
            text = f"rate {rate} under {pattern}: only a stream's is searched for; take pattern stream"
            yield Nonsense("search", "rate", text)
        if burst is not None:
            text = f"burst {burst} under {pattern}: only streams have bursts; take pattern stream"
            yield Nonsense("burst of a stream", "burst", text)
    if burst is not None and rate != "max":
        text = f"burst {burst} at rate {show_level('rate', rate)}: a burst is sent as fast as possible"
        step = "leave the rate out and set the pace with recovery"
        yield Nonsense("burst at a rate", "burst", f"{text}; {step}")
    if isinstance(rate, float) and duration_s is not None and rate * duration_s < 1:
        text = f"rate {format_rate(rate)} brings no message within the duration of {format_seconds(duration_s)}"
        yield Nonsense("slow", "rate", f"{text}; measure for at least {format_seconds(math.ceil(1 / rate))}")


def _idle(load: Load) -> Iterable[Nonsense]:
    """Yield the levels that are no defaults and mean nothing beside the others."""
    if load["echo"] == "first" and load["pattern"] != "ping-pong":
        yield Nonsense("echo", "echo", "echo first: only the pongs of ping-pong echo; leave it out")
    if load["arrivals"] == "poisson" and load["rate"] == "max":
        text = "arrivals poisson at rate max, which has no schedule; give a rate in Hz"
        yield Nonsense("arrivals", "arrivals", text)
    if load["recovery"] is not None and load["burst"] is None:
        shown = show_level("recovery", load["recovery"])
        yield Nonsense("recovery", "recovery", f"recovery {shown} without bursts; give a burst, as in 100")
    if load["rate"] not in SEARCHES:
        for factor, default in (("max_loss", 0.0), ("max_p99", None)):
            if load[factor] != default:
                text = f"{factor} {show_level(factor, load[factor])} bounds a rate that is searched for"
                yield Nonsense(factor, factor, f"{text}; take rate sustainable or curve")


def _settled(load: Load) -> Load:
    """Return the load with what means nothing there at its default, so that cells which are one are equal."""
    settled = dict(load)
    if load["rate"] == "max":
        settled["arrivals"] = "periodic"
    settled["recovery"] = None if load["burst"] is None else load["recovery"] or 0.0
    if load["rate"] not in SEARCHES:
        settled |= {"max_loss": 0.0, "max_p99": None}
    if load["pattern"] != "ping-pong" or load["subscribers"] == 1:
        settled["echo"] = "all"  # the first of one is all of them
    return settled
