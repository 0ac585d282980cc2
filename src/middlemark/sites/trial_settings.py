"""Change settings of this machine for a trial: before its first process, restored after its last."""

import contextlib
import sys
from collections.abc import Sequence

from middlemark.model.setting import settings_of
from middlemark.sites.channel import WorkerFailedError
from middlemark.system.changes import Changes, changing
from middlemark.system.journal import JournalError
from middlemark.system.settings import CannotError, Prefix, why_not


def refused(level: str) -> WorkerFailedError | None:
    """Return why this machine cannot have these settings, as far as this is known in advance; None: it can."""
    for each in settings_of(level):
        if (reason := why_not(each)) is not None:
            return WorkerFailedError("refused", str(reason), reason.advice)
    return None


class TrialSettings:
    """The settings that the trials of a run change. From the first change on, no other process may change any."""

    def __init__(self) -> None:
        """Begin without changes and without the lock."""
        self._changing = contextlib.ExitStack()
        self._changes: Changes | None = None
        self._printed: set[str] = set()

    def make(self, level: str | None, prefixes: Sequence[Prefix]) -> None:
        """Change the settings of a cell in the trial's network namespaces. Raises WorkerFailedError."""
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
        """Restore the settings. Returns a sentence per setting that is not as it was."""
        return [] if self._changes is None else self._changes.restore()

    def end(self) -> None:
        """Release the lock."""
        self._changes = None
        self._changing.close()

    def _print_once(self, text: str) -> None:
        if text not in self._printed:
            self._printed.add(text)
            print(f"middlemark: {text}", file=sys.stderr)
