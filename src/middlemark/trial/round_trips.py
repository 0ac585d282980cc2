"""Counts and stamps of round trips, for the patterns ping-pong and request-reply. Pure."""

from collections.abc import Sequence
from typing import Any

from middlemark.model.outcome import SamplesFile, Started, TrialCounts
from middlemark.model.protocol import AnswererResult, CallerResult
from middlemark.trial.worker_request import TrialRequest


def counted(callers: Sequence[CallerResult], answerers: Sequence[AnswererResult]) -> TrialCounts:
    """Return the counts of both ends of the round trips, summed.

    ``damaged``: the least number of damaged exchanges that explains the counts. An exchange is a message to a pong and
    its reply.
    """
    both: tuple[CallerResult | AnswererResult, ...] = (*callers, *answerers)
    return TrialCounts(
        sent=sum(each.sent for each in callers),
        received=sum(each.received for each in callers),
        lost=sum(each.lost for each in callers),
        late=sum(each.late for each in callers),
        # If a pong received a message twice or out of order, the ping received the replies so too, and counts them.
        duplicated=sum(each.duplicated for each in callers),
        reordered=sum(each.reordered for each in callers),
        damaged=sum(each.damaged for each in both) - found_by_both(callers, answerers),
        publish_failed=sum(each.publish_failed for each in both),
    )


def found_by_both(callers: Sequence[CallerResult], answerers: Sequence[AnswererResult]) -> int:
    """Return the number of damaged messages that may be counted twice, by a pong and by the ping.

    A pong echoes a damaged message unchanged, and the ping may find it again. Neither role knows whether this happened:
    of several replies the ping checks only the last in full, and the damage may be from the way back.
    """
    echoed = sum(min(each.damaged, each.echoed) for each in answerers)
    return min(sum(each.damaged for each in callers), echoed)


def answerer_fields(asked: TrialRequest, role: str) -> dict[str, Any]:
    """Return the fields that an ``AnswererRequest`` has in addition if its role alone answers every round trip."""
    limits = asked.limits
    senders = asked.cell.publishers if role == "server" else 1
    return {
        "samples_path": _path(asked.samples_stem, role),
        "samples": None if limits.samples is None else limits.samples * senders,
        "duration_s": limits.duration_s,
    }


def files(stem: str, answerers: Sequence[AnswererResult]) -> tuple[SamplesFile, ...]:
    """Return the files with the stamps of the answering roles."""
    return tuple(
        SamplesFile(role=each.role, index=each.index, path=_path(stem, each.role), samples=each.stamped)
        for each in answerers
        if each.stamped
    )


def histogram_path(samples_path: str, caller: CallerResult) -> str | None:
    """Return the path of the histogram beside a caller's samples; None: all samples fitted into memory."""
    return f"{samples_path.removesuffix('.npy')}.histogram.npy" if caller.in_histogram else None


def starts(callers: Sequence[CallerResult]) -> tuple[Started, ...]:
    """Return the start of the time axis of each caller's samples."""
    return tuple(
        Started(index=each.index, ticks=each.start_ticks, ticks_per_second=each.ticks_per_second) for each in callers
    )


def _path(stem: str, role: str) -> str:
    return f"{stem}-{role}-0.npy"
