"""Results of a workload, in one trial and over a cell's trials: edges that hold their deadlines, and times of chains.

An edge holds if at most a share ``allow`` of its due messages were lost, late or not sent. A workload holds if each of
its edges with a deadline holds. An edge is not judged if it has fewer than ``ENOUGH_MESSAGES`` messages over less than
``ENOUGH_S`` seconds.
"""

import itertools
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from middlemark.model.cell import Cell
from middlemark.model.outcome import Sent, TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.samples import records_of
from middlemark.model.times import Summary
from middlemark.model.workload import Topic, Workload
from middlemark.stats.one_way import too_few
from middlemark.stats.quantiles import Numbers
from middlemark.stats.rates import edge_hz
from middlemark.stats.result import CellResources, ChainResult, EdgeResult, HistoryResult, NodeResult, WorkloadResult
from middlemark.stats.samples import Kept
from middlemark.stats.tally import summary_of

ENOUGH_MESSAGES = 1000
ENOUGH_S = 10.0
_NEARLY = 0.99
"""This share of ``ENOUGH_MESSAGES`` or ``ENOUGH_S`` is enough: in ten seconds the last instant may not be reached, and
a chain ends when its first topic ends."""


class EdgeTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One edge in one trial.

    ``late`` messages arrived after the deadline; ``unsent`` messages were due and never sent.
    """

    sent: int
    received: int
    lost: int
    late: int
    unsent: int
    received_hz: float | None
    worst: float | None
    """The p99 latency divided by the deadline (the longest latency, with too few samples); None: there is no
    deadline."""
    history_due: int = 0
    history_received: int = 0
    history_ns: int | None = None


class EdgeLatency(msgspec.Struct, frozen=True):
    """The one-way latency of an edge over all trials.

    ``absent``: why the edge has no median, or why some figures were left out.
    """

    one_way_ns: Summary | None = None
    absent: str | None = None


class ChainTrial(msgspec.Struct, frozen=True):
    """The times of one chain in one trial. ``absent``: why the chain has no median; None: it has a median."""

    end_to_end_ns: Summary | None = None
    absent: str | None = None


class GraphTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One trial. ``edges`` and ``chains`` are in the workload's order."""

    edges: tuple[EdgeTrial, ...]
    chains: tuple[ChainTrial, ...]
    measured_s: float = 0.0

    @property
    def worst(self) -> float | None:
        """The highest ratio of an edge's p99 latency to its deadline; None: no edge has one."""
        return max((each.worst for each in self.edges if each.worst is not None), default=None)


def graph_trial(
    cell: Cell, outcome: TrialOutcome, kept: Sequence[Kept], latencies: Mapping[int, Summary]
) -> GraphTrial:
    """Return the results of one trial from its samples. ``latencies``: index of a subscriber → its latency."""
    assert cell.workload is not None
    graph = cell.workload.under(cell.scale, cell.copies)
    arrived = {each.index: each for each in kept if each.role == "subscriber"}
    return GraphTrial(
        edges=_edges(graph, outcome, arrived, latencies),
        chains=tuple(_chain(path, arrived) for path in _paths(graph)),
        measured_s=outcome.measured_s or 0.0,
    )


def _edges(
    graph: Workload, outcome: TrialOutcome, arrived: Mapping[int, Kept], latencies: Mapping[int, Summary]
) -> tuple[EdgeTrial, ...]:
    sent = {each.topic: each for each in outcome.publishers}
    found = {each.index: each for each in outcome.subscribers}
    edges = []
    for index, (number, _) in enumerate(graph.edges):
        topic, mine = graph.topics[number], found[index]
        edges.append(
            EdgeTrial(
                sent=mine.expected,
                received=mine.received,
                lost=mine.lost,
                late=_late(arrived[index], topic.deadline_s),
                unsent=_unsent(sent.get(number)),
                received_hz=edge_hz(mine, outcome),
                worst=part_of(topic.deadline_s, latencies.get(index)),
                history_due=mine.history_due,
                history_received=mine.history_received,
                history_ns=mine.history_ns,
            )
        )
    return tuple(edges)


def part_of(deadline_s: float | None, latency: Summary | None) -> float | None:
    """Return the p99 latency divided by the deadline (the longest latency, with too few samples); None: no deadline."""
    if deadline_s is None or latency is None:
        return None
    longest = latency.p99 if latency.p99 is not None else latency.max
    return None if longest is None else longest / 1e9 / deadline_s


def _late(kept: Kept, deadline_s: float | None) -> int:
    if deadline_s is None:
        return 0
    late = int((kept.raw["one_way_ns"] > deadline_s * 1e9).sum())
    if kept.histogram is not None:
        late += int(kept.histogram["count"][kept.histogram["lower_ns"] > deadline_s * 1e9].sum())
    return late


