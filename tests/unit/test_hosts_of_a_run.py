"""The hosts of a run: how they are written and planned, and the certificates of their cluster."""

import subprocess
from pathlib import Path

import msgspec
import pytest
from planning import plan_of, problems_of

from middlemark import __version__
from middlemark.document.runs import host_line
from middlemark.model.hosts import HostAddress, parse_hosts
from middlemark.model.levels import Wrong
from middlemark.model.plan import Plan
from middlemark.model.run import HostMachine, Machine, RunFile
from middlemark.problems import RequestError
from middlemark.runs.hosts import HostsAsked, reaching
from middlemark.runs.measure import differences

CYCLONE = "[[sweep]]\nadapter='cyclonedds'\ntransport='udp'\n"
BOTH = ("lab", "field")


def test_hosts_are_read_as_names_with_ssh_addresses() -> None:
    assert parse_hosts("base=localhost, robot=me@robot.local:2222") == (
        HostAddress("base", "localhost"),
        HostAddress("robot", "robot.local", "me", 2222),
    )
    assert str(HostAddress("robot", "robot.local", "me", 2222)) == "me@robot.local -p 2222"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("robot.local,other", "'robot.local' is not a host; write NAME=[USER@]HOST[:PORT]"),
        ("base=a,robot=b:70000", "'robot=b:70000' is not a host"),
        ("base=a,robot=b;c d", "is not a host"),
        ("base=a", "one host is not enough; name two"),
        ("base=a,base=b", "two hosts are called base"),
        ("here=a,robot=b", "'here' is reserved for this machine"),
        ("base=a,robot=-oProxyCommand=x", "is not a host"),
    ],
)
def test_malformed_hosts_are_reported(text: str, why: str) -> None:
    with pytest.raises(Wrong, match=r"(?s).*") as wrong:
        parse_hosts(text)
    assert why in str(wrong.value)


def test_roles_are_on_the_first_two_hosts_unless_others_are_named() -> None:
    assert {cell.across for cell in plan_of(CYCLONE, hosts=BOTH).cells} == {"lab-field"}
    named = plan_of(CYCLONE + "across=['field-lab','here']", hosts=BOTH).cells
    assert {cell.across for cell in named} == {"field-lab", "here"}
    assert all(cell.link is None for cell in named)


def test_all_roles_may_be_on_one_host_over_any_transport() -> None:
    load = "pattern='stream'\nrate='sustainable'"
    suite = f"[[sweep]]\nadapter='fastdds'\ntransport=['udp','shm']\nacross=['lab','field']\n{load}"
    cells = plan_of(suite, hosts=BOTH).cells
    assert {(cell.across, cell.transport) for cell in cells} == {
        (host, transport) for host in BOTH for transport in ("udp", "shm")
    }
    assert problems_of(CYCLONE + "across='lab'") == ["sweep 1: across: there is no host lab; give --hosts lab=…"]


def test_the_link_of_a_suite_is_left_out_between_hosts() -> None:
    plan = plan_of(CYCLONE + "link='1gbit'", hosts=BOTH)
    assert {(cell.across, cell.link) for cell in plan.cells} == {("lab-field", None)}
    assert [each.text for each in plan.notes if "link" in each.text] == [
        "left out: link 1gbit; hosts have their own network"
    ]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("across='lab-mars'", "sweep 1: across: lab-mars: there is no host mars; there are lab and field"),
        (
            "pattern='stream'\nrate='sustainable'",
            "sweep 1: rate: sustainable needs one-way latencies while it measures, and between two hosts such "
            "latencies are known only after a trial; give a rate",
        ),
    ],
)
def test_a_sweep_that_cannot_run_between_hosts_is_refused(more: str, problem: str) -> None:
    assert problem in problems_of(CYCLONE + more, hosts=BOTH)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (HostsAsked(hosts="base=a,robot=b", scheduler="tls://a:1"), "leave out --hosts"),
        (
            HostsAsked(scheduler="tcp://a:1"),
            "without TLS, anyone who reaches the cluster can run programs on its hosts",
        ),
        (HostsAsked(scheduler="tls://a:1", tls_ca="x"), "all three are needed"),
        (HostsAsked(hosts="base=a,robot=b", insecure=True), "needs --scheduler"),
        (HostsAsked(remote_python="python3"), "need --hosts or --scheduler"),
    ],
)
def test_options_about_hosts_are_checked_before_any_host_is_reached(asked: HostsAsked, problem: str) -> None:
    with pytest.raises(RequestError) as refused, reaching(asked):
        pass
    assert problem in str(refused.value)


MACHINE = Machine(
    host="r1", cpu="A72", processors=4, memory_bytes=1 << 32, kernel="6.1", system="Debian", virtual=None,
    clocksource=None, governor=None,
)  # fmt: skip
ROBOT = HostMachine(
    name="robot", address="10.0.0.2", machine=MACHINE, middlemark="1", interface="eth0", mtu=1500, link_bps=1e9,
    driver="igb",
)  # fmt: skip


def test_a_host_is_printed_with_the_interface_towards_the_other_host() -> None:
    assert host_line(ROBOT) == "robot: r1, A72, 4 processors, 4 GiB, Debian, Linux 6.1, eth0 igb 1,000 Mbit/s MTU 1500"
    wireless = msgspec.structs.replace(ROBOT, interface="wlan0", driver=None, link_bps=None)
    assert host_line(wireless, whole=False).endswith(", wlan0 MTU 1500")


def test_a_run_between_hosts_cannot_be_resumed() -> None:
    base = msgspec.structs.replace(ROBOT, name="base", address="10.0.0.1")
    file = RunFile(
        middlemark=__version__, suites=(), command=(), started="", seed=0, machine=MACHINE, machines=(base, ROBOT),
        adapters=(), plan=Plan(cells=(), trials=(), names=(), notes=(), seed=0),
    )  # fmt: skip
    assert next(differences(file, {})) == (
        "the run was measured on 2 hosts, which may have changed since then: start a new run"
    )


def test_certificates_of_two_runs_do_not_verify_each_other(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    from middlemark.sites.ssh import make_certificates

    made, other = make_certificates(), make_certificates()
    for name, content in (("ca", made.authority), ("own", made.certificate), ("other", other.certificate)):
        (tmp_path / name).write_text(content)
    assert made.key != other.key

    def verified(name: str) -> bool:
        argv = ["openssl", "verify", "-CAfile", str(tmp_path / "ca"), str(tmp_path / name)]
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0

    assert verified("own")
    assert not verified("other")
