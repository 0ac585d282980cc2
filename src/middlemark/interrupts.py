"""Handle Ctrl-C and SIGTERM in commands that must clean up. Only the first signal counts.

All other commands end at once. A signal that was ignored before stays ignored.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")


def unwind() -> contextlib.AbstractContextManager[None]:
    """Return a context manager that raises KeyboardInterrupt on the first signal."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    return _once(interrupt)


def run(work: Coroutine[Any, Any, Result], on_interrupt: Callable[[], None] | None = None) -> Result:
    """Run ``work`` in an event loop. A signal does not raise inside ``work``.

    The first signal calls ``on_interrupt``. Without ``on_interrupt``, the first signal cancels the task of ``work``,
    and this function raises KeyboardInterrupt after the task has ended.
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

        def cancel_in_loop() -> None:
            loop.call_soon_threadsafe(on_interrupt or doing.cancel)

        cancel = cancel_in_loop
        if interrupted:  # a signal came before ``cancel`` was set
            cancel_in_loop()
        try:
            return await doing
        finally:
            cancel = None

    try:
        with _once(interrupt), contextlib.closing(work), asyncio.Runner() as runner:
            runner.get_loop()  # may fail: called before the coroutine exists, which would never be awaited
            result = runner.run(guarded())
    except asyncio.CancelledError:
        if interrupted:
            raise KeyboardInterrupt from None
        raise
    if interrupted and on_interrupt is None:
        raise KeyboardInterrupt
    return result


class _Handler:
    """A signal handler that calls ``react`` for the first signal only."""

    def __init__(self, react: Callable[[], None]) -> None:
        self._react = react
        self.called = False

    def __call__(self, _number: int, _frame: object) -> None:
        if not self.called:
            self.called = True
            self._react()


@contextlib.contextmanager
def _once(react: Callable[[], None]) -> Iterator[None]:
    """Call ``react`` for the first of the two signals.

    Handlers of an enclosing ``_once`` are not called for this signal.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    mine = _Handler(react)
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