def _unsent(publisher: Sent | None) -> int:
    if publisher is None:
        return 0
    return (publisher.unsent or 0) + publisher.timed_out + publisher.publish_failed


Path = tuple[int, ...]
"""Indices of the edges of a chain, from the first to the last."""


def _paths(graph: Workload) -> list[Path]:
    """Return the edges of each path of a chain.

    A path leads through the nodes that publish the next topic to a subscriber.
    """
    of_topic: dict[int, list[tuple[int, str]]] = {}
    for index, (number, node) in enumerate(graph.edges):
        of_topic.setdefault(number, []).append((index, node))
    found: list[Path] = []
    for chain in graph.chains:
        through = []
        for number, following in itertools.pairwise(chain):
            source = graph.topics[following].source
            through.append(next(index for index, node in of_topic[number] if node == source))
        found += [(*through, index) for index, _ in of_topic[chain[-1]]]
    return found


def _chain(path: Path, arrived: Mapping[int, Kept]) -> ChainTrial:
    """Return the times from the first intended instant to the last arrival.

    If a topic follows another, its message n was sent for the n-th message that the node received on the other topic.
    """
    outgrown = [index for index in path if arrived[index].histogram is not None]
    if outgrown:
        text = f"the memory of subscriber {outgrown[0]} was full: later messages are counted in a histogram"
        return ChainTrial(absent=text)
    last = arrived[path[-1]].raw
    places = np.arange(len(last))
    for index, before in zip(path[:0:-1], path[-2::-1], strict=True):
        places = records_of(arrived[index].raw["stamp"][places])
        known = places < len(arrived[before].raw)
        last, places = last[known], places[known]
    if not len(last):
        return ChainTrial(absent=too_few(0))
    first = arrived[path[0]].raw[places]
    begin = first["received_ns"].astype(np.int64) - first["one_way_ns"].astype(np.int64)
    times: Numbers = np.maximum(last["received_ns"].astype(np.int64) - begin, 0).astype(np.uint64)
    return ChainTrial(summary_of(times), too_few(len(times)))


def over_trials(
    cell: Cell,
    trials: Sequence[tuple[TrialOutcome, GraphTrial]],
    latencies: Callable[[int], EdgeLatency],
    joined: Callable[[Sequence[Summary | None]], Summary | None],
    resources: CellResources | None,
    discovery_ns: float | None,
) -> WorkloadResult:
    """Return the cell's result. Counts are sums over all trials, other figures are medians over the trials.

    ``latencies``: returns the latency of an edge by its index. ``joined``: returns the medians of several summaries.
    """
    assert cell.workload is not None
    graph = cell.workload.under(cell.scale, cell.copies)
    ends = graph.edges
    edges = edges_over(cell, [each for _, each in trials], latencies)
    worst = fails_most(edges)
    shares = [each.worst for _, each in trials if each.worst is not None]
    wire = [outcome.network.loopback_bytes for outcome, _ in trials if outcome.network is not None]
    return WorkloadResult(
        name=cell.workload.name,
        holds=graph_holds(edges),
        first_failing=worst.label if worst else None,
        worst_share=statistics.median(shares) if shares else None,
        topics=edges,
        chains=tuple(
            ChainResult(
                source=graph.topics[ends[path[0]][0]].source,
                to=ends[path[-1]][1],
                topics=tuple(graph.topics[ends[index][0]].name for index in path),
                end_to_end_ns=joined([each.chains[at].end_to_end_ns for _, each in trials]),
                end_to_end_absent=next(filter(None, (each.chains[at].absent for _, each in trials)), None),
            )
            for at, path in enumerate(_paths(graph))
        ),
        nodes=_nodes(graph, cell, resources),
        cpu=resources.cpu if resources else None,
        rss_bytes=resources.rss_bytes if resources else None,
        wire_bytes=statistics.median(wire) if wire else None,
        discovery_ns=discovery_ns,
    )


def edges_over(
    cell: Cell, trials: Sequence[GraphTrial], latencies: Callable[[int], EdgeLatency] = lambda _: EdgeLatency()
) -> tuple[EdgeResult, ...]:
    """Return each edge with its counts summed over the trials.

    ``latencies``: returns an edge's latency by its index.
    """
    assert cell.workload is not None
    graph = cell.workload.under(cell.scale, cell.copies)
    rates_hz = graph.rates_hz
    return tuple(
        _edge(
            graph.topics[number],
            node,
            rates_hz[number],
            [each.edges[index] for each in trials],
            latencies(index),
            sum(each.measured_s for each in trials),
        )
        for index, (number, node) in enumerate(graph.edges)
    )


