"""Mutations of a text, a JSON value or a file: each function draws one mutation and returns its description."""

import json
import os
import random
import re
import socket
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DEEP = 3_000
"""A nesting depth that is too large for every parser."""

NUMBERS = (
    -1, 0, 1, 2, 7, 64, 999, 65_536, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30,
    -(2**63), -(10**30), 0.0, 0.5, -0.5, 1e-300, 5e-324, 1e18, 1e300, -1e300,
)  # fmt: skip
WORDS = (
    "", "x", " ", "\0", "\x1b[31m", "é\u2028", "../../../../etc/passwd", "/etc/passwd", "/dev/zero", "samples", ".",
    "1", "fifo:x", "fifo:100", "nobody", "ping", "subscriber", "stream", "max", "\U0001f600" * 50, "long " * 5_000,
    "<script>", "%s{0}", "2026-13-41",
)  # fmt: skip
NASTY: tuple[object, ...] = (None, True, False, [], {}, [None], [[]], {"": None}, *NUMBERS, *WORDS)


def of_bytes(draw: random.Random, content: bytes) -> tuple[str, bytes]:
    """Damage some bytes."""
    at = draw.randrange(len(content) + 1)
    end = min(len(content), at + draw.choice((1, 1, 1, 2, 8, 100, 4_000)))
    some = draw.choice((b"\xff", b"\0", b"\n", b'"', b"{", b"]", b"-", b"9", b"e", b",", b"\\", draw.randbytes(4)))
    deep = draw.choice((b"[", b'{"a":')) * DEEP
    return draw.choice(
        (
            (f"bytes {at}…{end} are removed", content[:at] + content[end:]),
            (f"bytes {at}…{end} are replaced by {some!r}", content[:at] + some * (end - at) + content[end:]),
            (f"{some!r} is inserted before byte {at}", content[:at] + some + content[at:]),
            (f"a bit of byte {at} is flipped", _flipped(draw, content, at)),
            (f"the file ends after {at} bytes", content[:at]),
            (f"bytes {at}…{end} are repeated", content[:end] + content[at:]),
            ("the file is empty", b""),
            ("all bytes are zero", bytes(len(content))),
            (f"{DEEP} times {deep[:5]!r} are inserted before byte {at}", content[:at] + deep + content[at:]),
            ("the file begins with a byte order mark", b"\xef\xbb\xbf" + content),
            ("the file is UTF-16", content.decode("utf-8", "replace").encode("utf-16")),
        )
    )


def _flipped(draw: random.Random, content: bytes, at: int) -> bytes:
    if at == len(content):
        return content
    return content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]


def of_json(draw: random.Random, value: Any) -> tuple[str, bytes]:
    """Damage one value in the JSON value, and return the text."""
    places = [*_places(value, ())]
    # Choose each field name with the same probability, even if it occurs often.
    fields: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for each in places:
        fields.setdefault(tuple("" if isinstance(key, int) else key for key in each), []).append(each)
    place = draw.choice(draw.choice([*fields.values()]))
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    key, old = place[-1], holder[place[-1]]
    shown = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in place)
    what = draw.randrange(10)
    if what == 0:
        del holder[key]
        return f"{shown} is removed", _text(value)
    if what == 1:
        other = draw.choice(places)
        there = value
        for each in other:
            there = there[each]
        holder[key] = json.loads(json.dumps(there))
        return f"{shown} is replaced by {other}", _text(value)
    if what == 2 and isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(old)))
        return f"{shown} is repeated", _text(value)
    if what == 3:
        holder[key] = "MARK"
        deep = draw.choice((b"[", b'{"a":')) * DEEP
        return f"{shown} is nested {DEEP} deep", _text(value).replace(b'"MARK"', deep, 1)
    holder[key] = _like(draw, old) if what < 8 else draw.choice(NASTY)
    return f"{shown} is {repr(holder[key])[:60]} (was {repr(old)[:40]})", _text(value)


def _like(draw: random.Random, old: Any) -> Any:
    """Return another value of the same type, so that a reader cannot refuse it because of its type."""
    if isinstance(old, bool) or old is None:
        return draw.choice((True, False, None))
    if isinstance(old, int):
        whole = [each for each in NUMBERS if isinstance(each, int)]
        return draw.choice((*whole, -old, old + 1, old - 1, old * 10**9))
    if isinstance(old, float):
        return draw.choice((*(float(each) for each in NUMBERS), -old, old * 1e12))
    if isinstance(old, str):
        return draw.choice(WORDS)
    if isinstance(old, list):
        return draw.choice(([], old[:-1], old[::-1], old * 2, old * 100))
    return draw.choice(({}, dict(list(old.items())[1:])))


