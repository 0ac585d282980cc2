"""Two network namespaces joined by an emulated link, for as many trials as leave nothing on it."""

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
"""Of what the relay moves alone: the other direction and the roles want a processor too."""
NETEM = "load netem (modprobe sch_netem), which does that in the kernel"


class EndRequest(msgspec.Struct, frozen=True):
    """What is asked of one end: number 1 makes the pair, number 2 is the other."""

    number: int
    link: Link
    peer_pid: int
    """A process in the other namespace."""
    relayed: bool
    """A relay has made both ends, and delays what is under way."""


class EndAnswer(msgspec.Struct, frozen=True):
    """How the end emulates the link; or what cannot be."""

    how: tuple[str, ...] = ()
    error: str = ""
    lacks_netem: bool = False


class RelayRequest(msgspec.Struct, frozen=True):
    """What is asked of the relay."""

    link: Link
    other: str
    """Path of the second namespace."""


class RelayAnswer(msgspec.Struct, frozen=True):
    """Both ends are there; or why they cannot be."""

    frames_hz: float = 0.0
    """Full frames a second that it moves from one end to the other, its own sending of them included."""
    error: str = ""


class Joined:
    """Two namespaces and what joins them."""

    def __init__(self, holders: tuple[Holder, Holder], how: str, relay: "subprocess.Popen[bytes] | None") -> None:
        """Use :func:`join`."""
        self.how = how
        """How the link is emulated, in words."""
        self._holders = holders
        self._relay = relay

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that carry frames."""
        return () if self._relay is None else (self._relay.pid,)

    @property
    def is_fresh(self) -> bool:
        """Whether all that holds and carries it still lives, and no parts of datagrams wait at its ends.

        Parts whose others were lost wait for 30 s, in a memory that all datagrams share: where it is full, nothing that
        comes in parts arrives any more (``ipfrag_time``, ``ipfrag_high_thresh`` in the kernel's ip-sysctl.rst).
        """
        lives = all(each.lives for each in self._holders) and (self._relay is None or self._relay.poll() is None)
        return lives and not any(_parts_wait(each.namespace.tables) for each in self._holders)

    def named(self, sites: tuple[str, ...]) -> tuple[Namespace, ...]:
        """Return the namespaces under the names of those sites, the senders' first."""
        return tuple(
            msgspec.structs.replace(holder.namespace, name=name)
            for holder, name in zip(self._holders, sites, strict=True)
        )

    def end(self) -> None:
        """Remove both."""
        if self._relay is not None:
            end_process(self._relay)
        for holder in self._holders:
            holder.end()


def _parts_wait(tables: str) -> bool:
    """Say whether datagrams wait there to be put together."""
    for name, line in (("sockstat", "FRAG:"), ("sockstat6", "FRAG6:")):
        with contextlib.suppress(OSError):
            told = Path(tables, name).read_text(encoding="ascii").partition(f"{line} inuse ")[2]
            if told and told.split()[0] != "0":
                return True
    return False


async def join(text: str) -> Joined:
    """Make two namespaces with that link between them. Raises WorkerFailedError with what cannot be emulated."""
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
            relay, moved = await _relay(holders, link)
            how = (moved, *(await _set_up(holders, link, relayed=True) or ()))
    except BaseException:
        Joined(holders, "", relay).end()
        raise
    return Joined(holders, "; ".join(how), relay)


async def _set_up(holders: tuple[Holder, Holder], link: Link, *, relayed: bool) -> tuple[str, ...] | None:
    """Return how both ends were set up; None: a delay is wanted, and the kernel has no netem."""
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
        said = await ask([*holder.namespace.prefix, *_program("wire")], asked, timeout_s=SET_UP_S)
        answer = msgspec.json.decode(said.out, type=EndAnswer)
    except NoAnswerError as error:
        raise WorkerFailedError("refused", f"the link is not set up: {error}") from None
    except msgspec.DecodeError:
        words = said.words.splitlines()[-1:] or ["it says nothing"]
        raise WorkerFailedError("refused", f"the link is not set up: {words[0]}") from None
    if answer.error:
        raise WorkerFailedError("refused", answer.error)
    return answer


def _program(name: str) -> tuple[str, ...]:
    """Return the argv of a program of this package, wherever this process has found it."""
    return ("env", f"PYTHONPATH={os.pathsep.join(sys.path)}", sys.executable, "-m", f"middlemark.sites.{name}")


async def _relay(holders: tuple[Holder, Holder], link: Link) -> "tuple[subprocess.Popen[bytes], str]":
    """Start the relay and return it with what it can do. Raises WorkerFailedError where that is not enough."""
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
            text = f"a delay without netem goes through a relay, which does not start: {answer.error}"
            raise WorkerFailedError("refused", text, NETEM)
        if link.rate_bps > most_bps:
            most = link_text(Link(rate_bps=float(f"{most_bps:.2g}")))
            text = f"a delay without netem goes through a relay, which moves {most} here at most"
            raise WorkerFailedError("refused", text, f"take a lower rate, or {NETEM}")
    except (BrokenPipeError, msgspec.DecodeError):
        end_process(process)
        raise WorkerFailedError("refused", "the relay of a delay ended before it was ready", NETEM) from None
    except BaseException:
        end_process(process)
        raise
    how = "delay, jitter and reordering by a relay between two TAP devices, one in each network namespace, which moves"
    return process, f"{how} {answer.frames_hz:,.0f} frames a second here when it does nothing else"
