"""One sweep on one ground → its cells, in the order written, with what was left out and what must be refused."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import msgspec

from middlemark.plan.cell import Cell, Note
from middlemark.plan.floors import copying_alone
from middlemark.plan.honour import (
    CAPABILITIES,
    CELL_FIELDS,
    SMALLEST_MESSAGE,
    cannot,
    level_of,
    own_depth,
    own_level,
    show_level,
)
from middlemark.plan.load import FOLLOWING, LOAD, Load, cross_loads
from middlemark.plan.native import check_native, native_of
from middlemark.plan.pairs import Ground, Pair, find_pairs
from middlemark.plan.placing import Placing, count_roles, place
from middlemark.problems import Problem
from middlemark.suite.model import Level, Levels, Sweep
from middlemark.suite.spelling import listing

MOST_CELLS = 100_000
_PLACING = ("pin", "priority", "mlock")
_SETTLED_LATE = ("pin", *FOLLOWING)
"""Factors whose levels are only known once a cell is made."""


class Lack(msgspec.Struct, frozen=True):
    """A level that a pair cannot honour, and why."""

    pair: Pair
    factor: str
    level: Level
    why: str


Settled = tuple[Pair, dict[str, tuple[Level, ...]]]
"""A pair and the levels of each capability that it will be measured with; empty: it cannot be."""


class Crossing(msgspec.Struct, frozen=True):
    """What came of a sweep."""

    cells: tuple[Cell, ...]
    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]


def cross(sweep: Sweep, ground: Ground) -> Crossing:
    """Cross a sweep's factors over the pairs that can honour them. Pure; the order of levels is kept."""
    notes: list[Note] = []
    problems: list[Problem] = check_native(sweep, ground)
    pairs = find_pairs(sweep, ground, notes, problems)
    everything = {each.factor: each for each in sweep.factors if each.factor not in ("adapter", "transport")}
    everything["size"] = _at_least_the_header(everything["size"], notes)
    if any(each.factor in everything and not _narrow(everything[each.factor], ground).values for each in ground.only):
        return Crossing((), tuple(notes), tuple(problems))  # --only leaves nothing of this sweep
    asked = {factor: _narrow(levels, ground) for factor, levels in everything.items()}

    if math.prod(len(everything[factor].values) for factor in LOAD) > MOST_CELLS:
        problems.append(Problem(sweep.place, f"its loads are more than the {MOST_CELLS} cells that can be planned"))
        return Crossing((), tuple(notes), tuple(problems))
    loads = cross_loads(
        everything,
        sweep.duration_s,
        lenient=sweep.skip_unsupported,
        wanted=lambda load: all(ground.wants(factor, level) for factor, level in load.items()),
    )
    notes += loads.notes
    problems += loads.problems

    lacks: list[Lack] = []
    settled = [(pair, _settle(pair, asked, lacks, notes)) for pair in pairs]
    problems += _refused(sweep, asked, settled, lacks)
    notes += _left_out(asked, settled, lacks)
    shared = len(loads.rows) * math.prod(len(asked[factor].values) for factor in ("payload", *_PLACING))
    count = sum(shared * math.prod(map(len, levels.values())) for _, levels in settled)
    if count > MOST_CELLS:
        problems.append(Problem(sweep.place, f"its levels make {count} cells; at most {MOST_CELLS} can be planned"))
        return Crossing((), tuple(notes), tuple(problems))

    meeting = [(pair, levels) for pair, levels in settled if not pair.transport.alone]
    placings = _place_roles(sweep, asked, loads.rows, meeting, ground, notes, problems)
    cells: list[Cell] = []
    for pair, levels in settled:
        if not pair.wanted:
            continue
        if pair.transport.alone:
            cells += _alone(pair, levels, asked, loads.rows, ground, (notes, problems))
        else:
            native = native_of(sweep, ground, pair.adapter)
            cells += _cells(pair, levels, asked, loads.rows, placings, native, notes)
    return Crossing(tuple(each for each in cells if _kept(each, ground)), tuple(notes), tuple(problems))


