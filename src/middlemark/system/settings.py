"""Read and set one setting of the machine, or explain why it cannot be set. Every value that is set is read back."""

import contextlib
import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from middlemark.model.setting import GROUP, SHM, Setting, kind_of, path_of, plain
from middlemark.system.cgroups import UNLIMITED
from middlemark.system.root import processors

Announce = Callable[[str], None]
Prefix = Sequence[str]
"""The first arguments of a command that runs in another network namespace; empty: the namespace of this process."""

_READ = 'cat "$1"'
_WRITE = 'printf %s "$2" > "$1"'
_COMMAND_S = 10.0
_UNIFIED = "unified"


class CannotError(Exception):
    """A setting cannot be read or set. The message names the setting and the reason."""

    def __init__(self, target: str, why: str, advice: str = "") -> None:
        """Create the error. ``advice``: the next step."""
        super().__init__(f"{target}: {why}")
        self.advice = advice


def place_of(target: str, prefix: Prefix) -> tuple[str, ...]:
    """Return the prefix to set ``target`` with: ``prefix`` if its namespace has the setting, else empty."""
    if not prefix or not target.startswith("net."):
        return ()
    asked = subprocess.run([*prefix, "test", "-w", path_of(target)], capture_output=True, check=False)
    return tuple(prefix) if asked.returncode == 0 else ()


def read(target: str, prefix: Prefix = ()) -> str:
    """Return the value in a form for comparisons. Raises CannotError.

    "": the setting is in force only while a process has a file open.
    """
    kind = kind_of(target)
    if kind == "hold":
        return ""
    if kind == "group":
        return _group_of(target)
    try:
        if kind == "size":
            room = os.statvfs(target)
            return str(room.f_blocks * room.f_frsize)
        if prefix:
            return plain(_within(prefix, _READ, path_of(target)))
        return plain(Path(path_of(target)).read_text(encoding="ascii", errors="replace"))
    except OSError as error:
        raise _cannot(target, error) from None


def write(setting: Setting, prefix: Prefix = (), announce: Announce | None = None) -> None:
    """Set a value and check it. Raises CannotError. ``announce`` is called with each sudo command (None: no sudo)."""
    target, value = setting.target, setting.value
    try:
        if setting.kind == "group":
            _write_file(f"{_group_root(target)}{value.rstrip('/')}/cgroup.procs", str(os.getpid()), announce)
        elif setting.kind == "size":
            run_as_root(["mount", "-o", f"remount,size={value}", SHM], announce)
        elif prefix:
            _within(prefix, _WRITE, path_of(target), value)
        else:
            _write_file(path_of(target), value, announce)
    except OSError as error:
        raise _cannot(target, error, value) from None
    if not same(now := read(target, prefix), value):
        raise CannotError(target, f"the kernel set {now} instead of {value}")


def hold(setting: Setting) -> int:
    """Write the value, and return the open file: the setting is in force only while the file is open.

    Raises CannotError.
    """
    try:
        descriptor = os.open(setting.target, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, int(setting.value).to_bytes(4, "little"))
        except OSError:
            os.close(descriptor)
            raise
    except OSError as error:
        raise _cannot(setting.target, error, setting.value) from None
    return descriptor


def why_not(setting: Setting, prefix: Prefix = ()) -> CannotError | None:
    """Return why the setting cannot be set; None: no reason is known."""
    target = setting.target
    try:
        if setting.kind == "group":
            path = f"{_group_root(target)}{setting.value.rstrip('/')}/cgroup.procs"
        else:
            read(target, prefix)
            path = path_of(target)
        if setting.kind == "size":
            allowed = os.geteuid() == 0
        elif prefix:
            return None  # place_of() has checked this
        else:
            os.stat(path)
            allowed = os.access(path, os.W_OK)
        if not allowed and not can_sudo():
            raise OSError(errno.EACCES, "")
    except OSError as error:
        return _cannot(target, error)
    except CannotError as error:
        return error
    return None


