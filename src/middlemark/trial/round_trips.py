"""Counts and timestamps that ping-pong and request-reply share. Pure."""

from collections.abc import Sequence
from typing import Any

from middlemark.model.outcome import SamplesFile, Started, TrialCounts
from middlemark.model.protocol import AnswererResult, CallerResult
from middlemark.trial.worker_request import TrialRequest


def counted(callers: Sequence[CallerResult], answerers: Sequence[AnswererResult]) -> TrialCounts:
    """Add up the counts of both ends.

    ``damaged`` is the least number of damaged exchanges (a message to one pong and its reply) that explains the counts.
    """
    both: tuple[CallerResult | AnswererResult, ...] = (*callers, *answerers)
    return TrialCounts(
        sent=sum(each.sent for each in callers),
        received=sum(each.received for each in callers),
        lost=sum(each.lost for each in callers),
        late=sum(each.late for each in callers),
        # A message that a pong received twice or out of order came back in the same way, and the ping has counted it.
        duplicated=sum(each.duplicated for each in callers),
        reordered=sum(each.reordered for each in callers),
        damaged=sum(each.damaged for each in both) - found_by_both(callers, answerers),
        publish_failed=sum(each.publish_failed for each in both),
    )


def found_by_both(callers: Sequence[CallerResult], answerers: Sequence[AnswererResult]) -> int:
    """Return how many of the damaged messages that the ping found may be the ones that pongs found before.

    A pong echoes a damaged message unchanged, and the ping may find it again. Neither role knows whether it did (the
    ping checks only the last of several replies in full), or whether the ping found damage from the way back.
    """
    echoed = sum(min(each.damaged, each.echoed) for each in answerers)
    return min(sum(each.damaged for each in callers), echoed)


def answerer_fields(asked: TrialRequest, role: str) -> dict[str, Any]:
    """Return the extra fields of the ``AnswererRequest`` of the one role that answers every round trip."""
    limits = asked.limits
    senders = asked.cell.publishers if role == "server" else 1
    return {
        "samples_path": _path(asked.samples_stem, role),
        "samples": None if limits.samples is None else limits.samples * senders,
        "duration_s": limits.duration_s,
    }


def files(stem: str, answerers: Sequence[AnswererResult]) -> tuple[SamplesFile, ...]:
    """Return the files with the answering roles' timestamps."""
    return tuple(
        SamplesFile(role=each.role, index=each.index, path=_path(stem, each.role), samples=each.stamped)
        for each in answerers
        if each.stamped
    )


def starts(callers: Sequence[CallerResult]) -> tuple[Started, ...]:
    """Return the start times of the callers' samples."""
    return tuple(
        Started(index=each.index, ticks=each.start_ticks, ticks_per_second=each.ticks_per_second) for each in callers
    )


def _path(stem: str, role: str) -> str:
    return f"{stem}-{role}-0.npy"
