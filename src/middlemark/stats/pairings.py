"""Which cells stand against each other: those that differ in one factor alone, and the same ones of two runs."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from middlemark.model.cell import FACTORS, FIELDS, Cell
from middlemark.model.levels import Level
from middlemark.stats.comparisons import Pairing, Side

SHARED_MEMORY = "shared_memory"
"""A factor of its own, on or off by what carries the transport's data: it stands in place of ``transport``."""

_HIDDEN = {
    SHARED_MEMORY: ("transport",),
    "adapter": ("adapter", "transport", "native"),
    "label": ("label", "native"),
}
"""Factors in which cells may differ beside the one they are compared by: an adapter brings its own transports, and a
label may stand for a setting of its own (the selftest's planted delays)."""

_MATTER = ("receive", "rate", "payload", "reliability", "processes", "pin")
"""What a comparison with an imported cell says is not known, of what is not."""


def level(each: Side, factor: str) -> Level:
    """Return the cell's level of a factor."""
    if factor == SHARED_MEMORY:
        return None if each.shared_memory is None else "on" if each.shared_memory else "off"
    found: Level = getattr(each.cell, factor)
    return found


def by_factor(sides: Sequence[Side], factor: str, baseline: Level = None) -> list[Pairing]:
    """Pair cells that differ in that factor alone: with the baseline's level, or each level with all before it."""
    hidden = _HIDDEN.get(factor, (factor,))
    cells = [each.cell for each in sides]
    groups: dict[tuple[object, ...], list[Side]] = {}
    for each, cell in zip(sides, with_levels_of_others(cells) if factor == "adapter" else cells, strict=True):
        if level(each, factor) is not None:
            groups.setdefault(_key(cell, hidden), []).append(each)
    pairings = []
    for group in groups.values():
        for index, b in enumerate(group):
            for a in group[:index] if baseline is None else group:
                known = baseline is None or level(a, factor) == baseline
                if known and level(a, factor) != level(b, factor):
                    pairings.append(Pairing(a, b, (_name(a, factor), _name(b, factor))))
    return pairings


_OF_MIDDLEWARE = tuple(each.field for each in FACTORS.values() if each.of == "middleware")


def with_levels_of_others(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells as if each adapter had been asked for what most were, where it was measured at one level only.

    A middleware that has nothing but best effort is still one to choose; its row says what it has.
    """
    changed = [*cells]
    for field in _OF_MIDDLEWARE:
        levels: dict[str, set[Level]] = {}
        for each in cells:
            levels.setdefault(each.adapter, set()).add(getattr(each, field))
        counted = Counter(level for each in levels.values() for level in sorted(each, key=str))
        if len(counted) > 1:
            usual = counted.most_common(1)[0][0]
            changed = [
                msgspec.structs.replace(each, **{field: usual}) if len(levels[each.adapter]) == 1 else each
                for each in changed
            ]
    return changed


def _name(each: Side, factor: str) -> str:
    if factor == "adapter":
        return f"{each.cell.adapter} {each.cell.transport}"
    return f"{factor}={level(each, factor)}"


def run_against_run(first: Sequence[Side], second: Sequence[Side], but: Sequence[str] = ()) -> list[Pairing]:
    """Pair the cells of two runs that are the same but for those factors; one cell each is a pair whatever they are."""
    if len(first) == len(second) == 1:
        return [Pairing(first[0], second[0], (first[0].label, second[0].label), _apart(first[0], second[0]))]
    by_cell = {_key(each.cell, but): each for each in first}
    return [
        Pairing(a, b, (a.label, b.label), _apart(a, b))
        for b in second
        if (a := by_cell.get(_key(b.cell, but))) is not None
    ]


def _apart(a: Side, b: Side) -> tuple[str, ...]:
    return (
        ()
        if a.run == b.run
        else ("measured apart: their trials were not interleaved, so the machine may be the difference",)
    )


def _key(cell: Cell, but: Sequence[str]) -> tuple[object, ...]:
    return tuple(getattr(cell, field) for field in Cell.__struct_fields__ if field not in but)


def against(pairing: Pairing) -> tuple[str, ...]:
    """Return what forbids the comparison; nothing where it may be made."""
    a, b = pairing.a.cell, pairing.b.cell
    polling = {each.receive == "poll" for each in (a, b) if "receive" not in each.unknown}
    payloads = {each.payload for each in (a, b) if "payload" not in each.unknown}
    machines = {each.machine for each in (pairing.a, pairing.b) if not each.cell.unknown}
    reasons = (
        f"sizes of {a.size:,} and {b.size:,} bytes" if a.size != b.size else "",
        f"{a.pattern} against {b.pattern}: other times are measured" if a.pattern != b.pattern else "",
        "polling against blocking: they are different experiments" if len(polling) == 2 else "",
        f"{a.payload} against {b.payload} payloads" if len(payloads) == 2 else "",
        *(_imported(each) for each in (pairing.a, pairing.b)),
        "different machines" if len(machines) == 2 else "",
    )
    return tuple(each for each in reasons if each)


def _imported(side: Side) -> str:
    """Say what forbids to compare what another tool measured: another ruler, on a machine that nobody knows."""
    unknown = [each for each in _MATTER if each in side.cell.unknown]
    if not side.cell.unknown:
        return ""
    of = f" and its {', '.join(unknown)} are not known" if unknown else " is not known"
    return f"{side.cell.adapter} was imported: the ruler is another, its machine{of}"


MOST = 8_000
"""Pairings of a run that are judged by one metric; with more, those of the factors that come last are not."""
_FIRST = ("adapter", "transport", "loan", "reliability")


def of_run(sides: Sequence[Side]) -> tuple[dict[str, list[Pairing]], dict[str, int]]:
    """Return all that may be compared in one run, by factor, and how many there was no room for.

    What is said of any of it is judged together. Floors are among it where there is nothing else.
    """
    members = _compared(sides)
    found: dict[str, list[Pairing]] = {}
    left_out: dict[str, int] = {}
    for factor in sorted(_varying(members), key=lambda each: _FIRST.index(each) if each in _FIRST else len(_FIRST)):
        allowed = [each for each in by_factor(members, factor) if not against(each)]
        if sum(map(len, found.values())) + len(allowed) > MOST:
            left_out[factor] = len(allowed)
        elif allowed:
            found[factor] = allowed
    return found, left_out


def of_two_runs(first: Sequence[Side], second: Sequence[Side]) -> list[Pairing]:
    """Return the cells that both have, and may be compared."""
    pairings = run_against_run(_compared(first), _compared(second))
    return [each for each in pairings if each.a.cell == each.b.cell and not against(each)]


def _compared(sides: Sequence[Side]) -> list[Side]:
    known = [each for each in sides if not each.contradicted]
    return [each for each in known if not each.is_floor] or known


def _varying(sides: Sequence[Side]) -> Iterator[str]:
    return (factor for factor in FIELDS if factor != "size" and len({level(each, factor) for each in sides}) > 1)