def can_sudo() -> bool:
    """Say whether this user may use sudo without a password. False for root."""
    if os.geteuid() == 0 or shutil.which("sudo") is None:
        return False
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return asked.returncode == 0


def _quoted(value: str) -> str:
    return value if " " not in value else f"'{value}'"


def same(now: str, value: str) -> bool:
    """Say whether two values mean the same. Knows the kernel's format of lists, masks and "no limit"."""
    if now == value or (value == "-1" and now.isdigit() and int(now) >= UNLIMITED):
        return True
    with contextlib.suppress(ValueError):
        return processors(now) == processors(value)
    with contextlib.suppress(ValueError):
        return int(now.replace(",", ""), 16) == int(value.replace(",", ""), 16)
    return False


def _within(prefix: Prefix, program: str, *arguments: str) -> str:
    """Run a program in another network namespace: /proc/sys/net shows the namespace of the process that reads it."""
    argv = [*prefix, "sh", "-c", program, "sh", *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_COMMAND_S, check=False)
    if done.returncode != 0:
        raise OSError(0, done.stderr.strip().rpartition(": ")[2] or "no answer")
    return done.stdout


def write_file(path: str, text: str, announce: Announce | None) -> None:
    """Write a file under /etc atomically. The file is on disk when this function returns. Raises CannotError."""
    try:
        if os.geteuid() != 0:
            run_as_root(["tee", path], announce, text)
            return
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.new", path)
    except OSError as error:
        raise _cannot(path, error) from None


def _write_file(path: str, value: str, announce: Announce | None) -> None:
    if os.geteuid() != 0 and not os.access(path, os.W_OK):
        run_as_root(["tee", path], announce, value)
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def run_as_root(argv: Sequence[str], announce: Announce | None, text: str = "") -> None:
    """Run a command as root, with sudo if necessary. ``announce`` is called with the sudo command before it runs."""
    if os.geteuid() != 0:
        if announce is None or not can_sudo():
            raise OSError(errno.EACCES, "")
        announce(f"{f'echo {_quoted(text)} | ' if text else ''}sudo {' '.join(argv)}")
        argv = ["sudo", "-n", *argv]
    done = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=_COMMAND_S, check=False)
    if done.returncode != 0:
        raise OSError(0, done.stderr.strip().rpartition(": ")[2] or "no answer")


def _group_root(target: str) -> str:
    """Return the folder at which the controller's control groups are mounted."""
    name = target.removeprefix(GROUP)
    roots = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"] if name == _UNIFIED else [f"/sys/fs/cgroup/{name}"]
    for root in roots:
        if os.path.exists(f"{root}/cgroup.procs"):
            return root
    raise CannotError(target, "this machine does not have this hierarchy of control groups")


def _group_of(target: str) -> str:
    """Return the folder of the control group of this process."""
    name = target.removeprefix(GROUP)
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        number, controllers, path = line.split(":", 2)
        if (number == "0") if name == _UNIFIED else name in controllers.split(","):
            return path
    raise CannotError(target, "this process is in no group of this hierarchy")


def _cannot(target: str, error: OSError, value: str = "") -> CannotError:
    """Return the error with the setting, the reason and the next step."""
    root = os.geteuid() == 0
    why: dict[int, tuple[str, str]] = {
        errno.ENOENT: ("this kernel or this network namespace does not have the setting", ""),
        errno.EROFS: ("is read-only, as in a container", "set it on the host"),
        errno.EINVAL: (f"the kernel refuses {value}", ""),
        errno.ERANGE: (f"the kernel refuses {value}", ""),
    }
    for each in (errno.EACCES, errno.EPERM):
        why[each] = (
            ("is read-only, as in a container or a network namespace", "set it on the host")
            if root
            else ("only root may set it", "run as root, or let this user use sudo")
        )
    if kind_of(target) == "sysctl" and root and os.path.exists(path_of(target)) and not os.access(path_of(target), 2):
        return CannotError(target, *why[errno.EACCES])
    text, advice = why.get(error.errno or 0, (error.strerror or str(error), ""))
    return CannotError(target, text, advice)
