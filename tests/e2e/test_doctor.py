"""`middlemark doctor` on this machine finds each of a dozen limits planted in namespaces, and no other."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from product import ROOT, Bench, Ended

PRODUCT = (sys.executable, "-W", "error", "-m", "middlemark")
FRAGMENTS = """
echo 1 > /proc/sys/net/ipv4/ipfrag_low_thresh
echo 65536 > /proc/sys/net/ipv4/ipfrag_high_thresh
"""
PLANT = f"""
set -e
mount -o remount,size=16m /dev/shm
echo left > /dev/shm/fast_datasharing_01.0f
ip link set lo mtu 1500
echo 0 > /proc/sys/net/ipv4/tcp_window_scaling
echo '4096 87380 262144' > /proc/sys/net/ipv4/tcp_rmem
{FRAGMENTS}
echo 40000000 > /proc/$$/timerslack_ns
export CYCLONEDDS_URI=file:///nowhere.xml
cp "$(command -v sleep)" /tmp/iox-roudi && /tmp/iox-roudi 60 &
"$1" -c 'import socket, time; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(("", 7400)); time.sleep(60)' &
until grep -qx iox-roudi /proc/[0-9]*/comm && grep -q ':1CE8 ' /proc/net/udp; do sleep 0.05; done
ulimit -r 0 -l 64
exec taskset -c 0 setpriv --bounding-set -sys_nice,-ipc_lock "$@"
"""
PLANTED = {
    "dev_shm": ("limits", "mount -o remount,size="),
    "shm_leftovers": ("note", "rm -r /dev/shm/fast_datasharing_01.0f"),
    "mtu": ("limits", "ip link set dev lo mtu 65536"),
    "tcp_window_scaling": ("limits", "sysctl -w net.ipv4.tcp_window_scaling=1"),
    "tcp_rmem": ("limits", "sysctl -w net.ipv4.tcp_rmem='4096 87380 4194304'"),
    "ipfrag_high_thresh": ("limits", "sysctl -w net.ipv4.ipfrag_high_thresh=134217728"),
    "timer_slack": ("limits", "echo 50000 > /proc/"),
    "environment": ("falsifies", "unset CYCLONEDDS_URI"),
    "daemons": ("limits", "kill "),
    "participants": ("note", "ss -lunp"),
    "rtprio": ("limits", "ulimit -r 98"),
    "memlock": ("limits", "ulimit -l unlimited"),
    "cpuset": ("falsifies", "taskset "),
}


def doctor(bench: Bench, *arguments: str, command: tuple[str, ...] = PRODUCT) -> Ended:
    return bench.run("doctor", *arguments, command=command)


def found(ended: Ended) -> dict[str, Any]:
    assert ended.code in (0, 4), ended.err
    return {each["check"]: each for each in ended.document["findings"]}


def test_each_planted_limit_is_found_with_severity_and_command_and_none_otherwise(bench: Bench) -> None:
    isolated = (str(ROOT / "scripts/alone"),)
    asked = ("--no-probes", "--format", "json")
    unplanted = doctor(bench, *asked, command=(*isolated, *PRODUCT))
    assert not found(unplanted).keys() & PLANTED.keys()
    planted = doctor(bench, *asked, command=(*isolated, "bash", "-c", PLANT, "plant", *PRODUCT))
    findings = found(planted)
    assert {name: findings[name]["severity"] for name in PLANTED if name in findings} == {
        name: severity for name, (severity, _) in PLANTED.items()
    }
    for name, (_, command) in PLANTED.items():
        assert findings[name]["remedy"].startswith(command)
    assert planted.code == 4


GROUP = f"middlemark-test-{os.urandom(4).hex()}"


def group(controller: str, name: str, value: str) -> Iterator[tuple[str, ...]]:
    """Yield a prefix that runs a command in a control group with that limit; empty if not possible here."""
    base = Path("/sys/fs/cgroup", controller)  # cgroup version 1
    folder = (base if base.is_dir() else base.parent) / GROUP
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        limit = next(
            (each for each in (folder / f"{controller}.{part}" for part in name.split("|")) if each.exists()), None
        )
        if limit is None:
            pytest.skip(f"a control group here has no {controller}.{name}")
        limit.write_text(value if limit.name != "cpu.max" else f"{value} 100000")
        yield ("sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "in")
    finally:
        folder.rmdir()


@pytest.mark.parametrize(
    ("check", "controller", "name", "value"),
    [
        ("cgroup_cpu", "cpu", "cfs_quota_us|max", "50000"),
        ("cgroup_memory", "memory", "limit_in_bytes|max", str(400 << 20)),
        ("cgroup_rt", "cpu", "rt_runtime_us", "0"),
    ],
)
def test_a_limit_of_the_control_group_is_named(
    bench: Bench, check: str, controller: str, name: str, value: str
) -> None:
    asked = ("--no-probes", "--format", "json")
    assert check not in found(doctor(bench, *asked))
    for prefix in group(controller, name, value):
        findings = found(doctor(bench, *asked, command=(*prefix, *PRODUCT)))
        assert findings[check]["severity"] == ("falsifies" if check == "cgroup_cpu" else "limits")
        assert GROUP in findings[check]["remedy"]


def test_the_json_output_matches_its_documentation_and_determines_the_status(bench: Bench) -> None:
    ended = doctor(bench, "--format", "json")
    document = ended.document
    assert list(document) == ["schema", "checks", "findings", "probes"]
    assert document["schema"] == 1
    assert document["checks"] >= 25
    fields = ["check", "severity", "seen", "why", "rows", "remedy", "persist", "risk"]
    for each in document["findings"]:
        assert list(each) == fields
        assert all(isinstance(text, str) for text in each.values())
    assert ended.code == (4 if any(each["severity"] != "note" for each in document["findings"]) else 0)
    probes = document["probes"]
    absent = probes.pop("absent")
    assert all(figure > 0 for figure in probes.values() if figure is not None)
    if absent == []:
        assert probes["wake_up_asleep_ns"] > probes["clock_ns"]
    else:  # the tests themselves make the machine busy
        assert all(any(each.startswith(f"{name}:") for each in absent) for name, figure in probes.items() if not figure)


@pytest.mark.parametrize(("suite", "expected"), [("udp", True), ("shm", False)])
def test_a_suite_is_checked_only_for_what_its_cells_need(bench: Bench, suite: str, expected: bool) -> None:
    bench.suite(f'[[sweep]]\nadapter = "{suite}"\nsize = "1m"\nbaseline = false\n', name=suite)
    plant = f'{FRAGMENTS}\nip link set lo mtu 1500\nexec "$@"'
    command = (str(ROOT / "scripts/alone"), "bash", "-c", plant, "plant", *PRODUCT)
    ended = doctor(bench, "--suite", f"./{suite}.toml", "--no-probes", "--format", "json", command=command)
    names = found(ended)
    assert ("mtu" in names, "ipfrag_high_thresh" in names) == (expected, expected)
    if expected:
        assert names["mtu"]["rows"] == "udp over udp at 1 MiB"


def test_a_missing_suite_is_refused(bench: Bench) -> None:
    ended = doctor(bench, "--suite", "no-such", "--no-probes")
    assert ended.code == 2
    assert "no-such" in ended.err
