"""What a trial's processes have started and left behind: who has a session of its own outlives a worker that is killed.

All of them inherit the trial's mark in their environment, wherever in the tree of processes they are by now.
"""

import contextlib
import os
import signal
import time
from pathlib import Path

MARK = "MIDDLEMARK_TRIAL"
PATIENCE_S = 2.0


def end_descendants(trial: str) -> tuple[str, ...]:
    """Kill every process that has the mark of that trial. Returns who they were."""
    ended: dict[int, str] = {}
    deadline = time.monotonic() + PATIENCE_S
    while (found := _killed(trial)) and time.monotonic() < deadline:
        ended |= {pid: name for pid, name in found.items() if pid not in ended}
        time.sleep(0.002)
    what = "outlived the worker that it descends from, and was killed"
    return tuple(f"{name} (pid {pid}) {what}" for pid, name in ended.items())


def _killed(trial: str) -> dict[int, str]:
    """Return pid → name of those that were alive."""
    mark = f"{MARK}={trial}".encode()
    found: dict[int, str] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError), open(os.pidfd_open(int(name)), "rb", buffering=0) as process:
            if mark in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                comm = Path(f"/proc/{name}/comm").read_text(encoding="utf-8", errors="replace")
                signal.pidfd_send_signal(process.fileno(), signal.SIGKILL)
                found[int(name)] = comm.strip()
    return found