def _at_least_the_header(sizes: Levels, notes: list[Note]) -> Levels:
    small = [size for size in sizes.values if isinstance(size, int) and size < SMALLEST_MESSAGE]
    if not small:
        return sizes
    shown = listing(map(str, small))
    notes.append(Note(sizes.place, f"{shown} B became {SMALLEST_MESSAGE} B, the smallest message: the header is in it"))
    grown = (max(size, SMALLEST_MESSAGE) if isinstance(size, int) else size for size in sizes.values)
    return Levels("size", tuple(dict.fromkeys(grown)), sizes.place, sizes.named)


def _narrow(levels: Levels, ground: Ground) -> Levels:
    """Drop the levels that ``--only`` leaves out. Defaults and some others are only known once a cell is made."""
    if not levels.named or levels.factor in _SETTLED_LATE:
        return levels
    kept = tuple(level for level in levels.values if ground.wants(levels.factor, level))
    return Levels(levels.factor, kept, levels.place, levels.named)


def _settle(pair: Pair, asked: dict[str, Levels], lacks: list[Lack], notes: list[Note]) -> dict[str, tuple[Level, ...]]:
    """Return the levels of each capability that the pair will be measured with."""
    settled: dict[str, tuple[Level, ...]] = {}
    for factor in CAPABILITIES:
        levels = asked[factor]
        kept: list[Level] = []
        lacking: list[Lack] = []
        for level in levels.values:
            why = cannot(pair.transport, factor, level)
            if why is None:
                kept.append(level)
            else:
                lacking.append(Lack(pair, factor, level, why))
        follows = pair.company and factor == "reliability"
        if lacking and not kept and (follows or not levels.named):
            own = own_level(pair.transport, factor)
            kept.append(own)
            if not pair.adapter.floor and pair.wanted:
                notes.append(Note(levels.place, f"{pair.name}: {factor} {show_level(factor, own)} ({lacking[0].why})"))
        elif not follows:
            lacks += lacking
        settled[factor] = tuple(kept)
    return settled


def _refused(
    sweep: Sweep,
    asked: dict[str, Levels],
    settled: list[Settled],
    lacks: list[Lack],
) -> list[Problem]:
    """Return what was named and cannot be honoured: by a pair that was named, or by no pair that could stand for it."""
    if sweep.skip_unsupported:
        return []
    problems = [
        Problem(asked[each.factor].place, f"{each.pair.name}: {_asked_size(each)}{each.why}")
        for each in lacks
        if each.pair.strict and each.pair.wanted
    ]
    pairs = [(pair, levels) for pair, levels in settled if not pair.strict]
    named = sweep.levels("adapter").values != ("all",)
    # A named adapter must honour each level somewhere; under "all" one adapter that does is enough.
    names = (
        list(dict.fromkeys(pair.adapter.name for pair, _ in pairs if not pair.company and pair.wanted))
        if named
        else [""]
    )
    for name in names:
        group = [(pair, levels) for pair, levels in pairs if name in ("", pair.adapter.name)]
        problems += _uncovered(name, asked, group, lacks, sweep.place)
    return problems


def _uncovered(
    name: str,
    asked: dict[str, Levels],
    group: list[Settled],
    lacks: list[Lack],
    place: str,
) -> list[Problem]:
    if not any(pair.wanted for pair, _ in group):
        return []
    members = {id(pair) for pair, _ in group}
    problems: list[Problem] = []
    for factor in CAPABILITIES:
        levels = asked[factor]
        for level in levels.values:
            if any(level in own[factor] for _, own in group):
                continue
            reasons = [
                each for each in lacks if id(each.pair) in members and (each.factor, each.level) == (factor, level)
            ]
            if reasons:
                shown = f"{factor} {show_level(factor, level)}"
                problems.append(Problem(levels.place, f"{_who(name)} can honour {shown}: {_why(reasons)}"))
    if not problems and all(not all(own.values()) for _, own in group):
        whys = [each for each in lacks if id(each.pair) in members]
        problems.append(Problem(place, f"{_who(name)} can honour all of this at once: {_why(whys)}"))
    return problems


