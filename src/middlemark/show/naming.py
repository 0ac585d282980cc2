"""Names of cells for other tools, and the first lines of logs.

A name is equal in every run, unique within a run, and has no blanks.
"""

from middlemark.model.cell import FACTORS, FIELDS, OF_WORKLOAD, Cell, subject
from middlemark.model.run import Run
from middlemark.model.workload import Workload
from middlemark.stats.result import CellResult
from middlemark.verdicts.names import WORDS, plain, words

_DEFAULT = Cell(adapter="", transport="", size=0)
_NONE = {each.field: each.none or "none" for each in FACTORS.values()}
_FIRST = ("pattern", "adapter", "transport", "size", "receive")
"""Factors in every name, so that a name does not depend on the other cells of the run."""


def cell_name(cell: Cell) -> str:
    """Return ``ping-pong/adapter:shm/transport:shm/size:64/receive:block``, plus all levels that are not the default.

    The name depends only on the cell, and different cells have different names. A workload's name replaces the factors
    that the workload implies: ``stream/adapter:shm/transport:shm/receive:block/workload:amr``.
    """
    parts: list[str] = [cell.pattern]
    for factor in FIELDS:
        if cell.workload is not None and factor in OF_WORKLOAD:
            continue
        is_known = factor not in cell.unknown
        if not (is_known or factor in _FIRST):  # an imported cell may have unknown factors
            continue
        level = getattr(cell, factor) if is_known else "unknown"
        if factor == "pattern" or (factor not in _FIRST and level == getattr(_DEFAULT, factor)):
            continue
        parts.append(f"{factor}:{_NONE.get(factor) if level is None else _level(level)}")
    return "/".join("".join("_" if char.isspace() or char == "/" else char for char in part) for part in parts)


def file_name(index: int, cell: Cell) -> str:
    """Return a file name for the cell with this index: ``0003-ping-pong-shm-shm-64-block``."""
    receive = "unknown" if "receive" in cell.unknown else cell.receive
    name = f"{cell.pattern}-{cell.adapter}-{cell.transport}-{cell.size}-{receive}"
    safe = "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else "_" for char in name)
    return f"{index:04d}-{safe[:120]}"


def _level(level: object) -> str:
    """Return a level as a suite would write it."""
    match level:
        case Workload(name=name):
            return name
        case bool():
            return str(level).lower()
        case tuple():
            return "+".join("=".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in level)
        case float() if level.is_integer():
            return str(int(level))
        case _:
            return str(level)


def log_head(run: Run) -> str:
    """Return the first line of a log for other tools: suites, start, and whether the run was interrupted."""
    ended = f", interrupted after {len(run.outcomes)} of {run.planned_trials} trials" if run.file.interrupted else ""
    return f"# {plain(', '.join(run.file.suites))}, {run.file.started}{ended}"


def log_title(result: CellResult) -> str:
    """Return the title of a cell in a log: adapter, transport, version and levels."""
    version = f" {result.version}" if result.version else ""
    return f"# {plain(subject(result.cell) + version)}: {plain(words(result.cell, WORDS))}"
