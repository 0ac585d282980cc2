"""Network namespaces: created without a name, held by a process that dies with this one.

They have no file. The kernel removes them and their interfaces when the holder and the last process in them have ended,
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
"""The prefix of the ends' addresses: the senders' end is 1, the receivers' 2."""


class Namespace(msgspec.Struct, frozen=True, kw_only=True):
    """A network namespace for roles, as seen from outside."""

    name: str
    """The site it stands for."""
    prefix: tuple[str, ...] = ()
    """The start of an argv that runs a process in it."""
    tables: str = "/proc/net"
    """The folder with its counters and sockets."""
    interface: str = "lo"
    """The interface that the trial's traffic uses."""


_LO_UP = "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sH14x', b'lo', 0x49))"
"""A Python program: SIOCSIFFLAGS, with IFF_UP, IFF_LOOPBACK and IFF_RUNNING."""


OWN = Namespace(name="here")
"""The namespace of this process."""


class Holder:
    """The process that holds one namespace. It ends when its stdin closes or this process dies."""

    def __init__(self, process: subprocess.Popen[bytes], namespace: Namespace) -> None:
        """Use :meth:`start`."""
        self.namespace = namespace
        self.pid = process.pid
        self._process = process

    @classmethod
    async def start(cls, name: str, beside: "Holder | None" = None) -> "Holder":
        """Create a namespace; ``beside``: one that it will be joined to.

        Without root both are in a user namespace in which this user is root. Raises WorkerFailedError.
        """
        root = os.geteuid() == 0
        owner = () if root else ("--user", "--map-root-user")
        within: tuple[str, ...] = ()
        if beside is not None and not root:
            owner, within = (), _entering(f"--user=/proc/{beside.pid}/ns/user", "--preserve-credentials")
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
            advice = "run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)"
            raise WorkerFailedError("refused", f"no network namespace can be made here: {reply or 'no answer'}", advice)
        user = () if root else (f"--user=/proc/{(beside or process).pid}/ns/user", "--preserve-credentials")
        prefix = _entering(*user, f"--net=/proc/{process.pid}/ns/net")
        tables = f"/proc/{process.pid}/net"
        return cls(process, Namespace(name=name, prefix=prefix, tables=tables, interface=INTERFACE))

    @classmethod
    async def isolated(cls) -> "Holder":
        """Create a namespace that has only lo, and set lo up. Raises WorkerFailedError."""
        holder = await cls.start("here")
        holder.namespace = msgspec.structs.replace(holder.namespace, interface="lo")
        argv = [*holder.namespace.prefix, sys.executable, "-IS", "-c", _LO_UP]
        ended = await asyncio.to_thread(subprocess.run, argv, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            holder.end()
            why = ended.stderr.strip().splitlines()[-1:] or ["no answer"]
            raise WorkerFailedError("refused", f"lo of a network namespace does not come up: {why[0]}")
        return holder

    @property
    def is_running(self) -> bool:
        """True if it still holds the namespace."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it. The namespace exists until its last process ends."""
        end_process(self._process)


def _entering(*which: str) -> tuple[str, ...]:
    return ("nsenter", *which, "--")


def _first_line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode(errors="replace").strip()


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap the process; close its pipes."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
