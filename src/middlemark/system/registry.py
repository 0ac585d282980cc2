"""All checks, by family."""

from typing import Any

from middlemark.system.check import SEVERITIES, Check, Finding
from middlemark.system.checks import (
    cgroup_cpu,
    cgroup_memory,
    cgroup_rt,
    clocksource,
    conntrack,
    cpuidle,
    cpuset,
    daemons,
    dev_shm,
    environment,
    firewall,
    governor,
    halt_polling,
    ipfrag_high_thresh,
    ipfrag_time,
    irq_affinity,
    irqbalance,
    isolcpus,
    load,
    max_freq,
    memlock,
    memory_available,
    mitigations,
    mtu,
    multicast,
    netdev_max_backlog,
    numa,
    numa_balancing,
    overcommit_memory,
    participants,
    preempt,
    rmem_default,
    rmem_max,
    rtprio,
    sched_rt_runtime_us,
    shared_cache,
    shm_leftovers,
    smt,
    steal,
    swap,
    tcp_rmem,
    tcp_slow_start_after_idle,
    tcp_window_scaling,
    tcp_wmem,
    time_sync,
    timer_slack,
    transparent_hugepage,
    turbo,
    udp_mem,
    wmem_max,
)
from middlemark.system.needs import GENERAL, Needs
from middlemark.system.root import Root

SOCKETS: tuple[Check[Any], ...] = (
    rmem_max.CHECK,
    rmem_default.CHECK,
    wmem_max.CHECK,
    udp_mem.CHECK,
    netdev_max_backlog.CHECK,
    ipfrag_high_thresh.CHECK,
    ipfrag_time.CHECK,
    mtu.CHECK,
    multicast.CHECK,
    firewall.CHECK,
    conntrack.CHECK,
    tcp_rmem.CHECK,
    tcp_wmem.CHECK,
    tcp_window_scaling.CHECK,
    tcp_slow_start_after_idle.CHECK,
)
MEMORY: tuple[Check[Any], ...] = (
    dev_shm.CHECK,
    memory_available.CHECK,
    cgroup_memory.CHECK,
    memlock.CHECK,
    overcommit_memory.CHECK,
    swap.CHECK,
    transparent_hugepage.CHECK,
    numa.CHECK,
    numa_balancing.CHECK,
)
PROCESSORS: tuple[Check[Any], ...] = (
    load.CHECK,
    steal.CHECK,
    cgroup_cpu.CHECK,
    cpuset.CHECK,
    smt.CHECK,
    shared_cache.CHECK,
    governor.CHECK,
    max_freq.CHECK,
    turbo.CHECK,
    cpuidle.CHECK,
    halt_polling.CHECK,
    clocksource.CHECK,
    timer_slack.CHECK,
    rtprio.CHECK,
    sched_rt_runtime_us.CHECK,
    cgroup_rt.CHECK,
    preempt.CHECK,
    isolcpus.CHECK,
    irq_affinity.CHECK,
    irqbalance.CHECK,
    mitigations.CHECK,
)
SURROUNDINGS: tuple[Check[Any], ...] = (
    environment.CHECK,
    shm_leftovers.CHECK,
    daemons.CHECK,
    participants.CHECK,
    time_sync.CHECK,
)
CHECKS = (*SOCKETS, *MEMORY, *PROCESSORS, *SURROUNDINGS)


def findings(root: Root, needs: Needs = GENERAL) -> tuple[Finding, ...]:
    """Run all checks; return the findings, the worst first."""
    looked = ((check, check.look(root)) for check in CHECKS)
    found = (check.judge(reading, needs) for check, reading in looked if reading is not None)
    return tuple(sorted(filter(None, found), key=lambda each: SEVERITIES.index(each.severity)))
