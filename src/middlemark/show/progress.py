"""Progress of a run: the current trial, the last result, the noise of the machine and the remaining time.

``State`` makes the texts. ``progress`` shows them: updated in place on a terminal, else as plain lines.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from middlemark.document.numbers import ratio
from middlemark.model.cell import ONE_WAY, Cell, experiment, subject
from middlemark.model.description import Description
from middlemark.model.outcome import TrialOutcome, Underway
from middlemark.model.plan import Plan, Trial
from middlemark.model.units import format_count, format_percent, format_rate, format_seconds, format_us
from middlemark.plan import estimate_trial
from middlemark.verdicts.names import joined, size

LINE_EVERY_S = 60.0
PRESSURE = Path("/proc/pressure/cpu")
_BAR = 20
_LEAST_FOR_BAR = 60
"""A narrower terminal shows no bar."""
_NOISY = 0.005
"""A smaller share of waiting for a processor is not shown."""


def describe(cell: Cell) -> str:
    """Return the cell in a few words: ``fastdds shm, 64 KiB, block``."""
    unusual = {
        "loan": cell.loan,
        "best effort": cell.reliability == "best-effort",
        "one process": cell.processes == 1,
        f"{cell.subscribers} subscribers": cell.subscribers > 1,
    }
    parts = (subject(cell), size(cell), cell.receive, *(text for text, holds in unusual.items() if holds))
    return joined(", ", *parts, cell.label or "")


class State:
    """The progress of a run. Reads samples only between trials, so that trials are not disturbed."""

    def __init__(
        self,
        plan: Plan,
        folder: Path | None,
        adapters: Sequence[Description],
        *,
        clock: Callable[[], float] = time.monotonic,
        waited_us: Callable[[], int | None] | None = None,
    ) -> None:
        """Create the state.

        ``clock``: in s; ``waited_us``: how long tasks have waited for a processor since boot, in µs.
        """
        self._plan = plan
        self._folder = folder
        self._descriptions = {each.name: each for each in adapters}
        self._clock = clock
        self._waited_us = waited_us or _waited_us
        self._estimates = [(trial.cell, estimate_trial(plan.cells[trial.cell], trial)) for trial in plan.trials]
        self._raw_transports: list[tuple[int, str] | None] | None = None
        self._figures: dict[int, float] = {}
        self._medians: dict[int, list[tuple[float, str]]] = {}
        self._took: dict[int, list[float]] = {}
        self._last = ""
        self._now = "starting"
        self._samples = ""
        self._seats = 1
        self._began = (clock(), self._waited_us())
        self._noise = ""
        self.done = 0
        self.total = len(plan.trials)

    def more(self, plan: Plan) -> None:
        """Add the trials of a further round."""
        self._estimates += [(trial.cell, estimate_trial(plan.cells[trial.cell], trial)) for trial in plan.trials]
        self.total += len(plan.trials)

    def begins(self, cell: Cell, seats: int = 1) -> None:
        """Record the beginning of the next trial. ``seats``: the number of trials that run side by side."""
        self._now, self._samples = describe(cell) if seats == 1 else f"{seats} configurations side by side", ""
        self._seats = seats
        self._began = (self._clock(), self._waited_us())

    def ticked(self, event: Underway) -> None:
        """Record the state that a trial reports once a second."""
        self._samples = f"{_step(event)}{event.samples:,} samples ({event.phase})"

    def ended(self, cell: Cell, outcome: TrialOutcome) -> None:
        """Record the result of a trial."""
        self.done += 1
        begin, waited = self._began
        self._took.setdefault(outcome.cell, []).append((self._clock() - begin) / self._seats)
        self._noise = self._noise_of(outcome, begin, waited)
        if outcome.failed is None and self._folder is not None:
            found = _figure(cell, outcome, self._folder)
            if found is not None:
                self._figures[outcome.cell], figure = found
                self._medians.setdefault(outcome.cell, []).append(found)
                # The figure comes first, because a narrow terminal cuts the end.
                self._last = f"last: {figure}{self._against_raw_transport(outcome.cell)} ({describe(cell)})"

    def left_s(self) -> float:
        """Return the remaining time in s, from the cell's earlier trials, or from the estimate if there are none."""
        took = [(cell, seconds) for cell, each in self._took.items() for seconds in each]
        estimates = dict(reversed(self._estimates))
        expected = sum(estimates[cell] for cell, _ in took)
        pace = sum(seconds for _, seconds in took) / expected if expected > 0 else 1.0
        means = {cell: sum(each) / len(each) for cell, each in self._took.items()}
        return sum(means.get(cell, estimate * pace) for cell, estimate in self._estimates[self.done :])

    def line(self) -> str:
        """Return the progress in one line, for a log."""
        parts = [f"{self._count()}, {self._left()}; next: {self._now}", self._leader(), self._last, self._noise]
        return "; ".join(each for each in parts if each)

    def lines(self, width: int) -> list[str]:
        """Return at most four lines of at most ``width`` columns."""
        from middlemark.show.terminal import cut

        filled = round(_BAR * self.done / self.total) if self.total else _BAR
        head = f"{self.done}/{self.total}, {self._left()}"
        if width >= _LEAST_FOR_BAR:
            head = f"[{'#' * filled}{'-' * (_BAR - filled)}] {self._count()}, {self._left()}"
        now = f"{self._now}: {self._samples}" if self._samples else self._now
        last = "; ".join(each for each in (self._last, self._noise) if each)
        return [cut(each, width) for each in (head, self._leader(), now, last) if each]

    def _leader(self) -> str:
        """Return the middleware with the lowest figure so far as text; empty if the run has several experiments."""
        raw = {name for name, each in self._descriptions.items() if each.is_raw_transport}
        cells = self._plan.cells
        racing = [each for each in self._medians if cells[each].adapter in self._descriptions.keys() - raw]
        if len({experiment(each) for each in cells}) > 1 or len(racing) < 2:
            return ""
        best = min(racing, key=lambda each: sorted(self._medians[each])[len(self._medians[each]) // 2][0])
        trials = sorted(self._medians[best])
        figure, most = trials[len(trials) // 2][1], max(map(len, self._medians.values()))
        return f"fastest so far: {describe(cells[best])}, {figure} in {len(trials)} of {format_count(most, 'round')}"

    def _count(self) -> str:
        return f"{self.done:,} of {self.total:,} trials"

    def _left(self) -> str:
        return f"{format_seconds(max(1.0, float(round(self.left_s()))))} left"

    def _against_raw_transport(self, cell: int) -> str:
        """Return the cell's last figure as a multiple of its raw transport's last figure, as text.

        Empty if there is no raw transport, if it has no figure yet, or if the cell is one of a raw transport.
        """
        raw = self._raw_transport_of(cell)
        if raw is None or raw[0] == cell or raw[0] not in self._figures:
            return ""
        return f", {ratio(self._figures[cell] / self._figures[raw[0]])} × {raw[1]}"

    def _raw_transport_of(self, cell: int) -> tuple[int, str] | None:
        """Return the raw transport with the same carrier as the cell, as (index of its cell, label).

        None: the plan has none. If several are equally near, return the first, because no speed is known yet.
        """
        from middlemark.stats.baselines import nearest_raw_transports

        if self._raw_transports is None:
            cells = self._plan.cells
            found = nearest_raw_transports(cells, [1.0] * len(cells), self._descriptions) if self._descriptions else ()
            self._raw_transports = [None if each is None else (each.cell, each.label) for each in found]
        return self._raw_transports[cell] if cell < len(self._raw_transports) else None

    def _noise_of(self, outcome: TrialOutcome, begin: float, waited: int | None) -> str:
        """Return in words how much the machine disturbed the trial; empty: little, or unknown.

        This is the time that tasks waited for a processor (the kernel's PSI). Without PSI, it is the number of the
        workers' involuntary context switches.
        """
        now, seconds = self._waited_us(), self._clock() - begin
        if waited is not None and now is not None and seconds > 0:
            share = min(1.0, (now - waited) / (seconds * 1e6))
            return f"tasks waited for a processor {format_percent(share)} of the time" if share >= _NOISY else ""
        switches = sum(each.involuntary_switches for each in outcome.costs)
        measured = max((each.seconds for each in outcome.costs), default=0.0)
        return f"preempted {switches / measured:,.0f} times/s" if switches and measured > 0 else ""


def _waited_us() -> int | None:
    """Return the time in µs that tasks have waited for a processor. None: the kernel has no pressure figures (PSI)."""
    try:
        first = PRESSURE.read_text(encoding="ascii").split("\n", 1)[0]
    except (OSError, ValueError):
        return None
    name, _, total = first.rpartition("total=")
    return int(total) if name.startswith("some") and total.isdigit() else None


def _figure(cell: Cell, outcome: TrialOutcome, folder: Path) -> tuple[float, str] | None:
    """Return a trial's time per message in ns, and its figure in words. None: the trial has no time per message."""
    import numpy as np

    from middlemark.stats.baselines import by_rate
    from middlemark.stats.rates import rates
    from middlemark.stats.samples import SamplesError, load, load_kept

    if by_rate(cell):
        hz = rates(outcome).rate_hz
        return (1e9 / hz, f"{format_rate(float(f'{hz:.3g}'))}") if hz else None
    try:
        if cell.pattern in ONE_WAY:
            parts = [load_kept(folder, each).raw["one_way_ns"] for each in outcome.timed if each.role == "subscriber"]
        elif outcome.samples_file:
            parts = [load(folder / outcome.samples_file)["round_trip_ns"]]
        else:
            parts = [load_kept(folder, each).raw["round_trip_ns"] for each in outcome.files if each.role == "client"]
    except SamplesError:
        return None  # the result reports the error
    values = np.concatenate(parts) if parts else np.empty(0)
    if not len(values):
        return None
    median = float(np.median(values))
    return median, f"p50 {format_us(median)} µs"


def _step(event: Underway) -> str:
    """Return the current step of a search: ``step 3 at 12.5 kHz, ``; empty outside of searches."""
    if event.step is None:
        return ""
    rate = event.rate_hz
    return f"step {event.step} at {'rate max' if rate is None else format_rate(float(f'{rate:.3g}'))}, "


@contextlib.contextmanager
def progress(
    plan: Plan, *, quiet: bool, folder: Path | None = None, adapters: Sequence[Description] = ()
) -> "Iterator[_Silent]":
    """Yield a watcher that shows progress on stderr. With ``quiet`` it shows nothing.

    ``folder``: the folder of the trials' samples; without it no results are shown. ``adapters``: the descriptions of
    the adapters; without them neither the leader nor the ratio to the raw transport is shown.
    """
    state = State(plan, folder, adapters)
    if quiet:
        yield _Silent()
    elif sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown"):
        with _live(state) as watcher:
            yield watcher
    else:
        yield _Lines(state)


class _Silent:
    """A watcher of a run (``trial.run.Watcher``) that shows nothing."""

    def trial_begins(self, cell: Cell, trial: Trial) -> None: ...
    def tick(self, event: Underway) -> None: ...
    def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None: ...
    def more(self, plan: Plan) -> None: ...


class _Lines(_Silent):
    """A watcher for logs, pipes and simple terminals. Prints failures at once, and progress every minute."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._said = 0.0

    def trial_begins(self, cell: Cell, trial: Trial) -> None:
        self._state.begins(cell, 1 if trial.turn is None else trial.turn.seats)
        self._show()

    def tick(self, event: Underway) -> None:
        self._state.ticked(event)

    def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
        self._state.ended(cell, outcome)
        if outcome.failed is not None:
            self._say(f"failed: {describe(cell)}: {outcome.failed.text}")

    def more(self, plan: Plan) -> None:
        self._state.more(plan)

    def _show(self) -> None:
        now = time.monotonic()
        if self._state.done == 0 or now - self._said >= LINE_EVERY_S:
            self._said = now
            self._say(self._state.line())

    def _say(self, text: str) -> None:
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def _live(state: State) -> "Iterator[_Silent]":
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True)

    class Shown:
        """The current lines of a ``State``, rendered at the terminal's current width."""

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            yield from (Text(line, no_wrap=True, overflow="crop") for line in state.lines(options.max_width))

    # No timer refreshes the lines: ten refreshes per second would disturb the trials.
    live = Live(Shown(), console=console, transient=True, auto_refresh=False)

    class Watching(_Lines):
        def tick(self, event: Underway) -> None:
            super().tick(event)
            live.refresh()

        def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
            super().trial_ended(cell, outcome)
            live.refresh()

        def _show(self) -> None:
            live.refresh()

        def _say(self, text: str) -> None:
            console.print(Text(text))

    with live:
        yield Watching(state)
