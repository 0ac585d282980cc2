"""Expand one sweep to its cells, in the order written.

Notes name the levels that are left out, and problems name the levels that are refused.
"""

import itertools
import math
from collections.abc import Sequence

import msgspec

from middlemark.model.cell import (
    CAPABILITIES,
    FACTORS,
    OF_WORKLOAD,
    SEARCHES,
    SMALLEST_MESSAGE,
    Cell,
    carrying,
    level_of,
    show_level,
    with_levels,
)
from middlemark.model.levels import Level
from middlemark.model.link import BASE_ROBOT, HERE, is_apart, sites_of
from middlemark.model.load import LOAD, LoadLevels
from middlemark.model.pairs import pair_of, sides_of
from middlemark.model.plan import Note
from middlemark.model.spelling import listing
from middlemark.model.types import misfit
from middlemark.model.workload import Workload, honoured
from middlemark.plan.baselines import copying_cell
from middlemark.plan.combinations import expand_loads
from middlemark.plan.native import check_native, native_of_target
from middlemark.plan.pinning import Pinning, count_roles, place
from middlemark.plan.targets import Context, Target, find_targets, own_depth
from middlemark.problems import Problem
from middlemark.suite.sweep import Levels, Sweep

MOST_CELLS = 100_000
_OTHERS = tuple(
    name for name, each in FACTORS.items() if each.of != "subject" and not each.load and each.honour is None
)
"""Factors that depend neither on the transport nor on the load."""
_OF_BOTH = tuple(name for name, each in FACTORS.items() if each.load and each.honour is not None)
"""Factors of the load that a transport must honour."""
_SETTLED_LATE = ("pin", *(name for name, each in FACTORS.items() if each.applies))
"""Factors whose levels in a cell are known only when the cell is made."""


ONE_SIZE = "it supports one message size per topic, and the workload's sizes vary"


class Lack(msgspec.Struct, frozen=True):
    """A level that a target cannot honour, and the reason."""

    target: Target
    factor: str
    level: Level
    why: str


Settled = tuple[Target, dict[str, tuple[Level, ...]]]
"""A target, and capability → the levels with which it is measured. If a capability has no level, the target is not
measured."""


class Expansion(msgspec.Struct, frozen=True):
    """The cells of a sweep, the notes on levels that were left out, and the problems of levels that were refused."""

    cells: tuple[Cell, ...]
    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]


def expand(sweep: Sweep, context: Context) -> Expansion:
    """Return all combinations of a sweep's levels on the targets that can honour them. The order of levels is kept."""
    notes: list[Note] = []
    problems: list[Problem] = check_native(sweep, context)
    targets = find_targets(sweep, context, notes, problems)
    everything = {each.factor: each for each in sweep.factors if FACTORS[each.factor].of != "subject"}
    everything["size"] = _at_least_the_header(everything["size"], notes)
    if any(each.factor in everything and not _narrow(everything[each.factor], context).values for each in context.only):
        return Expansion((), tuple(notes), tuple(problems))  # --only excludes the whole sweep
    _settle_sites(sweep, everything, context.hosts, notes, problems)
    asked = {factor: _narrow(levels, context) for factor, levels in everything.items()}

    if math.prod(len(everything[factor].values) for factor in LOAD) > MOST_CELLS:
        problems.append(
            Problem(sweep.place, f"the loads make more than {MOST_CELLS} configurations, the most that can be planned")
        )
        return Expansion((), tuple(notes), tuple(problems))
    loads = expand_loads(
        everything,
        sweep.limits.duration_s,
        lenient=sweep.skip_unsupported,
        wanted=lambda load: all(context.selects(factor, level) for factor, level in load.items()),
    )
    notes += loads.notes
    problems += loads.problems

    if sweep.workload is None:
        _check_sizes(sweep, asked, notes, problems)
    lacks: list[Lack] = []
    of_topics = () if sweep.workload is None else OF_WORKLOAD  # each topic has its own notes
    varies = sweep.workload is not None and sweep.workload.varies
    settled = [(target, _settle(target, asked, lacks, notes, of_topics, varies=varies)) for target in targets]
    problems += _refused(sweep, asked, settled, lacks)
    notes += _left_out(asked, settled, lacks)
    shared = len(loads.rows) * math.prod(len(asked[factor].values) for factor in _OTHERS)
    count = sum(shared * math.prod(map(len, levels.values())) for _, levels in settled)
    if count > MOST_CELLS:
        problems.append(
            Problem(sweep.place, f"the levels make {count} configurations; at most {MOST_CELLS} can be planned")
        )
        return Expansion((), tuple(notes), tuple(problems))

    carrying_targets = [(target, levels) for target, levels in settled if not target.transport.alone]
    placings = _place_roles(sweep, asked, loads.rows, carrying_targets, context, notes, problems)
    cells: list[Cell] = []
    for target, levels in settled:
        if not target.wanted:
            continue
        if target.transport.alone and sweep.workload is None:
            cells += _copying_cells(target, levels, asked, loads.rows, context, notes, problems)
        elif not target.transport.alone:
            native = native_of_target(sweep, context, target.adapter)
            cell_notes = [] if of_topics else notes
            found = _cells(target, levels, asked, loads.rows, placings, native, cell_notes, hosts=bool(context.hosts))
            cells += found if sweep.workload is None else _carrying(found, sweep.workload, target, sweep.place, notes)
    return Expansion(tuple(each for each in cells if _kept(each, context)), tuple(notes), tuple(problems))


