"""Ping-pong: a ping sends messages, and some or all of its pongs reply."""

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.load import request_of
from middlemark.model.outcome import TrialOutcome
from middlemark.model.protocol import PingRequest, PingResult, PongRequest, PongResult
from middlemark.trial import round_trips
from middlemark.trial.carrier import actual_transport
from middlemark.trial.patterns.pattern import Heard, Pattern, Roles, coding, results_of
from middlemark.trial.warnings import missed_instants, ping_pong_warnings, schedules
from middlemark.trial.worker_request import TrialRequest, bounds_of, echoes, reply_timeout_s


def roles(asked: TrialRequest) -> Roles:
    """Return the ping and its pongs."""
    cell, limits = asked.cell, asked.limits
    echoing = _echoing(cell)
    ping = PingRequest(
        index=0,
        **bounds_of(limits),
        load=request_of(cell, asked.seed, 0),
        reply_timeout_s=reply_timeout_s(cell, limits),
        payload=cell.payload,
        echoing=echoing,
        samples_path=f"{asked.samples_stem}.npy",
        cpu=asked.cpus[0],
    )
    pongs = [
        PongRequest(
            index=index,
            echoes=echoes(cell, index),
            echoing=echoing,
            payload=cell.payload,
            # If several pongs reply, the last reply ends the round trip. So no pong's times are recorded.
            **(round_trips.answerer_fields(asked, "pong") if echoing == 1 and index == 0 else {}),
            cpu=asked.cpus[1 + index],
        )
        for index in range(cell.subscribers)
    ]
    return Roles((ping,), tuple(pongs))


def conclude(heard: Heard, outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome with the ping's samples and the counts of all roles."""
    [ping] = results_of(PingResult, heard.senders)
    pongs = results_of(PongResult, heard.receivers)
    missed = missed_instants(heard.cell, schedules("ping", [ping]))
    counts = round_trips.counted([ping], pongs)
    return msgspec.structs.replace(
        outcome,
        counts=counts,
        samples=ping.samples,
        histogram_file=round_trips.histogram_path(f"{heard.samples_stem}.npy", ping),
        in_histogram=ping.in_histogram,
        warmup_samples=ping.warmup_samples,
        measured_s=ping.measured_s,
        samples_file=f"{heard.samples_stem}.npy",
        stamps=round_trips.files(heard.samples_stem, pongs),
        starts=round_trips.starts([ping]),
        coding=coding(heard),
        actual_transport=actual_transport(
            heard.evidence,
            heard.transport,
            # One message to the pongs, which may be a multicast, and all replies.
            messages=counts.sent + counts.received + heard.warmed_up * (1 + _echoing(heard.cell)),
            size=heard.cell.size,
            processes=heard.cell.processes,
        ),
        warnings=(*ping_pong_warnings(heard.cell, heard.limits, ping, pongs), *([missed] if missed else ())),
    )


def _echoing(cell: Cell) -> int:
    """Return the number of replies to each message. A ping without pongs replies to itself."""
    return max(cell.subscribers, 1) if cell.echo == "all" else 1


PING_PONG = Pattern(
    roles=roles,
    conclude=conclude,
    # The ping waits for all replies, but a pong that does not reply may be slower.
    drains=lambda cell, role: not echoes(cell, role.index),
)
