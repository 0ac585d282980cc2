"""The message when a limit of the process (``ulimit``) stops it."""

import errno
import resource
from collections.abc import Iterator

import pytest

from middlemark.limits import is_a_limit, sentence


@pytest.fixture(autouse=True)
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, int]]:
    """The limits that getrlimit reports; all others are infinite."""
    limits: dict[int, int] = {}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limits.get(which, resource.RLIM_INFINITY), 0))
    return limits


FILES = OSError(errno.EMFILE, "Too many open files")


def test_too_many_open_files_name_their_limit_and_the_next_step(limited: dict[int, int]) -> None:
    limited[resource.RLIMIT_NOFILE] = 24
    assert sentence(FILES) == "ulimit -n 24 is too low; raise it (`ulimit -n 1024`) and try again"


@pytest.mark.parametrize("error", [BlockingIOError(errno.EAGAIN, "fork"), RuntimeError("can't start new thread")])
def test_a_refused_process_or_thread_names_the_limit_of_processes(limited: dict[int, int], error: Exception) -> None:
    limited |= {resource.RLIMIT_NPROC: 5, resource.RLIMIT_AS: 1 << 30}
    assert (sentence(error) or "").startswith("ulimit -u 5 is too low")
    del limited[resource.RLIMIT_NPROC]  # a thread needs memory, too
    assert (sentence(error) or "").startswith("ulimit -v 1048576 is too low")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("x.so: failed to map segment from shared object"),
    ],
)
def test_refused_memory_names_the_limit_of_memory(limited: dict[int, int], error: Exception) -> None:
    limited[resource.RLIMIT_AS] = 300 << 20
    assert (sentence(error) or "").startswith("ulimit -v 307200 is too low")


def test_the_cause_of_an_error_is_also_examined(limited: dict[int, int]) -> None:
    limited[resource.RLIMIT_NOFILE] = 24
    failed = ImportError("numpy says a lot")
    failed.__cause__ = FILES
    assert (sentence(failed) or "").startswith("ulimit -n 24 is too low")


def test_without_a_limit_of_the_process_the_system_is_named() -> None:
    assert sentence(MemoryError("no")) == (
        "the system refuses more (no): end other programs, or ask for more memory or processes"
    )


@pytest.mark.parametrize("error", [OSError(errno.ENOENT, "no"), KeyError("x"), BlockingIOError(errno.EALREADY, "no")])
def test_other_errors_are_not_limits(error: Exception) -> None:
    assert sentence(error) is None
    assert not is_a_limit(error)
