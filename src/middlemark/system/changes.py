"""Settings changed for a while, or until somebody asks for the old ones: noted first, then made, then put back."""

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
    namespace,
    process,
    this_process,
)
from middlemark.system.settings import CannotError, Prefix, Tell

_HEAD = "# Written by `middlemark tune --persist`; `middlemark tune --restore` removes it.\n"
_HOLD = (
    'exec setsid sh -c \'read go || exit; exec 3>"$1" || exit; printf "$2" >&3;'
    ' echo held; exec sleep infinity <&- >&- 2>&-\' sh "$@"'
)
"""Waits to be told: who is killed before it is noted leaves nothing behind that holds."""


class Changes:
    """What one process has changed. Only one has, at a time: see :func:`changing`."""

    def __init__(self, journal: Journal, tell: Tell | None = None, *, kept: bool = False) -> None:
        """``tell``: told each command before sudo runs it; None: no sudo. ``kept``: beyond the end of this process."""
        self._journal = journal
        self._tell = tell
        self._kept = kept
        self._mine: list[Entry] = []
        self._prefixes: dict[str, tuple[str, ...]] = {}
        """By namespace: how it is entered."""
        self._held: list[int] = []

    def make(self, wanted: Sequence[Setting], prefixes: Sequence[Prefix] = ((),), *, file: str = "") -> None:
        """Make them all, or none. What has its value already is left alone.

        ``prefixes``: the network namespaces that they are meant for. Raises CannotError, and JournalError: nothing was
        changed then.
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
        self._mine += [entry for entry, _ in due]
        try:
            for entry, prefix in due:
                self._make(entry, prefix)
        except CannotError:
            self.restore()
            raise

    def _make(self, entry: Entry, prefix: Prefix) -> None:
        setting = Setting(entry.target, entry.after)
        if setting.kind != "hold":
            settings.write(setting, prefix, self._tell)
        elif self._kept:
            self._hold_on(entry)
        else:
            self._held.append(settings.hold(setting))

    def _hold_on(self, entry: Entry) -> None:
        """Start what holds it when this process is gone, and note it before it holds anything."""
        word = "".join(f"\\{each:03o}" for each in int(entry.after).to_bytes(4, "little"))
        holder = subprocess.Popen(
            ["sh", "-c", _HOLD, "sh", entry.target, word],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        noted = msgspec.structs.replace(entry, holder=process(holder.pid))
        self._mine[self._mine.index(entry)] = noted
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
            raise CannotError(entry.target, "cannot be opened, or refuses that value")
        holder.returncode = 0  # it is not this process's to wait for

    def _place(self, target: str, prefix: tuple[str, ...]) -> str:
        """Return the namespace in which it is, where there can be several; remember how it is entered."""
        kind = "net" if target.startswith("net.") else "mnt" if kind_of(target) == "size" else ""
        if not kind:
            return ""
        if not prefix:
            return namespace(kind)
        asked = subprocess.run(
            [*prefix, "readlink", f"/proc/self/ns/{kind}"], capture_output=True, text=True, check=False
        )
        self._prefixes[asked.stdout.strip()] = prefix
        return asked.stdout.strip()

    def restore(self) -> list[str]:
        """Put back what this has changed, the last first. Returns a sentence for each that is not as before."""
        while self._held:
            os.close(self._held.pop())
        mine, self._mine = self._mine, []
        return put_back(self._journal, mine, self._tell, self._prefixes)


@contextlib.contextmanager
def changing(
    journal: Journal | None = None, tell: Tell | None = None, *, kept: bool = False, told: Tell | None = None
) -> Iterator[Changes]:
    """Within, this process alone may change settings; at the end all are as before, unless they are ``kept``.

    What a killed process has left changed is put back first. ``told``: told what could not be put back. Raises
    JournalError.
    """
    journal = journal or Journal()
    with journal.alone():
        owed = [each for each in journal.entries() if not each.kept and not each.owner.lives]
        for sentence in put_back(journal, owed, tell, {}):
            (told or (lambda _: None))(sentence)
        changes = Changes(journal, tell, kept=kept)
        whole = False
        try:
            yield changes
            whole = True
        finally:
            if not kept or not whole:
                for sentence in changes.restore():
                    (told or (lambda _: None))(sentence)


def put_back(
    journal: Journal, entries: Sequence[Entry], tell: Tell | None, prefixes: dict[str, tuple[str, ...]]
) -> list[str]:
    """Put these of the journal back, the last first. Returns a sentence for each that is not as it was before.

    What could not be put back stays in the journal; what is not ours any more does not.
    """
    said: list[str] = []
    for entry in reversed(entries):
        try:
            sentence, done = _put_back(entry, tell, prefixes), True
        except CannotError as error:
            sentence, done = f"{error}; it is not {entry.before or 'free'} again", False
        if sentence:
            said.append(sentence)
        try:
            if done:
                journal.write([each for each in journal.entries() if each != entry])
        except JournalError as error:  # the next restore finds it as it was before
            said.append(str(error))
    return said


def _put_back(entry: Entry, tell: Tell | None, prefixes: dict[str, tuple[str, ...]]) -> str:
    """Put one back; return what is to be said of it. Raises CannotError where it cannot be."""
    if entry.file:
        _remove(entry.file, tell)
    if not entry.stands:
        return ""  # the boot has put it back
    kind = kind_of(entry.target)
    if kind == "hold":
        _let_go(entry.holder, tell)
        return ""
    if kind == "group" and entry.owner != this_process():
        return ""  # it was that process's own, and went with it
    prefix: tuple[str, ...] = ()
    if entry.place:
        own = namespace(entry.place.partition(":")[0])
        if entry.place != own:
            if entry.place in prefixes:
                prefix = prefixes[entry.place]
            elif not is_inhabited(entry.place):
                return ""  # it went with its namespace
            else:
                raise CannotError(entry.target, f"was set in another namespace ({entry.place})")
    now = settings.read(entry.target, prefix)
    if settings.same(now, entry.before):
        return ""
    if not settings.same(now, entry.after):
        return f"{entry.target}: somebody else has made it {now} meanwhile: it stays so (it was {entry.before} before)"
    settings.write(Setting(entry.target, entry.before), prefix, tell)
    return ""


def _let_go(holder: RecordedProcess | None, tell: Tell | None) -> None:
    if holder is None or not holder.lives:
        return
    try:
        os.kill(holder.pid, 9)
    except PermissionError:
        settings.run_as_root(["kill", "-KILL", str(holder.pid)], tell)


def persist(changes: Changes, wanted: Sequence[Setting], tell: Tell | None = None) -> list[str]:
    """Make them, and have them made at every boot. Returns what cannot be, each in a sentence.

    Raises CannotError and JournalError.
    """
    lasting = [each for each in wanted if each.kind == "sysctl"]
    if lasting:
        changes.make(lasting, file=SYSCTL_FILE)
        lines = "".join(f"{each.target} = {each.value}\n" for each in sorted(lasting))
        settings.write_file(SYSCTL_FILE, _HEAD + lines, tell)
    others = [each for each in wanted if each not in lasting]
    changes.make(others)
    return [f"{each.target} is no sysctl: it lasts until the next boot" for each in others]


def _remove(path: str, tell: Tell | None) -> None:
    """Remove the file of ours; one that somebody else wrote in its place stays."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            if file.readline() != _HEAD:
                return
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError:
        settings.run_as_root(["rm", "-f", path], tell)


def standing(journal: Journal | None = None) -> tuple[Entry, ...]:
    """Return what is changed still, or may be. Raises JournalError."""
    return tuple(each for each in (journal or Journal()).entries() if each.stands)


def owed() -> str | None:
    """Return the sentence that every verb begins with where somebody was killed and left settings changed."""
    journal = Journal()
    if not journal.path.exists():
        return None
    try:
        left = [each for each in journal.entries() if each.owed]
    except JournalError as error:
        return f"{error}; {error.advice}" if error.advice else str(error)
    if not left:
        return None
    named = ", ".join(f"{each.target} is {each.after} (before: {each.before or 'free'})" for each in left)
    return f"a run that was ended left this machine changed: {named}; `middlemark tune --restore` puts it back"
