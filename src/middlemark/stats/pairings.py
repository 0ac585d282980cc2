"""Pairs of cells to compare: cells of one run that differ in one factor only, and equal cells of two runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from middlemark.model.cell import FACTORS, FIELDS, OF_MIDDLEWARE, Cell, subject
from middlemark.model.levels import Level
from middlemark.model.selection import FACTOR_AT, SHARED_MEMORY, Selection, level_at
from middlemark.model.version import VERSION, adapter_of
from middlemark.stats.comparisons import Pairing, Side

_HIDDEN = {
    SHARED_MEMORY: ("transport",),
    "adapter": ("adapter", "pair", "transport", "native"),
    "label": ("label", "native"),
    VERSION: (),
}
"""Factor → other fields that may also differ if cells are compared by this factor. For example, an adapter has its own
transports, and a label may name a setting (a delay that the selftest adds)."""

_MATTER = ("receive", "rate", "payload", "reliability", "processes", "pin")
"""Factors that make a comparison doubtful if an imported cell does not know their level. The reason names these
factors."""


def level(each: Side, factor: str) -> Level:
    """Return the cell's level of a factor."""
    return level_at(each.cell, factor, each.shared_memory)


def selected(each: Side, selection: Selection) -> bool:
    """Say whether the selection contains the cell."""
    return selection.matches(each.cell, shared_memory=each.shared_memory)


def by_factors(sides: Sequence[Side], factors: Sequence[str], reference: Selection | None = None) -> list[Pairing]:
    """Pair cells that differ in each of these factors and in no other factor.

    ``reference``: A is one of these cells. None: each cell is compared with every earlier cell.
    """
    hidden = _hidden(factors)
    cells = [each.cell for each in sides]
    if VERSION in factors:
        cells = [msgspec.structs.replace(each, adapter=adapter_of(each.adapter)) for each in cells]
    groups: dict[tuple[object, ...], list[Side]] = {}
    stand_ins = at_levels_of_others(cells) if "adapter" in factors else [[each] for each in cells]
    for each, some in zip(sides, stand_ins, strict=True):
        if all(_is_known(each, factor) for factor in factors):
            for cell in some:
                groups.setdefault(_key(cell, hidden), []).append(each)
    pairings: dict[tuple[int, int], Pairing] = {}
    for group in groups.values():
        for index, b in enumerate(group):
            for a in group[:index] if reference is None else group:
                is_reference = reference is None or selected(a, reference)
                if is_reference and all(level(a, factor) != level(b, factor) for factor in factors):
                    pairings[id(a), id(b)] = Pairing(a, b, (_name(a, factors), _name(b, factors)))
    return [*pairings.values()]


def _hidden(factors: Iterable[str]) -> tuple[str, ...]:
    return tuple(hidden for factor in factors for hidden in _HIDDEN.get(factor, (factor,)))


def _is_known(each: Side, factor: str) -> bool:
    """Say whether the level is known. None is a level too, except for additional factors."""
    return factor not in each.cell.unknown and (factor in FACTOR_AT or level(each, factor) is not None)


