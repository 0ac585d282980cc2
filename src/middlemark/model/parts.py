"""The parts of an expectation in a plan: each is a cell or two cells, and the band of its figure."""

import itertools
from collections.abc import Collection, Iterator, Sequence

import msgspec

from middlemark.model.cell import FACTORS, FIELDS, OF_MIDDLEWARE, show_level
from middlemark.model.expectation import (
    Band,
    Bound,
    Claim,
    Crossover,
    Expectation,
    GrowthBound,
    NoInfluence,
    Order,
    Picked,
    Ratio,
    Shape,
)
from middlemark.model.levels import Level
from middlemark.model.plan import Plan
from middlemark.model.spelling import did_you_mean, listing


class Subject(msgspec.Struct, frozen=True):
    """A cell of the plan, or an edge of its workload."""

    cell: int
    edge: int | None = None
    name: str = ""
    """Name of the edge: ``topic → node``."""


class ClaimPart(msgspec.Struct, frozen=True):
    """One comparison of a claim. The figure of ``a``, or the figure of ``b`` divided by it, must lie in ``band``."""

    a: Subject
    b: Subject | None
    band: Band
    at: str = ""

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """The cells or edges of the part. Their trials decide it."""
        return (self.a,) if self.b is None else (self.a, self.b)


class NothingToJudge(ValueError):
    """Raised if no cell of the plan matches a claim. The message lists the levels that exist."""


def parts_of(expected: Expectation, plan: Plan) -> tuple[ClaimPart, ...]:
    """Return all parts of a claim; the claim holds if all parts hold. An untestable claim has no parts.

    Raises NothingToJudge.
    """
    _check_names(expected.claim)
    find = _Finder(plan)
    match expected.claim:
        case Bound(of=of, band=band) | GrowthBound(of=of, band=band):
            return tuple(ClaimPart(each, None, band) for each in find.subjects(of))
        case Ratio(a=a, b=b, band=band):
            return find.paired(a, b, band)
        case NoInfluence(sides=sides, along=along, band=band):
            if not along:
                return find.paired(sides[0], sides[1], band)
            levels = find.levels(sides[0], along)
            if len(levels) < 2:
                raise NothingToJudge(f"{sides[0].text or 'the plan'} has one level of {along} only")
            chosen = [_with(sides[0], along, level) for level in levels]
            return tuple(
                part for at, b in enumerate(chosen) for a in chosen[:at] for part in find.paired(a, b, band, along)
            )
        case Order(sides=sides, band=band):
            pairs = itertools.pairwise(sides)
            return tuple(part for a, b in pairs for part in find.paired(a, b, band))
        case Crossover() as claim:
            return _crossing(claim, find)
        case Shape(of=of, along=along, start=start, growth=growth):
            first = _with(of, along, start)
            return tuple(
                part for each in growth for part in find.paired(first, _with(of, along, each.to), each.band, along)
            )
    return ()


def _check_names(claim: Claim) -> None:
    """Raise NothingToJudge if a stored claim names a factor or a field that this version does not have."""
    match claim:
        case NoInfluence(along=factor) | Shape(along=factor) | Crossover(factor=factor):
            factors = {factor} - {""}
        case _:
            factors = set()
    fields = {field for side in sides_of(claim) for field in side.levels.levels}
    if unknown := (factors - FACTORS.keys()) | (fields - {*FIELDS}):
        raise NothingToJudge(f"there is no {listing(sorted(unknown))}")


def sides_of(claim: Claim) -> tuple[Picked, ...]:
    """Return the selections that a claim compares: one, two or more sides; none for an untestable claim."""
    match claim:
        case Bound(of=of) | Shape(of=of) | GrowthBound(of=of):
            return (of,)
        case Ratio(a=a, b=b) | Crossover(a=a, b=b):
            return a, b
        case NoInfluence(sides=sides) | Order(sides=sides):
            return sides
    return ()


