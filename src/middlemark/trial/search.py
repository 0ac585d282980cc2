"""Search for the highest sustainable rate, or measure the curve of rates up to saturation."""

import asyncio
import contextlib
import glob
import os
import time

import msgspec

from middlemark.model.cell import STEP_S, Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import Failure, Step, TrialOutcome, Underway
from middlemark.model.plan import Limits, Trial
from middlemark.model.units import format_rate
from middlemark.trial.measurement import Tick
from middlemark.trial.observe import Observed, Shared, observe_trial, samples_stem
from middlemark.trial.steps import CURVE, Search, bound_hz, first_confirmed, highest_held, step_of, why_not

MOST_FAILED = 2
"""A search ends after this number of failed trials in a row if no step has passed. A failed trial does not pass."""
HOPELESS = ("refused", "configure", "disk", "memory", "clock", "companion", "lost", "internal")
"""Codes of failures that would also occur at any other rate."""


async def run_search(cell: Cell, trial: Trial, worker: Worker, shared: Shared, tick: Tick) -> TrialOutcome:
    """Measure a cell with the rate ``sustainable`` or ``curve``, each step in new processes.

    Return the outcome of the chosen step, with all ``steps``. Only the samples of this step are kept. Only a
    cancellation is raised, as by ``run_trial``. It discards the whole search.
    """
    search = _Search(cell, trial, worker, shared, tick)
    begin = time.monotonic()
    try:
        outcome = await (search.curve() if cell.rate == "curve" else search.sustainable())
    except BaseException:
        search.remove_samples(chosen=True)
        raise
    finally:
        search.remove_samples()
    return msgspec.structs.replace(
        outcome,
        started=search.started or outcome.started,
        seconds=time.monotonic() - begin,
        steps=tuple(search.steps),
    )


class _Hopeless(Exception):
    """Raised if no rate can succeed. ``outcome``: the outcome of the step that showed this."""

    def __init__(self, outcome: TrialOutcome) -> None:
        super().__init__()
        self.outcome = outcome