def _at_least_the_header(sizes: Levels, notes: list[Note]) -> Levels:
    small = [size for size in sizes.values if isinstance(size, int) and size < SMALLEST_MESSAGE]
    if not small:
        return sizes
    shown = listing(map(str, small))
    notes.append(
        Note(sizes.place, f"{shown} B became {SMALLEST_MESSAGE} B, the smallest message, which contains the header")
    )
    grown = (max(size, SMALLEST_MESSAGE) if isinstance(size, int) else size for size in sizes.values)
    return Levels("size", tuple(dict.fromkeys(grown)), sizes.place, sizes.named)


def _settle_sites(
    sweep: Sweep, everything: dict[str, Levels], hosts: Sequence[str], notes: list[Note], problems: list[Problem]
) -> None:
    """Set ``across`` to two sites if the sweep has an emulated link or ``hosts`` are given, unless the user has set it.

    With hosts, drop a link of the suite and add a note. Add a problem for each level that cannot be used on two sites.
    """
    link, across = everything["link"], everything["across"]
    if hosts and any(link.values) and not link.place.startswith("--"):
        links = listing([str(level) for level in link.values if level])
        notes.append(Note(link.place, f"left out: link {links}; hosts have their own network"))
        link = everything["link"] = Levels("link", (None,), link.place)
    if not across.named and (hosts or (link.named and any(link.values))):
        usual = "-".join(hosts[:2]) or BASE_ROBOT
        across = everything["across"] = Levels("across", (usual,), across.place if hosts else link.place)
    named = [str(level) for level in across.values if level != HERE]
    apart = [level for level in named if is_apart(level)]
    if named and hosts:
        problems += _on_hosts(everything, named, hosts)
    elif unknown := [level for level in named if level not in apart]:
        problems.append(Problem(across.place, f"there is no host {listing(unknown)}; give --hosts {unknown[0]}=…"))
    if not apart:
        return
    first, second = sites_of(apart[0])
    if not hosts and not any(link.values):
        text = f"no link joins {first} and {second}; give a link, as in --link 1gbit, or --hosts {first}=…,{second}=…"
        problems.append(Problem(across.place, text))
    if everything["processes"].values == (1,):
        text = f"1 process cannot be on two sites (across {apart[0]}); leave out one of the two"
        problems.append(Problem(everything["processes"].place, text))
    if sweep.workload is not None:
        sites = [each.name for each in sweep.workload.sites]
        for level in apart:
            if missing := [name for name in sites_of(level) if name not in sites]:
                text = f"which nodes are on {listing(missing)}? write [workload.site] and {missing[0]} = [nodes] below"
                problems.append(Problem(across.place, text))


def _on_hosts(everything: dict[str, Levels], named: Sequence[str], hosts: Sequence[str]) -> list[Problem]:
    problems: list[Problem] = []
    for level in named:
        if strangers := [name for name in sites_of(level) if name not in hosts]:
            text = f"{level}: there is no host {listing(strangers)}; there are {listing(hosts)}"
            problems.append(Problem(everything["across"].place, text))
    if any(everything["link"].values):
        text = "a link is emulated within one machine; leave out the link, or leave out --hosts"
        problems.append(Problem(everything["link"].place, text))
    if any(everything["system"].values):
        text = "settings are changed on this machine only; leave them out, or leave out --hosts"
        problems.append(Problem(everything["system"].place, text))
    if set(everything["security"].values) != {"none"}:
        text = "certificates are not copied to other hosts yet; leave security out, or leave out --hosts"
        problems.append(Problem(everything["security"].place, text))
    searched = [str(level) for level in everything["rate"].values if level in SEARCHES]
    if searched and any(map(is_apart, named)):
        when = "while it measures, and between two hosts such latencies are known only after a trial"
        text = f"{searched[0]} needs one-way latencies {when}; give a rate"
        problems.append(Problem(everything["rate"].place, text))
    return problems