def _crossing(claim: Crossover, find: "_Finder") -> tuple[ClaimPart, ...]:
    there = {*find.levels(claim.a, claim.factor)} & {*find.levels(claim.b, claim.factor)}
    levels = [level for level in there if isinstance(level, int | float)]
    at = claim.at if isinstance(claim.at, int | float) else 0
    below, beyond = sorted(each for each in levels if each < at), sorted(each for each in levels if each >= at)
    shown = show_level(claim.factor, claim.at)
    if not below or not beyond:
        side = "below" if not below else "of at least"
        raise NothingToJudge(f"the two sides have no common {claim.factor} {side} {shown}, so no crossover can be seen")
    return tuple(
        part
        for levels, band in ((below, claim.before), (beyond, claim.band))
        for level in levels
        for part in find.paired(
            _with(claim.a, claim.factor, level), _with(claim.b, claim.factor, level), band, claim.factor
        )
    )


def _with(picked: Picked, factor: str, level: Level) -> Picked:
    """Return the selection restricted to one level of the factor."""
    field = FACTORS[factor].field
    levels = msgspec.structs.replace(picked.levels, levels={**picked.levels.levels, field: (level,)})
    text = ", ".join(filter(None, (picked.text, f"{factor}={show_level(factor, level)}")))
    return msgspec.structs.replace(picked, levels=levels, text=text)


