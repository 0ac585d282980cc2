"""Write a workload as the text of a suite, with comments about everything that the source does not have."""

import json
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from middlemark.model.protocol import Reliability
from middlemark.model.units import format_seconds
from middlemark.model.workload import OCTETS, Durability, Topic, Workload

_UNSIZED = "# size = ?  (unknown: fill in the bytes of a message)"
_PLAIN = Topic(name="x", source="x", to=("y",), size=16)


def toml(
    workload: Workload,
    description: str,
    remarks: Sequence[str] = (),
    comments: Mapping[str, Sequence[str]] = MappingProxyType({}),
    sequence: str | None = None,
    unsized: Collection[str] = (),
) -> str:
    """Return a suite with the workload.

    ``remarks``: comments about the whole suite; ``comments``: topic name → comments about the topic.
    ``sequence``: the name of the file with sizes and times, next to the suite; None: write the size and rate of each
    topic. ``unsized``: topics with an unknown size, which the user must fill in.
    """
    parts = ["\n".join([*_commented(remarks), f"description = {_text(description)}"])]
    if sequence is not None:
        parts.append(f"[workload]\nsequence = {_text(sequence)}")
    replies = {each.after: each for each in workload.topics if each.service}
    for each in workload.topics:
        if each.service:
            continue
        reply = replies.get(each.name)
        head = "[[workload.topic]]" if reply is None else "[[workload.service]]"
        lines = _topic(each, sequence is None) if reply is None else _service(each, reply)
        if each.name in unsized:
            lines = [_UNSIZED if line.startswith("size =") else line for line in lines]
        parts.append("\n".join([*_commented(comments.get(each.name, ())), head, *lines]))
    if workload.shared:
        lines = [f"{_text(each.name)} = {_texts(each.nodes)}" for each in workload.shared]
        parts.append("\n".join(["[workload.process]", *lines]))
    return "\n\n".join(parts) + "\n"


def durability(reliability: Reliability, depth: int | None) -> tuple[dict[str, Durability], list[str]]:
    """Return the durability of a transient-local topic as a factor.

    If it needs other settings, return none and a remark.
    """
    if reliability == "reliable" and depth is not None:
        return {"durability": "transient-local"}, []
    return {}, ["durability is volatile here: transient-local needs reliability reliable and a depth"]


def _commented(remarks: Sequence[str]) -> list[str]:
    return [f"# {line}" for each in remarks for line in each.splitlines()]


def _topic(topic: Topic, with_size_and_rate: bool) -> list[str]:
    lines = [
        f"name = {_text(topic.name)}",
        f"from = {_text(topic.source)}",
        f"to = {_texts(topic.to)}",
    ]
    if with_size_and_rate:
        lines.append(f"size = {topic.size}")
    if topic.type != OCTETS:
        lines.append(f"type = {_text(topic.type)}")
    if topic.rate_hz is not None and with_size_and_rate:
        lines.append(f"rate = {topic.rate_hz:.9g}")
    if topic.after is not None:
        lines += [f"after = {_text(topic.after)}", f'work = "{topic.work_s * 1e6:.9g}us"']
    if topic.deadline_s is not None:
        lines.append(f'deadline = "{format_seconds(topic.deadline_s).replace(" ", "")}"')
    if topic.reliability != _PLAIN.reliability:
        lines.append(f"reliability = {_text(topic.reliability)}")
    if topic.depth != _PLAIN.depth:
        lines.append(f"depth = {topic.depth if topic.depth is not None else _text('all')}")
    if topic.durability != _PLAIN.durability:
        lines.append(f"durability = {_text(topic.durability)}")
    return lines


def _service(request: Topic, reply: Topic) -> list[str]:
    assert request.rate_hz is not None
    lines = [
        f"name = {_text(request.name.removesuffix('/request'))}",
        f"client = {_text(request.source)}",
        f"server = {_text(reply.source)}",
        f"request = {request.size}",
        f"reply = {reply.size}",
        f"rate = {request.rate_hz:.9g}",
    ]
    if reply.work_s:
        lines.append(f'work = "{reply.work_s * 1e6:.9g}us"')
    if reply.deadline_s is not None:
        lines.append(f'deadline = "{format_seconds(reply.deadline_s).replace(" ", "")}"')
    return lines


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a TOML basic string is a JSON string


def _texts(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"
