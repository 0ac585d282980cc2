"""A link between two sites: its effect on frames, its notation, and its capacity."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import msgspec

from middlemark.model.levels import Kind, Level, Wrong
from middlemark.model.spelling import did_you_mean, quoted
from middlemark.model.units import UnitError, parse_percent, parse_seconds

_NUMBER = r"([0-9]{1,12}(?:\.[0-9]{1,9})?)"
_RATE = re.compile(_NUMBER + r"\s*([kmg]?)(?:bit|bit/s)", re.IGNORECASE)
_AMBIGUOUS = re.compile(_NUMBER + r"\s*([kmg]?)(?:bps|b/s|b)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
LEAST_BPS, MOST_BPS = 1000, 10_000_000_000
"""Above 10 Gbit/s the line is not the limit, but the processor, which sends frames one by one."""
MOST_DELAY_S = 10.0

HEADER_BYTES = 14
"""Bytes of the Ethernet header, which the kernel counts as part of a frame."""
BEYOND_BYTES = 24
"""Bytes of a frame on the line that the kernel does not count: preamble 8, checksum 4, gap between frames 12."""
LEAST_FRAME_BYTES = 84
"""Bytes of the shortest frame on the line, header, preamble, checksum and gap included."""
_IP_BYTES, _UDP_BYTES = 20, 8


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """One link with the same properties in both directions."""

    rate_bps: float
    """Bits per second on the line. A frame counts with 38 bytes in addition to its packet."""
    delay_s: float = 0.0
    """Delay in each direction."""
    jitter_s: float = 0.0
    """The delay varies uniformly by up to this time, in both directions."""
    loss: float = 0.0
    """Share of lost frames. Each frame is lost independently of the others."""
    reorder: float = 0.0
    """Share of frames that are sent without the delay, and so overtake other frames."""
    mtu: int = 1500
    """Size of the largest packet in bytes."""
    queue: int = 1000
    """Number of frames of full size that can wait for the line; further frames are dropped."""


_PLAIN = Link(rate_bps=1.0)


def _rate(value: object) -> float:
    match = _RATE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None and isinstance(value, str) and (found := _AMBIGUOUS.fullmatch(value.strip())):
        number, letter = found[1], found[2].lower()
        bits = f"{number}{letter}bit for bits per second, or {8 * float(number):g}{letter}bit for bytes per second"
        raise Wrong(f"{quoted(value)} is ambiguous; write {bits}")
    if match is None:
        raise Wrong(f"{quoted(value)} is not a rate of a link; write 100mbit, 1gbit or 2.5gbit")
    rate = float(round(Fraction(match[1]) * _FACTORS[match[2].lower()]))
    if not LEAST_BPS <= rate <= MOST_BPS:
        raise Wrong(f"{quoted(value)} cannot be emulated; write a rate from 1kbit to 10gbit")
    return rate


def _time(value: object) -> float:
    try:
        seconds = parse_seconds(value) if isinstance(value, str) else -1.0
    except UnitError as error:
        raise Wrong(str(error)) from None
    if not 0 <= seconds <= MOST_DELAY_S:
        raise Wrong(f"{quoted(value)} is not a delay; write 2ms or 500us, at most 10s")
    return seconds


def _share(value: object) -> float:
    try:
        share = parse_percent(value) if isinstance(value, str) else -1.0
    except UnitError as error:
        raise Wrong(str(error)) from None
    if not 0 <= share < 1:
        raise Wrong(f"{quoted(value)} is not a share of the frames; write 0.5%, below 100%")
    return share


def _whole(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        number = int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value) else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise Wrong(f"{quoted(value)} is not a whole number from {least} to {most}")
        return number

    return read


def _bits(rate: float) -> str:
    for letter in ("g", "m", "k"):
        if rate >= _FACTORS[letter]:
            return f"{rate / _FACTORS[letter]:.12g}{letter}bit"
    return f"{rate:.12g}bit"


def _span(seconds: float) -> str:
    return f"{seconds * 1e3:.9g}ms" if seconds >= 0.001 else f"{seconds * 1e6:.6g}us"


_KEYS: Mapping[str, tuple[str, Callable[[object], Any], Callable[[Any], str]]] = {
    # name in the notation: (field, reader, writer)
    "rate": ("rate_bps", _rate, _bits),
    "delay": ("delay_s", _time, _span),
    "jitter": ("jitter_s", _time, _span),
    "loss": ("loss", _share, lambda share: f"{share * 100:.9g}%"),
    "reorder": ("reorder", _share, lambda share: f"{share * 100:.9g}%"),
    "mtu": ("mtu", _whole(576, 9000), str),
    "queue": ("queue", _whole(1, 100_000), str),
}


def parse_link(text: str) -> Link:
    """Read ``1gbit,delay=2ms,loss=0.5%``. Raises Wrong."""
    parts = [part.strip() for part in text.split(",")]
    table: dict[str, object] = {}
    for at, part in enumerate(parts):
        name, equals, value = part.partition("=")
        if not equals:
            if at > 0:
                raise Wrong(f"{quoted(part)} is not a property of a link; write NAME=VALUE, as in delay=2ms")
            name, value = "rate", part
        if name.strip() in table:
            raise Wrong(f"{name.strip()} is given twice")
        table[name.strip()] = value.strip()
    return link_of(table)


def link_of(table: Mapping[str, object]) -> Link:
    """Read the keys of a table. Raises Wrong."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if name not in _KEYS:
            raise Wrong(f"a link has no {quoted(name)}; {did_you_mean(name, _KEYS)}")
        field, read, _ = _KEYS[name]
        found[field] = read(value)
    if "rate_bps" not in found:
        raise Wrong("a link needs a rate; write it first, as in 1gbit")
    link = Link(**found)
    if link.jitter_s > link.delay_s:
        raise Wrong("the jitter is larger than the delay: a frame cannot arrive before it is sent")
    if link.reorder and not link.delay_s:
        raise Wrong("reorder without a delay: frames overtake delayed frames; give a delay, as in delay=2ms")
    return link


