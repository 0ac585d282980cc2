"""Change settings of the machine until the process ends or ``--restore`` runs.

The journal is written before a change.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence

import msgspec

from middlemark.model.setting import Setting, kind_of
from middlemark.system import settings
from middlemark.system.check import SYSCTL_FILE
from middlemark.system.journal import (
    Entry,
    Journal,
    JournalError,
    RecordedProcess,
    boot,
    is_inhabited,
    is_same,
    namespace,
    process,
    this_process,
)
from middlemark.system.settings import Announce, CannotError, Prefix

_HEAD = "# Written by `middlemark tune apply --persist`; `middlemark tune restore` removes it.\n"
_HOLD = (
    'exec setsid sh -c \'read go || exit; exec 3>"$1" || exit; printf "$2" >&3;'
    ' echo held; exec sleep infinity <&- >&- 2>&-\' sh "$@"'
)
"""A shell command that keeps a setting in force by keeping its file open. It first waits for ``go``, until the journal
lists it."""


class Changes:
    """The changes that one process makes. Only one process at a time may make changes: see :func:`changing`."""

    def __init__(self, journal: Journal, announce: Announce | None = None, *, kept: bool = False) -> None:
        """Create it without changes. ``announce`` is called with each sudo command before it runs (None: no sudo).

        ``kept``: the changes outlive this process.
        """
        self._journal = journal
        self._announce = announce
        self._kept = kept
        self._own: list[Entry] = []
        self._prefixes: dict[str, tuple[str, ...]] = {}
        """Namespace → the first arguments of a command that runs in it."""
        self._held: list[int] = []

    def make(self, wanted: Sequence[Setting], prefixes: Sequence[Prefix] = ((),), *, file: str = "") -> None:
        """Make all changes, or none. A setting that already has its value is skipped.

        ``prefixes``: the network namespaces to change. If the method raises CannotError or JournalError, nothing was
        changed.
        """
        due: list[tuple[Entry, tuple[str, ...]]] = []
        for each in wanted:
            for prefix in dict.fromkeys(settings.place_of(each.target, prefix) for prefix in prefixes):
                before = settings.read(each.target, prefix)
                place = self._place(each.target, prefix)
                if settings.same(before, each.value) and not file:
                    continue
                if (reason := settings.why_not(each, prefix)) is not None:
                    raise reason
                entry = Entry(
                    target=each.target, before=before, after=each.value, owner=this_process(), boot=boot(),
                    kept=self._kept, file=file, place=place,
                )  # fmt: skip
                due.append((entry, prefix))
        if not due:
            return
        entries = self._journal.entries()
        self._journal.write([*entries, *(entry for entry, _ in due)])
        self._own += [entry for entry, _ in due]
        try:
            for entry, prefix in due:
                self._make(entry, prefix)
        except CannotError:
            self.restore()
            raise

    def _make(self, entry: Entry, prefix: Prefix) -> None:
        setting = Setting(entry.target, entry.after)
        if setting.kind != "hold":
            settings.write(setting, prefix, self._announce)
        elif self._kept:
            self._hold_on(entry)
        else:
            self._held.append(settings.hold(setting))

    def _hold_on(self, entry: Entry) -> None:
        """Start a process that keeps the setting in force after this process ends.

        The journal lists the process before the setting is in force.
        """
        word = "".join(f"\\{each:03o}" for each in int(entry.after).to_bytes(4, "little"))
        holder = subprocess.Popen(
            ["sh", "-c", _HOLD, "sh", entry.target, word],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        noted = msgspec.structs.replace(entry, holder=process(holder.pid))
        self._own[self._own.index(entry)] = noted
        entries = [noted if each == entry else each for each in self._journal.entries()]
        self._journal.write(entries)
        assert holder.stdin is not None
        assert holder.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            holder.stdin.write(b"go\n")
            holder.stdin.close()
        held = holder.stdout.readline()
        holder.stdout.close()
        if held != b"held\n":
            holder.wait()
            raise CannotError(entry.target, "cannot be opened, or refuses the value")
        holder.returncode = 0  # Popen must not wait for this process, which outlives us

    def _place(self, target: str, prefix: tuple[str, ...]) -> str:
        """Return the setting's namespace, and store the command that enters it. "": the setting has no namespace."""
        kind = "net" if target.startswith("net.") else "mnt" if kind_of(target) == "size" else ""
        if not kind:
            return ""
        if not prefix:
            return namespace(kind)
        place = namespace(kind, prefix)
        self._prefixes[place] = prefix
        return place

    def restore(self) -> list[str]:
        """Restore the changes, the last change first.

        Return one sentence for each setting that could not be restored.
        """
        while self._held:
            os.close(self._held.pop())
        own, self._own = self._own, []
        return put_back(self._journal, own, self._announce, self._prefixes)


