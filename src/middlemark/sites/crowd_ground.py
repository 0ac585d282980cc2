"""Read the use of a crowd's processes, kill them, find what they leave, and pause their network."""

import asyncio
import contextlib
import os
import signal
import stat
import time
from collections.abc import Iterable, Sequence

from middlemark.model.crowd import LeftBehind
from middlemark.sites.channel import Channel, WorkerFailedError
from middlemark.sites.evidence import SHM, bound_paths
from middlemark.sites.namespace import Namespace, set_lo
from middlemark.sites.processes import Processes


class CrowdGround:
    """The processes of a crowd and their network namespace."""

    def __init__(self, processes: Processes, namespace: Namespace) -> None:
        """Create it for the processes of a trial, which may change later."""
        self._processes = processes
        self._namespace = namespace

    def cpu_ns(self, pids: Iterable[int]) -> int:
        """Return the processor time that these processes have used together; those that have ended count as 0."""
        used = 0
        for pid in pids:
            with contextlib.suppress(OSError):
                used += time.clock_gettime_ns(~pid << 3 | 2)  # the kernel's clock of another process, as clockid_t
        return used

    async def kill(self, workers: Sequence[Channel]) -> None:
        """Kill these workers at the same time. The end of the trial then does not report them as unclean exits."""
        pids = {each.pid for each in workers}
        doomed = [each for each in self._processes.workers if each.pid in pids]
        self._processes.workers = [each for each in self._processes.workers if each.pid not in pids]
        for each in doomed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(each.pid, signal.SIGKILL)
        await asyncio.gather(*(each.kill() for each in doomed))

    def others(self, workers: Sequence[Channel]) -> list[int]:
        """Return the pids of the trial's processes without these workers."""
        pids = {each.pid for each in workers}
        companions = [each.process.pid for each in self._processes.companions]
        return [*(each.pid for each in self._processes.workers if each.pid not in pids), *companions]

    def used_paths(self, pids: Iterable[int]) -> frozenset[str]:
        """Return the paths of files and of Unix sockets that the processes have open or mapped."""
        pids = list(pids)
        found: set[str] = set(bound_paths(pids, self._namespace))
        for pid in pids:
            with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
                found.update(path for line in maps for path in line.rstrip("\n").split(maxsplit=5)[5:])
            with contextlib.suppress(OSError):
                for descriptor in os.scandir(f"/proc/{pid}/fd"):
                    with contextlib.suppress(OSError):
                        found.add(os.readlink(descriptor.path))
        return frozenset(each for each in found if each.startswith("/"))

    def left_behind(self, before: Iterable[str], pids: Iterable[int]) -> LeftBehind:
        """Return those of the paths ``before`` that still exist, and that none of the processes uses."""
        segments = sockets = files = size = 0
        for path in set(before) - self.used_paths(pids):
            try:
                about = os.lstat(path)
            except OSError:
                continue
            size += about.st_blocks * 512
            if path.startswith(SHM):
                segments += 1
            elif stat.S_ISSOCK(about.st_mode):
                sockets += 1
            elif stat.S_ISREG(about.st_mode):
                files += 1
        return LeftBehind(segments=segments, sockets=sockets, files=files, bytes=size)

    async def pause_network(self, seconds: float) -> None:
        """Set lo down for this time. Raises WorkerFailedError if the crowd has no network of its own, or it fails."""
        if not self._namespace.prefix or self._namespace.interface != "lo":
            text = "the crowd has no network of its own, so its network cannot pause"
            raise WorkerFailedError("refused", text, "run as root, or allow user namespaces")
        try:
            set_lo(self._namespace, up=False)
            await asyncio.sleep(seconds)
        finally:
            set_lo(self._namespace, up=True)  # other trials use the same namespace
