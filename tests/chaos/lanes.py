"""Runs attempts in parallel. A lane is a process that reads seeds and returns what it did and what was lost."""

import importlib
import json
import os
import random
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ALONE = HERE.parents[1] / "scripts" / "alone"
ROOM_BYTES = 8 << 30
"""Memory limit of a lane that only reads files, so that a reader that never stops does not fill the memory."""


class Tried(NamedTuple):
    """The result of one seed."""

    seed: str
    what: str
    losses: Sequence[str]


def kinds() -> dict[str, Any]:
    """Return the kinds of damage by name: each other file here whose class is called ``Kind``."""
    modules = [
        importlib.import_module(path.stem) for path in sorted(HERE.glob("*.py")) if "\nclass Kind" in path.read_text()
    ]
    return {module.Kind.name: module.Kind for module in modules}


def namespaces() -> bool:
    """Return true if a lane can run in its own namespaces here."""
    return subprocess.run([ALONE, "true"], capture_output=True, check=False).returncode == 0


class Draws:
    """Chooses the next kind and seed. The kind that has used the least time so far is next, while it has seeds left."""

    def __init__(self, numbers: Mapping[str, Sequence[str]], until: float) -> None:
        """``numbers``: the seeds of each kind. No seed is drawn after the time ``until``."""
        self._left = {name: iter(seeds) for name, seeds in numbers.items()}
        self._spent = dict.fromkeys(numbers, 0.0)
        self._until = until
        self._lock = threading.Lock()
        self.tried: dict[str, list[Tried]] = {name: [] for name in numbers}

    def next(self) -> tuple[str, str] | None:
        """Return a kind and one of its seeds, or None if no seed or no time is left."""
        with self._lock:
            while self._left and time.monotonic() < self._until:
                name = min(self._left, key=self._spent.__getitem__)
                seed = next(self._left[name], None)
                if seed is not None:
                    self._spent[name] += 0.001  # so that the other lanes start with other kinds
                    return name, seed
                del self._left[name]
        return None

    def end(self) -> None:
        """Draw no more seeds."""
        self._until = 0.0

    def keep(self, name: str, tried: Tried, seconds: float) -> None:
        """Store the result of a seed."""
        with self._lock:
            self.tried[name].append(tried)
            self._spent[name] += seconds


class Lane:
    """A process that tries one seed after the other."""

    def __init__(self, *, isolated: bool) -> None:
        """Start the lane. ``isolated``: it runs in its own namespaces."""
        argv = [*([str(ALONE)] if isolated else []), sys.executable, str(HERE / "lanes.py")]
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )

    def attempt(self, seed: str) -> Tried:
        """Try a seed. If the lane itself ends, that counts as a loss."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(seed + "\n")
            self._process.stdin.flush()
            return Tried(*json.loads(self._process.stdout.readline()))
        except (OSError, ValueError):
            return Tried(seed, "", [f"the driver itself ended with status {self._process.wait()}"])

    def close(self) -> None:
        """End the lane's process."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait()


def run_lanes(count: int, draws: Draws, on_result: Any, *, isolated: bool) -> list[threading.Thread]:
    """Start ``count`` lanes; ``on_result`` is called with each :class:`Tried`."""

    def run() -> None:
        lanes: dict[str, Lane] = {}  # one for each kind, because attempts may change their process
        try:
            while (chosen := draws.next()) is not None:
                name, seed = chosen
                began = time.monotonic()
                if name not in lanes:
                    lanes[name] = Lane(isolated=isolated)
                tried = lanes[name].attempt(seed)
                draws.keep(name, tried, time.monotonic() - began)
                on_result(tried)
                if not tried.what:
                    lanes.pop(name).close()
        finally:
            for lane in lanes.values():
                lane.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for each in threads:
        each.start()
    return threads


def main() -> None:
    """The main program of a lane's process."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    place = None
    try:
        for line in sys.stdin:
            seed = line.strip()
            if place is None:
                kind = kinds()[seed.partition("-")[0]]
                if not getattr(kind, "waits", False):
                    resource.setrlimit(resource.RLIMIT_AS, (ROOM_BYTES, ROOM_BYTES))
                place = kind()
            what, losses = place.attempt(random.Random(seed))
            answers.write(json.dumps([seed, what, losses]) + "\n")
            answers.flush()
    except BrokenPipeError:
        pass
    finally:
        if place is not None:
            place.close()


if __name__ == "__main__":
    main()
