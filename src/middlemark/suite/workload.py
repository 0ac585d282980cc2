"""Read the ``workload`` of a suite: a table of topics, services and processes, or a file with the table."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from middlemark.model.cell import SMALLEST_MESSAGE
from middlemark.model.hosts import is_site
from middlemark.model.levels import DEPTH, RATE, SHARE, SIZE, Wrong, seconds, words
from middlemark.model.spelling import did_you_mean, listing, quoted
from middlemark.model.workload import OCTETS, Durability, FromFile, Lognormal, Process, Site, Topic, Workload
from middlemark.problems import Problem
from middlemark.suite import sequence
from middlemark.suite.table import line_of

MOST_ENDS = 4096
"""The most publishers and subscribers of a graph. Each publisher or subscriber has its own thread."""
SHORTEST_DEADLINE_S = 1e-6
LARGEST_SIGMAS = 4
"""The largest size of a lognormal distribution, in sigmas above the median. Without this limit, one in 30,000 messages
would be larger."""
WIDEST_SIGMA = 3.0
_NAME = re.compile(r"[A-Za-z0-9_~/][A-Za-z0-9_~/.:-]{0,199}")


def _read_name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Wrong(f"{quoted(value)} is not a valid name; use letters, digits, '_', '/', '.', ':' and '-'")
    return value


def _read_nodes(value: object) -> tuple[str, ...]:
    nodes = value if isinstance(value, list) else [value]
    if not nodes:
        raise Wrong("an empty list, so no node receives the topic; name a node, or remove the topic")
    found = tuple(map(_read_name, nodes))
    if len(set(found)) < len(found):
        raise Wrong("a node is named twice")
    return found


def _read_hz(value: object) -> float:
    rate = RATE.read(value)
    if not isinstance(rate, float):
        raise Wrong(f"{quoted(value)} is not a rate of a topic; write messages per second (30, '1k')")
    return rate


_ARRIVALS = words("kind of arrivals", "periodic", "poisson")
Reads = Callable[[object], Any]
"""A function that converts a TOML value to a level. Raises Wrong."""

_KINDS: Mapping[str, Reads] = {
    "name": _read_name,
    "from": _read_name,
    "to": _read_nodes,
    "size": SIZE.read,
    "type": _read_name,
    "rate": _read_hz,
    "arrivals": _ARRIVALS.read,
    "after": _read_name,
    "work": seconds(0.0).read,
    "deadline": seconds(SHORTEST_DEADLINE_S).read,
    "allow": SHARE.read,
    "reliability": words("reliability", "reliable", "best-effort").read,
    "depth": DEPTH.read,
    "durability": words("durability", *get_args(Durability)).read,
}
_FIELDS = {"from": "source", "rate": "rate_hz", "work": "work_s", "deadline": "deadline_s"}
_SERVICE: Mapping[str, Reads] = {
    "name": _read_name,
    "client": _read_name,
    "server": _read_name,
    "request": SIZE.read,
    "reply": SIZE.read,
    "rate": _read_hz,
    "work": seconds(0.0).read,
    "deadline": seconds(SHORTEST_DEADLINE_S).read,
}


_LOGNORMAL = re.compile(r"lognormal\(([^,()]+),([^,()]+)(?:,([^,()]+))?\)")


def _read_lognormal(value: str) -> dict[str, Any]:
    match = _LOGNORMAL.fullmatch(value.strip())
    if match is None:
        raise Wrong(
            f"{quoted(value)} is not a distribution; write 'lognormal(64k, 0.5)': median and sigma of the logarithm"
        )
    median = max(_size(match[1].strip()), SMALLEST_MESSAGE)
    try:
        sigma = float(match[2])
    except ValueError:
        sigma = -1.0
    if not 0 < sigma <= WIDEST_SIGMA:
        raise Wrong(f"{quoted(match[2].strip())} is not a sigma; write a number above 0, at most {WIDEST_SIGMA:g}")
    most = _size(match[3].strip()) if match[3] else math.ceil(median * math.exp(LARGEST_SIGMAS * sigma))
    if most < median:
        raise Wrong(f"the largest size, {most}, is below the median of {median}")
    return {"size": most, "sizes": Lognormal(median, sigma)}


def _size(word: str) -> int:
    found = SIZE.read(int(word) if word.isdigit() else word)
    assert isinstance(found, int)
    return found


class _Reader:
    """Reads one workload, and adds the workload's problems to ``problems``."""

    def __init__(self, place: str, text: str, folder: Path) -> None:
        self.problems: list[Problem] = []
        self.recorded: sequence.Sequence | None = None
        """The recorded sequence that the workload names."""
        self.place = place
        self._text = text
        self._folder = folder

    def find_sequence(self, value: object) -> None:
        """Read the recorded sequence that the workload names."""
        try:
            if not isinstance(value, str) or not value:
                raise Wrong(f'{quoted(value)} is not a file; write sequence = "robot.parquet"')
            self.recorded = sequence.read_sequence(self._folder / value)
        except Wrong as error:
            self.problems.append(Problem(f"{self.place}: workload.sequence", str(error)))

    def sizes(self, value: object) -> dict[str, Any]:
        """Return ``size`` and, if sizes vary, ``sizes``. Raises Wrong."""
        if isinstance(value, str) and value.startswith("@"):
            found, sizes = sequence.read_sizes(self._folder / value[1:])
            return {"size": int(sizes.max()), "sizes": found}
        if isinstance(value, str) and value.strip().startswith("lognormal"):
            return _read_lognormal(value)
        return {"size": SIZE.read(value)}

    def arrivals(self, value: object) -> dict[str, Any]:
        """Return ``arrivals``, or ``instants`` and the mean rate of the instants. Raises Wrong."""
        if isinstance(value, str) and value.startswith("@"):
            found, _, rate_hz = sequence.read_instants(self._folder / value[1:])
            return {"instants": found, "rate": rate_hz}
        return {"arrivals": _ARRIVALS.read(value)}

    def wrong(self, kind: str, number: int, key: str, text: str) -> None:
        """Add a problem of a key in table ``number`` of ``[[workload.kind]]``, with the key's line."""
        line = line_of(self._text, f"workload.{kind}", number, key)
        where = f"line {line}: " if line else ""
        self.problems.append(Problem(f"{self.place}: {where}workload.{kind} {number + 1}: {key}".rstrip(": "), text))

    def tables(self, table: Mapping[str, object], kind: str) -> Sequence[Mapping[str, object]]:
        """Return the tables ``[[workload.kind]]``."""
        found = table.get(kind, [])
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            self.problems.append(
                Problem(f"{self.place}: workload.{kind}", f"is not a list of tables; write [[workload.{kind}]]")
            )
            return []
        return found

    def read(
        self, kind: str, number: int, table: Mapping[str, object], kinds: Mapping[str, Reads], needed: Sequence[str]
    ) -> dict[str, Any] | None:
        """Return key → level of a table; None: the table has problems."""
        before = len(self.problems)
        found: dict[str, Any] = {}
        for key, value in table.items():
            if key not in kinds:
                self.wrong(kind, number, key, f"no such key; {did_you_mean(key, kinds)}")
                continue
            try:
                found[key] = kinds[key](value)
            except Wrong as error:
                self.wrong(kind, number, key, str(error))
        for key in needed:
            if key not in table:
                self.wrong(kind, number, "", f"{key} is missing")
        return found if len(self.problems) == before else None


