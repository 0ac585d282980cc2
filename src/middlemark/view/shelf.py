"""The list of runs in a folder. A name from a request is looked up in the list and never joined to a path."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from middlemark.model.run import Run
from middlemark.model.units import format_count
from middlemark.store import StoreError, list_runs, read_run


class Shelved(msgspec.Struct, frozen=True):
    """A run in the list. ``wrong``: the reason why it cannot be read; the other fields are then empty."""

    name: str
    folder: Path
    suites: str = ""
    started: str = ""
    machine: str = ""
    adapters: str = ""
    configurations: str = ""
    trials: int = 0
    planned: int = 0
    failed: int = 0
    state: str = ""
    wrong: str | None = None
    version: tuple[float, int] = (0.0, 0)
    """A value that differs if the run's files have changed."""

    @property
    def text(self) -> str:
        """The text in which words are searched, in lower case."""
        fields = (self.name, self.suites, self.started, self.machine, self.adapters, self.state, self.wrong or "")
        return " ".join(fields).lower()


class Shelf:
    """All runs in one folder. A run's files are read again only if they have changed."""

    def __init__(self, root: Path) -> None:
        """Create the shelf. ``root``: a folder of runs, or the folder of one run."""
        self.root = root
        self._cache: dict[Path, tuple[tuple[float, int], Shelved]] = {}

    def runs(self) -> Mapping[str, Shelved]:
        """Return name → run, newest first."""
        found = [self.root] if (self.root / "run.json").exists() else reversed(list_runs(self.root))
        return {each.name: each for each in map(self._shelved, found)}

    def search(self, words: str) -> Sequence[Shelved]:
        """Return the runs whose text contains every word."""
        wanted = re.split(r"\s+", words.lower().strip())
        return [each for each in self.runs().values() if all(word in each.text for word in wanted)]

    def _shelved(self, folder: Path) -> Shelved:
        state = _state_of(folder)
        cached = self._cache.get(folder)
        if cached is not None and cached[0] == state:
            return cached[1]
        try:
            shelved = msgspec.structs.replace(_listed(read_run(folder)), version=state)
        except StoreError as error:
            shelved = Shelved(folder.resolve().name, folder, state="damaged", wrong=str(error))
        if shelved.state != "running":  # not cached while running: if the run is killed, its files do not change
            self._cache[folder] = (state, shelved)
        return shelved


def _listed(run: Run) -> Shelved:
    file = run.file
    machine = file.machine
    return Shelved(
        name=run.name,
        folder=run.folder,
        suites=", ".join(file.suites),
        started=file.started[:19].replace("T", " "),
        machine=f"{machine.host}, {machine.cpu}, {machine.processors} processors",
        adapters=", ".join(each.name for each in file.adapters if not each.is_raw_transport) or "raw transports",
        configurations=format_count(len(file.plan.cells), "configuration"),
        trials=len(run.outcomes),
        planned=run.planned_trials,
        failed=run.failed_trials,
        state=run.state,
    )


def _state_of(folder: Path) -> tuple[float, int]:
    """Return a value that differs if the run has changed: the newest time of its two files, and their total size."""
    times = []
    size = 0
    for name in ("run.json", "trials.jsonl"):
        try:
            found = (folder / name).stat()
        except OSError:
            continue
        times.append(found.st_mtime)
        size += found.st_size
    return max(times, default=0.0), size
