"""All checks, in the order of docs/reference/checks.md."""

from importlib import import_module
from typing import Any

from middlemark.system.check import SEVERITIES, Check, Finding
from middlemark.system.needs import GENERAL, Needs
from middlemark.system.root import Root

_NAMES = """
rmem_max rmem_default wmem_max udp_mem netdev_max_backlog ipfrag_high_thresh ipfrag_time mtu multicast firewall
conntrack tcp_rmem tcp_wmem tcp_autotuning tcp_window_scaling tcp_slow_start_after_idle

dev_shm memory_available cgroup_memory memlock overcommit_memory swap transparent_hugepage numa numa_balancing

load steal cgroup_cpu cpuset smt shared_cache governor max_freq turbo cpuidle halt_polling clocksource timer_slack
rtprio sched_rt_runtime_us cgroup_rt preempt isolcpus irq_affinity irqbalance mitigations

environment shm_leftovers daemons participants time_sync
"""
"""The modules of ``checks`` by family: sockets, memory, processors, surroundings."""
CHECKS: tuple[Check[Any], ...] = tuple(
    import_module(f"middlemark.system.checks.{name}").CHECK for name in _NAMES.split()
)


def findings(root: Root, needs: Needs = GENERAL) -> tuple[Finding, ...]:
    """Run all checks; return the findings, the worst first."""
    looked = ((check, check.look(root)) for check in CHECKS)
    found = (check.judge(reading, needs) for check, reading in looked if reading is not None)
    return tuple(sorted(filter(None, found), key=lambda each: SEVERITIES.index(each.severity)))