_TABLES = ("topic", "service", "process", "site", "sequence")


def read_workload(
    table: object, name: str, place: str, text: str = "", folder: Path = Path()
) -> tuple[Workload | None, list[Problem]]:
    """Check the table ``workload`` of a file.

    ``text``: the file's content, for line numbers. ``folder``: contains the files that the workload names.
    """
    if not isinstance(table, dict):
        return None, [Problem(f"{place}: workload", "is not a table; write [[workload.topic]] and its keys below")]
    reader = _Reader(place, text, folder)
    for key in table:
        if key not in _TABLES:
            suggestion = did_you_mean(key, _TABLES)
            reader.problems.append(Problem(f"{place}: workload.{key}", f"no such key; {suggestion}"))
    if "sequence" in table:
        reader.find_sequence(table["sequence"])
    topics = [*_topics(reader, table), *_services(reader, table)]
    nodes = {node for _, _, each in topics for node in (each.source, *each.to)}
    shared = _processes(reader, table.get("process", {}), nodes)
    sites = _sites(reader, table.get("site", {}), nodes, shared)
    _check(reader, topics)
    if not topics and not reader.problems:
        reader.problems.append(Problem(f"{place}: workload", "has no [[workload.topic]]; a graph needs at least one"))
    if reader.problems:
        return None, reader.problems
    return Workload(name=name, topics=tuple(each for _, _, each in topics), shared=shared, sites=sites), []


