"""Request-reply: one or more clients and one server. A client is a ping that one server answers."""

from collections.abc import Sequence
from typing import Any

from middlemark.launch import evidence, stamps
from middlemark.launch.findings import counted
from middlemark.launch.outcome import Counts, Doubt, SamplesFile
from middlemark.launch.patterns.pattern import Heard, Pattern, Result, Roles
from middlemark.launch.request import Asked, Role, bounds_of, load_of, reply_timeout_s
from middlemark.launch.schedule import missed_instants, schedules
from middlemark.plan.cell import Limits

TWO_TOPICS = "request and reply over two topics: the adapter has no native form here"

_COUNTED = ("sent", "received", "lost", "late", "duplicated", "reordered", "damaged", "publish_failed")


def roles(asked: Asked) -> Roles:
    """Return the clients and their server."""
    cell, limits = asked.cell, asked.limits
    clients: list[Role] = [
        {
            "role": "client",
            "index": index,
            **bounds_of(limits),
            "load": load_of(cell, asked.seed, index),
            "reply_timeout_s": reply_timeout_s(cell, limits),
            "payload": cell.payload,
            "samples_path": _path(asked.samples_stem, index),
            "cpu": asked.cpus[index],
        }
        for index in range(cell.publishers)
    ]
    server: Role = {
        "role": "server",
        "index": 0,
        "payload": cell.payload,
        **stamps.asked_of(asked, "server"),
        "cpu": asked.cpus[cell.publishers],
    }
    return Roles(tuple(clients), (server,))


def facts(heard: Heard) -> dict[str, Any]:
    """Return what the clients measured and everybody counted."""
    clients, [server] = heard.senders, heard.receivers
    counts = counted({name: sum(int(client[name]) for client in clients) for name in _COUNTED}, [server])
    missed = missed_instants(heard.cell, schedules("client", clients))
    native = all(client["native"] for client in clients) and bool(server["native"])
    return {
        "counts": counts,
        "samples": sum(int(client["samples"]) for client in clients),
        "warmup_samples": heard.warmed_up,
        "measured_s": max(float(client["measured_s"]) for client in clients),
        "files": tuple(
            SamplesFile(
                role="client", index=index, path=_path(heard.samples_stem, index), samples=int(client["samples"])
            )
            for index, client in enumerate(clients)
        ),
        **stamps.facts(heard.samples_stem, clients, [server]),
        "carried_by": evidence.carried_by(
            heard.evidence,
            heard.transport,
            messages=counts.sent + counts.received + 2 * heard.warmed_up,
            size=heard.cell.size,
            processes=heard.cell.processes,
        ),
        "native_request_reply": native,
        "notes": () if native else (TWO_TOPICS,),
        "warnings": (*doubts(heard.limits, clients, server, counts), *([missed] if missed else ())),
    }


def doubts(limits: Limits, clients: Sequence[Result], server: Result, counts: Counts) -> list[Doubt]:
    """Return what the roles' own words make doubtful; what can be seen in the figures is for ``stats``."""
    found: list[Doubt] = []
    for ended, text, advice in (
        ("full", "the memory for samples was full", "a shorter --duration, or --samples"),
        ("limit", f"the limit of {limits.limit_s:g} s came", "fewer --samples, or a higher limit in the suite"),
    ):
        cut = [client for client in clients if client["ended"] == ended]
        if cut:
            who = ", ".join(f"client {client['index']} after {int(client['sent']):,} requests" for client in cut)
            found.append(Doubt("ended-early", f"{text}: {who}", advice))
    if counts.publish_failed:
        words = dict.fromkeys(f"{each['role']}: {each['last_error']}" for each in (*clients, server))
        said = "; ".join(each for each in words if not each.endswith(": "))
        found.append(
            Doubt(
                "publish-failed",
                f"{counts.publish_failed:,} requests or replies were not taken by the middleware:"
                f" {said or 'no reason given'}",
                "they count as lost",
            )
        )
    if counts.sent and not server["received"]:
        found.append(
            Doubt("received-nothing", f"the server received none of {counts.sent:,} requests", "see its last words")
        )
    return found


def _path(stem: str, client: int) -> str:
    return f"{stem}-client-{client}.npy"


REQUEST_REPLY = Pattern(roles=roles, facts=facts, drains=lambda _cell, _role: False)
