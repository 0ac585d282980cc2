"""Plants a fault during a run. The run must end, name the reason, lose no other trial, and leave nothing behind."""

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from attempts import Ended, run
from strikes import FAULTS, INTERRUPTED, MEASURED, Hit, Planted
from victim import ROOT, Residue, Running, Start, end_all, is_isolated, new_folder

from middlemark.model.description import Transport
from middlemark.store import StoreError, read_run
from middlemark.workers.find import find_workers

SHAPES = (
    ('pattern = "ping-pong"', 1), ('pattern = "ping-pong"', 2), ('pattern = "request-reply"\nrate = 200', 2),
    ('pattern = "stream"\nrate = 500\nsubscribers = 2', 2), ('pattern = "stream"\nrate = "max"', 2),
    ('pattern = "stream"\nrate = "max"', 1),
)  # fmt: skip
SUITE = """[[sweep]]
adapter = "{adapter}"
transport = "{transport}"
{shape}
processes = {processes}
size = "{size}"
pin = "off"
baseline = false
trials = 2
warmup = "10ms"
duration = "{duration}"
match_timeout = "3s"
"""
GRACE_S = 5.0
"""Seconds within which the workers of a killed launcher must end."""
FORBIDDEN_OUTPUT = ("Exception ignored", "[a-z]Warning: ", "never awaited", "Fatal Python error")
"""Texts that no run may print. ``Warning: `` needs a class's name, because a failure may quote a daemon's warning."""


class Kind:
    """Runs of every adapter and transport that is built, with one fault each."""

    name = "faults"
    waits = True
    faults: Mapping[Callable[[random.Random, Start], Planted], int] = FAULTS
    """The faults, with the weights with which they are drawn."""

    def __init__(self) -> None:
        """Find the workers. Raise SystemExit if other processes run here, because faults would hit them too."""
        if not is_isolated():
            raise SystemExit("faults are planted only if no other process runs here; start this with scripts/alone")
        os.environ.setdefault("MIDDLEMARK_WORKERS", str(ROOT / "build" / "workers"))
        workers, _ = find_workers()
        self._choices = [
            (worker, each) for worker in workers for each in worker.description.transports if self.is_offered(each)
        ]
        self._possible: dict[str, bool] = {}

    def is_offered(self, _: Transport) -> bool:
        """Say whether the runs of this kind may use the transport."""
        return True

    def suite_of(self, draw: random.Random, adapter: str, transport: str) -> tuple[str, str]:
        """Return a suite for this adapter and transport, and its description."""
        shape, processes = draw.choice(SHAPES)
        size, duration = draw.choice(("64", "1k", "64k")), draw.choice(("50ms", "150ms", "300ms"))
        text = SUITE.format(
            adapter=adapter, transport=transport, shape=shape, processes=processes, size=size, duration=duration
        )
        return text, f"{shape} × {processes}, {size}, {duration}"

    def close(self) -> None:
        """Do nothing: each attempt removes its own folder."""

    def attempt(self, draw: random.Random) -> tuple[str, list[str]]:
        """Run the command with a fault; return what was done and what was lost."""
        folder = new_folder()
        start = Start(folder)
        residue = Residue(start)
        try:
            what, words = self._drawn(draw, start)
            [plant] = draw.choices([*self.faults], [*self.faults.values()])
            fault, strike = plant(draw, start)
            running = start.begin(*words)
            hit = strike(running)
            losses = [*_lost(start, residue, running, hit)]
        finally:
            end_all()
            residue.clear()
            shutil.rmtree(folder, ignore_errors=True)
        return f"{what}: {fault}", losses

    def _drawn(self, draw: random.Random, start: Start) -> tuple[str, list[str]]:
        while True:
            worker, transport = draw.choice(self._choices)
            text, described = self.suite_of(draw, worker.description.name, transport.name)
            output = draw.choice(("text", "json", "csv", "markdown"))
            quiet, seed = draw.choice((("--quiet",), ())), draw.randrange(1000)
            for each in Path(worker.path).parent.glob("middlemark-*"):
                if each.name in (Path(worker.path).name, "middlemark-witness"):
                    (start.folder / "workers" / each.name).unlink(missing_ok=True)
                    (start.folder / "workers" / each.name).symlink_to(each)
            suite = start.folder / "chaos.toml"
            suite.write_text(text)
            if self._is_possible(text, suite):
                break
            (start.folder / "workers" / Path(worker.path).name).unlink()
        described = f"{worker.description.name} {transport.name} {described}"
        words = ["run", str(suite), "--format", output, *quiet, "--seed", str(seed), "--out", str(start.out)]
        if any(each in worker.description.name for each in ("dds", "ros2")):
            words += ["--domain", str(draw.randrange(100))]
        return described.replace("\n", ", "), words

    def _is_possible(self, text: str, suite: Path) -> bool:
        key = text.partition("size")[0]
        if key not in self._possible:
            self._possible[key] = run("run", str(suite), "--dry-run").code == 0
        return self._possible[key]


