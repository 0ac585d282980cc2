"""Adapters and transports of a sweep: resolves ``all``, and checks every name."""

import itertools
from collections.abc import Mapping, Sequence

import msgspec

from middlemark.model.description import DEFAULT_CONFIGURATION, Description, Transport
from middlemark.model.levels import Level
from middlemark.model.pairs import EVERY, OWN_WIRE, SAME, sides_of, together, why_apart, without_common_wire
from middlemark.model.plan import Note
from middlemark.model.spelling import did_you_mean, listing, nearest, there_are
from middlemark.model.units import format_count
from middlemark.model.version import adapter_of, is_version
from middlemark.problems import Problem
from middlemark.suite.overrides import Only
from middlemark.suite.sweep import Levels, Sweep

FALLBACK_DEPTH = 1000
"""Depth for a stream on a transport without keep-all and without a limit of the depth."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """The input of a plan besides the suites: adapters, how to build others, processors, hosts, ``--only``."""

    descriptions: tuple[Description, ...]
    absent: Mapping[str, str]
    cpus: tuple[int, ...]
    only: tuple[Only, ...] = ()
    hosts: tuple[str, ...] = ()
    """Names of the run's hosts; empty: the run uses only this machine."""
    unchecked: tuple[str, ...] = ()
    """Adapters that are not built yet. The run builds them first, and a dry run leaves them out with a note."""

    def selects(self, factor: str, level: Level) -> bool:
        """Say whether ``--only`` selects this level."""
        asked = [each for each in self.only if each.factor == factor]
        return not asked or any(each.keeps(level) for each in asked)


class Target(msgspec.Struct, frozen=True):
    """One transport of one adapter in one sweep."""

    adapter: Description
    transport: Transport
    strict: bool
    """True if the user named adapter and transport. Levels that the target lacks are then refused; otherwise they are
    left out."""
    company: bool
    """True for a baseline of a middleware. A baseline has the middleware's levels that its transport supports."""
    wanted: bool
    """True if ``--only`` selects the target."""

    @property
    def name(self) -> str:
        """Name of the target in a row: ``cyclonedds udp``.

        If adapter and transport have the same name, it is written once.
        """
        is_only_one = self.adapter.name == self.transport.name
        return self.adapter.name if is_only_one else f"{self.adapter.name} {self.transport.name}"