Placed = tuple[str, int, Topic]
"""(kind of the table that defines a topic, number of the table, topic)."""


def _topics(reader: _Reader, table: Mapping[str, object]) -> Iterator[Placed]:
    for number, each in enumerate(reader.tables(table, "topic")):
        kinds = {**_KINDS, "size": reader.sizes, "arrivals": reader.arrivals}
        found = reader.read("topic", number, each, kinds, ("name", "from", "to"))
        if found is None:
            continue
        found |= found.pop("size", {})
        arrivals = found.pop("arrivals", {})
        if "instants" in arrivals and ("rate" in found or "after" in found):
            key = "rate" if "rate" in found else "after"
            reader.wrong("topic", number, "arrivals", f"the file determines when messages are published; remove {key}")
            continue
        found |= arrivals
        found = _as_recorded(reader.recorded, found)
        if "size" not in found:
            reader.wrong("topic", number, "", f"size is missing{_not_in(reader.recorded, found['name'])}")
            continue
        if ("rate" in found) == ("after" in found):
            what = "has both rate and after" if "rate" in found else "has neither rate nor after"
            reader.wrong(
                "topic",
                number,
                "",
                f"{what}; a topic needs rate or after{_not_in(reader.recorded, found['name'])}",
            )
            continue
        if "work" in found and "after" not in found:
            reader.wrong("topic", number, "work", "needs after, because a node works only on messages that it received")
            continue
        if found.get("durability") == "transient-local" and (why := _keeps_no_history(found)):
            reader.wrong("topic", number, "durability", why)
            continue
        found["size"] = max(found["size"], SMALLEST_MESSAGE)
        yield "topic", number, Topic(**{_FIELDS.get(key, key): level for key, level in found.items()})


def _keeps_no_history(found: Mapping[str, Any]) -> str:
    """Return why the topic cannot have late subscribers; empty: no reason."""
    if found.get("reliability") == "best-effort":
        return "transient-local does not work with best-effort, which never sends a message again; use reliable"
    if "depth" in found and found["depth"] is None:
        return "transient-local does not work with depth all; write the depth for a late subscriber, such as 1"
    return ""


