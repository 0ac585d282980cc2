"""The faults. Each function draws a fault, prepares the start of the command, and returns a function that causes it."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from victim import CHECKOUT, FILLER, ROOT, Running, Start, catches

NOBODY = 65534
MEASURED = frozenset({0, 1, 3})
INTERRUPTED = frozenset({130, -signal.SIGINT})
"""Exit statuses of an interrupted command. A shell shows both as 130."""


class Hit(NamedTuple):
    """The results that are allowed after a fault. ``ends``: the allowed exit codes."""

    ends: frozenset[int]
    most_failed: int = 99
    """The largest allowed number of failed trials."""
    whole: bool = False
    """True if every planned trial must be stored, measured or failed."""
    named: int = 0
    """If not 0: a failed trial must name this pid."""
    killed: bool = False
    """True if the launcher could not remove its residue, so the next run must."""
    mute: bool = False
    """True if the command's output cannot be read."""
    others: tuple[Running, ...] = ()
    """Other commands that were started. Their exit codes must be among ``ends`` as well."""


Strike = Callable[[Running], Hit]
Planted = tuple[str, Strike]
"""A description of the fault, and the function that causes it."""


class Moment(NamedTuple):
    """A moment of a run: an event, and the seconds after it."""

    after: str
    seconds: float

    def __str__(self) -> str:
        """Describe the moment in words."""
        return f"{self.seconds * 1000:.0f} ms after {self.after}"

    def comes(self, running: Running) -> bool:
        """Wait for this moment; return False if the command has ended before."""
        happened = {
            "its start": lambda: True,
            "the first worker": lambda: running.workers() or running.trials(),
            "the first trial": running.trials,
        }[self.after]
        if not running.until(happened):
            return False
        time.sleep(self.seconds)
        return running.process.poll() is None


def moment_of(draw: random.Random, *, begun: bool = False) -> Moment:
    """Draw a moment of a run. ``begun``: not before the first worker."""
    after, most = draw.choice((("its start", 0.7), ("the first worker", 0.4), ("the first trial", 0.3))[begun:])
    return Moment(after, draw.uniform(0, most))


def of_worker(draw: random.Random, _: Start) -> Planted:
    """Signal a worker."""
    number = draw.choice(
        (signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT)
    )
    moment, which = moment_of(draw, begun=True), draw.randrange(4)

    def strike(running: Running) -> Hit:
        pids = running.until(running.workers) if moment.comes(running) else None
        if not pids or not running.signal(pid := pids[which % len(pids)], number):
            return Hit(frozenset({0}), most_failed=0, whole=True)
        named = 0 if number == signal.SIGTERM else pid
        return Hit(MEASURED, most_failed=1, whole=True, named=named)

    return f"{number.name} to worker {which} {moment}", strike


def of_bystander(draw: random.Random, _: Start) -> Planted:
    """Signal a daemon that the trial needs, or the witness, which it does not need."""
    number = draw.choice((signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGABRT))
    moment, whom = moment_of(draw, begun=True), draw.choice(("daemon", "witness"))

    def strike(running: Running) -> Hit:
        find = running.companions if whom == "daemon" else running.witnesses
        pids = running.until(find, 1.0) if moment.comes(running) else None
        if not pids or not running.signal(pids[0], number):
            return Hit(frozenset({0}), most_failed=0, whole=True)
        return Hit(MEASURED, most_failed=1 if whom == "daemon" else 0, whole=True)

    return f"{number.name} to the {whom} {moment}", strike


