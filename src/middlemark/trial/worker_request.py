"""Convert a cell to the ``settings`` and ``roles`` of docs/reference/protocol.md. Pure."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import convert

from middlemark.model.cell import FACTORS, Cell, level_of, native_of_side
from middlemark.model.plan import Limits
from middlemark.model.protocol import MessageType, Settings, TopicRequest
from middlemark.model.user_file import user_file
from middlemark.model.workload import Workload, sizes_path

TIMEOUT_PER_BYTE_S = 1 / (32 << 20)
"""The increase of timeouts in s per byte: 2 s for 64 MiB. Some middlewares move only 100 MiB/s, and a message goes
there and back."""
WRITE_TIMEOUT_S = 1.0


class TrialRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The values from which the roles of a trial are made."""

    cell: Cell
    limits: Limits
    cpus: tuple[int | None, ...]
    """The processor of each role, senders first; None: not pinned."""
    samples_stem: str
    """The first part of the paths of the trial's samples files, absolute."""
    seed: int
    kept: tuple[int, int]
    """The most records that a stream's roles keep: (of each publisher, of each subscriber)."""
    graph: Workload | None = None
    """The workload with the levels that its transport honours; None: no workload."""
    kept_by_topic: tuple[int, ...] = ()
    """Index of a topic of the workload → the most records that the topic's publisher, and each of its subscribers,
    keeps."""
    scratch: str = ""
    """The trial's scratch folder."""
    turns_path: str = ""
    """Path of the file with the instants of the trial's turns; empty: the load determines the instants."""


def settings_of(
    cell: Cell,
    *,
    domain: int,
    scope: str,
    scratch: str,
    interface: str,
    certs: str = "",
    folder: str = "",
    graph: Workload | None = None,
) -> Settings:
    """Return the settings of the workers of a trial.

    ``graph``: the workload with the levels that its transport honours.

    ``certs``: the folder of the trial's certificates. ``folder``: the run's folder, which contains copies of the user's
    own files; empty: the run has no folder yet.
    """
    topics = _topics(cell) if graph is None else _topics_of(graph, cell, scratch)
    workers = 1 if cell.processes == 1 else len(graph.processes) if graph else cell.publishers + cell.subscribers
    if cell.pattern == "crowd":
        workers = cell.participants + 1  # and the newcomer
    levels = {each.request or each.field: each.in_request(level_of(cell, name)) for name, each in FACTORS.items()}
    return Settings(
        **{key: level for key, level in levels.items() if key in Settings.__struct_fields__ and key != "topics"},
        topics=topics,
        topics_each=cell.topics if cell.pattern == "crowd" else 1,
        workers=workers,
        write_timeout_s=WRITE_TIMEOUT_S + cell.size * TIMEOUT_PER_BYTE_S,
        domain=domain,
        scope=scope,
        scratch=scratch,
        interface=interface,
        certs=certs if cell.security != "none" else "",
        native=native_for(cell, cell.adapter, folder),
    )


def native_for(cell: Cell, adapter: str, folder: str) -> dict[str, str]:
    """Return the native settings of one side's workers. ``folder``: as in :func:`settings_of`."""
    return {key: _native_value(value, folder) for key, value in native_of_side(cell, adapter).items()}


def _native_value(value: str, folder: str) -> str:
    file = user_file(value)
    if file is None:
        return value
    return str(Path(folder, file.kept)) if folder else file.path


def _topics(cell: Cell) -> tuple[TopicRequest, ...]:
    return tuple(
        TopicRequest(
            message_bytes=cell.size,
            publishers=tuple(range(topic, cell.publishers, cell.topics)),
            subscribers=tuple(range(topic, cell.subscribers, cell.topics)),
            reliability=cell.reliability,
            depth=cell.depth,
            type=cell.type,
            subscriber_processes=1 if cell.processes == 1 else len(range(topic, cell.subscribers, cell.topics)),
        )
        for topic in range(cell.topics if cell.pattern == "stream" else 0)
    )


def _topics_of(graph: Workload, cell: Cell, scratch: str) -> tuple[TopicRequest, ...]:
    receiving: dict[int, list[int]] = {}
    process_of = {node: each.name if cell.processes != 1 else "" for each in graph.processes for node in each.nodes}
    numbers = {each.name: number for number, each in enumerate(graph.topics)}
    for index, (topic, _) in enumerate(graph.edges):
        receiving.setdefault(topic, []).append(index)
    return tuple(
        TopicRequest(
            message_bytes=each.size,
            publishers=(number,),
            subscribers=tuple(receiving[number]),
            reliability=each.reliability,
            depth=each.depth,
            type=convert(each.type, MessageType),
            sizes_path=sizes_path(scratch, number) if each.sizes else "",
            history=each.history,
            subscriber_processes=len({process_of[node] for node in each.to}),
            replies_to=numbers[each.after] if each.service and each.after is not None else None,
        )
        for number, each in enumerate(graph.topics)
    )


def bounds_of(limits: Limits) -> dict[str, Any]:
    """Return the fields of a ``SenderRequest`` that limit how long it sends."""
    return {name: getattr(limits, name) for name in ("samples", "duration_s", "warmup_s", "limit_s")}


def reply_timeout_s(cell: Cell, limits: Limits) -> float:
    """Return the time in s that a sender waits for the reply to a message of the cell's size."""
    return limits.reply_timeout_s + cell.size * TIMEOUT_PER_BYTE_S


def echoes(cell: Cell, pong: int) -> bool:
    """Say whether this pong replies."""
    return cell.echo == "all" or pong == 0