def graph_holds(edges: Sequence[EdgeResult]) -> bool | None:
    """Say whether every edge with a deadline holds. None: no edge has a deadline, or an edge has too few messages."""
    judged = [each.holds for each in edges if each.deadline_s is not None]
    return False if False in judged else None if not judged or None in judged else True


def fails_most(edges: Sequence[EdgeResult]) -> EdgeResult | None:
    """Return the edge with the highest ``failed_share`` of those that do not hold; None: there is none."""
    return max((each for each in edges if each.holds is False), key=lambda each: each.failed_share, default=None)


def worst_edge(edges: Sequence[EdgeResult]) -> EdgeResult | None:
    """Return the edge with the highest ratio of p99 latency to deadline; None: no edge has one."""
    known = [(part, each) for each in edges if (part := part_of(each.deadline_s, each.one_way_ns)) is not None]
    return max(known, key=lambda each: each[0], default=(0.0, None))[1]


def too_short(graph: Workload, limits: Limits) -> tuple[str, ...]:
    """Return the topics with a deadline that cannot be judged, because a trial sends too few of their messages."""
    found = []
    for topic, rate_hz in zip(graph.topics, graph.rates_hz, strict=True):
        due = float(limits.samples) if limits.samples is not None else rate_hz * (limits.duration_s or 0.0)
        if topic.deadline_s is not None and due * _NEARLY < min(ENOUGH_MESSAGES, ENOUGH_S * rate_hz * _NEARLY):
            found.append(topic.name)
    return tuple(found)


def _edge(
    topic: Topic,
    node: str,
    rate_hz: float,
    trials: Sequence[EdgeTrial],
    latency: EdgeLatency,
    measured_s: float,
) -> EdgeResult:
    sent, late, lost, unsent = (
        sum(getattr(each, name) for each in trials) for name in ("sent", "late", "lost", "unsent")
    )
    due = sent + unsent
    share = (lost + late + unsent) / due if due else 1.0
    known = [each.received_hz for each in trials if each.received_hz is not None]
    return EdgeResult(
        name=topic.name,
        source=topic.source,
        to=node,
        type=topic.type,
        expected_hz=rate_hz,
        received_hz=statistics.median(known) if known else None,
        sent=sent,
        received=sum(each.received for each in trials),
        lost=lost,
        unsent=unsent,
        deadline_s=topic.deadline_s,
        missed=None if topic.deadline_s is None else late,
        failed_share=share,
        holds=_holds(topic, due, share, due / rate_hz if topic.instants is None else measured_s),
        one_way_ns=latency.one_way_ns,
        one_way_absent=latency.absent,
        history=_history(trials),
    )


def _history(trials: Sequence[EdgeTrial]) -> HistoryResult | None:
    due = sum(each.history_due for each in trials)
    took = [each.history_ns for each in trials if each.history_ns is not None]
    received = sum(each.history_received for each in trials)
    last_ns = statistics.median(took) if took else None
    return HistoryResult(expected=due, received=received, last_ns=last_ns) if due else None


def _holds(topic: Topic, due: int, share: float, seconds: float) -> bool | None:
    """Say whether the edge holds, for messages over ``seconds``.

    None: the edge has no deadline, or too few messages.
    """
    if topic.deadline_s is None or not due or (due < ENOUGH_MESSAGES and seconds < ENOUGH_S * _NEARLY):
        return None
    return share <= topic.allow


def _nodes(graph: Workload, cell: Cell, resources: CellResources | None) -> tuple[NodeResult, ...]:
    workers = {each.who: each for each in resources.workers} if resources else {}
    shared = {node: each.name for each in graph.shared for node in each.nodes}
    found = []
    for node in graph.nodes:
        process = shared.get(node, node) if cell.processes != 1 else graph.name
        worker = workers.get(process)
        own_process = cell.processes != 1 and node not in shared
        cpu = None
        if worker is not None:
            threads = {each.name: each.cpu for each in worker.threads}
            cpu = worker.cpu if own_process else _of_threads(graph, node, threads)
        rss = worker.rss_bytes if worker is not None and own_process else None
        found.append(NodeResult(name=node, process=process, cpu=cpu, rss_bytes=rss))
    return tuple(found)


def _of_threads(graph: Workload, node: str, threads: Mapping[str, float]) -> float:
    """Return the processors that the threads of a node's roles used. Other threads cannot be assigned to a node."""
    mine: Iterable[str] = (
        *(f"publisher {number}" for number, each in enumerate(graph.topics) if each.source == node),
        *(f"subscriber {index}" for index, (_, receiver) in enumerate(graph.edges) if receiver == node),
    )
    return sum(threads.get(each[:15], 0.0) for each in mine)
