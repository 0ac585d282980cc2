"""Set up one end of an emulated link inside its network namespace. Runs as a program with a request on stdin.

It is a process of its own because only a process with a single thread can enter a user namespace. It prints a line of
JSON: how the link is emulated, or why it cannot be emulated.
"""

import asyncio
import contextlib
import ctypes
import errno
import fcntl
import socket
import struct
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
from pyroute2 import AsyncIPRoute
from pyroute2.netlink import NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, nla, nlmsg
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.rtnl import RTM_NEWQDISC, RTM_NEWTFILTER, TC_H_ROOT
from pyroute2.netlink.rtnl.tcmsg import tcmsg

from middlemark.model.link import BEYOND_BYTES, HEADER_BYTES, LEAST_FRAME_BYTES, Link, link_text
from middlemark.sites.link import EndAnswer, EndRequest
from middlemark.sites.namespace import INTERFACE, NETWORK

FRAMES_AT_ONCE = 4
"""The number of full frames that may leave back to back after a pause. Fewer would slow a gigabit link, because timers
are late."""
_TICK_NS = 64
"""The kernel describes a token bucket with times in this unit, in ns."""
_MADE = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL


class NoNetemError(Exception):
    """The kernel has no netem, so the end cannot delay packets."""


async def set_up(asked: EndRequest) -> tuple[str, ...]:
    """Set up the end. Return how the link is emulated. Raises NoNetemError, NetlinkError and OSError."""
    link = asked.link
    number, other = asked.number, 3 - asked.number
    with contextlib.suppress(OSError):  # TCP must not know the link from an earlier trial
        Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1", encoding="ascii")
    async with AsyncIPRoute() as route:
        if number == 1 and not asked.relayed:
            peer = {"ifname": INTERFACE, "net_ns_pid": asked.peer_pid, "address": _mac(other)}
            await route.link("add", ifname=INTERFACE, kind="veth", address=_mac(number), peer=peer)
        [lo] = await route.link_lookup(ifname="lo")
        [index] = await route.link_lookup(ifname=INTERFACE)
        await route.link("set", index=lo, state="up")
        _without_offloads()
        await route.link("set", index=index, mtu=link.mtu, txqlen=link.queue, address=_mac(number))
        await route.addr("add", index=index, address=NETWORK + str(number), prefixlen=24)
        await route.link("set", index=index, state="up")
        await route.route("add", dst="0.0.0.0/0", oif=index)  # a route for multicast to no named interface
        # The entry for the neighbour is static, because a lost ARP request would cost a second.
        await route.neigh("add", dst=NETWORK + str(other), lladdr=_mac(other), ifindex=index, state="permanent")
        if number == 2:
            await _wait_until_up(route, index)
        try:
            return tuple([each async for each in _shaped(route, index, asked)])
        except NoNetemError:
            await route.link("del", index=index)
            raise


async def _wait_until_up(route: AsyncIPRoute, index: int) -> None:
    """Wait until the kernel has noticed that both ends are up. Before that the kernel drops packets."""
    for _ in range(300):
        [state] = await route.link("get", index=index)
        if state.get("state") == "up" and state.get_attr("IFLA_OPERSTATE") in (
            "UP",
            "UNKNOWN",
        ):  # UNKNOWN: the state of a TAP device
            return
        await asyncio.sleep(0.01)
    raise OSError(f"{INTERFACE} does not come up within 3 s")


def _mac(number: int) -> str:
    return f"02:6d:6d:00:00:{number:02x}"


async def _shaped(route: AsyncIPRoute, index: int, asked: EndRequest) -> AsyncIterator[str]:
    link = asked.link
    if not asked.relayed:
        yield "veth pair between two network namespaces, TSO, GSO and GRO off"
    parent = TC_H_ROOT
    wanted = (link.delay_s or link.loss) and not asked.relayed
    netem = await _netem(route, index, link) if wanted else None
    if netem:
        parent = 0x00010001
        yield netem
    frame = link.mtu + HEADER_BYTES
    burst = FRAMES_AT_ONCE * (frame + BEYOND_BYTES)
    parameters = dict.fromkeys(("rate_cell_log", "rate_cell_align", "peak_cell_log", "peak___reserved"), 0)
    parameters |= dict.fromkeys(("peak_overhead", "peak_cell_align", "peak_mpu", "peak", "mtu"), 0)
    parameters |= {
        "rate___reserved": 1,  # Ethernet
        "rate_overhead": BEYOND_BYTES,
        "rate_mpu": LEAST_FRAME_BYTES,
        "rate": round(link.rate_bps / 8),
        "limit": min(link.queue * frame, (1 << 32) - 1),
        "buffer": round(burst * 8e9 / link.rate_bps / _TICK_NS),
    }
    options = {"attrs": [["TCA_TBF_PARMS", parameters]]}
    await _request(route, tcmsg(), RTM_NEWQDISC, (index, 0x00100000, parent, 0), "tbf", options)
    yield (
        f"rate by a token bucket (tbf) that counts the 38 bytes of Ethernet around a packet; {FRAMES_AT_ONCE} full"
        " frames may leave at once"
    )
    if link.loss and not netem:
        await _lose(route, index, link.loss)
        yield "loss by a classic BPF filter where frames arrive"


