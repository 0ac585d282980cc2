"""What ping-pong and request-reply have in common: their counts, and the stamps of the role that answers. Pure."""

from collections.abc import Sequence
from typing import Any

from middlemark.model.outcome import SamplesFile, Started, TrialCounts
from middlemark.model.protocol import AnswererResult, CallerResult
from middlemark.trial.worker_request import TrialRequest


def counted(callers: Sequence[CallerResult], answerers: Sequence[AnswererResult]) -> TrialCounts:
    """Add up what both ends counted.

    ``damaged`` is the least number of exchanges (a message to one pong and its reply) that explains what was found.
    """
    both: tuple[CallerResult | AnswererResult, ...] = (*callers, *answerers)
    return TrialCounts(
        sent=sum(each.sent for each in callers),
        received=sum(each.received for each in callers),
        lost=sum(each.lost for each in callers),
        late=sum(each.late for each in callers),
        # What a pong found twice or out of order came back so, and the ping has counted it.
        duplicated=sum(each.duplicated for each in callers),
        reordered=sum(each.reordered for each in callers),
        damaged=sum(each.damaged for each in both) - found_by_both(callers, answerers),
        publish_failed=sum(each.publish_failed for each in both),
    )


def found_by_both(callers: Sequence[CallerResult], answerers: Sequence[AnswererResult]) -> int:
    """Return how much of the damage that the ping found may be what pongs had found before and echoed.

    A pong echoes a damaged message as it came, and only then can the ping find it too; whether it did (of several
    replies it checks the last one in full) or found other damage from the way back, neither can tell.
    """
    came_back = sum(min(each.damaged, each.echoed) for each in answerers)
    return min(sum(each.damaged for each in callers), came_back)


def asked_of(asked: TrialRequest, role: str) -> dict[str, Any]:
    """Return the fields of an ``AnswererRequest`` for the one that every round trip of the trial goes through."""
    limits = asked.limits
    senders = asked.cell.publishers if role == "server" else 1
    return {
        "samples_path": _path(asked.samples_stem, role),
        "samples": None if limits.samples is None else limits.samples * senders,
        "duration_s": limits.duration_s,
    }


def files(stem: str, answerers: Sequence[AnswererResult]) -> tuple[SamplesFile, ...]:
    """Return what was stamped of the messages answered."""
    return tuple(
        SamplesFile(role=each.role, index=each.index, path=_path(stem, each.role), samples=each.stamped)
        for each in answerers
        if each.stamped
    )


def starts(callers: Sequence[CallerResult]) -> tuple[Started, ...]:
    """Return what the callers' samples count from."""
    return tuple(
        Started(index=each.index, ticks=each.start_ticks, ticks_per_second=each.ticks_per_second) for each in callers
    )


def _path(stem: str, role: str) -> str:
    return f"{stem}-{role}-0.npy"