class _Finder:
    """Finds the cells that a selection matches. Baselines that the plan added match only if their adapter is named."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._added = frozenset(plan.baselines)

    def levels(self, picked: Picked, factor: str) -> list[Level]:
        """Return the levels of the factor among the selected cells, numbers first and ascending."""
        field = FACTORS[factor].field
        found = dict.fromkeys(getattr(self._plan.cells[each], field) for each in self._cells(picked))
        numbers = sorted(level for level in found if isinstance(level, int | float))
        return [*numbers, *(level for level in found if not isinstance(level, int | float))]

    def subjects(self, picked: Picked) -> list[Subject]:
        """Return the selected cells or edges. Raises NothingToJudge."""
        cells = self._cells(picked)
        if not picked.topic:
            return [Subject(each) for each in cells]
        found = [Subject(index, edge, name) for index in cells for edge, name in picked.edges(self._plan.cells[index])]
        if not found:
            raise NothingToJudge(self._no_topic(picked, cells))
        return found

    def paired(self, a: Picked, b: Picked, band: Band, factor: str = "") -> tuple[ClaimPart, ...]:
        """Pair each subject of A with the subject of B that has the same levels.

        Levels that tell A and B apart may differ.

        If each side selects one subject, these two are the pair. Raises NothingToJudge.

        Args:
            a: The first side.
            b: The second side.
            band: The band of every pair's ratio.
            factor: The factor whose levels distinguish the pairs in reports; empty: none.
        """
        first, second = self.subjects(a), self.subjects(b)
        if first == second:
            raise NothingToJudge(f"{a.text} and {b.text} select the same")
        if len(first) == len(second) == 1:
            return (ClaimPart(first[0], second[0], band, self._levels_of(first[0], second[0], factor)),)
        fields = self._fields(a, b, first, second)
        topics = a.topic == b.topic

        def key(each: Subject) -> tuple[object, ...]:
            cell = self._plan.cells[each.cell]
            return (*(getattr(cell, field) for field in fields), each.name if topics else "")

        by_key: dict[object, list[Subject]] = {}
        for each in first:
            by_key.setdefault(key(each), []).append(each)
        found = tuple(
            ClaimPart(other, each, band, self._levels_of(other, each, factor))
            for each in second
            for other in by_key.get(key(each), ())
            if other != each
        )
        if not found:
            different = [each for each in fields if not self._levels_at(first, each) & self._levels_at(second, each)]
            also = f"also differ in {listing(different)}" if different else "differ in more factors than named"
            raise NothingToJudge(f"{a.text} and {b.text} {also}: name one configuration of each")
        return found

    def _fields(self, a: Picked, b: Picked, first: Sequence[Subject], second: Sequence[Subject]) -> list[str]:
        """Return the fields in which the two subjects of a pair must agree: all fields except those listed here.

        Not included are fields for which the sides name different levels. If a side is a sweep, other fields in which
        the sides differ are not included either. If the adapters differ, native settings may differ. Requests to the
        middleware may then also differ, if one side has a single level of the request. So a middleware that supports
        only best effort can be compared.
        """
        asked = a.levels.levels, b.levels.levels
        named = {field for field in {*asked[0], *asked[1]} if {*asked[0].get(field, ())} != {*asked[1].get(field, ())}}
        if a.sweep or b.sweep:
            named |= {field for field in FIELDS if self._levels_at(first, field) != self._levels_at(second, field)}
        if "adapter" in named:
            named |= {"native"} | {
                field for field in OF_MIDDLEWARE if 1 in (len(self._levels_at(each, field)) for each in (first, second))
            }
        return [field for field in FIELDS if field not in named]

    def _levels_at(self, subjects: Sequence[Subject], field: str) -> set[object]:
        return {getattr(self._plan.cells[each.cell], field) for each in subjects}

    def _levels_of(self, a: Subject, b: Subject, factor: str) -> str:
        if not factor:
            return ""
        levels = (getattr(self._plan.cells[each.cell], FACTORS[factor].field) for each in (a, b))
        return f"{factor} {' → '.join(dict.fromkeys(show_level(factor, each) for each in levels))}"

    def _cells(self, picked: Picked) -> list[int]:
        named = "adapter" in picked.levels.levels or picked.sweep
        found = [
            index
            for index, (cell, name) in enumerate(zip(self._plan.cells, self._plan.names, strict=True))
            if (named or index not in self._added) and picked.matches(cell, name)
        ]
        if not found:
            raise NothingToJudge(self._none(picked))
        return found

    def _none(self, picked: Picked) -> str:
        """Return a message about the first level in the selection that no cell has, with the levels that exist."""
        asked = [index for index in range(len(self._plan.cells)) if index not in self._added]
        for field, levels in picked.levels.levels.items():
            single = Picked("", msgspec.structs.replace(picked.levels, levels={field: levels}))
            if any(single.matches(self._plan.cells[index], "") for index in asked):
                continue
            factor = next((each.name for each in FACTORS.values() if each.field == field), field)
            shown = _shown(factor, levels)
            existing = _shown(factor, dict.fromkeys(getattr(self._plan.cells[index], field) for index in asked))
            return f"no configuration has {factor} {shown}; there is {existing}"
        if picked.sweep:
            sweeps = dict.fromkeys(name.partition(": ")[2] for name in self._plan.names)
            if picked.sweep not in sweeps:
                return f"no sweep is called '{picked.sweep}'; {did_you_mean(picked.sweep, filter(None, sweeps))}"
        return f"no configuration has all of {picked.text}"

    def _no_topic(self, picked: Picked, cells: Collection[int]) -> str:
        graphs = dict.fromkeys(graph for index in cells if (graph := self._plan.cells[index].workload))
        if not graphs:
            return f"topic {picked.topic}: no selected configuration has a workload"
        topics = {each.name: each for graph in graphs for each in graph.topics}
        if picked.topic not in topics:
            return f"no topic '{picked.topic}'; {did_you_mean(picked.topic, topics)}"
        nodes = topics[picked.topic].to
        return f"'{picked.to}' does not receive {picked.topic}; {did_you_mean(picked.to, nodes)}"


def _shown(factor: str, levels: Collection[Level]) -> str:
    return listing(show_level(factor, level) if factor in FACTORS else str(level) for level in levels)


def cells_of(parts: Sequence[ClaimPart]) -> Iterator[int]:
    """Yield each cell of the parts once, in order."""
    yield from dict.fromkeys(subject.cell for part in parts for subject in part.subjects)
