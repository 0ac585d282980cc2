"""Names of cells for other tools: stable from run to run, unique within one, without blanks."""

from collections.abc import Sequence

from middlemark.plan.cell import Cell

_DEFAULT = Cell(adapter="", transport="", size=0)
_FIRST = ("pattern", "adapter", "transport", "size", "receive")
"""Factors that are in every name, so that a name does not change when a run has other cells beside it."""


def cell_names(cells: Sequence[Cell]) -> list[str]:
    """Return ``ping-pong/adapter:shm/transport:shm/size:64/receive:block``, further factors where not the default.

    The names depend on the cell alone. Two cells of one name would be one cell.
    """
    return [_name(each) for each in cells]


def file_names(cells: Sequence[Cell]) -> list[str]:
    """Return names for files, unique within the run: ``0003-ping-pong-shm-shm-64-block``."""
    digits = max(4, len(str(len(cells))))
    receives = ["unknown" if "receive" in each.unknown else each.receive for each in cells]
    plain = [
        f"{each.pattern}-{each.adapter}-{each.transport}-{each.size}-{receive}"
        for each, receive in zip(cells, receives, strict=True)
    ]
    return [f"{index:0{digits}d}-{_safe(name)}" for index, name in enumerate(plain)]


def level_text(level: object) -> str:
    """Return a level as a suite would write it: ``all`` for keep-all is the caller's word."""
    match level:
        case None:
            return "none"
        case bool():
            return str(level).lower()
        case tuple():
            return "+".join("=".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in level)
        case float() if level.is_integer():
            return str(int(level))
        case _:
            return str(level)


def _name(cell: Cell) -> str:
    parts = [cell.pattern]
    for factor in Cell.__struct_fields__:
        known = factor not in cell.unknown
        if factor == "unknown" or not (known or factor in _FIRST):  # an imported cell is named by what is known of it
            continue
        level = getattr(cell, factor) if known else "unknown"
        if factor == "pattern" or (factor not in _FIRST and level == getattr(_DEFAULT, factor)):
            continue
        shown = "all" if factor == "depth" and level is None else level_text(level)
        parts.append(f"{factor}:{shown}")
    return "/".join("".join("_" if char.isspace() or char == "/" else char for char in part) for part in parts)


def _safe(name: str) -> str:
    return "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else "_" for char in name)[:120]
