"""Daemons that become ready, do not, die at once, die later, or ignore SIGTERM. They are shell scripts."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from middlemark.model.description import CompanionSpec
from middlemark.sites.channel import WorkerFailedError, process_state
from middlemark.sites.companion import Companion, declared
from middlemark.sites.process_resources import read_account
from middlemark.trial.costs import companion_cost


def spec(script: str, ready: str = "^ready", timeout_s: float = 10.0, **environment: str) -> CompanionSpec:
    return CompanionSpec(
        name="daemon",
        argv=("sh", "-c", script),
        environment=environment,
        ready_pattern=ready,
        ready_timeout_s=timeout_s,
    )


def failing(asked: CompanionSpec) -> str:
    """Start the daemon, which must fail. Return the reason."""

    async def start() -> str:
        with pytest.raises(WorkerFailedError) as failed:
            await Companion.start(asked)
        assert failed.value.code == "companion"
        return failed.value.text

    return asyncio.run(start())


@pytest.mark.parametrize("stream", ["", ">&2"])
def test_a_companion_is_ready_when_either_stream_prints_its_ready_line(stream: str) -> None:
    async def run() -> None:
        companion = await Companion.start(spec(f"echo starting; echo ready to serve {stream}; exec sleep 300"))
        assert companion.death() is None
        await companion.stop(10)
        assert companion.process.returncode == -signal.SIGTERM

    asyncio.run(run())


def test_a_companion_has_its_declared_environment() -> None:
    async def run() -> None:
        companion = await Companion.start(spec('echo "ready $WHERE"; exec sleep 300', "^ready here$", WHERE="here"))
        await companion.stop(10)

    asyncio.run(run())


def test_a_companion_that_never_gets_ready_is_named_with_its_last_words(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    text = failing(spec(f"echo $$ > {pid}; echo still loading; exec sleep 300", timeout_s=0.5))
    assert text == "daemon was not ready within 0.5 s: still loading"
    assert process_state(int(pid.read_text())) == "", "the daemon is stopped and reaped"


def test_the_last_line_of_a_companions_traceback_is_reported() -> None:
    trace = "Traceback (most recent call last):\n  File 'rosmaster', line 1\nRuntimeError: no more threads"
    assert (
        failing(spec(f'echo "{trace}" >&2; exit 1'))
        == "daemon ended before it was ready: RuntimeError: no more threads"
    )


def test_a_companion_that_ends_at_once_is_named_with_its_last_words() -> None:
    assert (
        failing(spec("echo cannot lock /tmp/x >&2; exit 1")) == "daemon ended before it was ready: cannot lock /tmp/x"
    )


def test_a_companion_that_is_not_installed_is_named() -> None:
    asked = CompanionSpec(name="daemon", argv=("/nowhere/daemon",), ready_pattern="ready")
    text = failing(asked)
    assert "daemon" in text
    assert "/nowhere/daemon" in text


def test_the_death_of_a_companion_during_the_trial_is_reported() -> None:
    async def run() -> None:
        companion = await Companion.start(spec("echo ready; echo out of memory; exec sleep 300", "out of memory"))
        os.kill(companion.process.pid, signal.SIGKILL)
        while (death := companion.death()) is None:
            await asyncio.sleep(0.01)
        assert death.startswith(
            f"daemon (pid {companion.process.pid}) was ended by SIGKILL (signal 9) during the trial"
        )
        assert "out of memory" in death
        await companion.stop(10)

    asyncio.run(run())


def test_a_companion_that_a_signal_stops_is_reported() -> None:
    async def run() -> str:
        companion = await Companion.start(spec("echo ready; exec sleep 300"))
        os.kill(companion.process.pid, signal.SIGSTOP)
        with pytest.raises(WorkerFailedError) as failed:
            await asyncio.wait_for(companion.watch(), 60)
        await companion.stop(0.3)
        assert failed.value.code == "companion"
        return failed.value.text

    assert asyncio.run(run()).endswith("was stopped by a signal during the trial")


@pytest.mark.parametrize("stopped", [False, True], ids=["ignores SIGTERM", "stopped"])
def test_a_companion_that_does_not_end_is_killed(stopped: bool) -> None:
    async def run() -> None:
        deaf = "" if stopped else "trap '' TERM; "
        companion = await Companion.start(spec(f"{deaf}echo ready; while :; do sleep 0.1; done"))
        if stopped:
            os.kill(companion.process.pid, signal.SIGSTOP)
            while process_state(companion.process.pid) != "T":
                await asyncio.sleep(0.01)
        await companion.stop(0.3)
        assert companion.process.returncode == -signal.SIGKILL
        assert not Path(f"/proc/{companion.process.pid}").exists()

    asyncio.run(run())


def test_a_companions_children_are_stopped_with_the_companion(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def run() -> None:
        companion = await Companion.start(spec(f"sleep 300 & echo $! > {pid}; echo ready; wait"))
        await companion.stop(10)
        for _ in range(500):
            if process_state(int(pid.read_text())) in ("", "Z"):
                return
            await asyncio.sleep(0.01)
        os.kill(int(pid.read_text()), signal.SIGKILL)
        pytest.fail("its child outlived it")

    asyncio.run(run())


def test_cancelling_a_companions_start_stops_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def run() -> None:
        starting = asyncio.create_task(Companion.start(spec(f"echo $$ > {pid}; exec sleep 300", timeout_s=60)))
        while not (pid.exists() and pid.read_text()):
            await asyncio.sleep(0.01)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    asyncio.run(run())
    assert process_state(int(pid.read_text())) == ""


# ---- the daemons that a worker declares


def worker(tmp_path: Path, script: str) -> str:
    path = tmp_path / "middlemark-worker-x"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_a_worker_declares_its_companions_for_the_settings(tmp_path: Path) -> None:
    answer = '{"companions":[{"name":"d","argv":["d","-c","x"],"environment":{"A":"b"},"ready_pattern":"up"}]}'
    path = worker(tmp_path, f"read line; echo \"$line\" > {tmp_path}/asked; echo '{answer}'")
    [found] = asyncio.run(declared(path, {"transport": "shm"}))
    assert found == CompanionSpec(name="d", argv=("d", "-c", "x"), environment={"A": "b"}, ready_pattern="up")
    assert (tmp_path / "asked").read_text().strip() == '{"settings":{"transport":"shm"}}'


@pytest.mark.parametrize(
    ("script", "code", "says"),
    [
        ("echo nonsense; echo oh dear >&2", "companion", "not JSON: oh dear"),
        ('echo \'{"code":"refused","text":"too large"}\'', "refused", "too large"),
        ("exit 1", "companion", "not JSON"),
    ],
)
def test_a_worker_that_cannot_declare_companions_is_named(tmp_path: Path, script: str, code: str, says: str) -> None:
    with pytest.raises(WorkerFailedError) as failed:
        asyncio.run(declared(worker(tmp_path, script), {}))
    assert failed.value.code == code
    assert says in failed.value.text


@pytest.mark.parametrize(
    ("companion", "why"),
    [
        ({"name": "d", "argv": []}, "Expected `array` of length >= 1 - at `$.companions[0].argv`"),
        ({"name": "d", "argv": ["true"], "ready_pattern": "("}, "ready_pattern: missing )"),
        ({"name": "d", "argv": "true"}, "at `$.companions[0].argv`"),
    ],
)
def test_a_malformed_companion_is_refused_with_its_field(tmp_path: Path, companion: object, why: str) -> None:
    path = worker(tmp_path, f"echo '{json.dumps({'companions': [companion]})}'")
    with pytest.raises(WorkerFailedError) as failed:
        asyncio.run(declared(path, {}))
    assert failed.value.code == "companion"
    assert why in failed.value.text


def test_a_worker_with_endless_output_takes_bounded_memory(tmp_path: Path) -> None:
    with pytest.raises(WorkerFailedError, match="--companions answered more than 16 MiB"):
        asyncio.run(declared(worker(tmp_path, "exec cat /dev/zero"), {}))


def test_the_costs_of_a_companion_are_read_from_the_kernel() -> None:
    async def run() -> None:
        busy = "echo ready; exec python3 -c 'b = bytearray(64 << 20)\nwhile True: pass'"
        companion = await Companion.start(spec(busy))
        pid = companion.process.pid
        first = read_account(pid)
        while (last := read_account(pid)) is None or first is None or last.at_ns - first.at_ns < 300_000_000:
            await asyncio.sleep(0.05)
        found = companion_cost("daemon", pid, companion.ready_ns, first, last)
        await companion.stop(10)
        assert found.ready_ns > 0
        assert found.user_ns + found.system_ns > 0
        assert found.user_ns + found.system_ns <= 1.1e9 * found.seconds + 20_000_000, (
            "one thread can use only one processor"
        )
        assert found.peak_rss_bytes >= found.rss_bytes > 0
        assert sum(each.threads for each in found.threads) == 1
        assert read_account(pid) is None, "an ended process has no account"

    asyncio.run(run())