def _places(value: Any, at: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, each in inside:
        found += [(*at, key), *_places(each, (*at, key))]
    return found


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()


HEADERS = (
    (b"(", b""), (b")", b""), (b"'", b""), (b"<u8", b"|O"), (b"<u8", b"<f8"), (b"<u8", b"<i8"), (b"<u8", b"<u2"),
    (b"<u4", b"<u5"), (b"shape", b"shap"), (b"False", b"True"), (b"False", b"__import__('os')"), (b"descr", b"'descr"),
    (b"{", b"{" * DEEP), (b"[", b"[" * 200), (b"(", b"(-"), (b",)", b"999999999999,)"), (b",)", b"9" * 5_000 + b",)"),
    (b",)", b"e9,)"), (b",)", b",2)"), (b" ", b"\n"), (b" ", b"\0"), (b"\n", b""), (b"}", b"}}"), (b"'", b'"""'),
    (b":", b": lambda:"), (b"descr", b"\xff\xfe"),
)  # fmt: skip
"""Parts of the header of a samples file, and their replacements."""


def of_npy(draw: random.Random, content: bytes) -> tuple[str, bytes]:
    """Damage the header of a samples file, or the data after it."""
    (length,) = struct.unpack("<H", content[8:10])
    head, data = content[10 : 10 + length], content[10 + length :]

    def headed(text: bytes) -> bytes:
        return content[:8] + struct.pack("<H", len(text) & 0xFFFF) + text + data

    old, new = draw.choice(HEADERS)
    record = draw.randbytes(8)
    filled = draw.choice((b"\xff", b"\0", b"\x7f", b"\x80"))
    at = draw.randrange(len(data) + 1)
    return draw.choice(
        (
            (f"in the header every {old!r} is replaced by {new[:20]!r}", headed(head.replace(old, new))),
            (f"in the header the first {old!r} is replaced by {new[:20]!r}", headed(head.replace(old, new, 1))),
            (f"the format is {content[6] + 1}", content[:6] + bytes([content[6] + 1]) + content[7:]),
            ("the header has the largest possible length", content[:8] + b"\xff\xff" + content[10:]),
            ("its header has no length", content[:8] + b"\0\0" + content[10:]),
            (f"all samples are {filled!r}", content[: 10 + length] + filled * len(data)),
            ("all samples are drawn", content[: 10 + length] + draw.randbytes(len(data))),
            (f"8 bytes of the samples from {at} are random", content[: 10 + length] + _over(data, at, record)),
            (
                f"the samples from {at} are {filled!r}",
                content[: 10 + length] + _over(data, at, filled * (len(data) - at)),
            ),
            ("it is longer", content + draw.randbytes(48)),
            ("it ends early", content[: draw.randrange(len(content))]),
        )
    )


def _over(content: bytes, at: int, new: bytes) -> bytes:
    return (content[:at] + new + content[at + len(new) :])[: len(content)]


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's address has room for only about a hundred characters
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(before)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


KINDS: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": _pipe,
    "a socket": _socket,
    "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a link to /dev/null": lambda path: path.symlink_to("/dev/null"),
    "a link to /dev/full": lambda path: path.symlink_to("/dev/full"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a link to its folder": lambda path: path.symlink_to("."),
    "a link to /etc/passwd": lambda path: path.symlink_to("/etc/passwd"),
    "a terabyte of nothing": _sparse,
    "gone": lambda _: None,
}


def of_kind(draw: random.Random, path: Path, remove: Callable[[Path], object]) -> str:
    """Replace a file by another kind of object, such as a folder or a socket."""
    kind = draw.choice([*KINDS])
    remove(path)
    KINDS[kind](path)
    return f"is {kind}"


_FIGURE = re.compile(rb"(?<![\w.])\d+(?:[.,]\d+)?")


def figures_of(draw: random.Random, content: bytes) -> tuple[str, bytes]:
    """Replace one number by another number with as many decimals, so that the line can still be read."""
    figures = [*_FIGURE.finditer(content)]
    if not figures:
        return of_bytes(draw, content)
    figure = draw.choice(figures)
    old = figure[0].replace(b",", b".")
    value = draw.choice(
        (0.0, float(old) * 7, float(old) / 7, float(old) + 1, float(draw.choice(figures)[0].replace(b",", b".")))
    )
    new = b"%.*f" % (len(old.partition(b".")[2]), value)
    what = f"{old.decode()} at byte {figure.start()} is {new.decode()}"
    return what, content[: figure.start()] + new + content[figure.end() :]


def lines_of(draw: random.Random, content: bytes) -> tuple[str, bytes]:
    """Damage the order of lines."""
    lines = content.splitlines(keepends=True)
    at = draw.randrange(len(lines))
    shuffled: Sequence[bytes] = draw.sample(lines, len(lines))
    return draw.choice(
        (
            (f"line {at + 1} is repeated", b"".join(lines[: at + 1] + lines[at:])),
            (f"line {at + 1} is removed", b"".join(lines[:at] + lines[at + 1 :])),
            (f"an empty line is inserted before line {at + 1}", b"".join([*lines[:at], b"\n", *lines[at:]])),
            ("all lines are shuffled", b"".join(shuffled)),
            ("its lines end as Windows' do", content.replace(b"\n", b"\r\n")),
            ("it is one line", content.replace(b"\n", b" ")),
        )
    )