def _narrow(levels: Levels, context: Context) -> Levels:
    """Return the levels that ``--only`` selects.

    A factor whose levels are known only after a cell is made keeps all its levels.
    """
    if not levels.named or levels.factor in _SETTLED_LATE:
        return levels
    kept = tuple(level for level in levels.values if context.selects(levels.factor, level))
    return Levels(levels.factor, kept, levels.place, levels.named)


def _check_sizes(sweep: Sweep, asked: dict[str, Levels], notes: list[Note], problems: list[Problem]) -> None:
    """Leave out, with a note, sizes that a type cannot have.

    Refuse a type or size if none of its combinations is left.
    """
    types, sizes = asked["type"], asked["size"]
    misfits = {
        (type_name, size): why
        for type_name, size in itertools.product(types.values, sizes.values)
        if (why := misfit(str(type_name), int(str(size))))
    }
    lost = [
        *(type_name for type_name in types.values if all((type_name, size) in misfits for size in sizes.values)),
        *(size for size in sizes.values if all((type_name, size) in misfits for type_name in types.values)),
    ]
    for (type_name, size), why in misfits.items():
        text = f"type {type_name} of size {show_level('size', size)}"
        if (type_name in lost or size in lost) and not sweep.skip_unsupported:
            problems.append(Problem(types.place, f"{text}: {why}"))
        else:
            notes.append(Note(types.place, f"{text} left out ({why})"))


def _settle(
    target: Target,
    asked: dict[str, Levels],
    lacks: list[Lack],
    notes: list[Note],
    without_notes: Sequence[str],
    *,
    varies: bool,
) -> dict[str, tuple[Level, ...]]:
    """Return capability → the levels with which the target will be measured.

    ``without_notes``: factors that get no notes. ``varies``: a topic of the workload has messages of several sizes.
    """
    alike = varies and not target.transport.varying_sizes
    settled: dict[str, tuple[Level, ...]] = {}
    for factor, honour in CAPABILITIES.items():
        levels = asked[factor]
        kept: list[Level] = []
        lacking: list[Lack] = []
        for level in levels.values:
            why = ONE_SIZE if alike and factor == "size" else honour.cannot(target.transport, level)
            if why is None:
                kept.append(level)
            else:
                lacking.append(Lack(target, factor, level, why))
        follows = target.company and factor in ("reliability", "security")
        if lacking and not kept and (follows or not levels.named):
            own = honour.own(target.transport)
            kept.append(own)
            if not target.adapter.is_raw_transport and target.wanted and factor not in without_notes:
                notes.append(
                    Note(levels.place, f"{target.name}: {factor} {show_level(factor, own)} ({lacking[0].why})")
                )
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
    """Return a problem for each level that the user named if no target can honour it, or if a named target cannot."""
    if sweep.skip_unsupported:
        return []
    problems = [
        Problem(asked[each.factor].place, f"{each.target.name}: {_asked_size(each)}{each.why}")
        for each in lacks
        if each.target.strict and each.target.wanted
    ]
    targets = [(target, levels) for target, levels in settled if not target.strict]
    named = sweep.adapters != ("all",)
    # A named adapter must honour each level on some transport. With "all", one adapter that honours the level is
    # enough.
    names = (
        list(dict.fromkeys(target.adapter.name for target, _ in targets if not target.company and target.wanted))
        if named
        else [""]
    )
    for name in names:
        group = [(target, levels) for target, levels in targets if name in ("", target.adapter.name)]
        problems += _uncovered(name, asked, group, lacks, sweep.place)
    return problems


def _uncovered(
    name: str,
    asked: dict[str, Levels],
    group: list[Settled],
    lacks: list[Lack],
    place: str,
) -> list[Problem]:
    if not any(target.wanted for target, _ in group):
        return []
    members = {id(target) for target, _ in group}
    problems: list[Problem] = []
    for factor in CAPABILITIES:
        levels = asked[factor]
        for level in levels.values:
            if any(level in own[factor] for _, own in group):
                continue
            reasons = [
                each for each in lacks if id(each.target) in members and (each.factor, each.level) == (factor, level)
            ]
            if reasons:
                shown = f"{factor} {show_level(factor, level)}"
                problems.append(Problem(levels.place, f"{_who(name)} can honour {shown}: {_why(reasons)}"))
    if not problems and all(not all(own.values()) for _, own in group):
        whys = [each for each in lacks if id(each.target) in members]
        problems.append(Problem(place, f"{_who(name)} supports all of this at once: {_why(whys)}"))
    return problems


