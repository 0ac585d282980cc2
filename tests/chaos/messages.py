"""Damages a worker's messages. A fake worker sends one damaged event, and only its trial may fail."""

import base64
import json
import os
import random
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import attempts
import mutations

from middlemark.sites import channel
from middlemark.trial import following, measurement
from middlemark.trial.observe import Shared  # noqa: F401  all of launch is imported before the first attempt is timed

UNIT = Path(__file__).resolve().parents[1] / "unit"
DESCRIPTION: dict[str, Any] = {
    **dict.fromkeys(("is_raw_transport", "bench_only", "request_reply", "own_threads"), False),
    "protocol": 1, "name": "fake", "title": "fake", "version": "1", "library": "", "licence": "MIT", "residue": [],
    "native": {"*": {"help": "what it does wrong"}},
    "transports": [
        {
            "name": "memory", "carrier": "udp", "processes": [1, 2], "receive": ["block"], "reliability": ["reliable"],
            "loan": [False], "max_bytes": 1 << 26,
        }
    ],
}  # fmt: skip
PREFACE = """#!{python} -IS
import sys
if "--describe" in sys.argv:
    print({description!r})
    sys.exit()
if "--check" in sys.argv:
    sys.exit(2)
"""
SUITE = """[[sweep]]
match_timeout = "1s"
"""
COMMON = (
    "--adapter", "fake", "--size", "64", "--pin", "off", "--no-baseline", "--trials", "2", "--duration", "50ms",
    "--warmup", "0s", "--quiet", "--format", "json",
)  # fmt: skip
SHAPES = (
    ("--pattern", "ping-pong"),
    ("--pattern", "ping-pong", "--processes", "1"),
    ("--pattern", "stream", "--subscribers", "2"),
    ("--pattern", "stream", "--rate", "max", "--processes", "1"),
    ("--pattern", "request-reply", "--rate", "100"),
)
PATIENCE = {
    channel: {"CONTROL_SILENCE_S": 1.0},
    following: {"CONTROL_SILENCE_S": 1.0, "RESULT_S": 1.0},
    measurement: {"HELLO_S": 1.0, "START_S": 1.0, "FIRST_TICK_S": 1.0, "STOP_S": 1.0},
}
"""Shortened time limits, because the damaged worker may never send an event."""
ENDS = (0, 1, 3)
"""Allowed exit codes. The fake worker writes no readable samples, so only the stored trials are checked."""
WRONG_TEXTS = (
    b"", b"\0", b"null", b"[]", b"{}", b'{"event": 5}', b'{"event": "quit"}', b"x" * (1 << 21), b"\xff\xfe",
)  # fmt: skip


class Kind:
    """A folder with a fake worker, and the events that it sends in an undamaged trial of each shape."""

    name = "messages"
    waits = True

    def __init__(self) -> None:
        """Measure each shape once without damage, to record its events."""
        self.folder = Path(tempfile.mkdtemp(prefix="middlemark-chaos-messages-"))
        worker = self.folder / "middlemark-worker-fake"
        preface = PREFACE.format(python=sys.executable, description=json.dumps(DESCRIPTION))
        worker.write_text(preface + (UNIT / "fake_worker.py").read_text())
        (self.folder / "suite.toml").write_text(SUITE)
        worker.chmod(worker.stat().st_mode | stat.S_IXUSR)
        self._environment = {name: os.environ.get(name) for name in ("MIDDLEMARK_WORKERS", "PATH")}
        os.environ |= {"MIDDLEMARK_WORKERS": str(self.folder), "PATH": "/usr/bin:/bin"}
        self._patience = [(module, name, getattr(module, name)) for module in PATIENCE for name in PATIENCE[module]]
        for module, names in PATIENCE.items():
            for name, value in names.items():
                setattr(module, name, value)
        self._events: dict[tuple[str, ...], list[tuple[str | None, str, Any]]] = {}

    def close(self) -> None:
        """Remove the folder."""
        for module, name, value in self._patience:
            setattr(module, name, value)
        for name, old in self._environment.items():
            os.environ.pop(name) if old is None else os.environ.update({name: old})
        shutil.rmtree(self.folder)

    def attempt(self, draw: random.Random) -> tuple[str, list[str]]:
        """Damage one event in the first of two trials. Return what was sent and what was lost."""
        shape = draw.choice(SHAPES)
        at, event, fields = draw.choice(self._sound(shape))
        fields = json.loads(json.dumps(fields))
        if draw.random() < 0.1:
            text = draw.choice(WRONG_TEXTS)
            what = f"is {text[:20]!r}"
        elif draw.random() < 0.2:
            what, text = mutations.of_bytes(draw, json.dumps(fields).encode())
        else:
            what, text = mutations.of_json(draw, fields)
        replacement = {"at": at, "event": event, "text": base64.b64encode(text.replace(b"\n", b" ")).decode()}
        (self.folder / "instead").write_text(json.dumps(replacement))
        out = self.folder / "runs"
        shutil.rmtree(out, ignore_errors=True)
        losses = self._losses(self._measure(shape, out), out)
        for left in [*self.folder.glob("instead"), *self.folder.glob("taken-*")]:
            left.unlink()
        return f"{' '.join(shape)}: {event} of {at}: {what}", losses

    def _sound(self, shape: tuple[str, ...]) -> list[tuple[str | None, str, Any]]:
        if shape not in self._events:
            record = self.folder / "said"
            ended = self._measure(shape, self.folder / "sound", "--native", f"record={record}")
            assert ended.code in ENDS, ended.err
            lines = [json.loads(line) for line in record.read_text().splitlines()]
            record.unlink()
            self._events[shape] = [(None, "hello", HELLO), *((at, event, fields) for at, event, fields in lines)]
        return self._events[shape]

    def _measure(self, shape: tuple[str, ...], out: Path, *more: str) -> attempts.Ended:
        return attempts.run("run", str(self.folder / "suite.toml"), *COMMON, *shape, "--out", str(out), *more)

    def _losses(self, ended: attempts.Ended, out: Path) -> list[str]:
        losses = list(ended.losses(ENDS))
        folders = [path.parent for path in out.glob("*/run.json")]
        if len(folders) != 1:
            return [*losses, f"{len(folders)} runs are stored"]
        lines = (folders[0] / "trials.jsonl").read_bytes().splitlines()
        good = [line for line in lines if b'"failed":null' in line]
        if len(lines) != 2 or not good:
            losses.append(
                f"{len(lines)} of 2 trials are stored, and {len(good)} of these succeeded: {ended.err[-300:]}"
            )
        for verb in (("report", str(folders[0]), "--markdown", str(out / "report.md")), ("list", "runs", str(out))):
            losses += attempts.run(*verb).losses((0,))
        return losses


CLOCK = {"source": "tsc", "ticks_per_second": 2.6e9, "cost_ns": 9.0, "resolution_ns": 0.4}
HELLO = {"event": "hello", "protocol": 1, "adapter": "fake", "version": "1", "pid": 7, "clock": CLOCK}
