"""The factors that vary over the cells, with their levels as a reader may filter by them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from middlemark.plan.cell import Cell
from middlemark.report.document.model import Factor
from middlemark.report.document.rows import Row
from middlemark.report.factors import plain
from middlemark.units import format_percent, format_rate, format_seconds, format_size

LABELS: Mapping[str, str] = {
    "adapter": "middleware",
    "transport": "transport",
    "size": "size",
    "pattern": "pattern",
    "rate": "rate",
    "receive": "reception",
    "publishers": "publishers",
    "subscribers": "subscribers",
    "topics": "topics",
    "reliability": "reliability",
    "depth": "history depth",
    "loan": "loan",
    "payload": "payload",
    "processes": "processes",
    "arrivals": "arrivals",
    "burst": "burst",
    "recovery_s": "rest after a burst",
    "max_loss": "loss allowed",
    "max_p99_s": "p99 allowed",
    "echo": "echo",
    "pin": "processors",
    "priority": "priority",
    "mlock": "memory locked",
    "native": "own settings",
    "label": "label",
}
"""By factor, in the order they are offered."""

_UNITS = {"size": "bytes", "recovery_s": "s", "max_p99_s": "s", "burst": "messages", "depth": "messages"}
_ALWAYS = ("adapter", "transport")

_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "size": format_size,
    "rate": lambda level: level if isinstance(level, str) else format_rate(level),
    "recovery_s": format_seconds,
    "max_loss": format_percent,
    "max_p99_s": lambda level: "any" if level == "any" else format_seconds(level),
    "loan": lambda level: "loan" if level else "no loan",
    "mlock": lambda level: "locked" if level else "not locked",
}


def levels_of(cell: Cell) -> dict[str, Any]:
    """Return every factor's level as a scalar: absent levels as the command line writes them, settings as one text.

    What another tool's log does not tell is ``unknown``, an unknown size None.
    """
    levels = {factor: getattr(cell, factor) for factor in LABELS}
    levels |= {
        "depth": "all" if cell.depth is None else cell.depth,
        "burst": "off" if cell.burst is None else cell.burst,
        "recovery_s": cell.recovery_s or 0,
        "max_p99_s": "any" if cell.max_p99_s is None else cell.max_p99_s,
        "pin": "off" if cell.pin is None else ",".join(map(str, cell.pin)),
        "native": plain(" ".join(f"{key}={value}" for key, value in cell.native)) or "defaults",
        "label": plain(cell.label or ""),
    }
    return levels | {factor: None if factor == "size" else "unknown" for factor in cell.unknown if factor in levels}


def factors_of(rows: Sequence[Row], levels: Sequence[Mapping[str, Any]], names: Sequence[str]) -> tuple[Factor, ...]:
    """Return the factors with more than one level, adapter and transport always; ``names``: the runs', where several.

    ``levels`` are those of the rows.
    """
    found = [
        Factor(
            name=factor,
            label=label,
            levels=tuple(ordered),
            shown=tuple(plain(str(_SHOWN.get(factor, str)(level))) for level in ordered),
            unit=_UNITS.get(factor),
        )
        for factor, label in LABELS.items()
        if (ordered := _ordered(each[factor] for each in levels)) and (len(ordered) > 1 or factor in _ALWAYS)
    ]
    if len(names) > 1 and rows:
        runs = tuple(f"r{at}" for at in range(len(names)))
        found.append(Factor(name="run", label="run", levels=runs, shown=tuple(map(plain, names)), unit=None))
    return tuple(found)


def _ordered(levels: Any) -> list[Any]:
    """Return different levels: numbers ascending, then words as they came."""
    known = list(dict.fromkeys(levels))
    numbers = sorted(each for each in known if isinstance(each, int | float) and not isinstance(each, bool))
    return [*numbers, *(each for each in known if isinstance(each, bool | str))]
