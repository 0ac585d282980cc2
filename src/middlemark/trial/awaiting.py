"""Await several tasks: some results while other tasks must not fail, or all results, or the first failure."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Iterable, Sequence
from typing import Any, TypeVar

from middlemark.model.protocol import JoinCommand, PublishedEvent, ReadyEvent
from middlemark.sites.channel import Channel, WorkerFailedError

Item = TypeVar("Item")


async def while_alive(
    tasks: Sequence[asyncio.Task[None]], *wanted: Awaitable[Any], timeout_s: float | None = None
) -> bool:
    """Await all of ``wanted``; return False after the timeout. If one of ``tasks`` fails first, raise its error."""
    waiting = asyncio.ensure_future(asyncio.gather(*wanted))
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        while not waiting.done():
            pending = [task for task in tasks if not task.done()]
            remaining_s = None if deadline is None else max(0.0, deadline - time.monotonic())
            ended, _ = await asyncio.wait([waiting, *pending], timeout=remaining_s, return_when=asyncio.FIRST_COMPLETED)
            # Check the tasks in the order of their start: if two have failed, the same error is always raised.
            for task in tasks:
                if task in ended:
                    task.result()
            if not ended:
                return False
        waiting.result()
        return True
    finally:
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError, WorkerFailedError):
            await waiting


async def all_of(awaitables: Iterable[Awaitable[Item]]) -> list[Item]:
    """Return all results in order. The first failure cancels the other tasks, and only this failure is raised."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


async def all_with_reasons(awaitables: Iterable[Awaitable[Item]]) -> list[Item]:
    """Return all results as :func:`all_of` does. If workers found no peers, raise one error with all their reasons.

    In a pair of different adapters, each side knows only why it rejected the other.
    """
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    try:
        found = await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        for task in tasks:
            task.cancel()
    failed = [each for each in found if isinstance(each, BaseException)]
    unmatched = [each for each in failed if isinstance(each, WorkerFailedError) and each.code == "unmatched"]
    for each in failed:
        if each not in unmatched:
            raise each
    if unmatched:
        text = "; ".join(each.text for each in unmatched)
        raise WorkerFailedError("unmatched", text, unmatched[0].advice)
    return [each for each in found if not isinstance(each, BaseException)]


async def ready(worker: Channel, timeout_s: float) -> WorkerFailedError | None:
    """Return why a worker did not become ready; None: it is ready.

    A late subscriber is ready once the history is published.
    """
    try:
        event = await worker.event(PublishedEvent, ReadyEvent, timeout_s=timeout_s)
        if isinstance(event, PublishedEvent):
            worker.send(JoinCommand())
            await worker.event(ReadyEvent, timeout_s=timeout_s)
    except WorkerFailedError as error:
        return error
    return None
