"""A worker's control channel: its events, silence, last words and end. The workers are shell scripts."""

import asyncio
import itertools
import os
import resource
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from middlemark.model.protocol import HelloEvent, Message, SeenEvent, StartCommand
from middlemark.sites import channel
from middlemark.sites.channel import WorkerFailedError, WorkerProcess

CLOCK = '{"source":"tsc","ticks_per_second":1e9,"cost_ns":9,"resolution_ns":1}'
HELLO = f'echo \'{{"event":"hello","protocol":1,"adapter":"x","version":"1","pid":1,"clock":{CLOCK}}}\''
WATCHING = 'echo \'{"event":"watching","absent":"no"}\''


def with_worker(script: str, then: Callable[[WorkerProcess], Awaitable[None]]) -> WorkerProcess:
    """Start the script, yield its worker, and check that its process is reaped."""

    async def run() -> WorkerProcess:
        worker = await WorkerProcess.start("ping", ["sh", "-c", script], {})
        try:
            await then(worker)
        finally:
            await worker.kill()
        return worker

    worker = asyncio.run(run())
    assert worker.process.returncode is not None
    assert not Path(f"/proc/{worker.pid}").exists()
    return worker


def failure(script: str, kind: type[Message], timeout_s: float = 10.0, ticking: bool = False) -> WorkerFailedError:
    """Wait for an event that does not come, and return the error."""
    found: list[WorkerFailedError] = []

    async def ask(worker: WorkerProcess) -> None:
        with pytest.raises(WorkerFailedError) as failed:
            await worker.event(kind, timeout_s=timeout_s, ticking=ticking)
        found.append(failed.value)

    with_worker(script, ask)
    return found[0]


def test_events_come_in_order_and_others_are_skipped() -> None:
    async def ask(worker: WorkerProcess) -> None:
        assert (await worker.event(HelloEvent, timeout_s=60)).pid == 1
        assert (await worker.event(SeenEvent, timeout_s=60)) == SeenEvent(lost=7)

    with_worker(f'{HELLO}; {WATCHING}; echo \'{{"event":"seen","lost":7}}\'; cat', ask)


@pytest.mark.parametrize("noise", ["not json", "[1,2]", "5", '"text"', "{", ""])
def test_a_line_that_is_no_event_is_skipped(noise: str) -> None:
    async def ask(worker: WorkerProcess) -> None:
        await worker.event(HelloEvent, timeout_s=60)

    with_worker(f"echo '{noise}'; {HELLO}; cat", ask)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"event":"seen","lost":"seven"}', "seen: Expected `int`, got `str` - at `$.lost`"),
        ('{"event":"seen","spells":[[1,2,3],[1,2,-3]]}', "seen: Expected `int` >= 0 - at `$.spells[1][2]`"),
        ('{"event":"hello"}', "hello: Object missing required field `protocol`"),
        ('{"event":"result","role":"pong"}', "result: Object missing required field `index`"),
        ('{"event":"dance"}', "dance: Invalid value 'dance' - at `$.event`"),
        ('{"event":"ready","notes":' + "[" * 3000, "a line that is nested too deeply"),
    ],
)
def test_an_event_outside_of_the_protocol_is_named_with_its_field(line: str, why: str) -> None:
    failed = failure(f"echo '{line}'; {HELLO}; cat", HelloEvent)
    assert failed.code == "internal"
    assert failed.text == f"ping broke the protocol: {why}"
    assert "rebuild both" in failed.advice


def test_commands_are_sent_as_one_line_each() -> None:
    async def ask(worker: WorkerProcess) -> None:
        worker.send(SeenEvent(lost=1))
        worker.send(SeenEvent(lost=2))
        assert [(await worker.event(SeenEvent, timeout_s=60)).lost for _ in range(2)] == [1, 2]

    with_worker("cat", ask)


def test_an_error_event_is_raised_with_code_and_advice() -> None:
    failed = failure(
        'echo \'{"event":"error","code":"refused","text":"no such transport","advice":"try udp"}\'; cat', HelloEvent
    )
    assert (failed.code, failed.text, failed.advice) == ("refused", "ping: no such transport", "try udp")


def test_a_crash_is_named_with_its_signal_and_last_words() -> None:
    failed = failure('echo "history full" >&2; kill -SEGV $$', HelloEvent)
    assert failed.code == "crashed"
    assert "was ended by SIGSEGV (signal 11); its stderr ended with: history full" in failed.text


def test_an_exit_is_named_with_its_status() -> None:
    failed = failure("exit 42", HelloEvent)
    assert failed.code == "crashed"
    assert "exited with status 42" in failed.text


def test_an_exceeded_real_time_limit_is_named() -> None:
    assert "used real-time priority without sleeping" in failure("kill -XCPU $$", HelloEvent).text


def test_a_closed_channel_is_distinguished_from_an_exit() -> None:
    assert "closed its control channel" in failure("exec >&-; sleep 30", HelloEvent).text


