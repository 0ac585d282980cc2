"""Each check on captured machines, with and without findings; all checks with and without planted limits."""

import shutil
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from middlemark.model.units import MIB
from middlemark.system.check import SEVERITIES, Check
from middlemark.system.checks import time_sync
from middlemark.system.checks.time_sync import TimeOfDay
from middlemark.system.needs import GENERAL, ConfigurationNeeds, Needs
from middlemark.system.registry import CHECKS, findings
from middlemark.system.root import Root, processors

MACHINES = Path(__file__).parent / "machines"
CASES: dict[str, list[dict[str, Any]]] = {
    check: cases
    for file in sorted(MACHINES.glob("*.toml"))
    for check, cases in tomllib.loads(file.read_text(encoding="utf-8")).items()
}
BY_NAME: dict[str, Check[Any]] = {each.name: each for each in CHECKS}


def needs(carrier: str, size: int = 1024, *, adapters: tuple[str, ...] = (), **row: Any) -> Needs:
    rows = (ConfigurationNeeds(name="some", carriers=(carrier,), size=size, **row),)
    return Needs(rows=rows, interfaces=("lo",), memory_bytes=256 * MIB, shm_bytes=MIB, adapters=adapters)


SUITES = {
    "small udp": needs("udp"),
    "large udp": needs("udp", MIB),
    "over tun0": msgspec.structs.replace(needs("udp"), interfaces=("tun0",)),
    "between hosts": msgspec.structs.replace(needs("tcp", MIB, rate_hz=1.0, across=True), interfaces=("eth0",)),
    "shm": needs("shared-memory", adapters=("iceoryx2",)),
    "polling shm": needs("shared-memory", receive="poll"),
    "pinned to 0 and 4": needs("shared-memory", receive="poll", cpus=(0, 4)),
    "spinning fifo": needs("shared-memory", receive="poll", priority=80),
    "locked": needs("udp", mlock=True),
    "a robot": needs("udp", MIB, roles=25),
    "awake": needs("udp", awake=True),
    "ros 2": needs("udp", adapters=("rclcpp",)),
    "domain 7": msgspec.structs.replace(needs("udp"), domains=(7,)),
}
TABLE = [pytest.param(check, case, id=f"{check}: {case['name']}") for check, cases in CASES.items() for case in cases]


def made(folder: Path, files: dict[str, str]) -> Root:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Root(folder)


def found(check: str, case: dict[str, Any], folder: Path) -> Any:
    root = made(folder, case["files"])
    reading = BY_NAME[check].look(root)
    return None if reading is None else BY_NAME[check].judge(reading, SUITES[case["for"]] if "for" in case else GENERAL)


@pytest.mark.parametrize(("check", "case"), TABLE)
def test_a_check_judges_each_captured_machine_correctly(check: str, case: dict[str, Any], tmp_path: Path) -> None:
    finding = found(check, case, tmp_path)
    assert (finding.severity if finding else "") == case["finds"]
    if finding:
        assert finding.check == check
        assert case.get("seen", "") in finding.seen
        assert finding.remedy == case.get("command", finding.remedy)
        assert finding.why
        assert finding.rows
        assert finding.remedy or finding.persist


@pytest.mark.parametrize("check", sorted(set(BY_NAME) - {"time_sync"}))
def test_every_check_has_a_machine_with_a_finding_and_one_without(check: str) -> None:
    outcomes = {bool(case["finds"]) for case in CASES[check]}
    assert outcomes == {True, False}
    assert all(
        case["source"] in ("captured", "constructed") or case["source"].startswith("https:") for case in CASES[check]
    )


@pytest.mark.parametrize("check", CHECKS, ids=lambda each: each.name)
def test_a_check_has_the_name_of_its_file(check: Check[Any]) -> None:
    module = __import__(f"middlemark.system.checks.{check.name}", fromlist=["CHECK"])
    assert module.CHECK is check


def test_unsynchronised_clocks_are_a_note_and_a_limit_between_hosts() -> None:
    adrift, kept = TimeOfDay(5, 16_000_000, ()), TimeOfDay(0, 500, ("chronyd",))
    between = needs("udp", across=True, between_clocks=True)
    judged = [time_sync.CHECK.judge(adrift, each) for each in (GENERAL, between, SUITES["small udp"])]
    assert [each and each.severity for each in judged] == ["note", "limits", None]
    assert time_sync.CHECK.judge(kept, between) is None
    assert time_sync.synchronised(kept) == "synchronised within 0.5 ms, as the kernel estimates; chronyd"


