"""The processes of one trial: stop them in the right order, and find the cause of a failure."""

import asyncio
import contextlib
import os
import signal

from middlemark.model.outcome import Failure
from middlemark.sites.channel import WorkerFailedError, WorkerProcess, process_state
from middlemark.sites.companion import Companion

INTERRUPTED_GRACE_S = 0.6


class Processes:
    """The processes of one trial, in the order in which they must be stopped."""

    def __init__(self) -> None:
        """Begin without processes."""
        self.workers: list[WorkerProcess] = []
        self.companions: list[Companion] = []
        self.witness: WorkerProcess | None = None

    async def close(self, grace_s: float) -> list[str]:
        """Stop workers before companions, because a RouDi aborts if its clients died.

        Return the exits that were not clean.
        """
        # ignore how the witness exits: the trial does not depend on it
        witness = [] if self.witness is None else [self.witness]
        ended = await asyncio.gather(*(each.finish(grace_s) for each in (*self.workers, *witness)))
        unclean = ended[: len(self.workers)]
        deaths = [companion.death() for companion in self.companions]
        for companion in reversed(self.companions):
            await companion.stop(grace_s)
        return [text for text in (*unclean, *deaths) if text]

    async def close_to_the_end(self, grace_s: float) -> list[str]:
        """Call ``close``. If it is cancelled, kill everything and finish, because no other code would clean up."""
        closing = asyncio.ensure_future(self.close(grace_s))
        try:
            return await asyncio.shield(closing)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(INTERRUPTED_GRACE_S, self.kill)
            return await closing

    def kill(self) -> None:
        """Kill all processes now, so that :meth:`close` ends."""
        processes = [each.process for each in self.workers] + [each.process for each in self.companions]
        processes += [self.witness.process] if self.witness is not None else []
        for process in processes:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def blame(self, error: WorkerFailedError) -> Failure:
        """Return the cause of an error: a dead or stopped companion, or a dead or stopped peer of a silent worker.

        Without such a cause, return the error itself. If a worker is silent, add the last line that each worker printed
        on stderr.
        """
        code, text = error.code, error.text
        for companion in self.companions:
            if (death := companion.death()) and death != text:
                return Failure(code="companion", text=f"{death} ({text})", advice=error.advice)
            if process_state(companion.process.pid) in ("T", "t") and companion.stopped() != text:
                return Failure(code="companion", text=f"{companion.stopped()} ({text})", advice=error.advice)
        if code in ("silent", "unmatched", "hung"):
            for peer in self.workers:
                ended = peer.process.poll()
                if ended is not None and ended < 0:
                    return Failure(code="crashed", text=f"{peer.ended_early().text} ({text})", advice=error.advice)
                if process_state(peer.pid) in ("T", "t") and peer.hung().text.split(":")[0] not in text:
                    return Failure(code="hung", text=f"{peer.hung().text} ({text})", advice=error.advice)
        if code == "silent":
            printed = {each.who: line for each in self.workers if (line := each.last_line())}
            text += "".join(f"; {who} printed: {line}" for who, line in printed.items())
        return Failure(code=code, text=text, advice=error.advice)
