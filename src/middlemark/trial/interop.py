"""Decide whether two different adapters exchange messages, and how often a pair that does not is tried. Pure."""

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, TrialCounts, TrialOutcome
from middlemark.model.pairs import NO_INTEROP, SAME
from middlemark.model.plan import Trial

TRIES = 2
"""If this number of trials of a pair fail, and none succeeds, its other trials are not run: each takes 10 s or more."""

_WHY = {
    "unmatched": "no match within the deadline",
    "silent": "they match, but messages do not arrive",
}
"""Code of a worker's failure → the reason why the pair does not interoperate."""


def decided(cell: Cell, outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome. If two different adapters exchange no messages, return a failure with the reason.

    If one side failed in another way, such as a crash, the failure keeps its code.
    """
    if cell.pair == SAME:
        return outcome
    if outcome.failed is not None:
        why = _WHY.get(outcome.failed.code)
        return outcome if why is None else _without(outcome, f"{why}: {outcome.failed.text}", outcome.failed.advice)
    counts = outcome.counts or TrialCounts()
    arrived = counts.received + counts.late
    if counts.sent and not arrived:
        return _without(outcome, f"they match, but none of {counts.sent} messages arrived")
    if 2 * counts.damaged > arrived:
        return _without(outcome, f"wrong bytes: {counts.damaged} of {arrived} messages are not as they were sent")
    return outcome


def _without(outcome: TrialOutcome, text: str, advice: str = "") -> TrialOutcome:
    begun = TrialOutcome(
        cell=outcome.cell,
        number=outcome.number,
        order=outcome.order,
        started=outcome.started,
        seconds=outcome.seconds,
        failed=Failure(code=NO_INTEROP, text=text, advice=advice),
    )
    kept = ("clock", "version", "discovery_ns", "handshake_ns", "notes", "shm", "link_how")
    return msgspec.structs.replace(begun, **{name: getattr(outcome, name) for name in kept})


class Tries:
    """Counts the failed trials of pairs, so that a pair that does not interoperate is not tried in every round."""

    def __init__(self) -> None:
        """Create it without any trial."""
        self._failed: dict[int, list[Failure | None]] = {}
        """Index of a cell → the failure of each of its trials so far; None: the trial succeeded."""

    def add(self, outcome: TrialOutcome) -> None:
        """Count the outcome of a trial."""
        self._failed.setdefault(outcome.cell, []).append(outcome.failed)

    def foreseen(self, trial: Trial) -> Failure | None:
        """Return the failure of a trial that need not run; None: run it."""
        failed = [each for each in self._failed.get(trial.cell, ()) if each is not None and each.code == NO_INTEROP]
        if len(failed) < TRIES or len(failed) < len(self._failed[trial.cell]):
            return None
        text = f"not tried again, because {TRIES} trials failed: {failed[0].text}"
        return msgspec.structs.replace(failed[0], text=text)