def at_levels_of_others(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return for each cell one copy at each level at which it is compared with cells of other adapters.

    Only factors that are requests to the middleware (``OF_MIDDLEWARE``) are changed, such as the reliability. If an
    adapter was measured at only one level of such a factor, its cell is compared at every level of the adapters with
    several levels, the most common level first. If no adapter has several levels, its cell is compared at the most
    common level. So a middleware that supports only best effort, or only loans, is still compared. Its row shows the
    actual level.
    """
    found = [[each] for each in cells]
    for field in OF_MIDDLEWARE:
        levels: dict[str, set[Level]] = {}
        for each in cells:
            levels.setdefault(each.middleware, set()).add(getattr(each, field))
        counts = Counter(level for each in levels.values() for level in sorted(each, key=str))
        if len(counts) > 1:
            several = set().union(*(each for each in levels.values() if len(each) > 1))
            usual = [level for level, _ in counts.most_common()]
            there = [level for level in usual if level in several] or usual[:1]
            found = [
                [
                    msgspec.structs.replace(each, **{field: level})
                    for each in some
                    for level in (there if len(levels[each.middleware]) == 1 else [getattr(each, field)])
                ]
                for some in found
            ]
    return found


def _name(each: Side, factors: Sequence[str]) -> str:
    return ", ".join(_level_name(each, factor) for factor in factors)


def _level_name(each: Side, factor: str) -> str:
    if factor == "adapter":
        return subject(each.cell)
    if factor == VERSION:
        return each.cell.adapter
    if factor not in FACTOR_AT:
        return f"{factor}={level(each, factor)}"
    return f"{FACTOR_AT[factor].name}={FACTOR_AT[factor].kind.show(level(each, factor))}"


def run_against_run(first: Sequence[Side], second: Sequence[Side], but: Sequence[str] = ()) -> list[Pairing]:
    """Pair the cells of two runs that agree in all fields, except the fields of the factors ``but``.

    If each run has only one cell, these two cells are the pair. If a run has several levels of a factor in ``but``, the
    names contain the level.
    """
    if len(first) == len(second) == 1:
        return [Pairing(first[0], second[0], (first[0].label, second[0].label), _apart(first[0], second[0]))]
    hidden = _hidden(but)
    by_cell: dict[tuple[object, ...], list[Side]] = {}
    for each in first:
        by_cell.setdefault(_key(each.cell, hidden), []).append(each)
    varying = [
        [factor for factor in but if len({level(each, factor) for each in sides}) > 1] for sides in (first, second)
    ]
    return [
        Pairing(a, b, (_labelled(a, varying[0]), _labelled(b, varying[1])), _apart(a, b))
        for b in second
        for a in by_cell.get(_key(b.cell, hidden), ())
        if not but or (a.run, a.cell) != (b.run, b.cell)
    ]


def _labelled(each: Side, factors: Sequence[str]) -> str:
    return f"{each.label} ({_name(each, factors)})" if factors else each.label


def _apart(a: Side, b: Side) -> tuple[str, ...]:
    return (
        ()
        if a.run == b.run
        else ("measured at different times: the runs were not interleaved, so the machine may have changed",)
    )


def _key(cell: Cell, but: Sequence[str]) -> tuple[object, ...]:
    return tuple(getattr(cell, field) for field in Cell.__struct_fields__ if field not in but)


def reasons_against(pairing: Pairing) -> tuple[str, ...]:
    """Return why the two cells should not be compared; empty: they may be compared."""
    a, b = pairing.a.cell, pairing.b.cell
    polling = {each.receive == "poll" for each in (a, b) if "receive" not in each.unknown}
    payloads = {each.payload for each in (a, b) if "payload" not in each.unknown}
    machines = {each.machine for each in (pairing.a, pairing.b) if not each.cell.unknown}
    reasons = (
        f"sizes of {a.size:,} and {b.size:,} bytes" if a.size != b.size else "",
        f"{a.pattern} against {b.pattern}: these patterns measure different times" if a.pattern != b.pattern else "",
        "polling and blocking are different experiments" if len(polling) == 2 else "",
        f"{a.payload} against {b.payload} payloads" if len(payloads) == 2 else "",
        *(_imported(each) for each in (pairing.a, pairing.b)),
        "different machines" if len(machines) == 2 else "",
    )
    return tuple(each for each in reasons if each)


def _imported(side: Side) -> str:
    """Return why the side should not be compared: another tool, an unknown machine. Empty: the cell is not imported."""
    unknown = [each for each in _MATTER if each in side.cell.unknown]
    if not side.cell.unknown:
        return ""
    unknowns = f" and its {', '.join(unknown)} are not known" if unknown else " is not known"
    return f"{side.cell.adapter} was imported: another tool measured it, and its machine{unknowns}"


MOST = 8_000
"""At most this number of pairings of a run is judged by one metric. A factor whose pairings would exceed it is left
out."""
_FIRST = ("adapter", "transport", "loan", "reliability")


def of_run(
    sides: Sequence[Side], together: Sequence[Sequence[str]] = ()
) -> tuple[dict[str, list[Pairing]], dict[str, int]]:
    """Return factor → pairings of one run, and factor → number of pairings that were left out because of ``MOST``.

    Raw transports are included only if there are no other cells. ``together``: the names of factors that the suites
    vary together (``Plan.together``); their key is the names joined by commas.
    """
    members = _compared(sides)
    found: dict[str, list[Pairing]] = {}
    left_out: dict[str, int] = {}
    single = sorted(_varying(members), key=lambda each: _FIRST.index(each) if each in _FIRST else len(_FIRST))
    several = {",".join(names): [FACTORS[name].field for name in names] for names in together}
    for factor, fields in {**{each: [each] for each in single}, **several}.items():
        allowed = [each for each in by_factors(members, fields) if not reasons_against(each)]
        if sum(map(len, found.values())) + len(allowed) > MOST:
            left_out[factor] = len(allowed)
        elif allowed:
            found[factor] = allowed
    return found, left_out


def of_two_runs(first: Sequence[Side], second: Sequence[Side]) -> list[Pairing]:
    """Return the pairs of equal cells of two runs, if they may be compared."""
    pairings = run_against_run(_compared(first), _compared(second))
    return [each for each in pairings if each.a.cell == each.b.cell and not reasons_against(each)]


def _compared(sides: Sequence[Side]) -> list[Side]:
    confirmed = [each for each in sides if not each.contradicted]
    return [each for each in confirmed if not each.is_raw_transport] or confirmed


def _varying(sides: Sequence[Side]) -> Iterator[str]:
    return (factor for factor in FIELDS if factor != "size" and len({level(each, factor) for each in sides}) > 1)
