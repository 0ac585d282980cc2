"""Cells chosen by the levels of their factors, as the command line, suites and expectations write them."""

import re
from collections.abc import Mapping

import msgspec

from middlemark.model.cell import FACTORS, Cell
from middlemark.model.levels import Level, Wrong
from middlemark.model.spelling import did_you_mean, quoted
from middlemark.model.version import VERSION, version_of

SHARED_MEMORY = "shared_memory"
"""A factor of its own, on or off by what carries the transport's data."""
FIELD_OF: Mapping[str, str] = {name: each.field for name, each in FACTORS.items()} | {
    name: name for name in ("native", "label", SHARED_MEMORY, VERSION)
}
"""By the name that is typed: the field of ``Cell``, or what else cells are told apart by."""
FACTOR_AT = {each.field: each for each in FACTORS.values()}
_NEXT = re.compile(r",(?=\s*[A-Za-z_]+\s*=)")


class Selection(msgspec.Struct, frozen=True):
    """The levels that are chosen, of each field any: ``{"pin": (None,), "size": (64, 1024)}``. Nothing: every cell."""

    levels: Mapping[str, tuple[Level, ...]] = {}

    def matches(self, cell: Cell, *, shared_memory: bool | None = None) -> bool:
        """Say whether the cell has one of the levels of each factor. An imported level that nobody knows is none."""
        return all(has_level(cell, field, levels, shared_memory) for field, levels in self.levels.items())


def level_at(cell: Cell, field: str, shared_memory: bool | None = None) -> Level:
    """Return the cell's level. None is a level of some factors, and of shared memory: it is not known."""
    if field == SHARED_MEMORY:
        return None if shared_memory is None else "on" if shared_memory else "off"
    if field == VERSION:
        return version_of(cell.adapter)
    found: Level = getattr(cell, field)
    return found


def has_level(cell: Cell, field: str, levels: tuple[Level, ...], shared_memory: bool | None = None) -> bool:
    """Say whether the cell has one of these levels, written as ``read_levels`` gives them."""
    if field in cell.unknown:
        return False
    level = level_at(cell, field, shared_memory)
    return any(same_level(field, each, level) for each in levels)


def same_level(field: str, wanted: Level, level: Level) -> bool:
    """Say whether a cell's level is the one that is wanted: processors that were chosen for it are ``auto`` too."""
    return wanted == level or (field in FACTOR_AT and FACTOR_AT[field].stands_for(wanted, level))


def read_levels(name: str, value: object) -> tuple[Level, ...]:
    """Return levels as cells have them, of a value as a suite has it: one, or a list of several. Raises Wrong."""
    if name not in FIELD_OF:
        raise Wrong(f"'{name}' is no factor; {did_you_mean(name, FIELD_OF)}")
    if name not in FACTORS:
        if not isinstance(value, str):
            raise Wrong(f"{quoted(value)} is no text; write it in quotes")
        return (value,)
    key = FACTORS[name]
    values = value if isinstance(value, list) and not key.kind.compound else [value]
    return tuple(key.in_cells(key.kind.read(each)) for each in values)


def read_typed_levels(name: str, text: str) -> tuple[Level, ...]:
    """Return the same of what was typed: ``off``, ``0,1``, ``1k,64k``. Raises Wrong."""
    if name not in FACTORS:
        return read_levels(name, text.strip())
    kind = FACTORS[name].kind
    words = [text] if kind.compound else text.split(",")
    typed = [kind.typed(each.strip()) for each in words]
    return read_levels(name, typed[0] if len(typed) == 1 else typed)


def read_selection(table: Mapping[str, object]) -> tuple[Selection, list[str]]:
    """Return the selection of a suite's table, ``{ pin = "off", size = ["64", "1k"] }``, and all that is wrong."""
    levels: dict[str, tuple[Level, ...]] = {}
    wrong: list[str] = []
    for name, value in table.items():
        try:
            levels[FIELD_OF.get(name, name)] = read_levels(name, value)
        except Wrong as error:
            wrong.append(f"{name}: {error}")
    return Selection(levels), wrong


def read_typed_selection(text: str) -> tuple[Selection, list[str]]:
    """Return the selection of ``pin=off,priority=other`` as typed; a comma before a factor's name begins the next."""
    levels: dict[str, tuple[Level, ...]] = {}
    wrong: list[str] = []
    for part in _NEXT.split(text) if text else []:
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or name not in FIELD_OF:
            wrong.append(f"'{part}' selects nothing; write FACTOR=LEVEL with {', '.join(FIELD_OF)}")
            continue
        try:
            levels[FIELD_OF[name]] = read_typed_levels(name, value)
        except Wrong as error:
            wrong.append(f"{name}: {error}")
    return Selection(levels), wrong