async def _netem(route: AsyncIPRoute, index: int, link: Link) -> str | None:
    """Delay, lose and reorder packets with netem; return its description. None: no netem, and the link has no delay."""
    waiting = round(link.rate_bps * (link.delay_s + link.jitter_s) / 8 / (link.mtu + HEADER_BYTES + BEYOND_BYTES))
    parameters: dict[str, Any] = {"delay": round(link.delay_s * 1e6), "jitter": round(link.jitter_s * 1e6)}
    parameters |= {"loss": link.loss * 100, "limit": link.queue + waiting}
    if link.reorder:
        parameters["prob_reorder"] = link.reorder * 100
    try:
        await route.tc("add", "netem", index, handle=0x00010000, **parameters)
    except NetlinkError as error:
        if error.code not in (errno.ENOENT, errno.EOPNOTSUPP, errno.EINVAL):
            raise
        if link.delay_s:
            raise NoNetemError from None
        return None
    return "delay, jitter, loss and reordering by netem, before the rate"


class _Classifier(nla):
    """The attributes of a classic BPF filter. pyroute2 has no field for its program."""

    nla_map = (
        *(("TCA_BPF_UNSPEC", "none"), ("TCA_BPF_ACT", "none"), ("TCA_BPF_POLICE", "none")),
        *(("TCA_BPF_CLASSID", "uint32"), ("TCA_BPF_OPS_LEN", "uint16"), ("TCA_BPF_OPS", "cdata")),
        *(("TCA_BPF_FD", "uint32"), ("TCA_BPF_NAME", "asciiz"), ("TCA_BPF_FLAGS", "uint32")),
    )


class _Filter(nlmsg):
    fields = tcmsg.fields
    nla_map = (("TCA_UNSPEC", "none"), ("TCA_KIND", "asciiz"), ("TCA_OPTIONS", "cbpf"))
    cbpf = _Classifier


async def _lose(route: AsyncIPRoute, index: int, share: float) -> None:
    """Drop this share of the arriving frames, chosen at random."""
    await route.tc("add", "clsact", index)
    load, greater, back = 0x20, 0x25, 0x06  # BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JGT|BPF_K, BPF_RET|BPF_K
    a_random_number, drop, pass_on = 0xFFFFF000 + 56, 2, 0  # SKF_AD_OFF + SKF_AD_RANDOM, TC_ACT_SHOT, TC_ACT_OK
    steps = [
        (load, 0, 0, a_random_number),
        (greater, 1, 0, round(share * 0xFFFFFFFF)),
        (back, 0, 0, drop),
        (back, 0, 0, pass_on),
    ]
    program = b"".join(struct.pack("=HBBI", *step) for step in steps)
    direct = 1  # TCA_BPF_FLAG_ACT_DIRECT
    options = {"attrs": [["TCA_BPF_OPS_LEN", len(steps)], ["TCA_BPF_OPS", program], ["TCA_BPF_FLAGS", direct]]}
    ingress, every_protocol = 0xFFFFFFF2, socket.htons(0x0003)
    await _request(route, _Filter(), RTM_NEWTFILTER, (index, 0, ingress, 1 << 16 | every_protocol), "bpf", options)


async def _request(
    route: AsyncIPRoute,
    message: nlmsg,
    type_: int,
    where: tuple[int, int, int, int],
    kind: str,
    options: dict[str, Any],
) -> None:
    message["index"], message["handle"], message["parent"], message["info"] = where
    message["attrs"] = [["TCA_KIND", kind], ["TCA_OPTIONS", options]]
    async for _ in await route.nlm_request(message, msg_type=type_, msg_flags=_MADE):
        pass


def _without_offloads() -> None:
    """Switch off segmentation offloads, so that every packet is one frame on the link."""
    with contextlib.closing(socket.socket(type=socket.SOCK_DGRAM)) as any_socket:
        for command in (0x1F, 0x24, 0x2C):  # ETHTOOL_STSO, SGSO, SGRO
            value = bytearray(struct.pack("=II", command, 0))
            _ethtool(any_socket.fileno(), value)


def _ethtool(descriptor: int, value: bytearray) -> None:
    memory = (ctypes.c_char * len(value)).from_buffer(value)
    request = struct.pack("16sP", INTERFACE.encode(), ctypes.addressof(memory))
    fcntl.ioctl(descriptor, 0x8946, request)  # SIOCETHTOOL


def main() -> int:
    """Read the request on stdin and print the answer."""
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=EndRequest)
    try:
        answer = EndAnswer(how=asyncio.run(set_up(asked)))
    except NoNetemError:
        answer = EndAnswer(lacks_netem=True)
    except (NetlinkError, OSError) as error:
        answer = EndAnswer(error=f"link {link_text(asked.link)}: the kernel does not set it up: {error}")
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
