"""What a run would measure, without measuring it."""

import io

from middlemark.plan.cell import Cell, Plan
from middlemark.plan.estimate import estimate_trial
from middlemark.units import format_percent, format_rate, format_seconds, format_size


def render(plan: Plan, seconds: float) -> str:
    """Return one line a cell, the notes, and the estimate. ``seconds``: how long the whole would take."""
    out = io.StringIO()
    trials = [0] * len(plan.cells)
    for trial in plan.trials:
        trials[trial.cell] += 1
    for cell, name, count in zip(plan.cells, plan.names, trials, strict=True):
        out.write(f"{name}: {_levels(cell)}, {_counted(count, 'trial')}\n")
    if plan.floors:
        out.write(_floors(plan))
    for note in plan.notes:
        out.write(f"note: {note.place}: {note.text}\n")
    if plan.precision is not None:
        out.write(
            f"then further rounds until medians are known to ± {format_percent(plan.precision.part)}, within "
            f"{format_seconds(plan.precision.budget_s)} in all\n"
        )
    out.write(
        f"{len(plan.cells)} cells, {len(plan.trials)} trials, about {_time(seconds)}; order from seed {plan.seed}. "
        "Nothing was measured.\n"
    )
    return out.getvalue()


def _floors(plan: Plan) -> str:
    floors = frozenset(plan.floors)
    seconds = sum(estimate_trial(plan.cells[trial.cell], trial) for trial in plan.trials if trial.cell in floors)
    cells = _counted(len(floors), "of these cells is a floor", "of these cells are floors")
    return f"{cells} that stand beside the others, about {_time(seconds)}; --no-floors leaves them out\n"


def _levels(cell: Cell) -> str:
    pin = "not pinned" if cell.pin is None else f"pinned {','.join(map(str, cell.pin))}"
    depth = "keep-all" if cell.depth is None else f"depth {cell.depth}"
    words = [
        f"{cell.adapter} {cell.transport}",
        cell.pattern,
        format_size(cell.size),
        cell.receive,
        cell.reliability,
        depth,
        "loan" if cell.loan else "no loan",
        cell.payload,
        f"{cell.processes} process{'es' if cell.processes > 1 else ''}",
        *_roles(cell),
        *_load(cell),
        pin,
        cell.priority,
    ]
    if cell.mlock:
        words.append("mlock")
    words += [f"{key}={value}" for key, value in cell.native]
    return ", ".join(words)


def _roles(cell: Cell) -> list[str]:
    if cell.subscribers == 0:
        return ["copying alone"]
    if cell.pattern == "request-reply":
        return [_counted(cell.publishers, "client")]
    subscribers = _counted(cell.subscribers, "subscriber")
    if cell.pattern == "ping-pong":
        return [subscribers, f"echo {cell.echo}"] if cell.subscribers > 1 else [subscribers]
    return [_counted(cell.publishers, "publisher"), subscribers, _counted(cell.topics, "topic")]


def _load(cell: Cell) -> list[str]:
    if cell.burst is not None:
        rest = f" and {format_seconds(cell.recovery_s)} of rest" if cell.recovery_s else ""
        return [f"bursts of {cell.burst}{rest}"]
    if isinstance(cell.rate, float):
        return [f"rate {format_rate(cell.rate)}{'' if cell.arrivals == 'periodic' else ' poisson'}"]
    if cell.rate == "max":
        return ["rate max"] if cell.pattern == "stream" else []
    bound = f", p99 within {format_seconds(cell.max_p99_s)}" if cell.max_p99_s is not None else ""
    arrivals = "" if cell.arrivals == "periodic" else " poisson"
    return [f"rate {cell.rate}{arrivals} (loss within {format_percent(cell.max_loss)}{bound})"]


def _counted(count: int, what: str, several: str | None = None) -> str:
    return f"{count} {what if count == 1 else several or f'{what}s'}"


def _time(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
