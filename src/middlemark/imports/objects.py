"""Read the JSON that benchmarks write.

The file may be complete, it may be cut off because the program was killed, or it may contain several documents.
"""

import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from middlemark.imports.lines import MOST, clean, shown, utf8
from middlemark.imports.log import ImportedTrial, Log, NotRead

_DECODER = json.JSONDecoder()
MOST_BYTES = 256 << 20
"""A JSON document is read into memory as a whole. A larger document is refused."""


class Element(msgspec.Struct, frozen=True):
    """An object of the array of measurements, and the fields before the array.

    ``whole``: False if the object is cut off.
    """

    head: Mapping[str, Any]
    value: Mapping[str, Any]
    whole: bool


def text_of(blocks: Iterable[bytes]) -> str:
    """Return the file as text. Raises NotRead if the file is too long."""
    parts: list[bytes] = []
    size = 0
    for block in utf8(blocks):
        parts.append(block)
        size += len(block)
        if size > MOST_BYTES:
            raise NotRead(f"the file has more than {MOST_BYTES >> 20} MiB, which is too large for a JSON log")
    return b"".join(parts).decode(errors="backslashreplace")


def elements(text: str, array: str, inner: str | None = None) -> Iterator[Element | str]:
    """Yield every object of the arrays with this name. An unreadable object becomes a text with its first characters.

    ``inner``: the name of an array inside the objects. If an object is cut off, the complete elements of its inner
    array are still read.
    """
    opening = re.compile(rf'"{array}"\s*:\s*\[')
    at = 0
    while found := opening.search(text, at):
        begin = text.rfind("{", at, found.start())
        head = _head(text[max(text.find("{", at, found.start()), 0) : found.start()]) if begin >= 0 else {}
        at = yield from _of_array(text, found.end(), head, inner)


def documents(text: str) -> Iterator[dict[str, Any] | str]:
    """Yield every object at the beginning of a line. An unreadable object becomes a text with its first characters."""
    opening = re.compile(r"^[ \t]*\{", re.M)
    at = 0
    while found := opening.search(text, at):
        begin = found.end() - 1
        try:
            value, at = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            yield shown(text[begin : begin + 200].encode(errors="backslashreplace"))
            at = _after(text, begin)
        else:
            yield value


def _of_array(text: str, at: int, head: Mapping[str, Any], inner: str | None) -> Generator[Element | str, None, int]:
    """Yield the objects that begin at ``at`` or later; return the position after the end of the array."""
    while True:
        at = _skip(text, at, ",")
        if at >= len(text):
            yield "(the end of the file)"
            return at
        if text[at] == "]":
            return at + 1
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            partly = _partly(text, at, inner) if inner else None
            yield partly if partly is not None else shown(text[at : at + 200].encode(errors="backslashreplace"))
            return _after(text, at)
        if isinstance(value, dict):
            yield Element(head, value, whole=True)
        else:
            yield shown(str(value)[:200].encode(errors="backslashreplace"))


def _after(text: str, at: int) -> int:
    """Return the position at which the next document may begin after unreadable text."""
    following = re.compile(r"\n\{").search(text, at + 1)
    return following.start() + 1 if following else len(text)


def _partly(text: str, at: int, inner: str) -> Element | None:
    """Read an object that is cut off: its fields before the inner array, and the complete elements of that array."""
    found = re.compile(rf'"{inner}"\s*:\s*\[').search(text, at)
    if found is None:
        return None
    following = text.find("\n{", at)
    if 0 <= following < found.start():
        return None
    rows = [each.value for each in _of_array(text, found.end(), {}, None) if isinstance(each, Element)]
    return Element({}, {**_head(text[at : found.start()]), inner: rows}, whole=False)


def _head(text: str) -> dict[str, Any]:
    """Read the fields of an object before the array."""
    try:
        value = json.loads(text.rstrip().rstrip(",") + "}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _skip(text: str, at: int, also: str) -> int:
    while at < len(text) and (text[at].isspace() or text[at] in also):
        at += 1
    return at


def figure(value: object) -> float | None:
    """Return a value of a document as a number; None: the value is not a number, or is too large."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < MOST else None


def count(value: object) -> int | None:
    """Return a value of a document as a count; None: the value is not a number, or is negative."""
    real = figure(value)
    return int(real) if real is not None and real >= 0 else None


def word(value: object) -> str:
    """Return a text of a document, cut to the length of a row's name. Empty: the value is not a text."""
    return clean(value[:100]) if isinstance(value, str) else ""


class Objects:
    """Counts the measurements of a document, and those that could not be read."""

    def __init__(self) -> None:
        """Create the counts, all zero."""
        self.number = 0
        self.unread = 0
        self.first: tuple[int, str] | None = None

    def refuse(self, text: str) -> None:
        """Count the latest measurement as not read. ``text``: what could not be read."""
        self.unread += 1
        if self.first is None:
            self.first = (self.number, clean(text))

    def log(self, measured: Iterable[ImportedTrial], notes: tuple[str, ...] = ()) -> Log:
        """Return the log of the document."""
        return Log(
            measured=tuple(measured),
            lines=self.number,
            unread=self.unread,
            first_unread=self.first,
            unit="measurement",
            notes=notes,
        )
