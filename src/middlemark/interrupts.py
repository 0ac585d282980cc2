"""Ctrl-C and SIGTERM where there is something to clear away: the first unwinds, and no other cuts that short.

Elsewhere they end the process; who ignores one of them is left alone.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")


def unwind() -> contextlib.AbstractContextManager[None]:
    """Within, the first of them is a KeyboardInterrupt."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    return _once(interrupt)


def run(work: Coroutine[Any, Any, Result], told: Callable[[], None] | None = None) -> Result:
    """Run ``work`` in an event loop; what interrupts is told to it there, and nowhere raised.

    Its task is cancelled, and once that has ended KeyboardInterrupt is raised; or else ``told`` is called.
    """
    interrupted = False
    cancel: Callable[[], object] | None = None

    def interrupt() -> None:
        nonlocal interrupted
        interrupted = True
        if cancel is not None:
            cancel()

    async def guarded() -> Result:
        nonlocal cancel
        loop, doing = asyncio.get_running_loop(), asyncio.ensure_future(work)

        def soon() -> None:
            loop.call_soon_threadsafe(told or doing.cancel)

        cancel = soon
        if interrupted:  # before there was anybody to tell
            soon()
        try:
            return await doing
        finally:
            cancel = None

    try:
        with _once(interrupt), contextlib.closing(work), asyncio.Runner() as runner:
            runner.get_loop()  # which may fail: what is begun before would never be awaited
            result = runner.run(guarded())
    except asyncio.CancelledError:
        if interrupted:
            raise KeyboardInterrupt from None
        raise
    if interrupted and told is None:
        raise KeyboardInterrupt
    return result


class _Handler:
    """Tells of the first signal and of none that follows."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self.called = False

    def __call__(self, _number: int, _frame: object) -> None:
        if not self.called:
            self.called = True
            self._tell()


@contextlib.contextmanager
def _once(tell: Callable[[], None]) -> Iterator[None]:
    """Within, ``tell`` is called for the first of the two signals; what is around this is then told of none."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    mine = _Handler(tell)
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, mine)
    try:
        yield
    finally:
        for number, handler in before.items():
            if isinstance(handler, _Handler):
                handler.called |= mine.called
            signal.signal(number, handler)
