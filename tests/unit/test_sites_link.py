"""Real network namespaces with a real link between them, and their removal."""

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import Callable

import psutil
import pytest

from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.evidence import read_counters
from middlemark.sites.link import Joined, join
from middlemark.sites.namespace import Namespace

ECHO = "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('', 7)); print('up', flush=True)\n"


def joined(text: str, use: Callable[[Joined], None]) -> None:
    async def run() -> None:
        try:
            link = await join(text)
        except WorkerFailedError as error:
            if "no network namespace can be created on this machine" in error.text:
                pytest.skip(error.text)
            raise
        try:
            use(link)
        finally:
            link.end()

    asyncio.run(run())


def run_in(namespace: Namespace, program: str, *argv: str) -> str:
    ended = subprocess.run([*namespace.prefix, program, *argv], capture_output=True, text=True, check=True, timeout=120)
    return ended.stdout


def send(namespace: Namespace, to: str, count: int, size: int = 100) -> None:
    opened = "import socket; s = socket.socket(type=socket.SOCK_DGRAM)"
    sent = f"[s.sendto(b'x' * {size}, ('{to}', 7)) for _ in range({count})]"
    run_in(namespace, "python3", "-IS", "-c", f"{opened}; {sent}")


def networks() -> set[str]:
    """Return the network namespaces of this process's children: other tests make namespaces at the same time."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/{process.pid}/ns/net"))
    return found


def test_each_end_has_an_address_and_the_rate_counts_whole_frames() -> None:
    def use(link: Joined) -> None:
        assert "38 bytes of Ethernet" in link.how
        for number, namespace in enumerate(link.named(("base", "robot")), start=1):
            assert namespace.name == ("base", "robot")[number - 1]
            assert f"10.213.0.{number}/24" in run_in(namespace, "ip", "-br", "address", "show", "dev", "mm0")
            bucket = run_in(namespace, "tc", "qdisc", "show", "dev", "mm0")
            assert "rate 100Mbit" in bucket
            assert "overhead 24" in bucket
            assert "mtu 1400" in run_in(namespace, "ip", "link", "show", "dev", "mm0")

    joined("100mbit,mtu=1400", use)


def test_a_link_with_half_a_datagram_queued_is_not_fresh() -> None:
    def whole(link: Joined) -> None:
        send(link.named(("base", "robot"))[0], "10.213.0.2", 5, 20_000)
        deadline = time.monotonic() + 10
        while not link.is_fresh and time.monotonic() < deadline:
            time.sleep(0.01)  # the last packet may still be in transit
        assert link.is_fresh

    def half(link: Joined) -> None:
        send(link.named(("base", "robot"))[0], "10.213.0.2", 5, 20_000)
        assert not link.is_fresh

    joined("100mbit", whole)
    joined("100mbit,loss=30%", half)


def test_datagrams_are_counted_at_the_sending_end_and_arrive_at_the_other() -> None:
    def use(link: Joined) -> None:
        base, robot = link.named(("base", "robot"))
        with subprocess.Popen(
            [*robot.prefix, "python3", "-IS", "-c", ECHO + "[s.recv(200) for _ in range(50)]"], stdout=subprocess.PIPE
        ) as receiver:
            assert receiver.stdout is not None
            assert receiver.stdout.readline() == b"up\n"
            before = read_counters((base, robot))
            send(base, "10.213.0.2", 50)
            assert receiver.wait(timeout=120) == 0
        after = read_counters((base, robot))
        assert after.udp_datagrams - before.udp_datagrams == 50
        assert 50 * 128 <= after.loopback_bytes - before.loopback_bytes < 50 * 128 + 1000

    joined("100mbit", use)


def test_the_requested_share_of_frames_is_lost() -> None:
    def use(link: Joined) -> None:
        base, robot = link.named(("base", "robot"))
        sent = 4000
        before = read_counters((robot,))
        send(base, "10.213.0.2", sent)
        dropped = run_in(robot, "tc", "-s", "qdisc", "show", "dev", "mm0")
        arrived = before.udp_datagrams - read_counters((robot,)).udp_datagrams  # to a port without a socket
        assert 0.2 * sent < sent - arrived < 0.3 * sent
        # The kernel's own frames, of IPv6 for example, can be dropped as well.
        assert 0 <= int(dropped.rpartition("dropped ")[2].partition(",")[0]) - (sent - arrived) < 10

    joined("1gbit,loss=25%,queue=100000", use)


def test_a_delay_applies_each_way_and_is_named() -> None:
    def use(link: Joined) -> None:
        assert "netem" in link.how or "frames a second here" in link.how
        base, robot = link.named(("base", "robot"))
        answering = ECHO + "s.sendto(*s.recvfrom(200))"
        with subprocess.Popen([*robot.prefix, "python3", "-IS", "-c", answering], stdout=subprocess.PIPE) as receiver:
            assert receiver.stdout is not None
            assert receiver.stdout.readline() == b"up\n"
            asking = (
                "import socket, time; s = socket.socket(type=socket.SOCK_DGRAM); begin = time.monotonic();"
                "s.sendto(b'x', ('10.213.0.2', 7)); s.recv(200); print(time.monotonic() - begin)"
            )
            assert float(run_in(base, "python3", "-IS", "-c", asking)) >= 0.04
            assert receiver.wait(timeout=120) == 0

    joined("1mbit,delay=20ms", use)


def test_a_delay_at_a_rate_that_this_machine_cannot_emulate_is_refused() -> None:
    def use(link: Joined) -> None:
        assert "netem" in link.how

    try:
        joined("10gbit,delay=2ms", use)
    except WorkerFailedError as refused:
        assert "a delay without netem needs a relay, which moves" in refused.text
        assert "modprobe sch_netem" in refused.advice


def test_a_link_that_ended_leaves_nothing_behind() -> None:
    before = networks()
    within: list[set[str]] = []
    joined("1gbit", lambda _: within.append(networks()))
    assert within[0] > before
    assert networks() <= before