def of_launcher(draw: random.Random, start: Start) -> Planted:
    """Interrupt, stop or kill the command itself."""
    moment = moment_of(draw)
    number = draw.choice((signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGSTOP))
    again_s = draw.choice((None, None, 0.0, 0.05, 0.4)) if number in (signal.SIGINT, signal.SIGTERM) else None
    if draw.random() < 0.5 or moment.after == "its start":
        start.command = CHECKOUT

    def strike(running: Running) -> Hit:
        pid = running.process.pid
        if not moment.comes(running):
            return Hit(frozenset({0}), most_failed=0, whole=True)
        if number == signal.SIGSTOP:
            running.signal(pid, number)
            time.sleep(1.0)
            running.signal(pid, signal.SIGCONT)
            return Hit(frozenset({0}), most_failed=0, whole=True)
        # A shell or a Python that has just started has no handler yet.
        early = frozenset() if catches(pid, number) else frozenset({-number})
        running.signal(pid, number)
        if number in (signal.SIGKILL, signal.SIGHUP):
            return Hit(frozenset({-number, 0}), killed=True)
        if again_s is not None:
            time.sleep(again_s)
            running.signal(pid, number)
        return Hit(INTERRUPTED | early | {0}, most_failed=0)

    twice = "" if again_s is None else f", again {again_s:g} s later"
    return f"{number.name} to the launcher {moment}{twice}", strike


def of_limits(draw: random.Random, start: Start) -> Planted:
    """Set low limits: descriptors, memory, processes, file size."""
    limits = [
        ("-n", draw.randrange(5, 48)),
        ("-v", draw.randrange(40, 700) * 1000),
        ("-f", draw.choice((1, 8, 64, 200))),
    ]
    limits += [("-l", 0), ("-s", draw.choice((256, 512, 1024)))]
    if os.getuid() == 0 and all(folder.stat().st_mode & 1 for folder in (ROOT, *ROOT.parents)):
        limits += [("-u", draw.randrange(2, 24))] * 2
    option, value = draw.choice(limits)
    if option == "-u":  # this limit does not apply to root
        start.prefix = ("setpriv", f"--reuid={NOBODY}", "--clear-groups")
        for path in (start.folder, *start.folder.iterdir()):
            os.chown(path, NOBODY, -1)
    start.shell = f"ulimit {option} {value};"
    return f"ulimit {option} {value}", lambda _: Hit(MEASURED)


def of_streams(draw: random.Random, start: Start) -> Planted:
    """Close the command's output, or make writing to it block."""
    wheres = ("", "&-", "/dev/full", "> >(exit)")
    targets = {name: draw.choice(wheres) for name in ("0", "1", "2")}
    arrows = {"0": "<", "1": ">", "2": "2>"}
    targets["0"] = "" if targets["0"].startswith("> ") else targets["0"]
    redirections = [f"{arrows[name]}{where.removeprefix('>')}" for name, where in targets.items() if where]
    start.redirected = " ".join(redirections)
    ends = frozenset({0, 1}) if targets["1"] == "/dev/full" else frozenset({0})
    return f"streams: {start.redirected or 'as usual'}", lambda _: Hit(
        ends, most_failed=0, whole=True, mute=bool(targets["2"])
    )


def of_disk(draw: random.Random, start: Start) -> Planted:
    """Use a small disk, or one that fills up or becomes read-only, for the run, temporary files or shared memory."""
    which = draw.choice(("runs", "tmp", "shm"))
    disk = {"runs": start.folder / "runs", "tmp": start.folder / "tmp", "shm": Path("/dev/shm")}[which]
    options = draw.choice(
        (f"size={4 << draw.randrange(10)}k", f"size=64m,nr_inodes={draw.randrange(2, 12)}", "size=16m", "size=16m,ro")
    )
    does, moment = draw.choice(("stays", "is filled", "becomes read-only")), moment_of(draw)
    disk.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"{options},mode=1777", "tmpfs", str(disk)], check=True)

    def strike(running: Running) -> Hit:
        if does != "stays" and moment.comes(running):
            if does == "is filled":
                _fill(disk)
            else:
                subprocess.run(["mount", "-o", "remount,ro", str(disk)], capture_output=True, check=False)
        # A trial that does not fit into the available shared memory is refused before anything starts.
        return Hit(MEASURED | {2} if which == "shm" else MEASURED)

    when = "" if does == "stays" else f" {moment}"
    return f"the disk of {which} ({options}) {does}{when}", strike


def _fill(folder: Path) -> None:
    try:
        with Path(f"{folder}{FILLER}").open("wb", buffering=0) as file:
            while file.write(b"\0" * 4096):
                pass
    except OSError:
        pass