def _as_recorded(recorded: sequence.Sequence | None, found: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a topic. Missing sizes and send times are taken from the recorded sequence."""
    name = found["name"]
    if recorded is None or name not in recorded.courses:
        return found
    reference: FromFile = recorded.reference(name)
    if "size" not in found:
        found |= {"size": int(recorded.courses[name].sizes.max()), "sizes": reference}
    if not {"rate", "after", "arrivals"} & found.keys():
        found |= {"rate": recorded.rate_hz(name), "instants": reference}
    return found


def _not_in(recorded: sequence.Sequence | None, name: str) -> str:
    if recorded is None or name in recorded.courses:
        return ""
    return f"; the sequence {Path(recorded.path).name} has no topic '{name}'"


def _services(reader: _Reader, table: Mapping[str, object]) -> Iterator[Placed]:
    """Yield two topics for each service: the request, and the reply that follows it."""
    for number, each in enumerate(reader.tables(table, "service")):
        found = reader.read("service", number, each, _SERVICE, ("name", "client", "server", "request", "reply", "rate"))
        if found is None:
            continue
        name, client, server = found["name"], found["client"], found["server"]
        common: dict[str, Any] = {"type": OCTETS, "deadline_s": found.get("deadline")}
        request = Topic(
            name=f"{name}/request",
            source=client,
            to=(server,),
            size=max(found["request"], SMALLEST_MESSAGE),
            rate_hz=found["rate"],
            **common,
        )
        yield "service", number, request
        reply = Topic(
            name=f"{name}/reply",
            source=server,
            to=(client,),
            size=max(found["reply"], SMALLEST_MESSAGE),
            after=request.name,
            service=True,
            work_s=found.get("work", 0.0),
            **common,
        )
        yield "service", number, reply


def _processes(reader: _Reader, table: object, nodes: set[str]) -> tuple[Process, ...]:
    found = _groups(reader, "process", table, nodes)
    for name, members in found.items():
        if name in nodes and name not in members:
            text = f"'{name}' is the name of a node outside this process; choose another name"
            reader.problems.append(Problem(f"{reader.place}: workload.process: {name}", text))
    return tuple(Process(name, members) for name, members in found.items())


def _sites(reader: _Reader, table: object, nodes: set[str], shared: Sequence[Process]) -> tuple[Site, ...]:
    found = _groups(reader, "site", table, nodes)
    where = f"{reader.place}: workload.site"
    of_node = {node: name for name, members in found.items() for node in members}
    for name in found:
        if not is_site(name):
            text = "is not a valid name of a site; use lower-case letters, digits and _, beginning with a letter"
            reader.problems.append(Problem(f"{where}: {name}", text))
    if found and (missing := sorted(nodes - of_node.keys())):
        reader.problems.append(Problem(where, f"{listing(missing)} not on any site; put every node on one site"))
    for process in shared:
        if len(on := sorted({of_node[node] for node in process.nodes if node in of_node})) > 1:
            reader.problems.append(
                Problem(where, f"process {process.name} would be on {listing(on)}; put its nodes on one site")
            )
    return tuple(Site(name, members) for name, members in found.items())


def _groups(reader: _Reader, kind: str, table: object, nodes: set[str]) -> dict[str, tuple[str, ...]]:
    """Return the nodes of each group. A node may be in only one group."""
    if not isinstance(table, dict):
        text = f"is not a table; write [workload.{kind}] and NAME = [nodes] below"
        reader.problems.append(Problem(f"{reader.place}: workload.{kind}", text))
        return {}
    found: dict[str, tuple[str, ...]] = {}
    of_node: dict[str, str] = {}
    for name, members in table.items():
        where = f"{reader.place}: workload.{kind}: {name}"
        try:
            read = _read_nodes(members)
            _read_name(name)
        except Wrong as error:
            reader.problems.append(Problem(where, str(error)))
            continue
        for node in read:
            if node not in nodes:
                reader.problems.append(Problem(where, f"no topic has a node '{node}'; {did_you_mean(node, nodes)}"))
            elif node in of_node:
                reader.problems.append(Problem(where, f"'{node}' is already in {kind} {of_node[node]}"))
            of_node.setdefault(node, name)
        found[name] = read
    return found


def _check(reader: _Reader, topics: Sequence[Placed]) -> None:
    """Add problems for duplicate names, invalid predecessors, and too many publishers and subscribers."""
    by_name: dict[str, Topic] = {}
    for kind, number, each in topics:
        first = by_name.setdefault(each.name, each)
        if first is not each:
            other = f", of type {first.type}" if first.type != each.type else ""
            reader.wrong(kind, number, "name", f"another topic has the name '{each.name}'{other}; choose another name")
        if each.source in each.to:
            reader.wrong(kind, number, "to", f"'{each.source}' subscribes to its own topic")
    called = {each.after for _, _, each in topics if each.service}
    for kind, number, each in topics:
        if each.after is None:
            continue
        before = by_name.get(each.after)
        if before is None:
            reader.wrong(kind, number, "after", f"no topic '{each.after}'; {did_you_mean(each.after, by_name)}")
        elif each.source not in before.to:
            text = f"'{each.source}' does not subscribe to '{each.after}'; its subscribers are {', '.join(before.to)}"
            reader.wrong(kind, number, "after", text)
        elif not each.service and before.name in called:
            text = f"'{each.after}' contains the requests of a service, so only the service's replies may follow"
            reader.wrong(kind, number, "after", text)
        elif _is_in_circle(each, by_name):
            reader.wrong(kind, number, "after", "these topics follow each other in a circle; give one topic a rate")
    ends = sum(1 + len(each.to) for _, _, each in topics)
    if ends > MOST_ENDS:
        where = Problem(
            "workload",
            f"has {ends:,} publishers and subscribers; at most {MOST_ENDS:,} are possible, because each has a thread",
        )
        reader.problems.append(where)


def _is_in_circle(topic: Topic, by_name: Mapping[str, Topic]) -> bool:
    seen = {topic.name}
    at: Topic | None = topic
    while at is not None and at.after is not None:
        if at.after in seen:
            return True
        seen.add(at.after)
        at = by_name.get(at.after)
    return False
