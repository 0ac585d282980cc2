"""A crowd: participants that each publish topics of their own and subscribe to those of others."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.crowd import Crowd, in_processes, probe_s, sources
from middlemark.model.outcome import Arrived, RunWarning, SamplesFile, Sent, TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.protocol import ParticipantRequest, ParticipantResult
from middlemark.trial.carrier import stream_actual_transport
from middlemark.trial.patterns.pattern import Heard, Pattern, Roles, results_of
from middlemark.trial.patterns.stream import counted, path_of
from middlemark.trial.warnings import list_all, missed_instants, part, schedules
from middlemark.trial.worker_request import TrialRequest


def roles(asked: TrialRequest) -> Roles:
    """Return the participants."""
    cell = asked.cell
    participants = [
        ParticipantRequest(
            index=index,
            payload=cell.payload,
            probe_s=probe_s(cell.participants, cell.topics),
            idle_s=asked.limits.duration_s or 0.0,
            rate_hz=_rate_hz(cell),
            messages=messages_of(cell, asked.limits),
            samples_path=path_of(asked.samples_stem, "participant", index) if _heard_by(cell, index) else "",
            storms=cell.storm_s is not None,
        )
        for index in range(cell.participants)
    ]
    return Roles(tuple(participants), ())


def _rate_hz(cell: Cell) -> float:
    assert isinstance(cell.rate, float), "the plan checked it"
    return cell.rate


def messages_of(cell: Cell, limits: Limits) -> int:
    """Return the number of measured messages on each topic of a crowd."""
    return max(1, round((limits.duration_s or 0.0) * _rate_hz(cell)))


def _heard_by(cell: Cell, participant: int) -> tuple[int, ...]:
    return sources(cell.participants, cell.subscribe, participant)


def conclude(heard: Heard, outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome with the crowd's figures and with the counts of each participant."""
    cell = heard.cell
    results = results_of(ParticipantResult, heard.senders)
    by_index = {each.index: each for each in results}
    due = messages_of(cell, heard.limits) * cell.topics
    published = tuple(_sent(each, due) for each in results)
    taken = tuple(_arrived(each, by_index, cell) for each in results if _heard_by(cell, each.index))
    crowd = _crowd(heard, results)
    counts = counted(published, taken)
    return msgspec.structs.replace(
        outcome,
        counts=counts,
        samples=sum(each.samples for each in results),
        measured_s=heard.limits.duration_s,
        files=tuple(
            SamplesFile(
                role="subscriber",
                index=each.index,
                path=path_of(heard.samples_stem, "participant", each.index),
                samples=each.samples,
            )
            for each in results
            if _heard_by(cell, each.index)
        ),
        publishers=published,
        subscribers=taken,
        crowd=crowd,
        actual_transport=stream_actual_transport(
            heard.evidence,
            heard.transport,
            messages=min(counts.sent, counts.received),
            size=cell.size,
            processes=crowd.processes,
        ),
        warnings=tuple(_warnings(cell, crowd, published, taken)),
    )


def _crowd(heard: Heard, results: Sequence[ParticipantResult]) -> Crowd:
    cell = heard.cell
    begin_ns = min(each.opening_ns for each in results)
    return Crowd(
        participants=cell.participants,
        topics=cell.topics,
        subscribe=cell.subscribe,
        processes=len(list(in_processes(cell.participants, cell.participants_per_process))),
        opened_ns=tuple(each.opened_ns - begin_ns for each in results),
        complete_ns=tuple(each.complete_ns - begin_ns if each.complete_ns else None for each in results),
        publishers_due=sum(each.publishers_due for each in results),
        publishers_heard=sum(each.publishers_heard for each in results),
        resolution_ns=round(probe_s(cell.participants, cell.topics) * 1e9),
        probes=sum(each.probes for each in results),
        idle=heard.idle,
        idle_absent=heard.idle_absent,
        discovery_by=_discovery_by(heard),
    )


def _discovery_by(heard: Heard) -> str:
    if heard.cell.via == "discovery-server":
        return "participants know the address of the discovery server, which introduces them"
    return heard.transport.discovery_by


def _sent(result: ParticipantResult, scheduled: int) -> Sent:
    return Sent(
        index=result.index,
        topic=0,
        scheduled=scheduled,
        sent=result.sent,
        timed_out=0,
        publish_failed=result.publish_failed,
        late_sends=result.late_sends,
        unsent=max(0, scheduled - result.sent - result.publish_failed),
        blocked_ns=None,
        pacing_ns=0,
        writing_ns=None,
        first_sent_ns=result.first_sent_ns,
        last_sent_ns=result.last_sent_ns,
    )


def _arrived(result: ParticipantResult, by_index: Mapping[int, ParticipantResult], cell: Cell) -> Arrived:
    expected = sum(by_index[each].sent for each in _heard_by(cell, result.index))
    return Arrived(
        index=result.index,
        topic=0,
        expected=expected,
        received=result.received,
        lost=max(0, expected - result.received),
        duplicated=result.duplicated,
        reordered=result.reordered,
        damaged=result.damaged,
        first_received_ns=result.first_received_ns,
        last_received_ns=result.last_received_ns,
    )


def _warnings(
    cell: Cell, crowd: Crowd, publishers: Sequence[Sent], subscribers: Sequence[Arrived]
) -> Iterator[RunWarning]:
    never = crowd.publishers_due - crowd.publishers_heard
    if never:
        text = (
            f"{never:,} of {crowd.publishers_due:,} publishers were never heard ({part(never, crowd.publishers_due)})"
        )
        yield RunWarning("never-matched", text, "measure fewer participants, or set a longer match_timeout in a suite")
    losing = [each for each in subscribers if each.lost]
    if losing:
        losing.sort(key=lambda each: -each.lost)
        words = list_all(
            losing,
            lambda each: (
                f"participant {each.index} lost {each.lost:,} of {each.expected:,} messages "
                f"({part(each.lost, each.expected)})"
            ),
        )
        yield RunWarning("loss", words, "measure fewer participants, or use --reliability reliable")
    damaged = [each for each in subscribers if each.damaged]
    if damaged:
        words = list_all(
            damaged, lambda each: f"participant {each.index}: {each.damaged:,} messages arrived with wrong content"
        )
        yield RunWarning("damaged", words, "report it to the middleware's authors")
    failed = [each for each in publishers if each.publish_failed]
    if failed:
        words = list_all(failed, lambda each: f"{each.publish_failed:,} publishes of participant {each.index} failed")
        yield RunWarning("publish-failed", words)
    missed = missed_instants(cell, schedules("participant", publishers))
    if missed:
        yield missed


CROWD = Pattern(roles=roles, conclude=conclude, drains=lambda _cell, _role: False, one_clock=True)
