"""Starts a run in namespaces without other processes, and observes its processes, its residue and its end."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attempts import Ended

ROOT = Path(__file__).resolve().parents[2]
HANGS_S = 100.0
"""Seconds after which a command counts as hung, more than any deadline of these trials on a busy machine."""
PYTHON = (sys.executable, "-W", "error", "-m", "middlemark")
CHECKOUT = (str(ROOT / "middlemark"),)
FILLER = "/filler"
"""The file that fills a disk, which does not count as residue."""
_OURS = frozenset(int(name) for name in os.listdir("/proc") if name.isdigit())


class Start:
    """The arguments, limits and environment with which the command starts. A fault may change them."""

    def __init__(self, folder: Path) -> None:
        """Set the defaults for a start in this folder."""
        self.folder = folder
        self.out = folder / "runs"
        self.cwd = folder / "cwd"
        self.command: Sequence[str] = PYTHON
        self.prefix: tuple[str, ...] = ()
        self.shell = ""
        """Shell commands before the start, each with its semicolon."""
        self.redirected = ""
        self.environment: dict[str, str | None] = {
            "PYTHONPATH": str(ROOT / "src"),
            "MIDDLEMARK_WORKERS": str(folder / "workers"),
            "MIDDLEMARK_SETUP": "off",
            "TMPDIR": str(folder / "tmp"),
            "HOME": str(folder / "home"),
        }
        for each in ("workers", "tmp", "home", "cwd"):
            (folder / each).mkdir()

    def begin(self, *words: str) -> "Running":
        """Start the command."""
        environment = {**os.environ, **self.environment}
        script = f'{self.shell} exec "$@" {self.redirected}'
        # PATH may be unset, so bash has its full path.
        argv = [*self.prefix, "/bin/bash", "-c", script, "bash", *self.command, *words]
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.cwd,
            env={name: value for name, value in environment.items() if value is not None},
        )
        return Running(process, self.out, words)


class Running:
    """A started command and all processes that it has started."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, words: Sequence[str]) -> None:
        """``out`` is the folder for the command's run."""
        self.process = process
        self.out = out
        self.words = tuple(words)

    @property
    def folder(self) -> Path | None:
        """The run's folder, once there is one."""
        return next((path.parent for path in self.out.glob("*/run.json")), None)

    def trials(self) -> int:
        """Return the number of stored trials so far."""
        with contextlib.suppress(OSError):
            return (self.folder / "trials.jsonl").read_bytes().count(b"\n") if self.folder else 0
        return 0

    def workers(self) -> list[int]:
        """Return the pids of a trial's workers, without workers that only describe themselves."""
        found = [(pid, words_of(pid)) for pid in sorted(strangers())]
        return [pid for pid, argv in found if b"middlemark-worker-" in argv[0] and not argv[1].startswith(b"--")]

    def witnesses(self) -> list[int]:
        """Return the pids of the witnesses to the noise."""
        return [pid for pid in strangers() if b"middlemark-witness" in words_of(pid)[0]]

    def companions(self) -> list[int]:
        """Return the pids of daemons: children of the command that are not Middlemark's own."""
        mine = {pid: words_of(pid) for pid in strangers() if parent_of(pid) == self.process.pid}
        not_yet = (words_of(self.process.pid), [b"", b""])  # before its exec, a child has its parent's command line
        return [
            pid
            for pid, argv in mine.items()
            if argv not in not_yet and b"middlemark-w" not in argv[0] and argv[0] != b"setpriv"
        ]

    def until(self, condition: Callable[[], Any], timeout_s: float = 20.0) -> Any:
        """Wait for a true value of the condition and return it; None if the command ends or the time is over."""
        deadline = time.monotonic() + timeout_s
        while not (found := condition()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                return None
            time.sleep(0.005)
        return found

    def until_gone(self, timeout_s: float) -> None:
        """Wait for the end of all processes that the command has started."""
        deadline = time.monotonic() + timeout_s
        while strangers() and time.monotonic() < deadline:
            time.sleep(0.01)

    def signal(self, pid: int, number: int) -> bool:
        """Signal the command or one of its processes; return False if that process has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
            return True
        return False

    def ended(self) -> Ended:
        """Wait for the end of the command, and kill the processes that remain."""
        try:
            out, err = self.process.communicate(timeout=HANGS_S)
        except subprocess.TimeoutExpired:
            states = ", ".join(f"{words_of(pid)[0].decode(errors='replace')} {pid}" for pid in strangers())
            end_all()
            out, err = self.process.communicate()
            return Ended(self.words, None, "", f"hung; processes: {states}; {err.decode(errors='replace')[-500:]}")
        return Ended(self.words, self.process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def strangers() -> list[int]:
    """Return the living processes that were started after this driver."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if pid not in _OURS and _stat(pid)[:1] not in ([], [b"Z"], [b"X"])]


def words_of(pid: int) -> list[bytes]:
    """Return a process's command line as words. If it has fewer than two, empty words are added."""
    with contextlib.suppress(OSError):
        return [*Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"), b"", b""]
    return [b"", b""]


def parent_of(pid: int) -> int:
    """Return a process's parent, or 0 if the process has ended."""
    return int((_stat(pid) or [b"", b"0"])[1])


def catches(pid: int, number: signal.Signals) -> bool:
    """Return true if a process has its own handler for a signal, or blocks it."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
        masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigCgt:", "SigBlk:"))]
        return any(mask >> (number - 1) & 1 for mask in masks)
    return False


def _stat(pid: int) -> list[bytes]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return []


def end_all() -> None:
    """Kill every process except the driver. These namespaces contain no processes of other users."""
    while found := strangers():
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


class Residue:
    """Files and processes that a run leaves behind, compared with the state before it."""

    def __init__(self, start: Start) -> None:
        """Record the files that exist now."""
        self._places = (Path("/dev/shm"), Path("/tmp"), start.folder / "tmp")
        self._before = self._files()
        self._mounts = len(_mounts())

    def _files(self) -> Mapping[str, None]:
        places = [place for place in self._places if place.is_dir() and os.access(place, os.W_OK)]
        found = dict.fromkeys(str(path) for place in places for path in place.iterdir())
        segments = Path("/proc/sysvipc/shm").read_text(encoding="ascii").splitlines()[1:]
        found |= dict.fromkeys(f"System V segment {line.split()[1]}" for line in segments)
        return {each: None for each in found if not each.endswith(FILLER)}

    def left(self, *, killed: bool = False) -> list[str]:
        """Return a description of each new file and process. ``killed``: ignore scratch folders without an owner."""
        words = {pid: b" ".join(words_of(pid)).decode(errors="replace") for pid in strangers()}
        processes = [f"process {pid} is left behind: {argv}" for pid, argv in words.items()]
        files = [path for path in self._files() if path not in self._before and not (killed and _empty(path))]
        return processes + [f"{path} is left behind" for path in files]

    def clear(self) -> None:
        """Remove the residue for the next attempt."""
        end_all()
        for disk in reversed(_mounts()[self._mounts :]):
            subprocess.run(["umount", "-l", disk], check=False)
        for path in map(Path, self._files()):
            if str(path) not in self._before:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _empty(path: str) -> bool:
    """Return true for an empty scratch folder without an owner. A later run removes such a folder after a minute."""
    folder = Path(path)
    return folder.name.startswith("middlemark-") and folder.is_dir() and not any(folder.iterdir())


def _mounts() -> list[str]:
    return [line.split()[1] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]


def is_isolated() -> bool:
    """Return true if this process is alone in its namespaces (scripts/alone)."""
    return b"--entered" in words_of(1)


def new_folder() -> Path:
    """Return a new folder for an attempt, readable by all users."""
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    folder.chmod(0o755)
    return folder
