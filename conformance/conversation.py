"""A worker process that a test controls directly, line by line, with the protocol of docs/reference/protocol.md."""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec

from middlemark.model.protocol import (
    AnyRoleRequest,
    ConfigureCommand,
    PingRequest,
    Placement,
    PongRequest,
    Settings,
)

PATIENCE_S = 120.0


class Conversation:
    """One worker process. Every line that it writes to its control channel must be a JSON object."""

    def __init__(self, worker: str) -> None:
        self.process = subprocess.Popen(
            [worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self._buffer = b""

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                stream.close()

    def send(self, **command: Any) -> None:
        """Send a command with these fields."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command).encode() + b"\n")

    def close_stdin(self) -> None:
        """Close the worker's stdin, as happens if the launcher dies."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def expect(self, *names: str) -> dict[str, Any]:
        """Return the next event with one of these names and skip others. Fail at an ``error`` that is not expected."""
        while True:
            event = self.next()
            assert event is not None, f"the worker ended without {names}: {self.stderr()}"
            if event["event"] in names:
                return event
            assert event["event"] != "error", event

    def next(self) -> dict[str, Any] | None:
        """Return the next event, or None at the end of the worker's output."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + PATIENCE_S
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"the worker sent nothing for {PATIENCE_S:g} s"
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                assert self._buffer == b"", "the worker's last line was cut off"
                return None
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        event = json.loads(line)
        assert isinstance(event, dict)
        return event

    def status(self) -> int:
        """Wait for the worker to end, and return its exit status."""
        return self.process.wait(PATIENCE_S)

    def stderr(self) -> str:
        """End the worker, and return what it wrote to stderr."""
        assert self.process.stderr is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        return self.process.stderr.read().decode(errors="replace")


def one_process(cell: dict[str, Any], scratch: Path, samples: int = 50, **changed: Any) -> dict[str, Any]:
    """Return a configure command for a ping and a pong in one process, without the pong if there are no subscribers."""
    settings = Settings(
        pattern="ping-pong",
        transport=cell["transport"],
        reliability=cell["reliability"],
        reception=cell["receive"],
        depth=cell["depth"],
        loan=cell["loan"],
        security=cell["security"],
        one_process=True,
        message_bytes=cell["size"],
        publishers=1,
        subscribers=cell["subscribers"],
        workers=1,
        domain=77,
        scope=f"mm_direct_{os.urandom(3).hex()}",
        scratch=str(scratch),
    )
    ping = PingRequest(
        index=0,
        samples=samples,
        duration_s=None,
        warmup_s=0.01,
        reply_timeout_s=10.0,
        limit_s=30.0,
        payload="filled",
        echoing=1,
        samples_path=str(scratch / "samples.npy"),
    )
    pong = PongRequest(index=0, echoes=True, echoing=1, payload="filled")
    command = configure(settings, ping, *([pong] if cell["subscribers"] else []))
    return {**command, "settings": command["settings"] | changed}


def configure(settings: Settings, *roles: AnyRoleRequest) -> dict[str, Any]:
    """Return a configure command's fields as a dictionary, so that a test can change them."""
    placement = Placement(cpus=(), policy="other", priority=0, mlock=False, rt_limit_s=60.0)
    command: dict[str, Any] = msgspec.to_builtins(
        ConfigureCommand(settings=settings, placement=placement, match_timeout_s=20.0, roles=roles)
    )
    del command["command"]
    return {**command, "roles": list(command["roles"])}
