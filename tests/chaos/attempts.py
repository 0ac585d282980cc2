"""Runs one command of Middlemark. Returns its output and exit code, and checks the rules for every command."""

import contextlib
import faulthandler
import io
import json
import os
import signal
import subprocess
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import click

RUNS = Path(__file__).resolve().parents[1] / "fixtures" / "run"
"""Small stored runs without damage."""
HANGS_S = 60.0
"""Seconds after which a command counts as hung. This is not a speed limit: commands take less than a second."""


class Hung(BaseException):
    """Raised within a command that does not end."""


class Ended(NamedTuple):
    """The end of a command. ``code`` is None after an exception, whose text is then in ``err``."""

    words: tuple[str, ...]
    code: int | None
    out: str
    err: str

    def losses(self, allowed: Collection[int]) -> Iterator[str]:
        """Yield a text for each rule that this command broke. ``allowed``: the exit codes that are documented."""
        asked = " ".join(self.words)
        if self.code is None or "Traceback" in self.err:
            last = "\n    ".join(self.err.strip().splitlines()[-9:])
            yield f"{asked}: an exception\n    {last}"
        elif self.code not in allowed:
            yield f"{asked}: exit {self.code}, not one of {sorted(allowed)}: {self.err.strip()[:300]}"
        elif self.code and not (self.err.strip() or self.out.strip()):
            yield f"{asked}: exit {self.code} without a message"


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Raise Hung if Python code hangs in this context. If other code hangs, print the stacks and end this process."""

    def hung(_: int, frame: types.FrameType | None) -> None:
        raise Hung("".join(traceback.format_stack(frame)[-6:]))

    before = signal.signal(signal.SIGALRM, hung)
    faulthandler.dump_traceback_later(3 * HANGS_S, exit=True, file=sys.__stderr__ or sys.stderr)
    signal.setitimer(signal.ITIMER_REAL, HANGS_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


def run(*words: str) -> Ended:
    """Run a command within this process, as the command line does. Python's warnings become exceptions."""
    from middlemark.cli import _run

    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    argv = sys.argv
    sys.argv = ["middlemark", *words]
    code: int | None = None
    try:
        with watched(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error")
            code = _run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else None
    except (Exception, Hung):
        err.write(traceback.format_exc())
    finally:
        sys.argv = argv
        # This makes click drop its cached wrapper of the replaced stream.
        click.echo("", nl=False)
    out.flush()
    printed = out.buffer
    assert isinstance(printed, io.BytesIO)
    return Ended(words, code, printed.getvalue().decode(errors="replace"), err.getvalue())


def run_apart(*words: str) -> Ended:
    """Run a command in a separate process, as a user does."""
    argv = [sys.executable, "-W", "error", "-m", "middlemark", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        done = subprocess.run(
            argv, capture_output=True, env=environment, timeout=HANGS_S, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return Ended(words, None, "", "hung")
    return Ended(words, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def describing_worker(folder: Path) -> Callable[[], None]:
    """Make `run --resume` find a worker that only prints its description. Return a function that undoes this."""
    folder.mkdir()
    described = json.dumps(json.loads((RUNS / "patterns" / "run.json").read_text())["adapters"][0])
    (folder / "description").write_text(described)
    worker = folder / "middlemark-worker-null"
    worker.write_text(f"#!/bin/sh\nexec cat '{folder}/description'\n")
    worker.chmod(0o755)
    before = os.environ.get("MIDDLEMARK_WORKERS")
    os.environ["MIDDLEMARK_WORKERS"] = str(folder)

    def undo() -> None:
        if before is None:
            del os.environ["MIDDLEMARK_WORKERS"]
        else:
            os.environ["MIDDLEMARK_WORKERS"] = before

    return undo
