"""The kernel's counters of the machine, read from the texts of several kernels."""

import os
from pathlib import Path

from middlemark.sites import counters
from middlemark.sites.counters import (
    Reading,
    parse_pressure,
    parse_softirqs,
    parse_stat,
    parse_throttled,
    real_time_limit,
)
from middlemark.system.root import Root

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def reading(at_ns: int, steal_ns: int, **given: object) -> Reading:
    figures: dict[str, object] = {
        "stat": {0: (steal_ns, 0, 0), 1: (0, 10, 20)},
        "softirqs": {0: {"TIMER": steal_ns // 10, "NET_RX": 5}, 1: {}},
        "pressure": {"some": steal_ns, "full": 0},
        "throttled": (steal_ns // 100, steal_ns),
    }
    return Reading(at_ns=at_ns, **(figures | given))  # type: ignore[arg-type]


def test_steal_and_interrupts_are_read_by_processor() -> None:
    text = "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 0 0 0 0 0 0 0 9 0 0\nintr 5\n"
    assert parse_stat(text) == {0: (8 * TICK_NS, 6 * TICK_NS, 7 * TICK_NS), 1: (9 * TICK_NS, 0, 0)}


def test_proc_stat_with_too_few_columns_is_ignored() -> None:
    assert parse_stat("cpu0 1 2 3 4\n") == {}


def test_softirqs_are_read_by_processor_and_kind() -> None:
    text = "      CPU0  CPU2\n  HI:  1  2\nNET_RX:  30  40\n"
    assert parse_softirqs(text) == {0: {"HI": 1, "NET_RX": 30}, 2: {"HI": 2, "NET_RX": 40}}
    assert parse_softirqs("") == {}


def test_pressure_is_read_in_ns_and_may_lack_full() -> None:
    assert parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n") == {"some": 7000}
    assert parse_pressure("some avg10=1 total=7\nfull avg10=0 total=2\n") == {"some": 7000, "full": 2000}
    assert parse_pressure(None) is None


def test_throttling_is_read_from_both_versions_of_control_groups() -> None:
    assert parse_throttled("nr_periods 9\nnr_throttled 2\nthrottled_time 5000\n") == (2, 5000)
    assert parse_throttled("usage_usec 9\nnr_throttled 3\nthrottled_usec 5\n") == (3, 5000)
    assert parse_throttled("usage_usec 9\n") is None
    assert parse_throttled(None) is None


def test_counters_are_read_for_the_requested_processors_only() -> None:
    found, absent = counters.moved(reading(0, 0), reading(2 * 10**9, 1000), [0, 7])
    assert [each.cpu for each in found.processors] == [0]
    assert found.processors[0].steal_ns == 1000
    assert found.processors[0].softirqs == {"TIMER": 100}
    assert (found.seconds, found.pressure_some_ns, found.throttled, found.throttled_ns) == (2.0, 1000, 10, 1000)
    assert absent == {}


def test_a_missing_counter_is_none_with_the_reason() -> None:
    nothing = {"pressure": None, "throttled": None}
    found, absent = counters.moved(reading(0, 0, **nothing), reading(1, 0, **nothing), [0])
    assert (found.pressure_some_ns, found.throttled) == (None, None)
    assert absent.keys() == {"pressure", "throttled"}
    assert all(absent.values())


def test_a_counter_that_decreased_is_not_negative() -> None:
    found, _ = counters.moved(reading(0, 1000), reading(1, 0), [0])
    assert found.processors[0].steal_ns == 0


def test_this_machine_has_counters() -> None:
    found = counters.read()
    assert found.stat.keys() >= {min(os.sched_getaffinity(0))}
    assert found.at_ns > 0


def test_the_lowest_real_time_limit_of_groups_and_machine_is_found(tmp_path: Path) -> None:
    def write(name: str, value: int) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{value}\n")

    write("proc/sys/kernel/sched_rt_runtime_us", 950_000)
    write("proc/sys/kernel/sched_rt_period_us", 1_000_000)
    own = ["sys/fs/cgroup/cpu/a", "sys/fs/cgroup/cpu"]
    root = Root(tmp_path)
    assert real_time_limit(root, own) == (950_000, 1_000_000, "kernel.sched_rt_runtime_us")
    write("sys/fs/cgroup/cpu/a/cpu.rt_runtime_us", 100_000)
    write("sys/fs/cgroup/cpu/a/cpu.rt_period_us", 1_000_000)
    assert real_time_limit(root, own) == (100_000, 1_000_000, "/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us")
    write("sys/fs/cgroup/cpu/a/cpu.rt_runtime_us", -1)
    write("proc/sys/kernel/sched_rt_runtime_us", -1)
    assert real_time_limit(root, own) is None