class _Search:
    """One search. A step's files have the step's name, until one step is chosen."""

    def __init__(self, cell: Cell, trial: Trial, worker: Worker, shared: Shared, tick: Tick) -> None:
        self.cell = cell
        self.trial = trial
        self.worker = worker
        self.shared = shared
        self.tick = tick
        self.steps: list[Step] = []
        self.started: str | None = None
        self._failed_in_a_row = 0
        self._last: Observed | None = None
        self._part = ""
        self._reasons: tuple[str, ...] = ()
        limits = trial.limits
        self._short = msgspec.structs.replace(limits, samples=None, duration_s=min(limits.duration_s or STEP_S, STEP_S))

    async def sustainable(self) -> TrialOutcome:
        """Find the highest sustainable rate, then measure it for the full duration."""
        try:
            saturated = await self._step(None, self._short)
            bound = bound_hz(self.cell, saturated)
            if bound <= 0:
                return self._unsustainable("no message arrived at rate max")
            found = await self._follow(highest_held(bound), self._short)
            if found is None:
                lowest = self.steps[-1].rate_hz or 0.0
                return self._unsustainable(f"even {_hertz(lowest)} exceeded the limits: {self._why()}")
            if await self._follow(first_confirmed(found), self.trial.limits) is None:
                return self._unsustainable(
                    f"{_hertz(found)} was within the limits for {self._short.duration_s:g} s, but over the full "
                    f"duration this rate and lower rates down to {_hertz(self.steps[-1].rate_hz or 0.0)} exceeded "
                    f"them: {self._why()}"
                )
        except _Hopeless as hopeless:
            return hopeless.outcome
        return self._chosen()

    async def curve(self) -> TrialOutcome:
        """Measure saturation, then the offered loads up to saturation. The chosen step is the one at saturation."""
        try:
            saturated = await self._step(None, self.trial.limits)
            chosen = self._chosen()
            if chosen.failed is None:
                bound = bound_hz(self.cell, saturated)
                for part in CURVE if bound > 0 else ():
                    await self._step(bound * part, self._short)
        except _Hopeless as hopeless:
            if len(self.steps) == 1:
                return hopeless.outcome
        return chosen

    async def _follow(self, search: Search, limits: Limits) -> float | None:
        """Measure the rates that ``search`` yields. Return its result: the highest rate that passed, or None."""
        try:
            rate = next(search)
            while True:
                rate = search.send((await self._step(rate, limits)).held)
        except StopIteration as found:
            rate_found: float | None = found.value
            return rate_found

    async def _step(self, rate_hz: float | None, limits: Limits) -> Step:
        """Measure one rate (None: as fast as possible). Raises _Hopeless.

        Raises CancelledError before or in the step.
        """
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # cancelled during the clean-up of the previous step
            raise asyncio.CancelledError
        self.remove_samples()
        number = len(self.steps)
        cell = msgspec.structs.replace(self.cell, rate="max" if rate_hz is None else rate_hz, burst=None)
        trial = msgspec.structs.replace(self.trial, limits=limits)

        def tick(event: Underway) -> None:
            self.tick(msgspec.structs.replace(event, step=number + 1, rate_hz=rate_hz))

        self._part = f"_{number + 1}"
        self._last = await observe_trial(cell, trial, self.worker, self.shared, tick, part=self._part)
        outcome = self._last.outcome
        self.started = self.started or outcome.started
        step = step_of(self.cell, rate_hz, outcome, self._last.heard)
        self._reasons = why_not(self.cell, step, outcome)
        self.steps.append(step)
        self._failed_in_a_row = self._failed_in_a_row + 1 if outcome.failed is not None else 0
        if outcome.failed is not None and (number == 0 or outcome.failed.code in HOPELESS or self._nothing_works()):
            raise _Hopeless(outcome)
        return step

    def _nothing_works(self) -> bool:
        held = any(step.held and step.rate_hz is not None for step in self.steps)
        return not held and self._failed_in_a_row >= MOST_FAILED

    def _why(self) -> str:
        return "; ".join(self._reasons) or "no reason known"

    def _unsustainable(self, text: str) -> TrialOutcome:
        assert self._last is not None
        outcome = self._last.outcome
        return TrialOutcome(
            cell=outcome.cell,
            number=outcome.number,
            order=outcome.order,
            started=outcome.started,
            seconds=outcome.seconds,
            failed=Failure(
                "unsustainable",
                f"no sustainable rate was found: {text}",
                "allow more (--max-loss, --max-p99), or see loss and latency of all rates with --rate curve",
            ),
            clock=outcome.clock,
            version=outcome.version,
            discovery_ns=outcome.discovery_ns,
            handshake_ns=outcome.handshake_ns,
            notes=outcome.notes,
        )

    def _chosen(self) -> TrialOutcome:
        """Return the outcome of the last step. Its samples get the names of the trial's files."""
        assert self._last is not None
        step, own = samples_stem(self.trial, self._part), samples_stem(self.trial)

        def renamed(path: str) -> str:
            to = own + path.removeprefix(step)
            with contextlib.suppress(OSError):  # reading the samples will report a missing file
                os.replace(os.path.join(self.shared.folder, path), os.path.join(self.shared.folder, to))
            return to

        outcome = self._last.outcome
        return msgspec.structs.replace(
            outcome,
            files=tuple(
                msgspec.structs.replace(
                    each,
                    path=renamed(each.path),
                    histogram_path=renamed(each.histogram_path) if each.histogram_path else None,
                )
                for each in outcome.files
            ),
        )

    def remove_samples(self, *, chosen: bool = False) -> None:
        """Remove the samples of the steps that were not chosen, or with ``chosen`` the samples of the chosen step."""
        stem = glob.escape(os.path.join(self.shared.folder, samples_stem(self.trial)))
        for path in glob.glob(f"{stem}-*.npy" if chosen else f"{stem}_*.npy"):
            with contextlib.suppress(OSError):
                os.unlink(path)


def _hertz(rate: float) -> str:
    return format_rate(float(f"{rate:.4g}"))
