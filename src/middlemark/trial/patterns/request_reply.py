"""Request-reply: one or more clients send requests, and one server answers them."""

import msgspec

from middlemark.model.load import request_of
from middlemark.model.outcome import SamplesFile, TrialOutcome
from middlemark.model.protocol import ClientRequest, ClientResult, ServerRequest, ServerResult
from middlemark.trial import round_trips
from middlemark.trial.carrier import actual_transport
from middlemark.trial.patterns.pattern import Heard, Pattern, Roles, coding, results_of
from middlemark.trial.warnings import call_warnings, missed_instants, schedules
from middlemark.trial.worker_request import TrialRequest, bounds_of, reply_timeout_s

TWO_TOPICS = "request and reply use two topics, because this adapter does not use the middleware's services"


def roles(asked: TrialRequest) -> Roles:
    """Return the clients and their server."""
    cell, limits = asked.cell, asked.limits
    clients = [
        ClientRequest(
            index=index,
            **bounds_of(limits),
            load=request_of(cell, asked.seed, index),
            reply_timeout_s=reply_timeout_s(cell, limits),
            payload=cell.payload,
            echoing=1,
            samples_path=_path(asked.samples_stem, index),
            cpu=asked.cpus[index],
        )
        for index in range(cell.publishers)
    ]
    server = ServerRequest(
        index=0, payload=cell.payload, **round_trips.answerer_fields(asked, "server"), cpu=asked.cpus[cell.publishers]
    )
    return Roles(tuple(clients), (server,))


def conclude(heard: Heard, outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome with the clients' samples and the counts of all roles."""
    clients = results_of(ClientResult, heard.senders)
    [server] = results_of(ServerResult, heard.receivers)
    counts = round_trips.counted(clients, [server])
    missed = missed_instants(heard.cell, schedules("client", clients))
    native = all(client.native for client in clients) and server.native
    return msgspec.structs.replace(
        outcome,
        counts=counts,
        samples=sum(client.samples for client in clients),
        warmup_samples=heard.warmed_up,
        measured_s=max(client.measured_s for client in clients),
        files=tuple(
            SamplesFile(
                role="client",
                index=index,
                path=_path(heard.samples_stem, index),
                samples=client.samples,
                histogram_path=round_trips.histogram_path(_path(heard.samples_stem, index), client),
                in_histogram=client.in_histogram,
            )
            for index, client in enumerate(clients)
        ),
        stamps=round_trips.files(heard.samples_stem, [server]),
        starts=round_trips.starts(clients),
        coding=coding(heard),
        actual_transport=actual_transport(
            heard.evidence,
            heard.transport,
            messages=counts.sent + counts.received + 2 * heard.warmed_up,
            size=heard.cell.size,
            processes=heard.cell.processes,
        ),
        native_request_reply=native,
        notes=outcome.notes if native else tuple(dict.fromkeys((*outcome.notes, TWO_TOPICS))),
        warnings=(*call_warnings(heard.limits, clients, server, counts), *([missed] if missed else ())),
    )


def _path(stem: str, client: int) -> str:
    return f"{stem}-client-{client}.npy"


REQUEST_REPLY = Pattern(roles=roles, conclude=conclude, drains=lambda _cell, _role: False)