def _who(adapter: str) -> str:
    return f"no transport of {adapter}" if adapter else "no adapter here"


def _why(lacks: list[Lack]) -> str:
    said: dict[str, list[str]] = {}
    for each in lacks:
        said.setdefault(each.why, []).append(each.pair.name)
    return "; ".join(f"{listing(dict.fromkeys(names))}: {why}" for why, names in said.items())


def _asked_size(lack: Lack) -> str:
    return f"{show_level('size', lack.level)} asked, " if lack.factor == "size" else ""


def _left_out(asked: dict[str, Levels], settled: list[Settled], lacks: list[Lack]) -> list[Note]:
    """One note for each factor and each pair that follows without honouring all of it; of one that is out, only why."""
    barred = {id(pair): {factor for factor, own in levels.items() if not own} for pair, levels in settled}
    gathered: dict[tuple[str, str, str], list[Level]] = {}
    for each in lacks:
        beside = barred[id(each.pair)] and each.factor not in barred[id(each.pair)]
        if not each.pair.strict and each.pair.wanted and not beside:
            gathered.setdefault((each.factor, each.pair.name, each.why), []).append(each.level)
    return [
        Note(
            asked[factor].place,
            f"{name}: {factor} {listing(show_level(factor, level) for level in levels)} left out ({why})",
        )
        for (factor, name, why), levels in gathered.items()
    ]


Placings = dict[tuple[Level, Level, Level, Level, Level], Placing]
"""By reception, pin and what of the load says how many roles there are."""
_CROWD = ("pattern", "publishers", "subscribers")


def _place_roles(
    sweep: Sweep,
    asked: dict[str, Levels],
    loads: Sequence[Load],
    settled: list[Settled],
    ground: Ground,
    notes: list[Note],
    problems: list[Problem],
) -> Placings:
    """Place each combination of reception, roles and pin once. Those that cannot be are not in the answer."""
    live = [(pair, levels) for pair, levels in settled if pair.wanted and all(levels.values())]
    placings: Placings = {}
    crowded: dict[str, Levels] = {}
    for receive in dict.fromkeys(level for _, levels in live for level in levels["receive"]):
        crowds = dict.fromkeys(tuple(load[each] for each in _CROWD) for load in loads)
        for crowd, pin in itertools.product(crowds, asked["pin"].values):
            pattern, publishers, subscribers = str(crowd[0]), int(str(crowd[1])), int(str(crowd[2]))
            found = place(pin, str(receive), pattern, publishers, subscribers, ground.cpus)
            if found.no_such is not None:
                problems.append(Problem(asked["pin"].place, found.no_such))
            elif found.crowded is not None:
                crowded[found.crowded] = asked["receive"]
            else:
                placings[receive, pin, *crowd] = found
            if pin == "auto" and found.pin is None:
                notes.append(Note(asked["pin"].place, "not pinned: this process may use one processor only"))
            if receive == "poll" and found.crowded is None:
                roles = count_roles(pattern, publishers, subscribers)
                notes += _own_threads(roles, live, asked["receive"].place, ground)
    for why, levels in crowded.items():
        if levels.named and not sweep.skip_unsupported:
            problems.append(Problem(levels.place, why))
        else:
            notes.append(Note(levels.place, f"left out: {why}"))
    return placings


def _own_threads(roles: int, live: list[Settled], place: str, ground: Ground) -> list[Note]:
    names = dict.fromkeys(
        pair.adapter.name for pair, levels in live if pair.adapter.own_threads and "poll" in levels["receive"]
    )
    if not names or len(ground.cpus) > roles:
        return []
    which = (
        "receives on threads of its own, which share"
        if len(names) == 1
        else "receive on threads of their own, which share"
    )
    return [Note(place, f"{listing(names)} {which} the processors with {roles} polling roles")]


