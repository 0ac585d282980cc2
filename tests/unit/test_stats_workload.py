"""Deadlines of a robot: hand-made trials of a chain of camera, detector and planner."""

import msgspec
import numpy as np
import pytest
from stats_cases import cell

from middlemark.model.cell import Cell
from middlemark.model.outcome import Arrived, Sent, TrialOutcome
from middlemark.model.samples import ARRIVAL, HISTOGRAM, SEQUENCE_BITS
from middlemark.model.times import Summary
from middlemark.model.workload import Process, Topic, Workload
from middlemark.stats.cells import over_trials as medians
from middlemark.stats.result import CellResources, HistoryResult, WorkerResources, WorkloadResult
from middlemark.stats.samples import Kept
from middlemark.stats.workload import EdgeLatency, graph_trial, over_trials

IMAGE = Topic(name="image", source="camera", to=("detector", "recorder"), size=1000, rate_hz=100.0, deadline_s=0.01)
FOUND = Topic(name="found", source="detector", to=("planner",), size=64, after="image", work_s=0.001)
ROBOT = Workload(name="robot", topics=(IMAGE, FOUND), shared=(Process("perception", ("camera", "detector")),))
MS = 1_000_000
BEGIN = 5_000 * MS


def carrying(workload: Workload = ROBOT) -> Cell:
    return msgspec.structs.replace(cell(pattern="stream", rate=100.0), workload=workload, processes=2)


def kept(index: int, topic: int, sequences: list[int], received_ms: list[float], one_way_ms: list[float]) -> Kept:
    raw = np.zeros(len(sequences), dtype=ARRIVAL)
    raw["stamp"] = [(topic << SEQUENCE_BITS) + each for each in sequences]
    raw["received_ns"] = [BEGIN + round(each * MS) for each in received_ms]
    raw["one_way_ns"] = [round(each * MS) for each in one_way_ms]
    return Kept("subscriber", index, raw)


def outcome(sent: tuple[int, int], arrived: list[tuple[int, int]], unsent: int = 0) -> TrialOutcome:
    common = {"timed_out": 0, "publish_failed": 0, "late_sends": 0, "blocked_ns": 0, "pacing_ns": 0, "writing_ns": 0}
    return TrialOutcome(
        cell=0,
        number=1,
        order=0,
        started="",
        seconds=1.0,
        measured_s=10.0,
        publishers=tuple(
            Sent(
                index=at,
                topic=at,
                scheduled=None,
                sent=each,
                unsent=unsent if at == 0 else 0,
                first_sent_ns=BEGIN,
                last_sent_ns=BEGIN + 10_000 * MS,
                **common,
            )
            for at, each in enumerate(sent)
        ),
        subscribers=tuple(
            Arrived(
                index=index,
                topic=(0, 0, 1)[index],
                expected=expected,
                received=received,
                lost=expected - received,
                duplicated=0,
                reordered=0,
                damaged=0,
                first_received_ns=BEGIN,
                last_received_ns=BEGIN + 10_000 * MS,
            )
            for index, (expected, received) in enumerate(arrived)
        ),
    )


def flat(ms: float, late: int = 0, total: int = 1000) -> tuple[list[int], list[float], list[float]]:
    one_way = [ms] * (total - late) + [50.0] * late
    return [*range(1, total + 1)], [10.0 * at + each for at, each in enumerate(one_way)], one_way


def result(
    late: int = 0, lost: int = 0, unsent: int = 0, total: int = 1000, workload: Workload = ROBOT
) -> WorkloadResult:
    measured = outcome((total, total), [(total, total - lost), (total, total), (total, total)], unsent)
    files = [
        kept(0, 0, *flat(2.0, late, total)),
        kept(1, 0, *flat(3.0, total=total)),
        kept(2, 1, *flat(1.0, total=total)),
    ]
    latencies = {each: Summary(p50=ms * MS, p99=ms * MS) for each, ms in enumerate((2.0, 3.0, 1.0))}
    trial = graph_trial(carrying(workload), measured, files, latencies)
    return over_trials(
        carrying(workload), [(measured, trial)], lambda edge: EdgeLatency(latencies[edge]), medians, RESOURCES, 7.0
    )


def worker(who: str, cpu: float, **threads: float) -> WorkerResources:
    from middlemark.stats.result import ThreadResources

    return WorkerResources(
        who=who,
        cpu=cpu,
        user=cpu,
        system=0.0,
        rss_bytes=5e6,
        peak_rss_bytes=6e6,
        voluntary_hz=0.0,
        involuntary_hz=0.0,
        minor_faults=0.0,
        major_faults=0.0,
        threads=tuple(ThreadResources(name.replace("_", " "), share) for name, share in threads.items()),
    )


RESOURCES = CellResources(
    **dict.fromkeys(set(CellResources.__struct_fields__) - {"cpu", "rss_bytes", "workers", "network"}),
    cpu=0.5,
    rss_bytes=15e6,
    workers=(
        worker("perception", 0.4, publisher_0=0.1, subscriber_0=0.2, dds=0.1),
        worker("recorder", 0.05),
        worker("planner", 0.05),
    ),
    network=None,
)