def of_folders(draw: random.Random, start: Start) -> Planted:
    """Remove a folder or a file before or while it is used."""
    which = draw.choice(("cwd", "tmp", "home", "runs", "samples", "trials.jsonl", "run.json", "scratch", "a worker"))
    moment = moment_of(draw)

    def strike(running: Running) -> Hit:
        if moment.comes(running):
            for path in _found(which, start, running):
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        return Hit(MEASURED | {2})

    return f"{which} is removed {moment}", strike


def _found(which: str, start: Start, running: Running) -> list[Path]:
    if which == "a worker":
        return sorted((start.folder / "workers").glob("middlemark-worker-*"))
    if which == "scratch":
        return sorted((start.folder / "tmp").glob("middlemark-*"))
    if which in ("samples", "trials.jsonl", "run.json"):
        return [running.folder / which] if running.folder else []
    return [start.folder / which]


def of_surroundings(draw: random.Random, start: Start) -> Planted:
    """Set unusual environment variables."""
    long, locked = "/" + "x" * 300, start.folder / "locked"
    locked.mkdir(mode=0)
    path = os.environ["PATH"]
    surroundings: tuple[dict[str, str | None], ...] = (
        {"PATH": f"{long}:{locked}:{path}"},
        {"PATH": f"/dev/null:/proc/self/mem::{path}"},
        {"PATH": "/nowhere"},
        {"HOME": None},
        {"HOME": "/dev/null"},
        {"TERM": "dumb", "COLUMNS": "1", "LINES": "1"},
        {"COLUMNS": "x"},
        {"LANG": "C", "LC_ALL": "C"},
        {"LC_ALL": "xx_YY.UTF-9"},
        {"PYTHONIOENCODING": "ascii"},
        {"TZ": "Nowhere/Land"},
        {"TMPDIR": "/nowhere"},
        {"TMPDIR": str(start.folder / "workers")},
        {"LD_PRELOAD": "/nowhere.so"},
        {"MIDDLEMARK_WORKERS": f"{long}:{locked}:/dev/zero:{start.folder / 'workers'}"},
    )
    names = draw.choice(surroundings)
    shown = ", ".join(f"{name}={'(none)' if value is None else value[:40]}" for name, value in names.items())
    start.environment |= names
    shown = shown.replace(str(start.folder), "…")
    return f"environment: {shown}", lambda _: Hit(MEASURED)


def of_several(draw: random.Random, start: Start) -> Planted:
    """Resume one killed run with several commands at once."""
    count, apart_s = draw.randrange(2, 4), draw.choice((0.0, 0.0, 0.05, 0.3))

    def strike(running: Running) -> Hit:
        moment = Moment("the first trial", 0.02)
        if not moment.comes(running) or running.folder is None:
            return Hit(frozenset({0}), most_failed=0, whole=True)
        running.signal(running.process.pid, signal.SIGKILL)
        running.process.wait()
        others = []
        for _ in range(count):
            others.append(start.begin("run", "--resume", str(running.folder), "--quiet"))
            time.sleep(apart_s)
        return Hit(frozenset({0, 3, -signal.SIGKILL}), most_failed=0, whole=True, others=(*others,))

    return f"{count} commands resume the run {apart_s:g} s apart, after SIGKILL", strike


def of_neighbours(draw: random.Random, start: Start) -> Planted:
    """Start a second run with the same seed and DDS domain at the same time."""
    after_s = draw.uniform(0, 0.5)

    def strike(running: Running) -> Hit:
        time.sleep(after_s)
        words = [*running.words]
        words[words.index("--out") + 1] += "-beside"
        other = start.begin(*words)
        other.out = Path(words[words.index("--out") + 1])
        return Hit(MEASURED, others=(other,))

    return f"another run with the same seed and domain {after_s * 1000:.0f} ms later", strike


FAULTS: dict[Callable[[random.Random, Start], Planted], int] = {
    of_worker: 8, of_bystander: 2, of_launcher: 8, of_limits: 4, of_streams: 2, of_disk: 3, of_folders: 3,
    of_surroundings: 1, of_several: 2, of_neighbours: 1,
}  # fmt: skip
"""By fault: the weight with which it is drawn."""
