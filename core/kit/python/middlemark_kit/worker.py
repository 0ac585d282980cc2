"""Runs an adapter as a worker: converts the JSON that the core's bridge passes, and calls the adapter."""

import ctypes
import gc
import json
import os
import signal
import sys
import threading
from typing import Any

from middlemark_kit.contract import Adapter, Settings, Topic
from middlemark_kit.protocol import NativeSetting

GC = NativeSetting(
    help="Python's garbage collector: off: none; freeze: it leaves out the objects that exist at the start",
    type="choice",
    choices=("on", "off", "freeze"),
    default="on",
)


def run(adapter: type[Adapter], library: str) -> None:
    """Run the worker and end the process. ``library``: the path of the bridge."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a signal ends a worker at any time
    kit = Kit(adapter)
    threading.excepthook = kit.note_thread_failure
    sys.unraisablehook = kit.note_callback_failure
    bridge = ctypes.CDLL(library).middlemark_python_worker
    bridge.argtypes = [
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.py_object,
        *[ctypes.c_int] * 3,
        ctypes.c_size_t,
        ctypes.c_int,
    ]
    words = [os.fsencode(each) for each in sys.argv]
    received = [each for each in (adapter.subscriber_type, adapter.client_type) if each is not None]
    status = bridge(
        len(words),
        (ctypes.c_char_p * len(words))(*words),
        kit,
        all(hasattr(each, "listen") and hasattr(each, "silence") for each in received),
        adapter.client_type is not None,
        adapter.protected_by is not Adapter.protected_by,
        getattr(adapter.subscriber_type, "most_per_take", 0),
        getattr(adapter.subscriber_type, "resends_within_ms", 0),
    )
    ctypes.CDLL(None).fflush(None)
    os._exit(status)  # the interpreter's ordinary end would wait for threads of the middleware that still run


class Kit:
    """The functions that the bridge calls before the middleware is open. An exception refuses the trial."""

    def __init__(self, adapter: type[Adapter]) -> None:
        """``adapter`` is the class. It does not open the middleware here."""
        self._adapter = adapter
        self._failure = ""

    def describe(self) -> str:
        """Return the description as JSON, with the kit's settings."""
        about = self._adapter.description()
        about.language = "Python"
        about.native = {"gc": GC, **about.native}
        return about.to_json()

    def check(self, settings: str) -> None:
        """Call the adapter's ``check``, whose AdapterError refuses the trial."""
        self._adapter.check(settings_of(settings))

    def companions(self, settings: str) -> str:
        """Return the daemons that the trial needs, as JSON."""
        return json.dumps([each.fields() for each in self._adapter.companions(settings_of(settings))])

    def open(self, text: str) -> "Opened":
        """Open the middleware."""
        settings = settings_of(text)
        if settings.native.get("gc") == "off":
            gc.disable()
        return Opened(self._adapter(settings), settings)

    def note_thread_failure(self, failed: threading.ExceptHookArgs) -> None:
        """Keep the first exception that ended a thread of the middleware, and print it."""
        if not self._failure:
            name = failed.thread.name if failed.thread is not None else "a thread"
            self._failure = f"{failed.exc_type.__name__} in {name}: {failed.exc_value}"
        sys.__excepthook__(failed.exc_type, failed.exc_value or failed.exc_type(), failed.exc_traceback)
        print(self._failure, file=sys.stderr)  # the line that an error of the trial contains

    def note_callback_failure(self, failed: Any) -> None:
        """Keep the first exception that a callback of an extension module raised, and print it."""
        if not self._failure:
            self._failure = f"{failed.exc_type.__name__} in a callback: {failed.exc_value}"
        sys.__unraisablehook__(failed)
        print(self._failure, file=sys.stderr)

    def thread_failure(self) -> str:
        """Return the text of the first exception that ended a thread or a callback; empty if there was none."""
        return self._failure


class Opened:
    """The functions that the bridge calls while the middleware is open."""

    def __init__(self, adapter: Adapter, settings: Settings) -> None:
        """``adapter`` has opened the middleware."""
        self._adapter = adapter
        self._settings = settings

    def publisher(self, topic: str, index: int) -> Any:
        """Make a publisher."""
        return self._adapter.publisher(Topic.of(json.loads(topic)), index)

    def subscriber(self, topic: str, index: int) -> Any:
        """Make a subscriber."""
        return self._adapter.subscriber(Topic.of(json.loads(topic)), index)

    def client(self, service: str, index: int) -> Any:
        """Make a client."""
        return self._adapter.client(Topic.of(json.loads(service)), index)  # type: ignore[attr-defined]

    def server(self, service: str, index: int) -> Any:
        """Make a server."""
        return self._adapter.server(Topic.of(json.loads(service)), index)  # type: ignore[attr-defined]

    def notes(self) -> str:
        """Return the notes as JSON. Called once, after matching. From now on no object is made except for messages."""
        if self._settings.native.get("gc") == "freeze":
            gc.collect()
            gc.freeze()
        return json.dumps(self._adapter.notes())

    def own_settings(self) -> str:
        """Return the settings in the middleware's own form as JSON; empty: the adapter reports none."""
        own = self._adapter.own_settings()
        return "" if own is None else own.to_json()

    def protected_by(self) -> str:
        """Return the algorithms in force."""
        return self._adapter.protected_by()

    def shared_segment(self) -> str:
        """Return the segment as JSON."""
        segment_bytes, setting = self._adapter.shared_segment()
        return json.dumps({"bytes": segment_bytes, "setting": setting})

    def refusals(self) -> str:
        """Return the middleware's messages about rejected peers."""
        return self._adapter.refusals()

    def close(self) -> None:
        """Close the middleware."""
        self._adapter.close()


def settings_of(text: str) -> Settings:
    """Return the settings that the bridge passes."""
    values = json.loads(text)
    values["endpoints"] = tuple(map(Topic.of, values["endpoints"]))
    return Settings.of(values)
