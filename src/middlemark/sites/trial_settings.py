"""Settings of this machine that a trial is to have: made before its first process, put back after its last."""

import contextlib
import sys
from collections.abc import Sequence

from middlemark.model.setting import settings_of
from middlemark.sites.channel import WorkerFailedError
from middlemark.system.changes import Changes, changing
from middlemark.system.journal import JournalError
from middlemark.system.settings import CannotError, Prefix, why_not


def refused(level: str) -> WorkerFailedError | None:
    """Return why this machine cannot have these settings, as far as that can be told; None: it can."""
    for each in settings_of(level):
        if (reason := why_not(each)) is not None:
            return WorkerFailedError("refused", str(reason), reason.advice)
    return None


class TrialSettings:
    """What the trials of a run set, one after the other. Nobody else does from the first that sets something on."""

    def __init__(self) -> None:
        """Nothing is set, and nothing prevents others from it."""
        self._changing = contextlib.ExitStack()
        self._changes: Changes | None = None
        self._told: set[str] = set()

    def make(self, level: str | None, prefixes: Sequence[Prefix]) -> None:
        """Make what a cell wants, in the trial's network namespaces. Raises WorkerFailedError."""
        if level is None:
            return
        try:
            if self._changes is None:
                self._changes = self._changing.enter_context(changing(announce=self._tell, report=self._tell))
            self._changes.make(settings_of(level), prefixes)
        except (CannotError, JournalError) as error:
            raise WorkerFailedError("refused", str(error), error.advice) from None

    def restore(self) -> list[str]:
        """Put back what was set. Returns a sentence for each that is not as it was."""
        return [] if self._changes is None else self._changes.restore()

    def end(self) -> None:
        """Let others set something."""
        self._changes = None
        self._changing.close()

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            print(f"middlemark: {text}", file=sys.stderr)
