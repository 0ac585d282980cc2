"""Ctrl-C and SIGTERM at unusual moments: the command ends without a message, even if the signal comes very early."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from product import ROOT, Bench, Run, until

WAYS = {
    "./middlemark": [str(ROOT / "middlemark")],
    "python -m middlemark": [sys.executable, "-m", "middlemark"],
    # The script that pip writes as bin/middlemark.
    "installed": [sys.executable, "-c", "import sys; from middlemark.cli import main; sys.exit(main())"],
}
ONE = ["run", "--adapter", "null", "--transport", "memory", "--size", "64", "--pin", "off", "--trials", "1", "--quiet"]
INTERRUPTED = (130, -signal.SIGINT)
"""Exit statuses of an interrupted command. A shell shows both as 130."""


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> list[str]:
    return WAYS[request.param]


def started(bench: Bench, way: list[str], *arguments: str, first_on_path: Path | None = None) -> Run:
    def listen() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # as in a terminal, also if the tests run without one

    path = os.pathsep.join(str(each) for each in (first_on_path, ROOT / "src") if each)
    environment = {"MIDDLEMARK_SETUP": "off", "PYTHONPATH": path}
    return bench.start(*arguments, command=way, environment=environment, preexec_fn=listen)


@pytest.mark.usefixtures("null_worker")
def test_an_interrupt_at_any_early_instant_ends_the_command_without_a_traceback(bench: Bench, way: list[str]) -> None:
    for instant_ms in range(0, 151, 10):
        run = started(bench, way, *ONE, "--duration", "2s")
        # `./middlemark` starts as a shell script. Bash ignores an interrupt that did not kill its child.
        until(lambda run=run: "python" in os.readlink(f"/proc/{run.process.pid}/exe"))
        handled = handlers_seen(run, instant_ms / 1000)
        # Stop the process, so that it cannot change its handlers between this check and the signal.
        run.signal(signal.SIGSTOP)
        until(lambda run=run: state_of(run.process.pid) in "TZ")
        look_again(run, handled)
        run.signal(signal.SIGINT)
        run.signal(signal.SIGCONT)
        code, err = run.interrupted()
        # main() has replaced Python's handler of SIGINT, or Python has not started.
        if handled != [False, True]:
            assert code in INTERRUPTED, f"after {instant_ms} ms: {err}"
            assert len(err.splitlines()) <= 1, f"after {instant_ms} ms: {err}"
        # While Python itself starts, its handler may print a traceback or swallow the interrupt, which Middlemark
        # cannot change. But Middlemark's code must not appear in the traceback. Its folder may, because the import
        # system searches it.
        assert f'File "{ROOT / "src" / "middlemark"}' not in err, f"after {instant_ms} ms: {err}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_in_a_checkout_a_signal_is_delayed_until_python_can_handle_it(bench: Bench, number: signal.Signals) -> None:
    for instant_ms in range(0, 40, 4):
        run = started(bench, WAYS["./middlemark"], "list", "suites")
        until(lambda run=run: "python" in os.readlink(f"/proc/{run.process.pid}/exe"))
        time.sleep(instant_ms / 1000)
        run.signal(number)
        code, err = run.interrupted()
        assert code in (INTERRUPTED if number == signal.SIGINT else (130,)), f"after {instant_ms} ms"
        assert err == "", f"after {instant_ms} ms"


def test_a_signal_while_python_ends_does_not_change_the_status(bench: Bench, way: list[str]) -> None:
    for instant_ms in range(16):
        run = started(bench, way, "--version")
        assert run.process.stdout is not None
        assert run.process.stdout.readline()
        time.sleep(instant_ms / 1000)
        run.signal(signal.SIGTERM)
        code, err = run.interrupted()
        assert (code in (0, 130), err) == (True, ""), f"exit {code} after {instant_ms} ms"


def handlers_seen(run: Run, seconds: float) -> list[bool]:
    """Observe the run for these seconds. Return whether SIGINT was caught: at first, and after each change."""
    until_s = time.monotonic() + seconds
    seen = [False]
    while True:
        look_again(run, seen)
        if time.monotonic() >= until_s:
            return seen
        time.sleep(0.0005)


def look_again(run: Run, seen: list[bool]) -> None:
    caught = caught_by_process(run.process.pid)
    if caught != seen[-1]:
        seen.append(caught)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0]


def caught_by_process(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1)


INTERRUPTING = {
    "a module": "import os, signal\nos.kill(os.getpid(), {number})\n",
    # Python prints and ignores an exception raised there.
    "a destructor": (
        "import os, signal\n"
        "class Last:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), {number})\n"
        "        [None for _ in range(1000)]\n"
        "Last()\n"
    ),
}


@pytest.mark.usefixtures("null_worker")
@pytest.mark.parametrize("where", INTERRUPTING)
@pytest.mark.parametrize(
    ("way", "imported", "number"),
    [
        *((way, "click", signal.SIGINT) for way in WAYS),
        *(("python -m middlemark", each, signal.SIGINT) for each in ("msgspec", "asyncio", "numpy")),
        ("python -m middlemark", "click", signal.SIGTERM),
        ("python -m middlemark", "jinja2", signal.SIGTERM),  # imported only by the report, at the end
    ],
    indirect=["way"],
)
def test_an_interrupt_during_imports_ends_the_command_silently(
    bench: Bench, way: list[str], imported: str, number: signal.Signals, where: str
) -> None:
    modules = bench.folder / "modules"
    modules.mkdir()
    interrupting = INTERRUPTING[where].format(number=int(number))
    (modules / f"{imported}.py").write_text(interrupting + "raise SystemExit('the interrupt was swallowed')\n")
    run = started(bench, way, *ONE, "--duration", "50ms", "--warmup", "10ms", first_on_path=modules)
    code, err = run.interrupted()
    assert code in (INTERRUPTED if number == signal.SIGINT else (130,))
    assert err == ""


def test_a_command_started_with_interrupts_ignored_keeps_ignoring_them(bench: Bench, way: list[str]) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as for nohup and a shell's background jobs

    environment = {"MIDDLEMARK_SETUP": "off", "PYTHONPATH": str(ROOT / "src")}
    run = bench.start("list", "suites", command=way, environment=environment, preexec_fn=ignore)
    while run.process.poll() is None:
        run.signal(signal.SIGINT)
        time.sleep(0.005)
    ended = run.ended()
    assert ended.code == 0
    assert "first-look" in ended.out