def _who(adapter: str) -> str:
    return f"no transport of {adapter}" if adapter else "no adapter here"


def _why(lacks: list[Lack]) -> str:
    by_reason: dict[str, list[str]] = {}
    for each in lacks:
        by_reason.setdefault(each.why, []).append(each.target.name)
    return "; ".join(f"{listing(dict.fromkeys(names))}: {why}" for why, names in by_reason.items())


def _asked_size(lack: Lack) -> str:
    return f"{show_level('size', lack.level)} asked, " if lack.factor == "size" else ""


def _left_out(asked: dict[str, Levels], settled: list[Settled], lacks: list[Lack]) -> list[Note]:
    """Return a note for each factor with levels that a target does not honour.

    If a target has no valid level, the notes name only the factors that exclude the target.
    """
    barred = {id(target): {factor for factor, own in levels.items() if not own} for target, levels in settled}
    gathered: dict[tuple[str, str, str], list[Level]] = {}
    for each in lacks:
        is_no_cause = barred[id(each.target)] and each.factor not in barred[id(each.target)]
        if not each.target.strict and each.target.wanted and not is_no_cause:
            gathered.setdefault((each.factor, each.target.name, each.why), []).append(each.level)
    return [
        Note(
            asked[factor].place,
            f"{name}: {factor} {listing(show_level(factor, level) for level in levels)} left out ({why})",
        )
        for (factor, name, why), levels in gathered.items()
    ]


Placings = dict[tuple[Level, ...], Pinning]
"""(reception, pin, pattern, numbers of roles) → the pinning of the roles."""
_CROWD = ("pattern", "publishers", "subscribers")


def _place_roles(
    sweep: Sweep,
    asked: dict[str, Levels],
    loads: Sequence[LoadLevels],
    settled: list[Settled],
    context: Context,
    notes: list[Note],
    problems: list[Problem],
) -> Placings:
    """Return the pinning for each combination of reception, roles and pin. Impossible combinations are left out."""
    live = [(target, levels) for target, levels in settled if target.wanted and all(levels.values())]
    placings: Placings = {}
    crowded: dict[str, Levels] = {}
    for receive in dict.fromkeys(level for _, levels in live for level in levels["receive"]):
        crowds = dict.fromkeys(tuple(load[each] for each in _CROWD) for load in loads)
        for crowd, pin in itertools.product(crowds, asked["pin"].values):
            pattern, publishers, subscribers = str(crowd[0]), int(str(crowd[1])), int(str(crowd[2]))
            found = place(pin, str(receive), pattern, publishers, subscribers, context.cpus)
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
                notes += _own_threads(roles, live, asked["receive"].place, context)
    for why, levels in crowded.items():
        if levels.named and not sweep.skip_unsupported:
            problems.append(Problem(levels.place, why))
        else:
            notes.append(Note(levels.place, f"left out: {why}"))
    return placings


def _own_threads(roles: int, live: list[Settled], place: str, context: Context) -> list[Note]:
    names = dict.fromkeys(
        target.adapter.name for target, levels in live if target.adapter.own_threads and "poll" in levels["receive"]
    )
    if not names or len(context.cpus) > roles:
        return []
    which = (
        "receives on threads of its own, which share"
        if len(names) == 1
        else "receive on threads of their own, which share"
    )
    return [Note(place, f"{listing(names)} {which} the processors with {roles} polling roles")]


def _cells(
    target: Target,
    levels: dict[str, tuple[Level, ...]],
    asked: dict[str, Levels],
    loads: Sequence[LoadLevels],
    placings: Placings,
    native: tuple[tuple[str, str], ...],
    notes: list[Note],
    *,
    hosts: bool,
) -> list[Cell]:
    cells: list[Cell] = []
    by_pattern: dict[Level, list[LoadLevels]] = {}
    for load in loads:
        by_pattern.setdefault(load["pattern"], []).append(load)
    names = (*CAPABILITIES, *_OTHERS)
    others = [asked[factor].values for factor in _OTHERS]
    for some in by_pattern.values():
        for outer in itertools.product(*(levels[factor] for factor in CAPABILITIES)):
            for load, last in itertools.product(some, itertools.product(*others)):
                values: dict[str, Level] = dict(zip(names, (*outer, *last), strict=True))
                if any(values[factor] != load[factor] for factor in _OF_BOTH):
                    continue
                values.update(load)
                placing = placings.get((values["receive"], values["pin"], *(load[each] for each in _CROWD)))
                if placing is None:
                    continue
                if misfit(str(values["type"]), int(str(values["size"]))):
                    continue
                values["pin"] = placing.pin
                if not is_apart(values["across"]):
                    values["link"] = None
                elif values["processes"] == 1 or (values["link"] is None and not hosts):
                    continue
                if not asked["depth"].named:
                    values["depth"] = _own_depth(target, load, asked["depth"].place, notes)
                blank = Cell(
                    adapter=sides_of(target.adapter.name)[0],
                    transport=target.transport.name,
                    pair=pair_of(target.adapter.name),
                    size=0,
                    native=native,
                )
                cells.append(with_levels(blank, values))
    return [*dict.fromkeys(cells)]


