"""Change settings of this machine before a trial's first process, and restore them after its last process."""

import contextlib
import sys
from collections.abc import Sequence

from middlemark.model.setting import settings_of
from middlemark.sites.channel import WorkerFailedError
from middlemark.system.changes import Changes, changing
from middlemark.system.journal import JournalError
from middlemark.system.settings import CannotError, Prefix, why_not


def refused(level: str) -> WorkerFailedError | None:
    """Return an error if this machine cannot have the settings ``level``; None: no reason against them is known."""
    for each in settings_of(level):
        if (reason := why_not(each)) is not None:
            return WorkerFailedError("refused", str(reason), reason.advice)
    return None


class TrialSettings:
    """The settings that the trials of a run change. After the first change no other process may change settings."""

    def __init__(self) -> None:
        """Create it without changes. The first change takes a lock, so that no other process changes settings."""
        self._changing = contextlib.ExitStack()
        self._changes: Changes | None = None
        self._printed: set[str] = set()

    def make(self, level: str | None, prefixes: Sequence[Prefix]) -> None:
        """Change the settings of a cell.

        Network settings are changed in the trial's namespaces. Raises WorkerFailedError.
        """
        if level is None:
            return
        try:
            if self._changes is None:
                self._changes = self._changing.enter_context(
                    changing(announce=self._print_once, report=self._print_once)
                )
            self._changes.make(settings_of(level), prefixes)
        except (CannotError, JournalError) as error:
            raise WorkerFailedError("refused", str(error), error.advice) from None

    def restore(self) -> list[str]:
        """Restore the settings. Return a sentence for each setting that could not be restored."""
        return [] if self._changes is None else self._changes.restore()

    def end(self) -> None:
        """Release the lock."""
        self._changes = None
        self._changing.close()

    def _print_once(self, text: str) -> None:
        if text not in self._printed:
            self._printed.add(text)
            print(f"middlemark: {text}", file=sys.stderr)