def _cells(
    pair: Pair,
    levels: dict[str, tuple[Level, ...]],
    asked: dict[str, Levels],
    loads: Sequence[Load],
    placings: Placings,
    native: tuple[tuple[str, str], ...],
    notes: list[Note],
) -> list[Cell]:
    cells: list[Cell] = []
    by_pattern: dict[Level, list[Load]] = {}
    for load in loads:
        by_pattern.setdefault(load["pattern"], []).append(load)
    names = (*CAPABILITIES, "payload", *_PLACING)
    columns = [levels.get(factor, asked[factor].values) for factor in names]
    inner = len(_PLACING)
    for some in by_pattern.values():
        for outer in itertools.product(*columns[:-inner]):
            for load, last in itertools.product(some, itertools.product(*columns[-inner:])):
                values: dict[str, Any] = {**dict(zip(names, (*outer, *last), strict=True)), **load}
                placing = placings.get((values["receive"], values["pin"], *(load[each] for each in _CROWD)))
                if placing is None:
                    continue
                values["pin"] = placing.pin
                if not asked["depth"].named:
                    values["depth"] = _own_depth(pair, load, asked["depth"].place, notes)
                fields = {CELL_FIELDS.get(factor, factor): level for factor, level in values.items()}
                cells.append(Cell(adapter=pair.adapter.name, transport=pair.transport.name, native=native, **fields))
    return cells


def _alone(
    pair: Pair,
    levels: dict[str, tuple[Level, ...]],
    asked: dict[str, Levels],
    loads: Sequence[Load],
    ground: Ground,
    told: tuple[list[Note], list[Problem]],
) -> list[Cell]:
    """Return the cells of a transport that was asked for and of which nobody else takes part: only round trips."""
    rates = dict.fromkeys(
        (load["rate"], load["arrivals"]) for load in loads if (load["pattern"], load["subscribers"]) == ("ping-pong", 1)
    )
    if not rates:
        text = f"{pair.name} copies alone: pattern ping-pong with one subscriber is all it can be measured beside"
        if pair.company:
            told[0].append(Note(asked["pattern"].place, f"left out: {text}"))
        else:
            told[1].append(Problem(asked["pattern"].place, text))
    cells: list[Cell] = []
    factors = [levels["size"], asked["payload"].values, *(asked[factor].values for factor in _PLACING)]
    for (size, payload, pin, priority, mlock), (rate, arrivals) in itertools.product(
        itertools.product(*factors), rates
    ):
        found = place(pin, "block", "ping-pong", 1, 0, ground.cpus)
        if found.no_such is not None:
            told[1].append(Problem(asked["pin"].place, found.no_such))
            continue
        names = ("size", "payload", "pin", "priority", "mlock", "rate", "arrivals")
        model: dict[str, Any] = dict(
            zip(names, (size, payload, found.pin, priority, mlock, rate, arrivals), strict=True)
        )
        asked_for = Cell(adapter=pair.adapter.name, transport=pair.transport.name, **model)
        alone = copying_alone(pair.adapter, pair.transport, asked_for)
        cells.append(msgspec.structs.replace(alone, **model))
    return cells


def _own_depth(pair: Pair, load: Load, place: str, notes: list[Note]) -> Level:
    sources = math.ceil(int(str(load["publishers"])) / int(str(load["topics"])))
    depth = own_depth(pair.transport, str(load["pattern"]), sources)
    if load["pattern"] == "stream" and depth is not None and not pair.adapter.floor:
        notes.append(Note(place, f"{pair.name}: depth {depth} (no keep-all history)"))
    return depth


def _kept(cell: Cell, ground: Ground) -> bool:
    return all(ground.wants(each.factor, level_of(cell, each.factor)) for each in ground.only)
