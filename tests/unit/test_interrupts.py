"""The first SIGINT or SIGTERM ends the command by an exception. Later ones do not interrupt the removal of residue."""

import asyncio
import errno
import os
import signal
from collections.abc import Iterator

import pytest

from middlemark import interrupts

BOTH = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in BOTH}
    yield
    assert {number: signal.getsignal(number) for number in BOTH} == before


def raised(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("first", BOTH)
@pytest.mark.parametrize("second", BOTH)
def test_a_second_interrupt_does_not_cut_short_the_cleanup(first: int, second: int) -> None:
    cleared = []

    async def work() -> None:
        try:
            raised(first)
            await asyncio.sleep(60)
        finally:
            raised(second)
            await asyncio.sleep(0.01)
            cleared.append(1)

    with pytest.raises(KeyboardInterrupt):
        interrupts.run(work())
    assert cleared == [1]


@pytest.mark.parametrize("first", BOTH)
@pytest.mark.parametrize("second", BOTH)
def test_a_second_interrupt_outside_of_an_event_loop_does_not_cut_short_the_cleanup(first: int, second: int) -> None:
    cleared = []

    def work() -> None:
        try:
            raised(first)
        finally:
            raised(second)
            cleared.append(1)

    with pytest.raises(KeyboardInterrupt), interrupts.unwind():
        work()
    assert cleared == [1]


@pytest.mark.parametrize("number", BOTH)
def test_an_interrupt_does_not_cut_short_the_cleanup_after_the_loop(number: int) -> None:
    cleared = []

    async def work() -> None:
        raised(number)
        await asyncio.sleep(0.01)

    with interrupts.unwind():
        interrupts.run(work(), lambda: cleared.append("told"))
        raised(number)
        cleared.append("closed")
    assert cleared == ["told", "closed"]


@pytest.mark.parametrize("number", BOTH)
def test_work_that_is_notified_of_an_interrupt_may_finish(number: int) -> None:
    notified = []

    async def work() -> str:
        raised(number)
        while not notified:
            await asyncio.sleep(0)
        raised(number)
        await asyncio.sleep(0.01)
        return "done"

    assert interrupts.run(work(), lambda: notified.append(1)) == "done"
    assert notified == [1]


@pytest.mark.parametrize("number", BOTH)
def test_an_interrupt_at_the_same_time_as_the_result_is_not_lost(number: int) -> None:
    async def work() -> None:
        raised(number)

    with pytest.raises(KeyboardInterrupt):
        interrupts.run(work())


def test_ignored_interrupts_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)

    async def work() -> str:
        raised(signal.SIGINT)
        await asyncio.sleep(0)
        return "done"

    try:
        assert interrupts.run(work()) == "done"
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_cancellation_by_the_work_itself_is_no_interrupt() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        interrupts.run(work())


def test_without_an_event_loop_no_coroutine_stays_unawaited(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> asyncio.AbstractEventLoop:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(asyncio.events, "new_event_loop", refused)
    with pytest.raises(OSError, match="Too many open files"):
        interrupts.run(asyncio.sleep(0))