def own_depth(transport: Transport, pattern: str, publishers: int) -> Level:
    """Return the default history depth. None: keep-all.

    For a stream: keep-all. If the transport has no keep-all: its deepest history divided by ``publishers``, the number
    of publishers on one topic, because a reader has a history for each publisher and their sum is limited.
    FALLBACK_DEPTH replaces the deepest history if the transport has no limit. For other patterns: 1.

    A stream does not get reliable keep-last 1: at full rate, this would measure how fast messages replace each other.
    """
    if pattern != "stream":
        return 1
    return None if transport.keep_all else max(1, (transport.max_depth or FALLBACK_DEPTH) // publishers)


def find_targets(sweep: Sweep, context: Context, notes: list[Note], problems: list[Problem]) -> list[Target]:
    """Return the targets of a sweep in order.

    A name that does not exist or is not built becomes a problem or a note.
    """
    adapters = _find_adapters(sweep, context, notes, problems)
    asked_adapters, asked = sweep.adapters, sweep.levels("transport")
    all_adapters, all_transports = asked_adapters == ("all",), "all" in asked.values
    raw_transports = {each.name for each in context.descriptions if each.is_raw_transport}
    mixed = all_adapters or any(name not in raw_transports for name in asked_adapters)
    if all_adapters:  # an adapter that only copies is added later, as a baseline
        adapters = [each for each in adapters if not all(transport.alone for transport in each.transports)]
    targets: list[Target] = []
    missing: dict[str, list[str]] = {}
    for adapter in adapters:
        names = _all_of(adapter, asked.values) if all_transports else [str(name) for name in asked.values]
        company = adapter.is_raw_transport and mixed
        strict = not (all_adapters or all_transports or company or sweep.skip_unsupported)
        taken: set[str] = set()
        for name in names:
            transport = adapter.asked_for(name)
            if transport is not None:
                if transport.name in taken:  # both ``default`` and the name for which it stands were named
                    continue
                taken.add(transport.name)
                wanted = context.selects("adapter", adapter.name) and context.selects("transport", transport.name)
                targets.append(Target(adapter, transport, strict, company, wanted))
            elif context.selects("transport", name) and context.selects("adapter", adapter.name):
                if all_adapters or sweep.skip_unsupported:
                    missing.setdefault(name, []).append(adapter.name)
                else:
                    problems.append(Problem(asked.place, _no_transport(adapter, name, asked.place)))
    for name, without in missing.items():
        notes.append(Note(asked.place, f"{listing(without)} left out: no transport '{name}'"))
        if len(without) == len(adapters) and not sweep.skip_unsupported:
            existing = dict.fromkeys(each.name for adapter in adapters for each in adapter.transports)
            problems.append(
                Problem(asked.place, f"no adapter here has a transport '{name}'; {did_you_mean(name, existing)}")
            )
    return _with_pairs(sweep, context, adapters, targets, notes, problems)


def _with_pairs(
    sweep: Sweep,
    context: Context,
    adapters: Sequence[Description],
    targets: list[Target],
    notes: list[Note],
    problems: list[Problem],
) -> list[Target]:
    """Return the targets for the sweep's levels of ``pair``. ``targets`` are the targets for ``same``."""
    asked = sweep.levels("pair")
    if asked.values == (SAME,):
        return targets
    if sweep.workload is not None:
        text = "in a workload the same processes send and receive, so they cannot use two adapters; use pattern stream"
        problems.append(Problem(asked.place, text))
    if context.hosts:
        problems.append(Problem(asked.place, "pairs are measured on one machine; leave out --hosts"))
    pairs = _pairs_of(sweep, context, adapters, problems)
    found: list[Target] = []
    for senders, receivers, named in pairs:
        found += _targets_of(sweep, context, senders, receivers, problems if named else None)
    if EVERY in asked.values:
        left_out = len(pairs) - len({each.adapter.name for each in found})
        if left_out:
            notes.append(Note(asked.place, f"{format_count(left_out, 'pair')} left out, whose wires differ"))
        if not found:
            problems.append(Problem(asked.place, "no two of these adapters share a wire; `list adapters --verbose`"))
        if sweep.adapters == ("all",):
            taking_part = {side for each in found for side in sides_of(each.adapter.name)}
            targets = [each for each in targets if each.adapter.name in taking_part]
    return [*(targets if {SAME, EVERY}.intersection(asked.values) else ()), *found]


def _pairs_of(
    sweep: Sweep, context: Context, adapters: Sequence[Description], problems: list[Problem]
) -> list[tuple[Description, Description, bool]]:
    """Return (senders, receivers, whether a level names the pair) for each pair of different adapters."""
    asked = sweep.levels("pair")
    found: dict[tuple[str, str], tuple[Description, Description, bool]] = {}
    for level in asked.values:
        if level in (SAME, EVERY):
            continue
        builds = [
            next((each for each in context.descriptions if is_version(each, name)), None)
            for name in sides_of(str(level))
        ]
        if builds[0] is not None and builds[1] is not None:
            found[builds[0].name, builds[1].name] = builds[0], builds[1], True
        elif sweep.levels("adapter").named:  # if not named, the pairs' adapters are already checked like named ones
            lacking = [name for name, build in zip(sides_of(str(level)), builds, strict=True) if build is None]
            text = f"{level}: {listing(lacking)} is not built here; `middlemark list adapters` says why"
            problems.append(Problem(asked.place, text))
    if EVERY in asked.values:
        able = [each for each in adapters if not each.is_raw_transport]
        for senders, receivers in itertools.permutations(able, 2):
            found.setdefault((senders.name, receivers.name), (senders, receivers, False))
    return [*found.values()]


def _targets_of(
    sweep: Sweep, context: Context, senders: Description, receivers: Description, problems: list[Problem] | None
) -> list[Target]:
    """Return the targets of one pair. If there is none, add the reason to ``problems``."""
    asked = sweep.levels("transport")
    is_any = "all" in asked.values
    about = together(senders, receivers)
    names = _all_of(senders, asked.values) if is_any else [str(name) for name in asked.values]
    wanted = context.selects("pair", about.name) and context.selects("adapter", senders.name)
    found = [
        Target(
            about,
            transport,
            not is_any and not sweep.skip_unsupported,
            False,
            wanted and context.selects("transport", name),
        )
        for name in names
        if (transport := about.transport(name))
    ]
    if not found and problems is not None and wanted:
        reasons = [why for name in names if (why := why_apart(senders, receivers, name))]
        telling = [why for why in reasons if OWN_WIRE not in why] or reasons  # prefer wires that others share
        why = without_common_wire(senders, receivers) or (telling[0] if is_any else listing(telling))
        problems.append(Problem(sweep.levels("pair").place, f"{about.name}: {why}"))
    return found


def _all_of(adapter: Description, asked: tuple[Level, ...]) -> list[str]:
    """Return the adapter's transports that ``all`` means.

    ``default`` is included only if named, or if there is no other.
    """
    names = [each.name for each in adapter.transports]
    return (
        names if DEFAULT_CONFIGURATION in asked else [name for name in names if name != DEFAULT_CONFIGURATION] or names
    )


def _find_adapters(sweep: Sweep, context: Context, notes: list[Note], problems: list[Problem]) -> list[Description]:
    named = sweep.levels("adapter")
    of_pairs = sweep.adapters != named.values
    asked = Levels("adapter", sweep.adapters, sweep.levels("pair").place if of_pairs else named.place)
    here = {each.name: each for each in context.descriptions}
    if asked.values == ("all",):
        found = [each for each in context.descriptions if not each.bench_only and "@" not in each.name]
        if not found:
            problems.append(Problem(asked.place, "no adapter is built here; `middlemark list adapters` says why"))
        wanting: dict[str, list[str]] = {}
        for name, how in context.absent.items():
            if context.selects("adapter", name):
                wanting.setdefault(how, []).append(name)
        notes += [
            Note("adapter all", f"{listing(names)} {'is' if len(names) == 1 else 'are'} not built here{_advice(how)}")
            for how, names in wanting.items()
        ]
        return found
    found = []
    for name in map(str, asked.values):
        builds = [each for each in context.descriptions if is_version(each, name)]
        if builds:
            found.append(here.get(name) or builds[0])
        elif "@" in name and adapter_of(name) in here:
            text = _no_version(name, context.descriptions)
            if sweep.skip_unsupported:
                notes.append(Note(asked.place, text))
            else:
                problems.append(Problem(asked.place, text))
        elif name not in context.absent:
            existing = [*here, *(each for each in context.absent if each not in here)]
            if sweep.skip_unsupported and nearest(name, existing) is None:  # neither built nor a misspelling
                notes.append(Note(asked.place, f"no adapter is called '{name}' here"))
                continue
            problems.append(Problem(asked.place, f"no adapter is called '{name}'; {did_you_mean(name, existing)}"))
        elif name in context.unchecked:
            notes.append(Note(asked.place, f"{name} is not checked: not built"))
        elif context.selects("adapter", name):
            text = f"{name} is not built here{_advice(context.absent[name])}"
            if sweep.skip_unsupported:
                notes.append(Note(asked.place, text))
            else:
                problems.append(Problem(asked.place, text))
    return list({each.name: each for each in found}.values())


def _no_version(asked: str, descriptions: Sequence[Description]) -> str:
    name, _, which = asked.partition("@")
    here = [f"{each.name} ({each.version})" for each in descriptions if adapter_of(each.name) == name]
    prefix = which if "/" in which else "FOLDER"
    how = f"`./middlemark build {name} --prefix {prefix}`, the folder of an installation"
    return f"there is no build {asked} here; {there_are(here)}. To make one: {how}"


def _no_transport(adapter: Description, name: str, place: str) -> str:
    names = [each.name for each in adapter.transports]
    near = nearest(name, names)
    question = f" (did you mean '{near}'?)" if near else ""
    option = "--skip-unsupported" if place.startswith("--") else "skip_unsupported"
    skip = "" if near else f", or leave such targets out with {option}"
    return f"{adapter.name} has no transport '{name}'{question}; it has {listing(names)}{skip}"


def _advice(how: str) -> str:
    return f": {how}" if how else ""
