"""The runs in a folder, as a list shows them. A name from a request is looked up here, never joined to a path."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from middlemark.model.run import Run
from middlemark.store import StoreError, list_runs, read_run


class Shelved(msgspec.Struct, frozen=True):
    """One run; ``wrong``: why it cannot be read, and then the rest is empty."""

    name: str
    folder: Path
    suites: str = ""
    started: str = ""
    machine: str = ""
    adapters: str = ""
    cells: int = 0
    trials: int = 0
    planned: int = 0
    failed: int = 0
    state: str = ""
    wrong: str | None = None

    @property
    def text(self) -> str:
        """What a search looks in, in lower case."""
        fields = (self.name, self.suites, self.started, self.machine, self.adapters, self.state, self.wrong or "")
        return " ".join(fields).lower()


class Shelf:
    """All runs under one folder. A run's files are read again only when they have changed."""

    def __init__(self, root: Path) -> None:
        """``root``: a folder of runs, or a run itself."""
        self.root = root
        self._known: dict[Path, tuple[tuple[float, int], Shelved]] = {}

    def runs(self) -> Mapping[str, Shelved]:
        """Return the runs by name, newest first."""
        found = [self.root] if (self.root / "run.json").exists() else reversed(list_runs(self.root))
        return {each.name: each for each in map(self._shelved, found)}

    def search(self, words: str) -> Sequence[Shelved]:
        """Return the runs in which every word occurs."""
        wanted = re.split(r"\s+", words.lower().strip())
        return [each for each in self.runs().values() if all(word in each.text for word in wanted)]

    def _shelved(self, folder: Path) -> Shelved:
        state = _state_of(folder)
        known = self._known.get(folder)
        if known is not None and known[0] == state:
            return known[1]
        try:
            shelved = _shelved(read_run(folder))
        except StoreError as error:
            shelved = Shelved(folder.resolve().name, folder, state="damaged", wrong=str(error))
        if shelved.state != "running":  # one that is killed leaves its files as they are
            self._known[folder] = (state, shelved)
        return shelved


def _shelved(run: Run) -> Shelved:
    file = run.file
    machine = file.machine
    return Shelved(
        name=run.name,
        folder=run.folder,
        suites=", ".join(file.suites),
        started=file.started[:19].replace("T", " "),
        machine=f"{machine.host}, {machine.cpu}, {machine.processors} processors",
        adapters=", ".join(each.name for each in file.adapters if not each.is_raw_transport) or "raw transports",
        cells=len(file.plan.cells),
        trials=len(run.outcomes),
        planned=run.planned_trials,
        failed=run.failed_trials,
        state=run.state,
    )


def _state_of(folder: Path) -> tuple[float, int]:
    """Return what changes when a run does: the newest time of its two files, and the size of what grows."""
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
