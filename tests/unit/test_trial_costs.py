"""The resources that workers reported: differences, for each worker and each step."""

from types import SimpleNamespace
from typing import Any

import pytest
import worker_words

from middlemark.model.outcome import NetworkCost, ThreadCost
from middlemark.model.protocol import Account, Counts, ThreadUse
from middlemark.trial.costs import WorkerAccounts, account, series, worker_cost
from middlemark.trial.ledger import Ledger

S = 1_000_000_000
NOTHING = NetworkCost(**dict.fromkeys(NetworkCost.__struct_fields__, 0))


def event(name: str, at_s: float, **fields: Any) -> Account:
    return worker_words.event(name, round(at_s * S), **fields)


def thread(tid: int, name: str, cpu_ns: int) -> ThreadUse:
    return ThreadUse(tid=tid, name=name, cpu_ns=cpu_ns)


def accounts(*events: Account, who: str = "publisher 0", network: tuple[NetworkCost, ...] = ()) -> WorkerAccounts:
    found = account(who, 1, events, network)
    assert found is not None
    return found


def test_only_costs_during_the_measurement_count() -> None:
    cost = worker_cost(
        accounts(
            event("tick", 0, user_ns=1),
            event("measuring", 1, user_ns=100, system_ns=10, voluntary=5, minor_faults=1000, peak_rss_bytes=50),
            event("tick", 2, user_ns=500, system_ns=20, voluntary=7, minor_faults=1001, peak_rss_bytes=90),
            event(
                "done", 2.5, user_ns=900, system_ns=40, voluntary=9, minor_faults=1002, rss_bytes=70, peak_rss_bytes=80
            ),
        )
    )
    assert (cost.seconds, cost.user_ns, cost.system_ns) == (1.5, 800, 30)
    assert (cost.voluntary_switches, cost.minor_faults) == (4, 2)
    assert (cost.rss_bytes, cost.peak_rss_bytes) == (70, 90)


def test_threads_of_one_name_are_summed_and_ended_ones_are_included() -> None:
    cost = worker_cost(
        accounts(
            event(
                "measuring",
                0,
                threads=(
                    thread(1, "recv", 100),
                    thread(2, "recv", 50),
                    thread(3, "gone", 10),
                ),
            ),
            event(
                "tick",
                1,
                threads=(
                    thread(1, "recv", 200),
                    thread(2, "recv", 60),
                    thread(3, "gone", 17),
                ),
            ),
            event(
                "done",
                2,
                threads=(
                    thread(1, "recv", 300),
                    thread(2, "recv", 70),
                    thread(4, "late", 5),
                ),
            ),
        )
    )
    assert cost.threads == (
        ThreadCost(name="gone", threads=1, cpu_ns=7),
        ThreadCost(name="late", threads=1, cpu_ns=5),
        ThreadCost(name="recv", threads=2, cpu_ns=220),
    )


def test_time_that_no_living_thread_used_belongs_to_ended_threads() -> None:
    begin = event(
        "measuring",
        0,
        user_ns=50,
        system_ns=50,
        threads=(
            thread(1, "control", 10),
            thread(2, "ping", 90),
        ),
    )
    end = event("done", 1, user_ns=700, system_ns=400, threads=(thread(1, "control", 15),))
    assert [(each.name, each.cpu_ns) for each in worker_cost(accounts(begin, end)).threads] == [
        ("control", 5),
        ("ping", 995),
    ]


def test_the_time_of_threads_that_ended_is_summed() -> None:
    begin = event(
        "measuring",
        0,
        threads=(
            thread(1, "control", 0),
            thread(2, "ping", 10),
            thread(3, "pong", 10),
        ),
    )
    end = event("done", 1, user_ns=500, threads=(thread(1, "control", 20),))
    found = {each.name: each.cpu_ns for each in worker_cost(accounts(begin, end)).threads}
    assert found == {"(ended)": 480, "control": 20, "ping": 0, "pong": 0}


