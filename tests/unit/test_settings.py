"""Settings of the machine in suites."""

from pathlib import Path

import pytest
from planning import plan_of

from middlemark.model.levels import Wrong
from middlemark.model.setting import SYSTEM, Setting, plain, setting_of, settings_of
from middlemark.suite.overrides import typed
from middlemark.suite.read import read_suite
from middlemark.suite.sweep import KEYS
from middlemark.system.registry import CHECKS
from middlemark.system.settings import same

SUITE = "[[sweep]]\nadapter='cyclonedds'\ntransport='udp'\nbaseline=false\n"


def levels(toml: str) -> list[str | None]:
    return [each.system for each in plan_of(SUITE + toml).cells]


def test_a_table_gives_every_combination_of_its_values_and_a_text_gives_one() -> None:
    assert levels("system = { 'vm.swappiness' = [1, 60] }") == ["vm.swappiness=1", "vm.swappiness=60"]
    both = "system = { 'vm.swappiness' = [1, 60], 'net.core.rmem_max' = 1 }"
    assert levels(both) == ["net.core.rmem_max=1&vm.swappiness=1", "net.core.rmem_max=1&vm.swappiness=60"]
    several = "system = ['as-is', { 'vm.swappiness' = 1 }, 'vm.swappiness=60']"
    assert levels(several) == [None, "vm.swappiness=1", "vm.swappiness=60"]
    assert levels("") == [None]


def test_typed_settings_are_split_at_semicolons_because_values_have_commas() -> None:
    levels = typed(KEYS["system"], "/proc/irq/24/smp_affinity_list=0,1; vm.swappiness=1&vm.zone_reclaim_mode=0")
    assert levels == ["/proc/irq/24/smp_affinity_list=0,1", "vm.swappiness=1&vm.zone_reclaim_mode=0"]


@pytest.mark.parametrize(
    ("target", "value"),
    [
        ("kernel.core_pattern", "|/tmp/x"),
        ("kernel.modules_disabled", 1),
        ("vm.drop_caches", 3),
        ("/sys/fs/cgroup/cpu/release_agent", "/tmp/x"),
        ("/sys/devices/system/cpu/cpu1/online", 0),
        ("/sys/class/net/../../../etc/passwd", 1),
        ("/etc/passwd", "x"),
        ("/dev/sda", 0),
        ("net.core.rmem_max", "1; reboot"),
        ("net.core.rmem_max", True),
        ("/dev/cpu_dma_latency", "fast"),
        ("/dev/shm", "much"),
        ("cgroup.cpu", "measured"),
    ],
)
def test_a_target_that_cannot_be_restored_is_refused(target: str, value: object) -> None:
    with pytest.raises(Wrong):
        setting_of(target, value)


def test_a_problem_names_its_place() -> None:
    [problem] = read_suite({"sweep": [{"system": {"kernel.panic": 1}}]}, "lan", "lan.toml", Path(), {})[1]
    assert str(problem).startswith("lan.toml: sweep 1: system: 'kernel.panic' is not a setting that may be changed")


def test_a_size_is_in_bytes_of_whole_pages_and_a_level_reads_back() -> None:
    [setting] = settings_of(SYSTEM.read("/dev/shm=1m"))
    assert (setting.kind, setting.value) == ("size", "1048576")
    assert SYSTEM.read("vm.b=2 & vm.a=1") == SYSTEM.read(SYSTEM.read("vm.a=1&vm.b=2"))
    assert SYSTEM.show("vm.a=1&vm.b=2") == "vm.a=1 & vm.b=2"
    with pytest.raises(Wrong, match="twice"):
        SYSTEM.read("vm.a=1&vm.a=2")


def test_a_value_is_compared_without_the_kernels_decoration() -> None:
    assert plain("always [madvise] never\n") == "madvise"
    assert plain("4096\t131072\t6291456\n") == "4096 131072 6291456"


@pytest.mark.parametrize(
    ("now", "value", "alike"),
    [
        ("0-1", "0,1", True),
        ("00000003", "3", True),
        ("0000000f", "f", True),
        ("9223372036854771712", "-1", True),
        ("212992", "-1", False),
        ("0-2", "0,1", False),
        ("powersave", "performance", False),
        ("4096 131072 6291456", "4096 131072 8388608", False),
    ],
)
def test_a_value_in_the_kernels_notation_is_recognised(now: str, value: str, alike: bool) -> None:
    assert same(now, value) is alike


def test_every_kind_of_setting_that_a_check_changes_can_be_set_here() -> None:
    for kind, change in (
        ("sysctl", Setting("net.ipv4.tcp_rmem", "4096 131072 6291456")),
        ("file", Setting("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance")),
        ("file", Setting("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1")),
        ("file", Setting("/sys/fs/cgroup/a.slice/cpu.max", "max 100000")),
        ("hold", Setting("/dev/cpu_dma_latency", "0")),
        ("size", Setting("/dev/shm", str(1 << 29))),
    ):
        assert change.kind == kind
        assert change.value in change.command
        assert setting_of(change.target, change.value) == change
    assert len(CHECKS) >= 25
