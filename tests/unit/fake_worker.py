"""A worker without a middleware, which follows docs/reference/protocol.md and makes the faults in ``settings.native``.

Its figures are calculated from the load, so a second of measuring takes no time. It uses no installed package and no
module of Middlemark. Keys of ``native``, all strings:

log           a file to append a line to for every command: ``<ns> <role> <command as JSON>``
clock         <role>=<source>:<ticks per second>
rss           resident bytes
tick_s        seconds between two ticks; 0.1
capacity      the largest number of messages per second that arrive at a subscriber
p99_per_hz    one-way p99 in ns for each Hz of the rate
at, does      a role, and its fault: ``die`` or ``fall silent`` at its start, ``stay`` when it is stopped,
              ``linger`` (go on for a while) when it is stopped, ``fail`` with an error of its own
sends         send messages over UDP: ``protected``, or ``plain`` whatever the security
admits        the identities that get ready, in addition to the two of a trial
record        a file to append a line to for every event: ``[<role>, <event>, <event as sent>]``
rates         the faults occur only at rates within these limits (Hz): ``<lowest> <highest>``
at, leaves    a role, and a command that it starts in its own session; the pid is written to ``left`` in this folder
at, says      a role, and its wrong fields: ``{"<event>": {"<field, dotted>": <value, or "absent">}}``
              (for the ``hello`` they are in a file ``says`` in this folder)

The text of a file ``instead`` in this folder, ``{"at": <role>, "event": <event>, "text": <base64>}``, is sent once
instead of that event; an ``at`` of null means any role.
"""

import base64
import json
import os
import signal
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]


speaking = threading.Lock()
wrong: Json = {}
"""By event and dotted field: the value that replaces the field."""


def say(event: str, **fields: Any) -> None:
    message = json.loads(json.dumps({"event": event, **fields}))
    for path, value in wrong.get(event, {}).items():
        *parents, last = path.split(".")
        within = message
        for parent in parents:
            within = within[int(parent)] if isinstance(within, list) else within[parent]
        if value == "absent":
            del within[last]
        else:
            within[last] = value
    if recorded is not None:
        with open(recorded, "a", encoding="utf-8") as record:
            record.write(json.dumps([named, event, message]) + "\n")
    with speaking:
        sys.stdout.buffer.write((instead(event) or json.dumps(message).encode()) + b"\n")
        sys.stdout.flush()


named = None
"""The first role of this worker, once it is known."""
recorded = None


def instead(event: str) -> bytes | None:
    """Return the text of ``instead`` if it is for this event. Return it only once."""
    path = Path(sys.argv[0]).with_name("instead")
    try:
        replacement = json.loads(path.read_text())
        if replacement["event"] == event and replacement["at"] in (None, named):
            path.rename(path.with_name(f"taken-{os.getpid()}"))  # only one of several workers succeeds
            return base64.b64decode(replacement["text"])
    except FileNotFoundError:
        pass
    return None


def hear() -> Json:
    line = sys.stdin.readline()
    if not line:
        sys.exit(3)
    command: Json = json.loads(line)
    return command


