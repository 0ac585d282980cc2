"""Which adapters and transports a sweep means: ``all`` spelled out, and every name checked."""

from collections.abc import Mapping, Sequence

import msgspec

from middlemark.model.description import AS_IT_COMES, Description, Transport
from middlemark.model.levels import Level
from middlemark.model.plan import Note
from middlemark.model.spelling import did_you_mean, listing, nearest
from middlemark.model.version import adapter_of, is_version
from middlemark.problems import Problem
from middlemark.suite.overrides import Only
from middlemark.suite.sweep import Sweep

FALLBACK_DEPTH = 1000
"""A stream's depth on a transport that has neither keep-all nor a deepest history."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan is made on: the adapters here, how to get those that are not, the processors, the cells wanted."""

    descriptions: tuple[Description, ...]
    absent: Mapping[str, str]
    cpus: tuple[int, ...]
    only: tuple[Only, ...] = ()
    hosts: tuple[str, ...] = ()
    """The names of the hosts that take part; empty: this machine alone does."""
    unchecked: tuple[str, ...] = ()
    """Of the absent adapters those that a run builds first: they are left out with a note."""

    def wants(self, factor: str, level: Level) -> bool:
        """Tell whether ``--only`` leaves this level in."""
        asked = [each for each in self.only if each.factor == factor]
        return not asked or any(each.keeps(level) for each in asked)


class Target(msgspec.Struct, frozen=True):
    """One transport of one adapter in one sweep."""

    adapter: Description
    transport: Transport
    strict: bool
    """Both were named, so a level it cannot honour is refused; otherwise the level is left out with a note."""
    company: bool
    """A baseline beside a middleware: it follows as well as it can."""
    wanted: bool
    """``--only`` leaves it in."""

    @property
    def name(self) -> str:
        """Name it as a row would: ``cyclonedds udp``; a baseline with one transport by its own name."""
        alone = self.adapter.name == self.transport.name
        return self.adapter.name if alone else f"{self.adapter.name} {self.transport.name}"


def own_depth(transport: Transport, pattern: str, publishers: int) -> Level:
    """Return the history depth where nobody names one: 1; of a stream keep-all, or the deepest that the transport has.

    Reliable keep-last 1 at full rate would measure how fast messages replace each other, not how fast they arrive.
    ``publishers``: of one topic; each of them has a history in the reader, and the deepest one is for all together.
    """
    if pattern != "stream":
        return 1
    return None if transport.keep_all else max(1, (transport.max_depth or FALLBACK_DEPTH) // publishers)


def find_targets(sweep: Sweep, context: Context, notes: list[Note], problems: list[Problem]) -> list[Target]:
    """Return the targets of a sweep in order. Names that do not exist, or not here, become problems (or notes)."""
    adapters = _find_adapters(sweep, context, notes, problems)
    asked_adapters, asked = sweep.levels("adapter").values, sweep.levels("transport")
    all_adapters, all_transports = asked_adapters == ("all",), "all" in asked.values
    raw_transports = {each.name for each in context.descriptions if each.is_raw_transport}
    mixed = all_adapters or any(name not in raw_transports for name in asked_adapters)
    targets: list[Target] = []
    missing: dict[str, list[str]] = {}
    for adapter in adapters:
        if all_adapters and all(each.alone for each in adapter.transports):
            continue  # it stands beside what is measured, and is no way to carry anything
        names = _all_of(adapter, asked.values) if all_transports else [str(name) for name in asked.values]
        company = adapter.is_raw_transport and mixed
        strict = not (all_adapters or all_transports or company or sweep.skip_unsupported)
        for name in names:
            transport = adapter.transport(name)
            if transport is not None:
                wanted = context.wants("adapter", adapter.name) and context.wants("transport", name)
                targets.append(Target(adapter, transport, strict, company, wanted))
            elif context.wants("transport", name) and context.wants("adapter", adapter.name):
                if all_adapters or sweep.skip_unsupported:
                    missing.setdefault(name, []).append(adapter.name)
                else:
                    problems.append(Problem(asked.place, _no_transport(adapter, name, asked.place)))
    for name, without in missing.items():
        notes.append(Note(asked.place, f"{listing(without)} left out: no transport '{name}'"))
        if len(without) == len(adapters) and not sweep.skip_unsupported:
            known = dict.fromkeys(each.name for adapter in adapters for each in adapter.transports)
            problems.append(
                Problem(asked.place, f"no adapter here has a transport '{name}'; {did_you_mean(name, known)}")
            )
    return targets


def _all_of(adapter: Description, asked: tuple[Level, ...]) -> list[str]:
    """Return what ``all`` means: `default` only where it is named, or where there is no other."""
    names = [each.name for each in adapter.transports]
    return names if AS_IT_COMES in asked else [name for name in names if name != AS_IT_COMES] or names


def _find_adapters(sweep: Sweep, context: Context, notes: list[Note], problems: list[Problem]) -> list[Description]:
    asked = sweep.levels("adapter")
    here = {each.name: each for each in context.descriptions}
    if asked.values == ("all",):
        found = [each for each in context.descriptions if not each.bench_only and "@" not in each.name]
        if not found:
            problems.append(Problem(asked.place, "no adapter is built here; `middlemark list adapters` says why"))
        wanting: dict[str, list[str]] = {}
        for name, how in context.absent.items():
            if context.wants("adapter", name):
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
            problems.append(Problem(asked.place, _no_version(name, context.descriptions)))
        elif name not in context.absent:
            known = [*here, *(each for each in context.absent if each not in here)]
            if sweep.skip_unsupported and nearest(name, known) is None:  # no slip of the pen: it is not here
                notes.append(Note(asked.place, f"no adapter is called '{name}' here"))
                continue
            problems.append(Problem(asked.place, f"no adapter is called '{name}'; {did_you_mean(name, known)}"))
        elif name in context.unchecked:
            notes.append(Note(asked.place, f"{name} is not checked: not built"))
        elif context.wants("adapter", name):
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
    return f"there is no build {asked} here; there is {listing(here)}. To make one: {how}"


def _no_transport(adapter: Description, name: str, place: str) -> str:
    names = [each.name for each in adapter.transports]
    near = nearest(name, names)
    question = f" (did you mean '{near}'?)" if near else ""
    option = "--skip-unsupported" if place.startswith("--") else "skip_unsupported"
    skip = "" if near else f", or leave such targets out with {option}"
    return f"{adapter.name} has no transport '{name}'{question}; it has {listing(names)}{skip}"


def _advice(how: str) -> str:
    return f": {how}" if how else ""
