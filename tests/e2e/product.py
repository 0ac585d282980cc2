"""Runs Middlemark as a user does: `python -m middlemark …` in its own process, observed from outside."""

import contextlib
import functools
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from middlemark.model.description import Description
from middlemark.sites.residue import clear_abandoned
from middlemark.workers.find import find_workers
from outputs import read_output

ROOT = Path(__file__).resolve().parents[2]
MARK = "MIDDLEMARK_TEST_RUN"
"""An environment variable with a different value for each run. Processes inherit it, so a test can find all processes
of a run."""

Mount = Callable[[str], Path]
"""The fixture ``mount``: mounts a small file system, given its options, and returns its folder."""

PATIENCE_S = 300.0
"""Seconds after which a command counts as hung, long enough for a busy machine."""


@functools.cache
def descriptions() -> dict[str, Description]:
    """Return each adapter's description by its name. Asks the workers only once."""
    return {each.description.name: each.description for each in find_workers()[0]}


class Ended:
    """A run that has ended. No run may print a traceback or leave a process behind, even if it failed or was killed."""

    def __init__(self, verb: str, code: int, out: str, err: str, seconds: float, folder: Path) -> None:
        self.verb = verb
        self.code = code
        self.out = out
        self.err = err
        self.seconds = seconds
        self.folder = folder

    @functools.cached_property
    def document(self) -> Any:
        """The document that `--format json` printed. It is validated only once, because that takes a second."""
        return read_output({"import": "run"}.get(self.verb, self.verb), self.out)

    @property
    def cells(self) -> dict[str, Any]:
        """The document's cells by the name of their sweep."""
        return {cell["name"].partition(": ")[2] or cell["name"]: cell for cell in self.document["cells"]}

    @property
    def kept(self) -> list[Any]:
        """The lines of trials.jsonl, each of which must be complete."""
        return [json.loads(line) for line in (self.folder / "trials.jsonl").read_text().splitlines()]

    @property
    def run_file(self) -> Any:
        return json.loads((self.folder / "run.json").read_text())