def link_text(link: Link) -> str:
    """Return the notation of the link. ``parse_link`` reads it back to an equal link."""
    parts = [_bits(link.rate_bps)]
    for name, (field, _, write) in _KEYS.items():
        if name != "rate" and (value := getattr(link, field)) != getattr(_PLAIN, field):
            parts.append(f"{name}={write(value)}")
    return ",".join(parts)


def line_bytes(size: int, mtu: int) -> int:
    """Return the bytes that a UDP datagram with a message of ``size`` bytes takes on the line, in frames of ``mtu``."""
    packet = size + _UDP_BYTES
    frames = 0
    largest = (mtu - _IP_BYTES) // 8 * 8  # bytes of every fragment except the last
    while packet + _IP_BYTES > mtu:
        frames += _IP_BYTES + largest + HEADER_BYTES + BEYOND_BYTES
        packet -= largest
    return frames + max(LEAST_FRAME_BYTES, packet + _IP_BYTES + HEADER_BYTES + BEYOND_BYTES)


def share_of(link: Link, size: int, messages_hz: float) -> float:
    """Return the share of the line that messages at this rate need, each in its own UDP datagram.

    More than 1: several messages shared a frame and its headers.
    """
    return messages_hz * line_bytes(size, link.mtu) * 8 / link.rate_bps


def _read(value: object) -> str | None:
    if value in ("none", "off"):
        return None
    if not isinstance(value, str):
        raise Wrong(f"{quoted(value)} is not a link; write it in quotes, as in '1gbit,delay=2ms', or 'none'")
    return link_text(parse_link(value))


LINK = Kind(
    read=_read,
    show=lambda level: "none" if level is None else str(level),
    compound=True,
)
"""The kind of the level ``link``: the notation of a link."""

HERE = "here"


def _across(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z][a-z0-9_]*(-[a-z][a-z0-9_]*)?", value):
        two = "the senders' and the receivers' as 'base-robot'"
        raise Wrong(f"{quoted(value)} names no sites; write 'here', one host's name, or {two}")
    first, _, second = value.partition("-")
    if first == second:
        raise Wrong(f"{quoted(value)} names one site twice; all roles on one site are 'here'")
    return value


ACROSS = Kind(read=_across)
BASE_ROBOT = "base-robot"
"""The sites of a link if the user names none. The roles that send first are at ``base``."""


def is_apart(across: Level) -> bool:
    """Say whether the senders are on one site and the receivers on another."""
    return "-" in str(across)


def sites_of(across: Level) -> tuple[str, ...]:
    """Return the senders' site and the receivers' site, or a single site that all roles share."""
    return tuple(str(across).split("-"))