def counts(**counted: int | None) -> tuple[Counts, ...]:
    return (Counts(role="publisher", index=0, **counted),)


def test_the_series_has_the_increase_in_each_step_of_each_worker() -> None:
    publisher = accounts(
        event("measuring", 10, roles=counts(sent=0, publish_failed=0, blocked_ns=None), user_ns=5),
        event("tick", 11, roles=counts(sent=100, publish_failed=0, blocked_ns=7), user_ns=15),
        event("done", 11.5, roles=counts(sent=150, publish_failed=2, blocked_ns=9), user_ns=16, rss_bytes=4096),
    )
    subscriber = accounts(
        event("measuring", 10.25, roles=counts(received=1, duplicated=0)),
        event("done", 12.25, roles=counts(received=148, duplicated=3)),
        who="subscriber 0",
    )
    first, second, third = series([publisher, subscriber])
    assert [(each.who, each.at_s, each.seconds) for each in (first, second, third)] == [
        ("publisher 0", 1.0, 1.0),
        ("publisher 0", 1.5, 0.5),
        ("subscriber 0", 2.25, 2.0),
    ]
    assert (first.sent, first.blocked_ns, first.user_ns) == (100, 7, 10)
    assert (second.sent, second.publish_failed, second.blocked_ns, second.user_ns) == (50, 2, 2, 1)
    assert second.rss_bytes == 4096
    assert (third.received, third.duplicated) == (147, 3)
    assert (first.received, third.sent) == (None, None), "counts that a worker's roles do not have are absent, not zero"


def test_the_series_adds_up_to_the_cost() -> None:
    mine = accounts(*(event("tick" if at else "measuring", at, user_ns=at * at, voluntary=3 * at) for at in range(5)))
    steps = series([mine])
    cost = worker_cost(mine)
    assert sum(each.user_ns for each in steps) == cost.user_ns
    assert sum(each.voluntary_switches for each in steps) == cost.voluntary_switches
    assert sum(each.seconds for each in steps) == cost.seconds


def network(**moved: int) -> NetworkCost:
    return NetworkCost(**{**dict.fromkeys(NetworkCost.__struct_fields__, 0), **moved})


def test_network_counters_are_in_the_first_workers_series_from_its_start() -> None:
    readings = (network(loopback_bytes=5), network(loopback_bytes=50), network(loopback_bytes=80, udp_in_errors=2))
    first = accounts(event("tick", 0), event("measuring", 1), event("done", 2), network=readings)
    other = accounts(event("measuring", 1), event("done", 2), who="subscriber 0")
    one, two = series([first, other])
    assert one.network == network(loopback_bytes=30, udp_in_errors=2)
    assert two.network is None


def test_a_worker_that_did_not_measure_has_no_account() -> None:
    assert account("publisher 0", 1, []) is None
    assert account("subscriber 0", 1, [event("tick", 0), event("done", 1)]) is None, (
        "a worker that never measured has no account"
    )
    assert account("publisher 0", 1, [event("measuring", 0)]) is None


@pytest.mark.parametrize(("step_s", "kept"), [(None, 102), (10.0, 12)])
def test_the_ledger_of_a_long_trial_keeps_one_report_for_each_record(step_s: float | None, kept: int) -> None:
    who: Any = SimpleNamespace(worker=SimpleNamespace(who="ping", pid=1))
    ledger = Ledger(lambda: NOTHING, step_s)
    ledger.first = who
    ledger.hear(who, event("measuring", 0, user_ns=5))
    for at in range(1, 101):
        ledger.hear(who, event("tick", at * 1.001, user_ns=5 + at))
    ledger.hear(who, event("done", 101, user_ns=200))
    [found] = ledger.accounts([who])
    assert len(found.events) == len(found.network) == kept
    assert worker_cost(found).user_ns == 195
    assert sum(each.user_ns for each in series([found])) == 195
