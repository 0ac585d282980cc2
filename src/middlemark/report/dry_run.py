"""What a run would measure, without measuring it."""

import io

from middlemark.plan.cell import Cell, Plan
from middlemark.units import format_size


def render(plan: Plan, seconds: float) -> str:
    """Return one line a cell, the notes, and the estimate. ``seconds``: how long the whole would take."""
    out = io.StringIO()
    trials = [0] * len(plan.cells)
    for trial in plan.trials:
        trials[trial.cell] += 1
    for cell, name, count in zip(plan.cells, plan.names, trials, strict=True):
        out.write(f"{name}: {_levels(cell)}, {count} trials\n")
    for note in plan.notes:
        out.write(f"note: {note.place}: {note.text}\n")
    out.write(
        f"{len(plan.cells)} cells, {len(plan.trials)} trials, about {_time(seconds)}; order from seed {plan.seed}. "
        "Nothing was measured.\n"
    )
    return out.getvalue()


def _levels(cell: Cell) -> str:
    pin = "not pinned" if cell.pin is None else f"pinned {','.join(map(str, cell.pin))}"
    depth = "keep-all" if cell.depth is None else f"depth {cell.depth}"
    words = [
        f"{cell.adapter} {cell.transport}",
        format_size(cell.size),
        cell.receive,
        cell.reliability,
        depth,
        "loan" if cell.loan else "no loan",
        cell.payload,
        f"{cell.processes} process{'es' if cell.processes > 1 else ''}",
        f"{cell.subscribers} subscriber{'s' if cell.subscribers > 1 else ''}",
        pin,
        cell.priority,
    ]
    if cell.subscribers > 1:
        words.append(f"echo {cell.echo}")
    if cell.mlock:
        words.append("mlock")
    words += [f"{key}={value}" for key, value in cell.native]
    return ", ".join(words)


def _time(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