def test_a_workload_holds_if_at_most_one_message_in_a_thousand_fails() -> None:
    assert result(late=1).holds is True
    failing = result(late=2)
    assert (failing.holds, failing.first_failing) == (False, "image → detector")
    assert [each.missed for each in failing.topics] == [2, 0, None]
    assert result(lost=2).holds is False
    assert result(unsent=2).first_failing in ("image → detector", "image → recorder")


def test_an_edge_may_fail_as_often_as_its_topic_allows() -> None:
    allowed = msgspec.structs.replace(ROBOT, topics=(msgspec.structs.replace(IMAGE, allow=0.05), FOUND))
    assert result(late=50, workload=allowed).holds is True
    assert result(late=51, workload=allowed).holds is False


def test_too_few_messages_or_no_deadlines_give_no_verdict() -> None:
    slow = msgspec.structs.replace(ROBOT, topics=(msgspec.structs.replace(IMAGE, rate_hz=9.0), FOUND))
    assert result(total=80).holds is None, "fewer than a thousand messages, in less than ten seconds"
    assert result(total=90, workload=slow).holds is True, "messages of ten seconds are enough"
    without = msgspec.structs.replace(ROBOT, topics=(msgspec.structs.replace(IMAGE, deadline_s=None), FOUND))
    assert result(late=500, workload=without).holds is None


def test_the_worst_share_of_a_deadline_is_the_trials_figure() -> None:
    assert result().worst_share == pytest.approx(0.3), "the recorder's 3 ms of 10 ms"


def test_messages_beyond_the_records_can_also_be_late() -> None:
    measured = outcome((3, 3), [(3, 3), (3, 3), (3, 3)])
    beyond = np.array([(1 * MS, 2 * MS, 4), (40 * MS, 41 * MS, 5)], dtype=HISTOGRAM)
    first = kept(0, 0, [1, 2, 3], [1, 11, 21], [1, 1, 1])
    files = [Kept("subscriber", 0, first.raw, beyond), kept(1, 0, *flat(1.0, total=3)), kept(2, 1, *flat(1.0, total=3))]
    trial = graph_trial(carrying(), measured, files, {})
    assert [each.late for each in trial.edges] == [5, 0, 0]
    [chain] = trial.chains
    assert chain.end_to_end_ns is None, "the messages that followed the others are unknown"
    assert chain.absent == "the memory of subscriber 0 was full: later messages are counted in a histogram"


def test_a_chain_lasts_from_its_first_intended_instant_to_its_last_arrival() -> None:
    measured = outcome((3, 2), [(3, 2), (3, 3), (2, 2)])
    files = [
        kept(0, 0, [1, 3], [4.0, 26.0], [4.0, 6.0]),  # message 2 was lost
        kept(1, 0, *flat(1.0, total=3)),
        kept(2, 1, [2, 1], [30.0, 9.0], [2.0, 1.0]),  # the following messages came in another order
    ]
    (chain,) = graph_trial(carrying(), measured, files, {}).chains
    assert chain.end_to_end_ns is not None
    assert (chain.end_to_end_ns.min, chain.end_to_end_ns.max) == (9.0 * MS, 10.0 * MS)
    assert (chain.end_to_end_ns.p50, chain.absent) == (None, "2 messages arrived, and a median needs 20")
    (cell_chain,) = result().chains
    assert (cell_chain.source, cell_chain.to, cell_chain.topics) == ("camera", "planner", ("image", "found"))


def test_a_node_that_shares_its_process_has_only_its_own_threads_time() -> None:
    nodes = {each.name: each for each in result().nodes}
    assert (nodes["camera"].process, nodes["camera"].cpu, nodes["camera"].rss_bytes) == ("perception", 0.1, None)
    assert (nodes["detector"].cpu, nodes["recorder"].cpu, nodes["recorder"].rss_bytes) == (0.2, 0.05, 5e6)
    found = result()
    assert (found.cpu, found.rss_bytes, found.discovery_ns, found.wire_bytes) == (0.5, 15e6, 7.0, None)


def test_a_workload_in_json_has_the_suites_names() -> None:
    edge = msgspec.to_builtins(result())["topics"][0]
    assert {"name", "from", "to", "type", "expected_hz", "received_hz", "sent", "received", "lost"} < edge.keys()
    assert (edge["from"], edge["to"], edge["deadline_s"]) == ("camera", "detector", 0.01)


def test_histories_are_summed_over_trials_with_the_median_time() -> None:
    measured = outcome((1000, 1000), [(1000, 1000)] * 3)
    files = [kept(each, each // 2, *flat(1.0)) for each in range(3)]
    trials = []
    for received, took in ((5, 2 * MS), (4, 8 * MS), (0, None)):
        late = msgspec.structs.replace(
            measured.subscribers[1], history_due=5, history_received=received, history_ns=took
        )
        one = msgspec.structs.replace(measured, subscribers=(measured.subscribers[0], late, measured.subscribers[2]))
        trials.append((one, graph_trial(carrying(), one, files, {})))
    found = over_trials(carrying(), trials, lambda _: EdgeLatency(), medians, RESOURCES, 7.0)
    assert [each.history for each in found.topics] == [
        None,
        HistoryResult(expected=15, received=9, last_ns=5 * MS),
        None,
    ]
