"""A selection of cells by levels of factors, as written on the command line, in suites and in expectations."""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from middlemark.model.cell import FACTORS, Cell
from middlemark.model.levels import Level, Wrong
from middlemark.model.spelling import did_you_mean, quoted, there_are
from middlemark.model.version import VERSION, version_of

SHARED_MEMORY = "shared_memory"
"""Name of an additional factor: on if the transport's data is carried by shared memory, else off."""
FIELD_OF: Mapping[str, str] = {name: each.field for name, each in FACTORS.items()} | {
    name: name for name in ("native", "label", SHARED_MEMORY, VERSION)
}
"""Name that a user types → field of ``Cell``, or name of an additional property."""
FACTOR_AT = {each.field: each for each in FACTORS.values()}
_NEXT = re.compile(r",(?=\s*[A-Za-z_]+\s*=)")


class Selection(msgspec.Struct, frozen=True):
    """For each field the selected levels; a cell needs one of them: ``{"pin": (None,), "size": (64, 1024)}``.

    Empty: every cell matches.
    """

    levels: Mapping[str, tuple[Level, ...]] = {}

    def matches(self, cell: Cell, *, shared_memory: bool | None = None) -> bool:
        """Say whether the cell has a selected level of each field.

        If the level of an imported cell is unknown, the cell does not match.
        """
        return all(has_level(cell, field, levels, shared_memory) for field, levels in self.levels.items())


def level_at(cell: Cell, field: str, shared_memory: bool | None = None) -> Level:
    """Return the cell's level of a field.

    For ``shared_memory``, None means unknown; for a factor, None may be a level.
    """
    if field == SHARED_MEMORY:
        return None if shared_memory is None else "on" if shared_memory else "off"
    if field == VERSION:
        return version_of(cell.adapter)
    found: Level = getattr(cell, field)
    return found


def has_level(cell: Cell, field: str, levels: tuple[Level, ...], shared_memory: bool | None = None) -> bool:
    """Say whether the cell has one of these levels, which ``read_levels`` returned."""
    if field in cell.unknown:
        return False
    level = level_at(cell, field, shared_memory)
    return any(same_level(field, each, level) for each in levels)


def same_level(field: str, wanted: Level, level: Level) -> bool:
    """Say whether a cell's level is the wanted one. ``auto`` matches processors that the plan chose."""
    return wanted == level or (field in FACTOR_AT and FACTOR_AT[field].stands_for(wanted, level))


def unmatched(selection: Selection, cells: Iterable[Cell]) -> Iterator[str]:
    """Yield a sentence for each factor of which no cell has a selected level. Additional properties are skipped."""
    listed = list(cells)
    for field, levels in selection.levels.items():
        factor = FACTOR_AT.get(field)
        if factor is None or any(has_level(cell, field, levels) for cell in listed):
            continue
        shown = list(dict.fromkeys(factor.kind.show(level_at(cell, field)) for cell in listed))
        typed = " or ".join(factor.kind.show(level) for level in levels)
        is_name = all(isinstance(level, str) for level in levels)
        hint = did_you_mean(typed, shown) if is_name else there_are(shown)
        yield f"no configuration has {factor.name}={typed}; {hint}"


def read_levels(name: str, value: object) -> tuple[Level, ...]:
    """Return the levels of a suite's value (one level or a list) as they are in cells. Raises Wrong."""
    if name not in FIELD_OF:
        raise Wrong(f"'{name}' is not a factor; {did_you_mean(name, FIELD_OF)}")
    if name not in FACTORS:
        if not isinstance(value, str):
            raise Wrong(f"{quoted(value)} is not a text; write it in quotes")
        return (value,)
    key = FACTORS[name]
    values = value if isinstance(value, list) and not key.kind.compound else [value]
    return tuple(key.in_cells(key.kind.read(each)) for each in values)


def read_typed_levels(name: str, text: str) -> tuple[Level, ...]:
    """Return the levels of a typed text (``off``, ``0,1``, ``1k,64k``) as they are in cells. Raises Wrong."""
    if name not in FACTORS:
        return read_levels(name, text.strip())
    kind = FACTORS[name].kind
    words = [text] if kind.compound else text.split(",")
    typed = [kind.typed(each.strip()) for each in words]
    return read_levels(name, typed[0] if len(typed) == 1 else typed)


def read_selection(table: Mapping[str, object]) -> tuple[Selection, list[str]]:
    """Return the selection of a suite's table, ``{ pin = "off", size = ["64", "1k"] }``, and all errors."""
    levels: dict[str, tuple[Level, ...]] = {}
    wrong: list[str] = []
    for name, value in table.items():
        try:
            levels[FIELD_OF.get(name, name)] = read_levels(name, value)
        except Wrong as error:
            wrong.append(f"{name}: {error}")
    return Selection(levels), wrong


def read_typed_selection(text: str) -> tuple[Selection, list[str]]:
    """Return the selection of ``pin=off,priority=other`` as typed, and all errors.

    A factor's name begins a new factor.
    """
    levels: dict[str, tuple[Level, ...]] = {}
    wrong: list[str] = []
    for part in _NEXT.split(text) if text else []:
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or name not in FIELD_OF:
            why = f"there is no factor {name}; {did_you_mean(name, FIELD_OF)}" if equals else "write FACTOR=LEVEL"
            wrong.append(f"{quoted(part)} selects nothing: {why}")
            continue
        try:
            levels[FIELD_OF[name]] = read_typed_levels(name, value)
        except Wrong as error:
            wrong.append(f"{name}: {error}")
    return Selection(levels), wrong
