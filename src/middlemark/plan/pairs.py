"""Which adapters and transports a sweep means: ``all`` spelled out, and every name checked."""

from collections.abc import Mapping

import msgspec

from middlemark.plan.cell import Note
from middlemark.problems import Problem
from middlemark.suite.model import Level, Sweep
from middlemark.suite.overrides import Only
from middlemark.suite.spelling import did_you_mean, listing, nearest
from middlemark.workers.description import Description, Transport


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan is made on: the adapters here, how to get those that are not, the processors, the cells wanted."""

    descriptions: tuple[Description, ...]
    absent: Mapping[str, str]
    cpus: tuple[int, ...]
    only: tuple[Only, ...] = ()

    def wants(self, factor: str, level: Level) -> bool:
        """Tell whether ``--only`` leaves this level in."""
        asked = [each.values for each in self.only if each.factor == factor]
        return not asked or any(level in values for values in asked)


class Pair(msgspec.Struct, frozen=True):
    """One transport of one adapter in one sweep."""

    adapter: Description
    transport: Transport
    strict: bool
    """Both were named, so a level it cannot honour is refused; otherwise the level is left out with a note."""
    company: bool
    """A floor beside a middleware: it follows as well as it can."""
    wanted: bool
    """``--only`` leaves it in."""

    @property
    def name(self) -> str:
        """Name it as a row would: ``cyclonedds udp``; a floor with one transport by its own name."""
        alone = self.adapter.name == self.transport.name
        return self.adapter.name if alone else f"{self.adapter.name} {self.transport.name}"


def find_pairs(sweep: Sweep, ground: Ground, notes: list[Note], problems: list[Problem]) -> list[Pair]:
    """Return the pairs of a sweep in order. Names that do not exist, or not here, become problems (or notes)."""
    adapters = _find_adapters(sweep, ground, notes, problems)
    asked_adapters, asked = sweep.levels("adapter").values, sweep.levels("transport")
    all_adapters, all_transports = asked_adapters == ("all",), asked.values == ("all",)
    floors = {each.name for each in ground.descriptions if each.floor}
    mixed = all_adapters or any(name not in floors for name in asked_adapters)
    pairs: list[Pair] = []
    missing: dict[str, list[str]] = {}
    for adapter in adapters:
        if all_adapters and all(each.alone for each in adapter.transports):
            continue  # it stands beside what is measured, and is no way to carry anything
        names = [each.name for each in adapter.transports] if all_transports else [str(name) for name in asked.values]
        company = adapter.floor and mixed
        strict = not (all_adapters or all_transports or company or sweep.skip_unsupported)
        for name in names:
            transport = adapter.transport(name)
            if transport is not None:
                wanted = ground.wants("adapter", adapter.name) and ground.wants("transport", name)
                pairs.append(Pair(adapter, transport, strict, company, wanted))
            elif ground.wants("transport", name) and ground.wants("adapter", adapter.name):
                if all_adapters or sweep.skip_unsupported:
                    missing.setdefault(name, []).append(adapter.name)
                else:
                    problems.append(Problem(asked.place, _no_transport(adapter, name)))
    for name, without in missing.items():
        notes.append(Note(asked.place, f"{listing(without)} left out: no transport '{name}'"))
        if len(without) == len(adapters) and not sweep.skip_unsupported:
            known = dict.fromkeys(each.name for adapter in adapters for each in adapter.transports)
            problems.append(
                Problem(asked.place, f"no adapter here has a transport '{name}'; {did_you_mean(name, known)}")
            )
    return pairs


def _find_adapters(sweep: Sweep, ground: Ground, notes: list[Note], problems: list[Problem]) -> list[Description]:
    asked = sweep.levels("adapter")
    here = {each.name: each for each in ground.descriptions}
    if asked.values == ("all",):
        found = [each for each in ground.descriptions if not each.bench_only]
        if not found:
            problems.append(Problem(asked.place, "no adapter is built here; `middlemark list adapters` says why"))
        notes += [
            Note("adapter all", f"{name} is not built here{_advice(how)}")
            for name, how in ground.absent.items()
            if ground.wants("adapter", name)
        ]
        return found
    found = []
    for name in map(str, asked.values):
        if name in here:
            found.append(here[name])
        elif name not in ground.absent:
            known = [*here, *(each for each in ground.absent if each not in here)]
            if sweep.skip_unsupported and nearest(name, known) is None:  # no slip of the pen: it is not here
                notes.append(Note(asked.place, f"no adapter is called '{name}' here"))
                continue
            problems.append(Problem(asked.place, f"no adapter is called '{name}'; {did_you_mean(name, known)}"))
        elif ground.wants("adapter", name):
            text = f"{name} is not built here{_advice(ground.absent[name])}"
            if sweep.skip_unsupported:
                notes.append(Note(asked.place, text))
            else:
                problems.append(Problem(asked.place, text))
    return found


def _no_transport(adapter: Description, name: str) -> str:
    names = [each.name for each in adapter.transports]
    near = nearest(name, names)
    question = f"; did you mean '{near}'?" if near else ""
    skip = "" if near else ", or leave such pairs out with skip_unsupported"
    return f"{adapter.name} has no transport '{name}'{question}; it has {listing(names)}{skip}"


def _advice(how: str) -> str:
    return f": {how}" if how else ""
