"""Verdicts on stored runs, each in one line.

A thread computes the lines one after the other, because a large run takes seconds.
"""

import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from middlemark.problems import MeasureError
from middlemark.view.shelf import Shelved

Line = Callable[[Sequence[Path]], str]
"""One run → its verdict in one line. Two runs → the changes between them. May raise MeasureError."""


class Verdicts:
    """The computed lines, keyed by their runs and the state of the runs' files."""

    def __init__(self, line: Line) -> None:
        """Start the thread. ``line``: returns the line of one run or of two."""
        self._line = line
        self._lines: dict[tuple[object, ...], str | None] = {}
        self._asked: queue.SimpleQueue[tuple[tuple[object, ...], list[Path]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def of(self, *runs: Shelved) -> str | None:
        """Return the line; None: the line is not computed yet."""
        key = tuple((each.name, each.version) for each in runs)
        if key not in self._lines:
            self._lines[key] = None
            self._asked.put((key, [each.folder for each in runs]))
        return self._lines[key]

    def _work(self) -> None:
        while True:
            key, folders = self._asked.get()
            try:
                self._lines[key] = self._line(folders)
            except MeasureError as error:
                self._lines[key] = str(error)
            except Exception as error:  # a run that cannot be judged must not end the thread
                self._lines[key] = f"it cannot be judged ({type(error).__name__}: {error})"


def pairs(runs: Sequence[Shelved]) -> list[tuple[Shelved, Shelved]]:
    """Return the last two complete runs of each suite on one machine, the older first. ``runs``: newest first."""
    found: dict[tuple[str, str], list[Shelved]] = {}
    for each in runs:
        if each.wrong is None and each.state != "running" and each.suites not in ("", "command-line", "imported"):
            found.setdefault((each.suites, each.machine), []).append(each)
    return [(members[1], members[0]) for members in found.values() if len(members) > 1]
