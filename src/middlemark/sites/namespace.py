"""Network namespaces without a name. A process holds each namespace open, and dies with this process.

A namespace has no file. The kernel removes it and its interfaces when the holder and the last process in it have ended,
however the run ended.
"""

import asyncio
import contextlib
import os
import subprocess
import sys

import msgspec

from middlemark.sites.channel import WorkerFailedError

INTERFACE = "mm0"
"""The name of a link's end in each namespace."""
NETWORK = "10.213.0."
"""The first bytes of the addresses of a link's ends. The senders' address ends with 1, the receivers' with 2."""


class Namespace(msgspec.Struct, frozen=True, kw_only=True):
    """A network namespace for roles, as other processes see it."""

    name: str
    """The name of the site that the namespace represents."""
    prefix: tuple[str, ...] = ()
    """The first arguments of a command that runs in the namespace."""
    tables: str = "/proc/net"
    """The folder in /proc with the namespace's counters and sockets."""
    interface: str = "lo"
    """The interface that carries the trial's traffic."""


_SET_LO = "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sH14x', b'lo', {}))"
"""A Python program that sets lo up or down. 0x8914 is SIOCSIFFLAGS."""
_LO_FLAGS = {True: 0x49, False: 0x48}
"""up → IFF_LOOPBACK and IFF_RUNNING, with or without IFF_UP."""


OWN = Namespace(name="here")
"""The namespace of this process."""


class Holder:
    """The process that keeps a namespace open. It ends when its stdin closes, or when this process dies."""

    def __init__(self, process: subprocess.Popen[bytes], namespace: Namespace) -> None:
        """Called by :meth:`start`."""
        self.namespace = namespace
        self.pid = process.pid
        self._process = process

    @classmethod
    async def start(cls, name: str, other: "Holder | None" = None) -> "Holder":
        """Create a namespace. ``other``: the holder of the namespace to which the new one will be joined.

        Without root, both namespaces are in one user namespace, in which this user is root. Raises WorkerFailedError.
        """
        root = os.geteuid() == 0
        owner = () if root else ("--user", "--map-root-user")
        within: tuple[str, ...] = ()
        if other is not None and not root:
            owner, within = (), _entering(f"--user=/proc/{other.pid}/ns/user", "--preserve-credentials")
        hold = ("setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", "echo held; exec cat")
        try:
            process = subprocess.Popen(
                [*within, "unshare", *owner, "--net", "--", *hold],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise WorkerFailedError("refused", f"{error.filename} is not installed", "install util-linux") from None
        try:
            reply = await asyncio.to_thread(_first_line, process)
        except BaseException:
            end_process(process)
            raise
        if reply != "held":
            end_process(process)
            advice = "run as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1"
            text = f"no network namespace can be created on this machine: {reply or 'no answer'}"
            raise WorkerFailedError("refused", text, advice)
        user = () if root else (f"--user=/proc/{(other or process).pid}/ns/user", "--preserve-credentials")
        prefix = _entering(*user, f"--net=/proc/{process.pid}/ns/net")
        tables = f"/proc/{process.pid}/net"
        return cls(process, Namespace(name=name, prefix=prefix, tables=tables, interface=INTERFACE))

    @classmethod
    async def isolated(cls) -> "Holder":
        """Create a namespace that has only lo, and set lo up, also for multicast. Raises WorkerFailedError."""
        holder = await cls.start("here")
        holder.namespace = msgspec.structs.replace(holder.namespace, interface="lo")
        try:
            await asyncio.to_thread(set_lo, holder.namespace, up=True)
        except WorkerFailedError:
            holder.end()
            raise
        return holder

    @property
    def is_running(self) -> bool:
        """True if the process still runs and so keeps the namespace open."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the holder. The namespace exists until the last process in it ends."""
        end_process(self._process)


def set_lo(namespace: Namespace, *, up: bool) -> None:
    """Set lo of a namespace up, also for multicast, or down. Raises WorkerFailedError."""
    argv = [*namespace.prefix, sys.executable, "-IS", "-c", _SET_LO.format(_LO_FLAGS[up])]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        why = ended.stderr.strip().splitlines()[-1:] or ["no answer"]
        how = "up" if up else "down"
        raise WorkerFailedError("refused", f"the interface lo of a network namespace cannot be set {how}: {why[0]}")
    if up:
        # LCM needs a route to its group. Without iproute2 there is none, and LCM reports that.
        route = [*namespace.prefix, "ip", "route", "add", "224.0.0.0/4", "dev", "lo"]
        with contextlib.suppress(FileNotFoundError):
            subprocess.run(route, capture_output=True, check=False)


def _entering(*which: str) -> tuple[str, ...]:
    return ("nsenter", *which, "--")


def _first_line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode(errors="replace").strip()


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap the process, and close its pipes."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