def _carrying(cells: Sequence[Cell], workload: Workload, target: Target, place: str, notes: list[Note]) -> list[Cell]:
    """Return ``cells`` with the sweep's workload, each once.

    Add notes about levels that the transport does not support.
    """
    changed: dict[str, list[str]] = {}
    for topic in workload.topics:
        own = honoured(topic, target.transport)
        for field in ("reliability", "depth"):
            if getattr(own, field) != getattr(topic, field):
                shown = "all" if (level := getattr(own, field)) is None else level
                changed.setdefault(f"{field} {shown}", []).append(topic.name)
        if topic.durability == "transient-local" and own.history != topic.depth:
            shown = f"a history of {own.history}" if own.history else "durability volatile"
            changed.setdefault(shown, []).append(topic.name)
    for level, names in changed.items():
        if cells and not target.adapter.is_raw_transport:
            notes.append(
                Note(
                    place,
                    f"{target.name}: {level} for {_some(names)}, because the transport supports nothing else",
                )
            )
    types = {each.type for each in workload.topics if honoured(each, target.transport).type != each.type}
    if types and cells and not target.adapter.is_raw_transport:
        text = f"{target.name}: messages of type {listing(sorted(types))} are sent as octets of the same size"
        notes.append(Note(place, text))
    return [*dict.fromkeys(carrying(each, workload, target.transport) for each in cells)]


def _some(names: Sequence[str]) -> str:
    return listing(names) if len(names) < 4 else f"{len(names)} topics"


def _copying_cells(
    target: Target,
    levels: dict[str, tuple[Level, ...]],
    asked: dict[str, Levels],
    loads: Sequence[LoadLevels],
    context: Context,
    notes: list[Note],
    problems: list[Problem],
) -> list[Cell]:
    """Return the target's cells, which copy within one process. Such a cell has only round trips."""
    rates = dict.fromkeys(
        (load["rate"], load["arrivals"]) for load in loads if (load["pattern"], load["subscribers"]) == ("ping-pong", 1)
    )
    if not rates:
        text = f"{target.name} copies within one process: measure it with pattern ping-pong and one subscriber"
        if target.company:
            notes.append(Note(asked["pattern"].place, f"left out: {text}"))
        else:
            problems.append(Problem(asked["pattern"].place, text))
    cells: list[Cell] = []
    if not levels["across"]:
        return cells
    columns = [levels["size"], *(asked[factor].values for factor in _OTHERS)]
    for row, (rate, arrivals) in itertools.product(itertools.product(*columns), rates):
        model = dict(zip(("size", *_OTHERS), row, strict=True))
        found = place(model["pin"], "block", "ping-pong", 1, 0, context.cpus)
        if found.no_such is not None:
            problems.append(Problem(asked["pin"].place, found.no_such))
            continue
        model |= {"pin": found.pin, "rate": rate, "arrivals": arrivals, "link": None}
        blank = Cell(adapter=target.adapter.name, transport=target.transport.name, size=0)
        copying = copying_cell(target.adapter, target.transport, with_levels(blank, model))
        cells.append(with_levels(copying, model))
    return cells


def _own_depth(target: Target, load: LoadLevels, place: str, notes: list[Note]) -> Level:
    publishers = math.ceil(int(str(load["publishers"])) / int(str(load["topics"])))
    depth = own_depth(target.transport, str(load["pattern"]), publishers)
    if load["pattern"] == "stream" and depth is not None and not target.adapter.is_raw_transport:
        notes.append(Note(place, f"{target.name}: depth {depth} (no keep-all history)"))
    return depth


def _kept(cell: Cell, context: Context) -> bool:
    return all(context.selects(each.factor, level_of(cell, each.factor)) for each in context.only)
