"""The records of a long trial, made from the reports of its workers."""

from typing import Any

import pytest
import worker_words

from middlemark.model.protocol import Account, Counts, Latencies, ThreadUse
from middlemark.model.record import Peak, Record
from middlemark.sites.machine_use import MachineUse, machine_use
from middlemark.trial.recording import Recording, RecordLostError, bucket_quantile

S = 1_000_000_000
MS = 1_000_000


def event(
    name: str, at_s: float, *, sent: int = 0, buckets: tuple[tuple[int, int], ...] = (), max_ns: int = 0, **used: Any
) -> Account:
    roles = (Counts(role="ping", index=0, sent=sent, received=sent),)
    found = worker_words.event(name, round(at_s * S), roles=roles, **used)
    latencies = (Latencies(role="ping", index=0, max_ns=max_ns, buckets=buckets),) if buckets else ()
    return type(found)(**{**{each: getattr(found, each) for each in found.__struct_fields__}, "latencies": latencies})


class Kept:
    """A recording of every 10 s, and the records that it made."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.use = MachineUse(0, 4096)
        self.recording = Recording(
            order=3, started="then", every_s=10.0, keep=self.records.append, machine=lambda: self.use
        )

    def hear(self, *events: Account) -> list[Record]:
        for each in events:
            self.recording.hear("ping", each)
        return self.records


def test_an_interval_has_the_changes_of_its_counters_and_the_sizes_at_its_end() -> None:
    kept = Kept()
    used: dict[str, Any] = {
        "rss_bytes": 9000,
        "private_bytes": 5000,
        "bench_bytes": 1000,
        "descriptors": 9,
    }
    [record] = kept.hear(
        event("tick", 0.5, sent=0, voluntary=1),
        event("measuring", 1, sent=2, user_ns=100, voluntary=20),
        *(event("tick", 1 + at, sent=2 + at) for at in range(1, 10)),
        event(
            "tick", 11, sent=102, user_ns=500, threads=(ThreadUse(tid=1, name="ping", cpu_ns=1),), voluntary=70, **used
        ),
    )
    assert (record.order, record.started, record.who, record.at_s, record.seconds) == (3, "then", "ping", 10.0, 10.0)
    assert (record.user_ns, record.voluntary_switches, record.descriptors, record.threads) == (400, 50, 9, 1)
    assert (record.rss_bytes, record.private_bytes, record.shm_bytes) == (8000, 4000, 4096)
    assert (record.roles[0].sent, record.roles[0].received) == (100, 100)


def test_quantiles_are_of_all_reports_of_the_interval_and_of_no_other() -> None:
    kept = Kept()
    slow = ((1024, 1),)
    kept.hear(event("measuring", 0, buckets=((10, 5),), max_ns=10))
    kept.hear(*(event("tick", at, buckets=((20, 9),), max_ns=20) for at in range(1, 10)))
    kept.hear(event("tick", 10, buckets=((30, 3), *slow), max_ns=1030))
    kept.hear(*(event("tick", at, buckets=((40, 1),), max_ns=40) for at in range(11, 21)))
    first, second = kept.records
    assert (first.roles[0].samples, first.roles[0].p50_ns, first.roles[0].max_ns) == (90, 20, 1030)
    assert first.roles[0].p99_ns == 1027.5, "the middle of its bucket"
    assert (second.roles[0].samples, second.roles[0].p50_ns, second.roles[0].max_ns) == (10, 40, 40)


def test_a_peak_is_a_second_with_a_latency_far_above_the_median() -> None:
    kept = Kept()
    usual = ((100_000, 10),)
    kept.hear(event("measuring", 0))
    kept.hear(*(event("tick", at, buckets=usual, max_ns=100_000) for at in range(1, 5)))
    kept.hear(event("tick", 5, buckets=(*usual, (5 * MS, 1)), max_ns=5 * MS))
    kept.hear(event("tick", 6, buckets=(*usual, (999_000, 1)), max_ns=999_000))
    kept.hear(*(event("tick", at, buckets=usual, max_ns=100_000) for at in range(7, 11)))
    assert kept.records[0].roles[0].peaks == (Peak(5.0, 5 * MS, 0),)


def test_a_peak_has_the_time_in_which_threads_waited_and_the_hypervisor_ran_others() -> None:
    kept = Kept()

    def waited(at_s: float, ns: int, **more: Any) -> Account:
        name = "tick" if at_s else "measuring"
        return event(name, at_s, threads=(ThreadUse(tid=1, name="ping", cpu_ns=1, waiting_ns=ns),), **more)

    kept.hear(waited(0, 10 * MS), *(waited(at, 10 * MS, buckets=((1000, 9),), max_ns=1000) for at in range(1, 9)))
    kept.use = MachineUse(3 * MS, 4096)
    kept.hear(waited(9, 14 * MS, buckets=((8 * MS, 1),), max_ns=8 * MS), waited(10, 14 * MS))
    assert kept.records[0].roles[0].peaks == (Peak(9.0, 8 * MS, 7 * MS),)


def test_the_rest_of_a_trial_is_recorded_if_it_is_at_least_half_an_interval() -> None:
    for rest, records in ((4.0, 1), (6.0, 2)):
        kept = Kept()
        kept.hear(event("measuring", 0), *(event("tick", at) for at in range(1, 11)))
        kept.hear(event("tick", 10 + rest - 1), event("done", 10 + rest))
        assert len(kept.records) == records, rest


def test_a_worker_that_does_not_measure_has_no_records() -> None:
    assert Kept().hear(*(event("tick", at) for at in range(40))) == []


def test_a_full_disk_ends_the_records_and_warns_once() -> None:
    kept = Kept()
    calls = 0

    def full(_: Record) -> None:
        nonlocal calls
        calls += 1
        raise RecordLostError("runs/x/records.jsonl: No space left on device")

    recording = Recording(order=0, started="", every_s=1.0, keep=full, machine=lambda: kept.use)
    for at in range(9):
        recording.hear("ping", event("tick" if at else "measuring", at))
    [warning] = recording.warnings
    assert calls == 1
    assert warning.code == "records-lost"
    assert "runs/x/records.jsonl: No space left on device" in warning.text


@pytest.mark.parametrize(
    ("quantile", "expected"),
    [(0.5, 3.0), (0.99, (1 << 20) + ((1 << 13) - 1) / 2), (0.0, 1.0)],
)
def test_the_quantile_of_buckets_is_by_nearest_rank(quantile: float, expected: float) -> None:
    assert bucket_quantile([(1, 4), (3, 4), (1 << 20, 2)], quantile) == expected


def test_no_values_have_no_quantile() -> None:
    assert bucket_quantile([], 0.5) is None


def test_this_machine_has_a_size_of_its_shared_memory() -> None:
    use = machine_use()
    assert use.shm_bytes is None or use.shm_bytes >= 0
    assert use.steal_ns is None or use.steal_ns >= 0