def _lost(start: Start, residue: Residue, running: Running, hit: Hit) -> Iterator[str]:
    """Yield what was lost, from the command's end and from its stored files."""
    every = [(each, each.ended()) for each in hit.others]
    killed = bool(hit.others) and running.process.poll() is not None and running.process.returncode < 0
    if killed:
        running.process.communicate()
    else:
        every.append((running, running.ended()))
    for _, ended in every:
        yield from _badly_ended(ended, hit)
    if hit.killed or killed:
        running.until_gone(GRACE_S)
    yield from (each for each in residue.left() if each.startswith("process"))
    if hit.killed and every[-1][1].code != 0:
        yield from _lost_after_resuming(start, running)
    for each, ended in every:
        yield from _badly_kept(each, ended, hit)
    left = residue.left(killed=hit.killed or killed)
    yield from (each for each in left if not each.startswith("process"))


def _badly_ended(ended: Ended, hit: Hit) -> Iterator[str]:
    silent = ended.code in hit.ends and (hit.mute or (ended.code or 0) < 0 or ended.code == 130)
    if not silent or "Traceback" in ended.err:
        yield from ended.losses(hit.ends)
    for each in FORBIDDEN_OUTPUT:
        if re.search(each, ended.err):
            yield f"{each!r} was printed: {ended.err[-600:]}"


def _lost_after_resuming(start: Start, running: Running) -> Iterator[str]:
    """Yield what was lost after a kill. The run must be readable, and resuming must complete it and remove residue."""
    words = ("run", "--resume", str(running.folder)) if running.folder else (*running.words,)
    ended = start.begin(*words, "--quiet").ended()
    yield from ended.losses({0})


def _badly_kept(running: Running, ended: Ended, hit: Hit) -> Iterator[str]:
    if running.folder is None:
        if hit.whole and ended.code != -9:
            yield f"no run is stored: exit {ended.code}: {ended.err[-300:]}"
        return
    try:
        kept = read_run(running.folder)
    except StoreError as error:
        if hit.whole or ended.code == 0:
            yield f"the run cannot be read: {error}"
        return
    if kept.damaged and (hit.whole or ended.code == 0):
        yield f"damaged: {kept.damaged}"
    if ended.code in INTERRUPTED and kept.file.ended is None:
        yield "it was interrupted, and the run does not say so"
    planned = len(kept.file.plan.trials)
    if (hit.whole or ended.code == 0) and ended.code in (*MEASURED, -9) and len(kept.outcomes) != planned:
        yield f"exit {ended.code}, and {len(kept.outcomes)} of {planned} trials are stored"
    failed = [each.failed for each in kept.outcomes if each.failed is not None]
    if len(failed) > hit.most_failed:
        yield f"{len(failed)} trials failed: {json.dumps([each.text[:300] for each in failed])}"
    for each in failed:
        if hit.named and str(hit.named) not in each.text:
            yield f"process {hit.named} was hit, but the trial reports: {each.text[:400]}"
        if not each.text.strip():
            yield f"a trial failed ({each.code}) without a reason"
    yield from run("report", str(running.folder), "--markdown", "-").losses({0, 3})
