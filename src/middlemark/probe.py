"""Stamps for Python programs, like probe.h for C. Imports no other module of Middlemark.

See docs/how-to/measure-your-nodes.md.

    probe = Probe("camera")
    image = probe.topic("image")
    image.sent(sequence, len(data))
    with probe.topic("encode").span():
        ...

Nothing is loaded or recorded unless MIDDLEMARK_PROBE names a folder.
"""

import os
from pathlib import Path
from types import TracebackType
from typing import Any

_DECLARED = """
uint32_t mm_probe_open(const char* name);
uint32_t mm_topic_of(uint32_t probe, const char* name);
uint64_t mm_ticks(void);
void mm_record(uint32_t topic, uint32_t kind, uint64_t at_ticks, uint64_t value, uint64_t extra);
"""
_SENT, _RECEIVED, _SPAN, _ITERATION = 1, 2, 3, 4
_library: Any = None


def _loaded() -> Any:
    """Return the library. Raises OSError if it is not found, ImportError without cffi."""
    global _library  # noqa: PLW0603  one per process, like its file
    if _library is None:
        from cffi import FFI

        ffi = FFI()
        ffi.cdef(_DECLARED)
        own = Path(__file__).parent / "lib" / "libmiddlemark_probe.so"
        named = os.environ.get("MIDDLEMARK_PROBE_LIBRARY")
        _library = ffi.dlopen(named or (str(own) if own.exists() else "libmiddlemark_probe.so"))
    return _library


class Span:
    """A time span, from its creation to ``end``. ``pause`` and ``resume`` exclude time from the span."""

    def __init__(self, topic: int) -> None:
        """Use :meth:`Topic.span`."""
        self._topic = topic
        self._pauses = 0
        self._paused = self._pause_began = 0
        self._iterates = False
        self._begin = _library.mm_ticks() if topic else 0

    def pause(self) -> None:
        """Stop counting. Nested pauses count as one pause."""
        if self._topic and not self._pauses:
            self._pause_began = _library.mm_ticks()
        self._pauses += 1

    def resume(self) -> None:
        """Continue counting."""
        if self._pauses:
            self._pauses -= 1
            if self._topic and not self._pauses:
                self._paused += _library.mm_ticks() - self._pause_began

    def next(self) -> None:
        """Record an iteration and begin the next iteration. The time after the last call is not recorded."""
        self._iterates = True
        if self._topic:
            now = self._recorded(_ITERATION)
            self._begin = self._pause_began = now
            self._paused = 0

    def end(self) -> None:
        """Record the span. A second call does nothing."""
        if self._topic and not self._iterates:
            self._recorded(_SPAN)
        self._topic = 0

    def _recorded(self, kind: int) -> int:
        now: int = _library.mm_ticks()
        paused = self._paused + (now - self._pause_began if self._pauses else 0)
        _library.mm_record(self._topic, kind, self._begin, now - self._begin - paused, paused)
        return now

    def __enter__(self) -> "Span":
        """Return the span, which began when it was created."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the span."""
        self.end()


class Topic:
    """A topic or a span of a probe."""

    def __init__(self, number: int) -> None:
        """Use :meth:`Probe.topic`."""
        self._number = number

    def sent(self, sequence: int, size: int) -> None:
        """Stamp a message of ``size`` bytes, just before it is handed to the middleware."""
        if self._number:
            _library.mm_record(self._number, _SENT, _library.mm_ticks(), sequence, size)

    def received(self, sequence: int) -> None:
        """Stamp a message as soon as it is received."""
        if self._number:
            _library.mm_record(self._number, _RECEIVED, _library.mm_ticks(), sequence, 0)

    def span(self) -> Span:
        """Begin a time span."""
        return Span(self._number)


class Probe:
    """A node or a program. Raises OSError or ImportError if recording is on and the library or cffi is missing."""

    def __init__(self, name: str) -> None:
        """Open the probe. The first probe of a process creates the file."""
        self._number: int = _loaded().mm_probe_open(name.encode()) if os.environ.get("MIDDLEMARK_PROBE") else 0

    def topic(self, name: str) -> Topic:
        """Return the topic or span with this name. Call this once per name."""
        return Topic(_library.mm_topic_of(self._number, name.encode()) if self._number else 0)
