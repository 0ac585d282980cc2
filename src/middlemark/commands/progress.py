"""What is being measured, how many trials remain and the time left: live on a terminal, plain lines elsewhere."""

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from middlemark.launch.outcome import TrialOutcome
from middlemark.launch.run import Watcher
from middlemark.plan import Plan, estimate_trial
from middlemark.plan.cell import Cell, Trial
from middlemark.units import format_rate, format_size

LINE_EVERY_S = 10.0


@contextlib.contextmanager
def progress(plan: Plan, *, quiet: bool) -> Iterator[Watcher]:
    """Yield a watcher that shows progress on stderr; one that shows nothing when ``quiet``."""
    if quiet:
        yield _Silent()
    elif sys.stderr.isatty():
        with _live(plan) as watcher:
            yield watcher
    else:
        yield _Lines(plan)


def describe(cell: Cell) -> str:
    """Return the cell in a few words: ``fastdds shm, 64 KiB, block``."""
    name = cell.adapter if cell.adapter == cell.transport else f"{cell.adapter} {cell.transport}"
    extras = [
        format_size(cell.size),
        cell.receive,
        *(["loan"] if cell.loan else []),
        *(["best effort"] if cell.reliability == "best-effort" else []),
        *(["one process"] if cell.processes == 1 else []),
        *([f"{cell.subscribers} subscribers"] if cell.subscribers > 1 else []),
        *([cell.label] if cell.label else []),
    ]
    return f"{name}, {', '.join(extras)}"


def _step(event: Mapping[str, Any]) -> str:
    """Return which step of a search a tick belongs to: ``step 3 at 12.5 kHz, ``; nothing outside of searches."""
    if "step" not in event:
        return ""
    rate = event["rate_hz"]
    return f"step {event['step']} at {'rate max' if rate is None else format_rate(float(f'{rate:.3g}'))}, "


class _Clock:
    """How long is left: the estimate of what remains, corrected by how the estimate held so far."""

    def __init__(self, plan: Plan) -> None:
        self._estimates = [estimate_trial(plan.cells[trial.cell], trial) for trial in plan.trials]
        self._begin = time.monotonic()
        self.done = 0
        self.failed = 0
        self.total = len(plan.trials)

    def more(self, plan: Plan) -> None:
        self._estimates += [estimate_trial(plan.cells[trial.cell], trial) for trial in plan.trials]
        self.total += len(plan.trials)

    def ended(self, outcome: TrialOutcome) -> None:
        self.done += 1
        self.failed += outcome.failed is not None

    def left_s(self) -> float:
        expected = sum(self._estimates[: self.done])
        pace = (time.monotonic() - self._begin) / expected if expected > 0 else 1.0
        return sum(self._estimates[self.done :]) * pace

    def left(self) -> str:
        seconds = round(self.left_s())
        return f"{seconds // 60} min {seconds % 60:02} s left" if seconds >= 60 else f"{seconds} s left"


class _Silent:
    def trial_begins(self, cell: Cell, trial: Trial) -> None:
        pass

    def tick(self, event: Mapping[str, Any]) -> None:
        pass

    def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
        pass

    def more(self, plan: Plan) -> None:
        pass


class _Lines(_Silent):
    """For logs and pipes: every failure at once, otherwise a line every ten seconds."""

    def __init__(self, plan: Plan) -> None:
        self._clock = _Clock(plan)
        self._said = 0.0

    def trial_begins(self, cell: Cell, trial: Trial) -> None:
        now = time.monotonic()
        if self._clock.done == 0 or now - self._said >= LINE_EVERY_S:
            self._said = now
            self._say(f"{self._clock.done} of {self._clock.total} trials, {self._clock.left()}; next: {describe(cell)}")

    def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
        self._clock.ended(outcome)
        if outcome.failed is not None:
            self._say(f"failed: {describe(cell)}: {outcome.failed.text}")

    def more(self, plan: Plan) -> None:
        self._clock.more(plan)

    def _say(self, text: str) -> None:
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def _live(plan: Plan) -> Iterator[Watcher]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}", table_column=None),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
        auto_refresh=False,  # ten redraws a second would be a disturbance of what is measured
    )

    class Live(_Silent):
        def __init__(self) -> None:
            self._clock = _Clock(plan)
            self._task = bar.add_task("starting", total=self._clock.total, left=self._clock.left())
            self._text = ""

        def trial_begins(self, cell: Cell, trial: Trial) -> None:
            self._text = describe(cell)
            self._show(self._text)

        def tick(self, event: Mapping[str, Any]) -> None:
            self._show(f"{self._text}: {_step(event)}{event.get('samples', 0):,} samples ({event.get('phase', '')})")

        def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
            self._clock.ended(outcome)
            if outcome.failed is not None:
                console.print(f"failed: {escape(describe(cell))}: {escape(outcome.failed.text)}", highlight=False)
            bar.update(self._task, completed=self._clock.done)
            self._show(self._text)

        def more(self, plan: Plan) -> None:
            self._clock.more(plan)
            bar.update(self._task, total=self._clock.total)

        def _show(self, text: str) -> None:
            bar.update(self._task, description=escape(text), left=self._clock.left(), refresh=True)

    with bar:
        yield Live()