@contextlib.contextmanager
def changing(
    journal: Journal | None = None,
    announce: Announce | None = None,
    *,
    kept: bool = False,
    report: Announce | None = None,
) -> Iterator[Changes]:
    """Lock the settings of this machine. Restore the settings at the end unless ``kept``.

    Settings that a killed process left changed are restored first. ``report`` is called with one sentence for each
    setting that could not be restored. Raises JournalError.
    """
    journal = journal or Journal()
    with journal.locked():
        unrestored_warning = [each for each in journal.entries() if not each.kept and not each.owner.is_running]
        for sentence in put_back(journal, unrestored_warning, announce, {}):
            (report or (lambda _: None))(sentence)
        changes = Changes(journal, announce, kept=kept)
        completed = False
        try:
            yield changes
            completed = True
        finally:
            if not kept or not completed:
                for sentence in changes.restore():
                    (report or (lambda _: None))(sentence)


def put_back(
    journal: Journal, entries: Sequence[Entry], announce: Announce | None, prefixes: dict[str, tuple[str, ...]]
) -> list[str]:
    """Restore these entries of the journal, the last first. Return a sentence for each failure.

    If an entry could not be restored, it stays in the journal. If another program has changed the setting in the
    meantime, the entry is removed.
    """
    sentences: list[str] = []
    for entry in reversed(entries):
        try:
            sentence, done = _put_back(entry, announce, prefixes), True
        except CannotError as error:
            sentence, done = f"{error}; its value is not {entry.before or 'free'} again", False
        if sentence:
            sentences.append(sentence)
        try:
            if done:
                journal.write([each for each in journal.entries() if each != entry])
        except JournalError as error:  # the entry stays in the journal, and the next --restore removes it
            sentences.append(str(error))
    return sentences


def _put_back(entry: Entry, announce: Announce | None, prefixes: dict[str, tuple[str, ...]]) -> str:
    """Restore one setting. Return a sentence if it does not have its old value, else "". Raises CannotError."""
    if entry.file:
        _remove(entry.file, announce)
    if not entry.is_in_force:
        return ""  # a restart of the machine has restored it
    kind = kind_of(entry.target)
    if kind == "hold":
        _end_holder(entry.holder, announce)
        return ""
    if kind == "group" and entry.owner != this_process():
        return ""  # the setting was that process's group, and it has ended
    prefix: tuple[str, ...] = ()
    if entry.place:
        own = namespace(entry.place.partition(":")[0])
        if not is_same(entry.place, own):
            if entry.place in prefixes:
                prefix = prefixes[entry.place]
            elif not is_inhabited(entry.place):
                return ""  # the namespace no longer exists, and neither do its settings
            else:
                raise CannotError(entry.target, f"was set in another namespace ({entry.place})")
    now = settings.read(entry.target, prefix)
    if settings.same(now, entry.before):
        return ""
    if not settings.same(now, entry.after):
        return f"{entry.target}: another program has changed it to {now}: not restored (it was {entry.before} before)"
    settings.write(Setting(entry.target, entry.before), prefix, announce)
    return ""


def _end_holder(holder: RecordedProcess | None, announce: Announce | None) -> None:
    if holder is None or not holder.is_running:
        return
    try:
        os.kill(holder.pid, 9)
    except PermissionError:
        settings.run_as_root(["kill", "-KILL", str(holder.pid)], announce)


def persist(changes: Changes, wanted: Sequence[Setting], announce: Announce | None = None) -> list[str]:
    """Make the changes now and at every boot. Return one sentence for each setting that cannot be set at boot.

    Raises CannotError and JournalError.
    """
    lasting = [each for each in wanted if each.kind == "sysctl"]
    if lasting:
        changes.make(lasting, file=SYSCTL_FILE)
        lines = "".join(f"{each.target} = {each.value}\n" for each in sorted(lasting))
        settings.write_file(SYSCTL_FILE, _HEAD + lines, announce)
    others = [each for each in wanted if each not in lasting]
    changes.make(others)
    return [f"{each.target} is not a sysctl, so it stays changed only until the next boot" for each in others]


def _remove(path: str, announce: Announce | None) -> None:
    """Remove our file. A file of another program at this path stays."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            if file.readline() != _HEAD:
                return
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError:
        settings.run_as_root(["rm", "-f", path], announce)


def in_force(journal: Journal | None = None) -> tuple[Entry, ...]:
    """Return the changes that are, or may be, in force. Raises JournalError."""
    return tuple(each for each in (journal or Journal()).entries() if each.is_in_force)


def unrestored_warning() -> str | None:
    """Return a warning if a killed run left settings changed. Every command prints the warning first."""
    journal = Journal()
    if not journal.path.exists():
        return None
    try:
        orphaned = [each for each in journal.entries() if each.is_orphaned]
    except JournalError as error:
        return f"{error}; {error.advice}" if error.advice else str(error)
    if not orphaned:
        return None
    named = ", ".join(f"{each.target} is {each.after} (before: {each.before or 'free'})" for each in orphaned)
    return f"a run that was killed left settings changed: {named}; to restore them: middlemark tune restore"