PLANTED = {
    "rmem_max": {"proc/sys/net/core/rmem_max": "212992"},
    "udp_mem": {"proc/sys/net/ipv4/udp_mem": "768 1024 1536"},
    "tcp_window_scaling": {"proc/sys/net/ipv4/tcp_window_scaling": "0"},
    "netdev_max_backlog": {"proc/sys/net/core/netdev_max_backlog": "10"},
    "dev_shm": {"proc/self/mounts": "shm /dev/shm tmpfs rw,size=65536k 0 0"},
    "cgroup_memory": {"sys/fs/cgroup/memory.max": "134217728"},
    "cgroup_cpu": {"sys/fs/cgroup/cpu.max": "50000 100000"},
    "governor": {"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave"},
    "clocksource": {"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"},
    "sched_rt_runtime_us": {"proc/sys/kernel/sched_rt_runtime_us": "0"},
    "transparent_hugepage": {"sys/kernel/mm/transparent_hugepage/defrag": "[always] defer madvise never"},
    "environment": {"proc/self/environ": "CYCLONEDDS_URI=file:///etc/cyclone.xml"},
}
SEVERELY = {"cgroup_cpu", "governor", "clocksource", "environment"}
WELL = {
    "proc/sys/net/core/rmem_max": "67108864",
    "proc/sys/net/core/rmem_default": "8388608",
    "proc/sys/net/core/wmem_max": "8388608",
    "proc/sys/net/core/netdev_max_backlog": "1000",
    "proc/sys/net/ipv4/udp_mem": "575802 767736 1151604",
    "proc/sys/net/ipv4/tcp_window_scaling": "1",
    "proc/sys/kernel/sched_rt_runtime_us": "950000",
    "proc/sys/kernel/sched_rt_period_us": "1000000",
    "proc/self/mounts": "tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0",
    "proc/self/cgroup": "0::/",
    "proc/self/environ": "HOME=/home/robot",
    "proc/self/status": "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-1",
    "proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB",
    "dev/shm/.keep": "",
    "sys/fs/cgroup/cgroup.procs": "1",
    "sys/fs/cgroup/memory.max": "max",
    "sys/fs/cgroup/cpu.max": "max 100000",
    "sys/class/net/lo/mtu": "65536",
    "sys/class/net/lo/flags": "0x9",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "sys/kernel/mm/transparent_hugepage/defrag": "always defer [madvise] never",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet",
}


def on(folder: Path, **planted: dict[str, str]) -> dict[str, Any]:
    shutil.rmtree(folder, ignore_errors=True)
    root = made(folder, WELL | {name: text for files in planted.values() for name, text in files.items()})
    # Leave out time_sync: it asks the kernel, so it describes the machine on which the test runs.
    return {each.check: each for each in findings(root) if each.check != "time_sync"}


def test_each_of_twelve_planted_limits_is_found_with_severity_and_command(
    tmp_path: Path,
) -> None:
    assert on(tmp_path / "well") == {}
    for name, files in PLANTED.items():
        assert list(on(tmp_path / "one", **{name: files})) == [name]
    every = on(tmp_path / "all", **PLANTED)
    assert every.keys() == PLANTED.keys()
    assert {name for name, each in every.items() if each.severity == "falsifies"} == SEVERELY
    assert all(each.severity == "limits" for name, each in every.items() if name not in SEVERELY)
    assert all(each.remedy for each in every.values())
    assert list(every) == sorted(every, key=lambda name: SEVERITIES.index(every[name].severity))


def test_the_changes_match_the_printed_commands_and_a_good_value_has_none(tmp_path: Path) -> None:
    well, bad = made(tmp_path / "well", WELL), made(tmp_path / "bad", WELL | PLANTED["rmem_max"] | PLANTED["governor"])
    rmem, governor = BY_NAME["rmem_max"], BY_NAME["governor"]
    assert [each.changes(each.look(well)) for each in (rmem, governor)] == [(), ()]
    assert [each.command for each in rmem.changes(rmem.look(bad))] == ["sysctl -w net.core.rmem_max=8388608"]
    (only,) = governor.changes(governor.look(bad))
    assert (only.kind, only.target) == ("file", "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor")


def test_a_machine_without_readable_files_has_no_findings(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    assert {each.check for each in findings(Root(tmp_path))} <= {"time_sync"}


@pytest.mark.parametrize(
    "text", ["", "\0", "-1", "\xff\xfe", "99999999999999999999999999", "a b c\nd: e", "0::/..\n\n:::"]
)
def test_damaged_files_cause_no_traceback(tmp_path: Path, text: str) -> None:
    files = {name for cases in CASES.values() for case in cases for name in case["files"]} | set(WELL)
    for each in findings(made(tmp_path, dict.fromkeys(files, text))):
        assert each.seen


def test_processors_are_written_in_the_kernels_notation() -> None:
    assert processors("0-2,8") == (0, 1, 2, 8)
    assert processors("") == ()
    with pytest.raises(ValueError, match="0-99999999999"):
        processors("0-99999999999")