class Fake:
    """One worker of one trial."""

    def __init__(self, configure: Json) -> None:
        self.settings: Json = configure["settings"]
        self.native: dict[str, str] = self.settings["native"]
        self.roles: list[Json] = configure["roles"]
        self.name = f"{self.roles[0]['role']} {self.roles[0].get('index', 0)}"
        self.scratch = Path(self.settings["scratch"])
        self.began_ns = time.monotonic_ns()
        global named, recorded
        named, recorded = self.name, self.native.get("record")
        if self.name == self.native.get("at"):
            wrong.update(json.loads(self.native.get("says", "{}")))
            self.leave(self.native.get("leaves", "").split())

    def leave(self, command: list[str]) -> None:
        pid = os.fork() if command else 1
        if pid > 1:
            Path(sys.argv[0]).with_name("left").write_text(str(pid))
        elif pid == 0:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(nowhere, descriptor)
            os.execvp(command[0], command)

    def log(self, command: Json) -> None:
        if path := self.native.get("log"):
            with open(path, "a", encoding="utf-8") as log:
                log.write(f"{time.monotonic_ns()} {self.name} {json.dumps(command)}\n")

    def does(self, what: str) -> bool:
        lowest, highest = map(float, self.native.get("rates", "0 inf").split())
        mine = self.name == self.native.get("at") and self.native.get("does") == what
        return mine and lowest <= self.rate <= highest

    @property
    def rate(self) -> float:
        published = [json.loads(path.read_text())["rate"] for path in self.scratch.glob("publisher-*.json")]
        mine = [role["load"].get("rate_hz", 1e9) for role in self.roles if "load" in role]
        return float(max([*published, *mine], default=0.0))

    def say(self, event: str, **fields: Any) -> None:
        """Send the event with the resources. Each event advances this worker's clock by one second."""
        self.seconds = getattr(self, "seconds", 0) + 1
        rss = int(self.native.get("rss", "0"))
        fields |= {
            "at_ns": self.began_ns + self.seconds * 10**9,
            "resources": {
                "rss_bytes": rss,
                "peak_rss_bytes": rss,
                "bench_bytes": 0,
                "user_ns": self.seconds * 1000,
                "system_ns": self.seconds * 100,
                "voluntary": self.seconds,
                "involuntary": 0,
                "minor_faults": 0,
                "major_faults": 0,
                "threads": [{"tid": os.getpid(), "name": "main", "cpu_ns": self.seconds * 1000}],
            },
        }
        say(event, **fields)

    def protected_by(self) -> str:
        """Return the key that this worker would use, if there is security, and who may read it."""
        if self.settings.get("security", "none") == "none":
            return ""
        key = Path(self.settings["certs"], f"{self.settings['identity']}.key")
        return f"{key} {key.stat().st_mode & 0o777:o}"

    def own_settings(self) -> Json | None:
        """Return the native setting ``settings`` with NAME replaced by this worker's name; None without the setting."""
        line = self.native.get("settings")
        return {"language": "cpp", "text": line.replace("NAME", self.name) + "\n"} if line else None

    def send_messages(self, role: Json) -> None:
        """Send some messages, with a payload as in core/message.hpp, or with random bytes if the cell is protected."""
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        plain = self.settings.get("security", "none") == "none" or self.native["sends"] == "plain"
        words = max(0, role.get("message_bytes", self.settings["message_bytes"]) - 16) // 8
        for number in range(1, 9):
            base = number * 0xD1B54A32D192ED03 + 1
            payload = [(base + at * 0x9E3779B97F4A7C15) % 2**64 for at in range(words)]
            noise = os.urandom(8 * words)
            message = struct.pack("=QQ", number, 1) + (struct.pack(f"={words}Q", *payload) if plain else noise)
            self.socket.sendto(message, self.socket.getsockname())

    def run(self) -> None:
        if self.settings.get("identity", "sender") not in (
            "sender",
            "receiver",
            *self.native.get("admits", "").split(),
        ):
            say("error", code="unmatched", text="publisher 0 was not found", advice="")
            sys.exit(1)
        say(
            "ready",
            discovery_ns=1,
            notes=[],
            protected_by=self.protected_by(),
            segment_bytes=int(self.native.get("segment", "0")),
            segment_setting="segment_size",
            placement={"cpus": [0], "policy": "other", "priority": 0, "mlocked": False},
            settings=self.own_settings(),
        )
        while (command := hear())["command"] != "quit":
            self.log(command)
            if command["command"] == "start":
                self.start()
            elif command["command"] == "stop":
                self.stop(command.get("expected"))

    def start(self) -> None:
        if self.does("die"):
            os.kill(os.getpid(), signal.SIGABRT)
        if self.does("fall silent"):
            time.sleep(600)
        if self.does("fail"):
            say("error", code="refused", text="no", advice="")
            sys.exit(1)
        threading.Thread(target=self.tick, daemon=True).start()
        self.say("measuring", roles=[])
        senders = [role for role in self.roles if "load" in role]
        if not senders:
            return
        if "sends" in self.native:
            self.send_messages(senders[0])
        results = [self.send(role) for role in senders]
        expected = {role["index"]: self.published(role["topic"]) for role in self.roles if role["role"] == "subscriber"}
        if expected or self.settings["one_process"]:
            results += [self.receive(role, expected.get(role["index"])) for role in self.roles if "load" not in role]
        self.end(results)

    def tick(self) -> None:
        while True:
            self.say("tick", roles=[], role=self.roles[0]["role"], phase="measuring", samples=0, elapsed_s=0.0)
            time.sleep(float(self.native.get("tick_s", "0.1")))

    def stop(self, expected: int | None) -> None:
        while self.does("stay"):
            time.sleep(0.05)
        if self.does("linger"):
            time.sleep(0.3)
        self.end([self.receive(role, expected) for role in self.roles if "load" not in role])

    def end(self, results: list[Json]) -> None:
        counts = [
            {key: result[key] for key in ("role", "index", "sent", "received", "publish_failed") if key in result}
            for result in results
        ]
        self.say("done", role=self.roles[0]["role"], roles=counts)
        for result in results:
            say("result", ended="samples", last_error="", **result)

    def send(self, role: Json) -> Json:
        capacity = float(self.native.get("capacity", "1000"))
        rate = role["load"].get("rate_hz", capacity * 1.5)
        seconds = role["duration_s"] or role["samples"] / rate
        scheduled = round(rate * seconds)
        first = time.monotonic_ns()
        last = first + round(seconds * 1e9)
        Path(role["samples_path"]).write_bytes(b"samples")
        index = role.get("index", 0)
        record = {"rate": rate, "sent": scheduled, "seconds": seconds, "first": first, "topic": role.get("topic")}
        (self.scratch / f"publisher-{index}.json").write_text(json.dumps(record))
        common = {
            "index": index,
            "sent": scheduled,
            "publish_failed": 0,
            "measured_s": seconds,
            "samples": scheduled,
            "warmup_samples": 1,
        }
        if role["role"] == "publisher":
            paced = role["load"].get("kind") == "rate"
            return {
                "role": "publisher",
                "topic": role["topic"],
                **common,
                "scheduled": scheduled if paced else None,
                "late_sends": 0 if paced else None,
                "unsent": 0 if paced else None,
                "timed_out": 0,
                "blocked_ns": None,
                "pacing_ns": 0,
                "writing_ns": 0,
                "stamped_every": 1,
                "first_sent_ns": first,
                "last_sent_ns": last,
                "in_histogram": 0,
            }
        nothing = dict.fromkeys(("lost", "late", "duplicated", "reordered", "damaged"), 0)
        native = {"native": False} if role["role"] == "client" else {}
        more = {
            "received": scheduled,
            "first_begin_ns": first,
            "start_ticks": 0,
            "ticks_per_second": 1e9,
            "pacing_ns": 0,
        }
        return {"role": role["role"], **common, **nothing, **native, **more}

    def published(self, topic: int) -> int:
        return sum(each["sent"] for each in self.publishers(topic))

    def publishers(self, topic: int) -> list[Json]:
        records = [json.loads(path.read_text()) for path in self.scratch.glob("publisher-*.json")]
        return [each for each in records if each["topic"] == topic]

    def receive(self, role: Json, expected: int | None) -> Json:
        index = role.get("index", 0)
        if role["role"] != "subscriber":
            native = {"native": False} if role["role"] == "server" else {}
            nothing = dict.fromkeys(("lost", "duplicated", "reordered", "damaged", "publish_failed"), 0)
            return {
                "role": role["role"],
                "index": index,
                "received": expected or 1,
                "echoed": 1,
                "stamped": 0,
                **nothing,
                **native,
            }
        mine = self.publishers(role["topic"])
        seconds, first = max(each["seconds"] for each in mine), min(each["first"] for each in mine)
        received = min(expected or 0, round(float(self.native.get("capacity", "1e9")) * seconds))
        Path(role["samples_path"]).write_bytes(b"samples")
        rate = max(each["rate"] for each in mine)
        return {
            "role": "subscriber",
            "index": index,
            "topic": role["topic"],
            "received": received,
            "duplicated": 0,
            "reordered": 0,
            "damaged": 0,
            "by_publisher": [],
            "first_received_ns": first + 1,
            "last_received_ns": first + round(seconds * 1e9),
            "samples": received,
            "in_histogram": 0,
            "one_way_p50_ns": 1000,
            "one_way_p99_ns": round(rate * float(self.native.get("p99_per_hz", "1"))),
            "one_way_max_ns": 10**6,
        }


if __name__ == "__main__":
    # The worker sends hello, which contains the clock, before it receives any setting. So a file next to this one
    # contains the clock. Only one worker uses the file.
    source, ticks = "tsc", 2.6e9
    for path in Path(sys.argv[0]).parent.glob("clock-*"):
        mine = path.with_name(f"taken-{os.getpid()}")
        try:
            path.rename(mine)  # only one of several workers that try at once succeeds
        except FileNotFoundError:
            continue
        source, ticks = json.loads(mine.read_text())
        break
    replacements = Path(sys.argv[0]).with_name("says")
    wrong.update(json.loads(replacements.read_text()) if replacements.exists() else {})
    clock = {"source": source, "ticks_per_second": ticks, "cost_ns": 9.0, "resolution_ns": 0.4}
    say("hello", protocol=1, adapter="fake", version="1", pid=os.getpid(), clock=clock)
    Fake(hear()).run()
