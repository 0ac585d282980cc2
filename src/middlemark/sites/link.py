"""Join two network namespaces by an emulated link. Trials use the same link until fragments wait at its ends."""

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from middlemark.model.link import BEYOND_BYTES, HEADER_BYTES, Link, link_text, parse_link
from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.namespace import Holder, Namespace, end_process
from middlemark.workers.ask import NoAnswerError, ask

SET_UP_S = 20.0
RELAY_SHARE = 0.5
"""The usable share of an idle relay's rate. The other direction and the roles also need processor time."""
NETEM = "load netem (modprobe sch_netem), which delays in the kernel"


class EndRequest(msgspec.Struct, frozen=True):
    """A request to set up one end. End 1 creates the veth pair, end 2 is the other end of the pair."""

    number: int
    link: Link
    peer_pid: int
    """Id of a process in the namespace of the other end."""
    relayed: bool
    """True if a relay has created both ends and delays the packets."""


class EndAnswer(msgspec.Struct, frozen=True):
    """The answer to an ``EndRequest``: how the end emulates the link, or an error."""

    how: tuple[str, ...] = ()
    error: str = ""
    lacks_netem: bool = False


class RelayRequest(msgspec.Struct, frozen=True):
    """A request to the relay to create both ends of a link."""

    link: Link
    other: str
    """The path of the second namespace in /proc."""


class RelayAnswer(msgspec.Struct, frozen=True):
    """The answer to a ``RelayRequest``: the rate of the relay, which is ready, or an error."""

    frames_hz: float = 0.0
    """The number of full frames per second that the relay can generate and move in one direction."""
    error: str = ""


class Joined:
    """Two namespaces and the link between them."""

    def __init__(self, holders: tuple[Holder, Holder], how: str, relay: "subprocess.Popen[bytes] | None") -> None:
        """Called by :func:`join`."""
        self.how = how
        """A description of how the link is emulated."""
        self._holders = holders
        self._relay = relay

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that forward packets."""
        return () if self._relay is None else (self._relay.pid,)

    @property
    def is_fresh(self) -> bool:
        """True if the link works, and no fragments of datagrams wait at its ends.

        If other fragments of its datagram were lost, a fragment waits for 30 s in memory that all datagrams share. When
        this memory is full, no fragmented datagram arrives (``ipfrag_time`` and ``ipfrag_high_thresh`` in the kernel's
        ip-sysctl.rst).
        """
        running = all(each.is_running for each in self._holders) and (self._relay is None or self._relay.poll() is None)
        return running and not any(_fragments_wait(each.namespace.tables) for each in self._holders)

    def named(self, sites: tuple[str, ...]) -> tuple[Namespace, ...]:
        """Return the namespaces, named as these sites, the senders' first."""
        return tuple(
            msgspec.structs.replace(holder.namespace, name=name)
            for holder, name in zip(self._holders, sites, strict=True)
        )

    def end(self) -> None:
        """Remove the link and the namespaces."""
        if self._relay is not None:
            end_process(self._relay)
        for holder in self._holders:
            holder.end()


def _fragments_wait(tables: str) -> bool:
    """Say whether fragments wait to be reassembled in this namespace."""
    for name, line in (("sockstat", "FRAG:"), ("sockstat6", "FRAG6:")):
        with contextlib.suppress(OSError):
            count = Path(tables, name).read_text(encoding="ascii").partition(f"{line} inuse ")[2]
            if count and count.split()[0] != "0":
                return True
    return False


async def join(text: str) -> Joined:
    """Create two namespaces and a link with these properties.

    Raises WorkerFailedError if the link cannot be emulated.
    """
    link = parse_link(text)
    first = await Holder.start("first")
    try:
        second = await Holder.start("second", first)
    except BaseException:
        first.end()
        raise
    holders = (first, second)
    relay: subprocess.Popen[bytes] | None = None
    try:
        how = await _set_up(holders, link, relayed=False)
        if how is None:
            relay, relay_how = await _relay(holders, link)
            how = (relay_how, *(await _set_up(holders, link, relayed=True) or ()))
    except BaseException:
        Joined(holders, "", relay).end()
        raise
    return Joined(holders, "; ".join(how), relay)


async def _set_up(holders: tuple[Holder, Holder], link: Link, *, relayed: bool) -> tuple[str, ...] | None:
    """Set up both ends. Return how the link is emulated. None: the link has a delay, but the kernel lacks netem."""
    how: dict[str, None] = {}
    for number, holder in enumerate(holders, start=1):
        asked = EndRequest(number, link, holders[2 - number].pid, relayed)
        answer = await _end_set_up(holder, msgspec.json.encode(asked))
        if answer.lacks_netem:
            return None
        how |= dict.fromkeys(answer.how)
    return tuple(how)


async def _end_set_up(holder: Holder, asked: bytes) -> EndAnswer:
    try:
        reply = await ask([*holder.namespace.prefix, *_program("wire")], asked, timeout_s=SET_UP_S)
        answer = msgspec.json.decode(reply.out, type=EndAnswer)
    except NoAnswerError as error:
        raise WorkerFailedError("refused", f"the link could not be set up: {error}") from None
    except msgspec.DecodeError:
        words = reply.words.splitlines()[-1:] or ["no output"]
        raise WorkerFailedError("refused", f"the link could not be set up: {words[0]}") from None
    if answer.error:
        raise WorkerFailedError("refused", answer.error)
    return answer


def _program(name: str) -> tuple[str, ...]:
    """Return the argv that runs a module of this package, with the import paths of this process."""
    return ("env", f"PYTHONPATH={os.pathsep.join(sys.path)}", sys.executable, "-m", f"middlemark.sites.{name}")


async def _relay(holders: tuple[Holder, Holder], link: Link) -> "tuple[subprocess.Popen[bytes], str]":
    """Start the relay; return the process and its description.

    Raises WorkerFailedError if the relay does not start or is too slow.
    """
    process = subprocess.Popen(
        [*holders[0].namespace.prefix, *_program("relay")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        asked = RelayRequest(link, f"/proc/{holders[1].pid}/ns/net")
        process.stdin.write(msgspec.json.encode(asked) + b"\n")
        process.stdin.flush()
        answer = msgspec.json.decode(await asyncio.to_thread(process.stdout.readline), type=RelayAnswer)
        most_bps = RELAY_SHARE * answer.frames_hz * 8 * (link.mtu + HEADER_BYTES + BEYOND_BYTES)
        if answer.error:
            text = f"a delay without netem needs a relay, which does not start: {answer.error}"
            raise WorkerFailedError("refused", text, NETEM)
        if link.rate_bps > most_bps:
            most = link_text(Link(rate_bps=float(f"{most_bps:.2g}")))
            text = f"a delay without netem needs a relay, which moves at most {most} on this machine"
            raise WorkerFailedError("refused", text, f"choose a lower rate, or {NETEM}")
    except (BrokenPipeError, msgspec.DecodeError):
        end_process(process)
        raise WorkerFailedError("refused", "the relay for the delay ended before it was ready", NETEM) from None
    except BaseException:
        end_process(process)
        raise
    how = "delay, jitter and reordering by a relay between TAP devices in the two network namespaces; the relay moves"
    return process, f"{how} {answer.frames_hz:,.0f} frames a second here when idle"
