"""What is being measured, how the last trial did, the noise of the machine and the time left.

Live on a terminal, plain lines elsewhere. What is shown is made in ``progress_state``; here is only where it is shown.
"""

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from middlemark.commands.progress_state import State, describe
from middlemark.launch.outcome import TrialOutcome
from middlemark.launch.run import Watcher
from middlemark.plan import Plan
from middlemark.plan.cell import Cell, Trial
from middlemark.workers.description import Description

LINE_EVERY_S = 10.0


@contextlib.contextmanager
def progress(
    plan: Plan, *, quiet: bool, folder: Path | None = None, adapters: Sequence[Description] = ()
) -> Iterator[Watcher]:
    """Yield a watcher that shows progress on stderr; one that shows nothing when ``quiet``.

    ``folder``: where trials keep their samples, and ``adapters``: who knows which of them are floors. Without them the
    last result is not shown.
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
    def trial_begins(self, cell: Cell, trial: Trial) -> None:
        pass

    def tick(self, event: Mapping[str, Any]) -> None:
        pass

    def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
        pass

    def more(self, plan: Plan) -> None:
        pass


class _Lines(_Silent):
    """For logs, pipes and terminals that cannot move the cursor: failures at once, else a line every ten seconds."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._said = 0.0

    def trial_begins(self, cell: Cell, trial: Trial) -> None:
        self._state.begins(cell)
        now = time.monotonic()
        if self._state.done == 0 or now - self._said >= LINE_EVERY_S:
            self._said = now
            self._say(self._state.line())

    def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
        self._state.ended(cell, outcome)
        if outcome.failed is not None:
            self._say(f"failed: {describe(cell)}: {outcome.failed.text}")

    def more(self, plan: Plan) -> None:
        self._state.more(plan)

    def _say(self, text: str) -> None:
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def _live(state: State) -> Iterator[Watcher]:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True)

    class Shown:
        """The lines as they are now, for the width the terminal has now."""

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for line in state.lines(options.max_width):
                yield Text(line, no_wrap=True, overflow="crop")

    # Not redrawn by a clock: ten times a second would be a disturbance of what is measured.
    live = Live(Shown(), console=console, transient=True, auto_refresh=False)

    class Watching(_Silent):
        def trial_begins(self, cell: Cell, trial: Trial) -> None:
            state.begins(cell)
            live.refresh()

        def tick(self, event: Mapping[str, Any]) -> None:
            state.ticked(event)
            live.refresh()

        def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
            state.ended(cell, outcome)
            if outcome.failed is not None:
                console.print(Text(f"failed: {describe(cell)}: {outcome.failed.text}"))
            live.refresh()

        def more(self, plan: Plan) -> None:
            state.more(plan)

    with live:
        yield Watching()
