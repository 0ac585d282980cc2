"""Limits of this process (``ulimit``): find the limit that made something fail, and how to raise it."""

import contextlib
import errno
import os
import resource
from collections.abc import Iterator

LEAST_DESCRIPTORS = 16
"""With fewer open files, an import or the event loop fails halfway, and not even the error message can be printed."""
PLENTY = {"-n": "1024", "-u": "1024", "-v": "unlimited"}


def too_few_descriptors() -> str | None:
    """Return a message if the limit of open files is too low for any command, else None."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _advise("-n", str(soft)) if 0 <= soft < LEAST_DESCRIPTORS else None


def is_a_limit(error: BaseException) -> bool:
    """Say whether the error means that a limit of this process or its user was reached."""
    return bool(_options(error))


def sentence(error: BaseException) -> str | None:
    """Return the limit that made the process fail, and how to raise it. None: the error has another cause."""
    for cause in _chain(error):
        options = _options(cause)
        if not options:
            continue
        set_here = [(option, value) for option in options if (value := _value(option)) is not None]
        if not set_here:
            return f"the system refuses more ({cause}): end other programs, or ask for more memory or processes"
        return _advise(*set_here[0])
    return None


def _advise(option: str, value: str) -> str:
    raised = f"`ulimit {option} {PLENTY[option]}`"
    return f"ulimit {option} {value} is too low; raise it ({raised}) and try again"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _options(error: BaseException) -> tuple[str, ...]:
    """Return the options of ``ulimit`` that may have caused the error, the most likely first."""
    text = str(error).lower()
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.EMFILE, errno.ENFILE) or "too many open files" in text:
        return ("-n",)
    if (isinstance(error, BlockingIOError) and number == errno.EAGAIN) or "can't start new thread" in text:
        return ("-u", "-v")
    needs_memory = any(phrase in text for phrase in ("allocate memory", "failed to map segment", "out of memory"))
    if isinstance(error, MemoryError) or number == errno.ENOMEM or needs_memory:
        return ("-v", "-u")
    return ()


def _value(option: str) -> str | None:
    """Return the limit as ``ulimit`` prints it; None: unlimited."""
    which = {"-n": resource.RLIMIT_NOFILE, "-u": resource.RLIMIT_NPROC, "-v": resource.RLIMIT_AS}[option]
    soft, _ = resource.getrlimit(which)
    if soft == resource.RLIM_INFINITY:
        return None
    return str(soft // 1024 if option == "-v" else soft)


def need_descriptors(number: int) -> None:
    """Raise OSError (EMFILE, ENFILE) if ``number`` files cannot be opened now."""
    with contextlib.ExitStack() as opened:
        for _ in range(number):
            opened.callback(os.close, os.open("/dev/null", os.O_RDONLY))