def test_the_last_words_are_the_last_lines_and_bounded() -> None:
    failed = failure("seq 100000 >&2; echo the end >&2; exit 1", HelloEvent)
    assert failed.text.endswith("the end")
    assert len(failed.text) < 1000


def test_the_last_words_may_be_any_bytes() -> None:
    assert "\ufffd" in failure("printf '\\377\\376' >&2; exit 1", HelloEvent).text


def test_silence_is_a_hang_that_names_the_awaited_event() -> None:
    failed = failure("sleep 30", HelloEvent, timeout_s=0.1)
    assert failed.code == "hung"
    assert "(awaited: hello)" in failed.text


def test_a_stopped_worker_is_distinguished_from_a_busy_one() -> None:
    failed = failure("kill -STOP $$; sleep 30", HelloEvent, timeout_s=0.5)
    assert failed.code == "hung"
    assert "it is stopped (SIGSTOP or a debugger)" in failed.text


def test_a_worker_that_ticks_hangs_only_when_it_falls_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "CONTROL_SILENCE_S", 1.5)
    ticks = f"for i in 1 2 3 4 5 6; do {WATCHING}; sleep 0.5; done"

    async def ask(worker: WorkerProcess) -> None:
        await worker.event(HelloEvent, timeout_s=60, ticking=True)

    with_worker(f"{ticks}; {HELLO}; cat", ask)
    failed = failure(f"{WATCHING}; sleep 30", HelloEvent, timeout_s=60, ticking=True)
    assert failed.code == "hung"


def test_a_command_to_an_ended_worker_is_no_error() -> None:
    async def ask(worker: WorkerProcess) -> None:
        with pytest.raises(WorkerFailedError):
            await worker.event(HelloEvent, timeout_s=60)
        worker.send(StartCommand())

    with_worker("exit 0", ask)


@pytest.mark.parametrize(
    ("script", "unclean"),
    [
        ("read line; exit 0", None),
        ("read line; exit 3", "ping exited with status 3 after its result"),
        ("read line; kill -ABRT $$", "ping was ended by SIGABRT (signal 6) after its result"),
        ("read line; echo oh >&2; exit 1", "ping exited with status 1 after its result; its stderr ended with: oh"),
        ("sleep 30", "ping did not exit within 0.3 s of its result and was killed"),
    ],
)
def test_an_unclean_exit_is_reported(script: str, unclean: str | None) -> None:
    async def ask(worker: WorkerProcess) -> None:
        assert await worker.finish(0.3 if script.startswith("sleep") else 10.0) == unclean

    with_worker(script, ask)


def test_all_processes_of_a_workers_session_are_killed_with_the_worker(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"

    async def ask(worker: WorkerProcess) -> None:
        await worker.event(HelloEvent, timeout_s=60)

    with_worker(f"sleep 300 & echo $! > {pid_file}; {HELLO}; wait", ask)
    child = int(pid_file.read_text())
    for _ in range(500):
        if channel.process_state(child) in ("", "Z"):
            return
        asyncio.run(asyncio.sleep(0.01))
    os.kill(child, signal.SIGKILL)
    pytest.fail("its child outlived it")


def test_a_worker_that_cannot_be_started_is_an_error_of_the_system() -> None:
    async def start() -> None:
        with pytest.raises(OSError, match="No such file"):
            await WorkerProcess.start("ping", ["/nowhere/middlemark-worker-x"], {})

    asyncio.run(start())


def test_cancelling_a_start_leaves_no_process_behind() -> None:
    async def start() -> int:
        pids: list[int] = []
        watch = WorkerProcess._watch_end

        def noting(self: WorkerProcess, loop: asyncio.AbstractEventLoop) -> None:
            pids.append(self.pid)
            watch(self, loop)
            starting.cancel()

        WorkerProcess._watch_end = noting  # type: ignore[method-assign]
        try:
            starting = asyncio.create_task(WorkerProcess.start("ping", ["sleep", "300"], {}))
            with pytest.raises(asyncio.CancelledError):
                await starting
        finally:
            WorkerProcess._watch_end = watch  # type: ignore[method-assign]
        return pids[0]

    assert not Path(f"/proc/{asyncio.run(start())}").exists()


def test_signals_have_names() -> None:
    assert channel.signal_name(9) == "SIGKILL (signal 9)"
    assert channel.signal_name(200) == "signal 200"


def test_the_states_of_processes_are_read() -> None:
    assert channel.process_state(os.getpid()) == "R"
    assert channel.process_state(2**22 + 1) == ""


def test_a_start_without_enough_descriptors_keeps_none_open() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def scenario() -> set[str]:
        before = set(os.listdir("/proc/self/fd"))
        free = (each for each in itertools.count() if str(each) not in before)
        resource.setrlimit(resource.RLIMIT_NOFILE, (next(itertools.islice(free, 4, None)), hard))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                await WorkerProcess.start("worker", ["/bin/true"], {})
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return set(os.listdir("/proc/self/fd")) ^ before

    assert asyncio.run(scenario()) == set()