class Run:
    """A run that is still in progress."""

    def __init__(self, verb: str, process: subprocess.Popen[str], mark: str, out: Path) -> None:
        self.verb = verb
        self.process = process
        self.mark = mark
        self.out = out
        self.began = time.monotonic()

    @property
    def folder(self) -> Path:
        """The run's folder, which must exist."""
        return next(path.parent for path in self.out.glob("*/run.json"))

    def trials(self) -> int:
        """The number of stored trials so far."""
        with contextlib.suppress(StopIteration, FileNotFoundError):
            return (self.folder / "trials.jsonl").read_bytes().count(b"\n")
        return 0

    def children(self) -> list[int]:
        """The pids of the run's living processes."""
        return [pid for pid in marked(self.mark) if pid != self.process.pid]

    def workers(self, adapter: str) -> list[int]:
        """The pids of the trial's workers in the order of their start, the ping first.

        Workers that only describe themselves do not count.
        """
        name = f"middlemark-worker-{adapter}".encode()
        words = {pid: _read(pid, "cmdline").split(b"\0") for pid in self.children()}
        return [pid for pid, argv in words.items() if name in argv[0] and not any(each[:2] == b"--" for each in argv)]

    def companions(self) -> list[int]:
        """The pids of the companions that an adapter brings itself, such as a router."""
        return [pid for pid in self.children() if b"--companion" in _read(pid, "cmdline").split(b"\0")]

    def measuring(self) -> list[int]:
        """The pids of the null workers once all roles have started their threads; empty before that."""
        pids = self.workers("null")
        return pids if len(pids) == 2 and all(len(tasks(pid)) >= 2 for pid in pids) else []

    def signal(self, number: int) -> float:
        """Send the signal. Return the time of sending in s of time.monotonic()."""
        self.process.send_signal(number)
        return time.monotonic()

    def ended(self, timeout_s: float = PATIENCE_S) -> Ended:
        """Wait for the end of the run."""
        try:
            out, err = (text or "" for text in self.process.communicate(timeout=timeout_s))
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        seconds = time.monotonic() - self.began
        folder = next((path.parent for path in self.out.glob("*/run.json")), self.out)
        assert "Traceback" not in err, err
        assert "Traceback" not in out, out
        # Except after SIGKILL, all processes must have ended before the launcher.
        if self.process.returncode != -signal.SIGKILL:
            assert self.children() == [], f"left behind: {[_read(pid, 'cmdline') for pid in self.children()]}"
        return Ended(self.verb, self.process.returncode, out, err, seconds, folder)

    def interrupted(self, timeout_s: float = PATIENCE_S) -> tuple[int, str]:
        """Wait for the end of a run that may have measured nothing. Return its exit code and stderr."""
        _, err = self.process.communicate(timeout=timeout_s)
        until(lambda: self.children() == [], 20.0)  # the kernel kills them with their parent, which takes a moment
        return self.process.returncode, err

    def kill(self) -> None:
        """Kill the run and its processes after a failed test."""
        for pid in marked(self.mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.communicate()


class Bench:
    """A folder for suites, results and temporary files, in which a test runs Middlemark."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "runs"
        self.scratch = folder / "tmp"
        self.scratch.mkdir(parents=True)
        self.runs: list[Run] = []

    def suite(self, text: str, name: str = "days") -> str:
        """Write a suite, and return its path."""
        path = self.folder / f"{name}.toml"
        path.write_text(text)
        return str(path)

    def start(
        self,
        *arguments: str,
        command: Sequence[str] = (sys.executable, "-W", "error", "-m", "middlemark"),
        environment: Mapping[str, str] | None = None,
        out: Path | None = None,
        **popen: Any,
    ) -> Run:
        """Start `middlemark ARGUMENTS`. The verb `run` stores its results in this folder."""
        mark = secrets.token_hex(8)
        self.out = out or self.folder / f"runs-{len(self.runs)}"
        where = ["--out", str(self.out)] if arguments[0] == "run" and not {"--out", "--resume"} & {*arguments} else []
        process = subprocess.Popen(
            [*command, *arguments, *where],
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                "cwd": self.folder,
                "env": {
                    **os.environ,
                    "PYTHONPATH": str(ROOT / "src"),
                    "TMPDIR": str(self.scratch),
                    MARK: mark,
                    **(environment or {}),
                },
                **popen,
            },
        )
        run = Run(arguments[0], process, mark, self.out)
        self.runs.append(run)
        return run

    def run(self, *arguments: str, timeout_s: float = PATIENCE_S, **more: Any) -> Ended:
        """Run the command to its end, and check that it has left nothing behind."""
        ended = self.start(*arguments, **more).ended(timeout_s)
        assert self.leftovers() == [], "scratch folders are left behind"
        return ended

    def run_leaving(self, *arguments: str) -> Ended:
        """Run the command to its end, without checking that no scratch folder is left behind."""
        return self.start(*arguments).ended()

    def leftovers(self) -> list[str]:
        """The files in the folder for temporary files."""
        return sorted(path.name for path in self.scratch.iterdir())

    def close(self) -> None:
        """Kill processes that a failed test left running, and remove files that a killed launcher could not remove."""
        for run in self.runs:
            if run.process.poll() is None or run.children():
                run.kill()
        before = tempfile.tempdir
        tempfile.tempdir = str(self.scratch)
        try:
            clear_abandoned()
        finally:
            tempfile.tempdir = before


def marked(mark: str) -> list[int]:
    """Return the living processes of one run, in the order of their start."""
    wanted = f"{MARK}={mark}".encode()
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    found = [pid for pid in pids if wanted in _read(pid, "environ").split(b"\0")]
    return sorted(found, key=lambda pid: (_started(pid), pid))


def robot(size: str, rate: int) -> str:
    """Return a suite: a robot sends scans of this size to its recorder and to a planner at the other site."""
    return f"""
[defaults]
processes = 2
duration = "1s"

[[workload.topic]]
name = "scan"
from = "lidar"
to = ["planner", "recorder"]
size = "{size}"
rate = {rate}
deadline = "{1000 // rate}ms"

[[workload.topic]]
name = "velocity"
from = "planner"
to = "wheels"
size = 100
after = "scan"
deadline = "{2000 // rate}ms"

[workload.site]
base = ["planner"]
robot = ["lidar", "recorder", "wheels"]
"""


def until(condition: Callable[[], Any], timeout_s: float = PATIENCE_S) -> Any:
    """Wait until the condition returns a true value, and return that value; fail after the timeout."""
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, f"nothing within {timeout_s:g} s"
        time.sleep(0.005)
    return found


def tasks(pid: int) -> list[Path]:
    """Return the /proc folders of a process's threads; none if the process has ended."""
    with contextlib.suppress(OSError):
        return list(Path(f"/proc/{pid}/task").iterdir())
    return []


def _started(pid: int) -> int:
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return int(fields[19]) if len(fields) > 19 else 0


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
