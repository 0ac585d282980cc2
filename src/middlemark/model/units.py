"""Sizes, times, rates and percentages: parsed from a request, formatted for a table. A missing unit is an error."""

import re
from fractions import Fraction

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

_QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,12})?)\s*([^\s0-9.,;_+\-]*)")
_BYTES = {"": 1, "b": 1, "k": KIB, "kib": KIB, "m": MIB, "mib": MIB, "g": GIB, "gib": GIB}
_AMBIGUOUS_BYTES = {"kb": ("k", 1000), "mb": ("m", 1000**2), "gb": ("g", 1000**3)}
_SECONDS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),  # U+00B5, the micro sign
    "μs": Fraction(1, 10**6),  # U+03BC, the Greek letter, which keyboards also produce
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "min": Fraction(60),
    "h": Fraction(3600),
}
_HERTZ = {"": 1, "k": 1000, "K": 1000, "M": 10**6}
MOST_HERTZ = 1e9
LEAST_HERTZ = 1e-5


class UnitError(ValueError):
    """A text that is no valid quantity. The message quotes the text and shows a valid form."""


def parse_size(text: str) -> int:
    """Return bytes: ``16``, ``1k``, ``64KiB``, ``1.5m``; k, m and g are KiB, MiB and GiB. Raises UnitError."""
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise UnitError(f"'{text}' is not a size; write bytes (64512) or KiB and MiB (64k, 1m)")
    number, unit = match[1], match[2].lower()
    if unit in _AMBIGUOUS_BYTES:
        letter, decimal = _AMBIGUOUS_BYTES[unit]
        binary, plain = (_plain(Fraction(number) * factor) for factor in (_BYTES[letter], decimal))
        raise UnitError(
            f"'{text}' is ambiguous; write '{number}{letter}' for {binary} bytes, or '{plain}' for {plain} bytes"
        )
    if unit not in _BYTES:
        raise UnitError(f"'{text}': '{match[2]}' is not a unit of size; k, m and g are KiB, MiB and GiB")
    size = Fraction(number) * _BYTES[unit]
    if size.denominator != 1:
        raise UnitError(f"'{text}' is not a whole number of bytes")
    return int(size)


def parse_seconds(text: str) -> float:
    """Return seconds: ``0.5s``, ``90ms``, ``5us``, ``10m`` (minutes). Raises UnitError, also if there is no unit."""
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise UnitError(f"'{text}' is not a time; write a number and its unit, as in 0.5s, 90ms or 10m")
    number, unit = match[1], match[2]
    if not unit:
        raise UnitError(f"'{text}' has no unit; write {number}s or {number}ms")
    if unit not in _SECONDS:
        raise UnitError(f"'{text}': '{unit}' is not a unit of time; there are ns, us, ms, s, m (minutes) and h")
    return float(Fraction(number) * _SECONDS[unit])


def parse_rate(text: str) -> float:
    """Return messages per second: ``100``, ``2.5k``, ``1M``, ``10 kHz``; k and M are decimal. Raises UnitError."""
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise UnitError(f"'{text}' is not a rate; write messages per second, as in 100, 2.5k or 1M")
    number, unit = match[1], match[2]
    letter = unit[:-2] if unit.lower().endswith("hz") else unit
    if letter == "m":
        raise UnitError(f"'{text}' is ambiguous; write '{number}M' for {_plain(Fraction(number) * 10**6)} a second")
    if letter not in _HERTZ:
        raise UnitError(f"'{text}': '{unit}' is not a unit of rate; k and M are a thousand and a million a second")
    rate = float(Fraction(number) * _HERTZ[letter])
    check_rate(rate, f"'{text}'")
    return rate


def check_rate(rate: float, shown: str) -> None:
    """Raise UnitError if no sender could send at this rate."""
    if rate == 0:
        raise UnitError(f"{shown} is not a rate; leave the rate out to send as fast as possible")
    if not LEAST_HERTZ <= rate <= MOST_HERTZ:
        raise UnitError(f"{shown} is not a rate; rates are from one a day to 1000M a second")


def parse_percent(text: str) -> float:
    """Return the ratio: ``5%`` is 0.05. A number without the percent sign is refused. Raises UnitError."""
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or match[2] != "%":
        raise UnitError(f"'{text}' is not a percentage; write the percent sign, as in 5%")
    return float(Fraction(match[1]) / 100)


def format_size(size: int) -> str:
    """Format bytes exactly, in the largest unit that divides them: ``16 B``, ``63 KiB``, ``1 MiB``, ``1000 B``."""
    for factor, unit in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def format_rate(hertz: float) -> str:
    """Format messages per second in the shortest unit: ``100 Hz``, ``2.5 kHz``, ``1 MHz``, ``0.1 Hz``."""
    for factor, unit in ((10**6, "MHz"), (1000, "kHz")):
        if hertz >= factor:
            return f"{hertz / factor:.12g} {unit}"
    return f"{hertz:.12f}".rstrip("0").rstrip(".") + " Hz"


def format_us(nanoseconds: float) -> str:
    """Format ns as µs without the unit, with three digits or as whole µs: ``0.52``, ``12.3``, ``389``, ``10,240``."""
    microseconds = nanoseconds / 1000
    if abs(microseconds) < 9.995:
        return f"{microseconds:.2f}"
    if abs(microseconds) < 99.95:
        return f"{microseconds:.1f}"
    return f"{microseconds:,.0f}"


def format_seconds(seconds: float) -> str:
    """Format a duration: ``5 µs``, ``90 ms``, ``0.5 s``, ``12 s``, ``2 min 05 s``, ``1 h 02 min``."""
    if seconds >= 3599.5:
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes:02} min"
    if seconds >= 59.5:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02} s"
    if seconds >= 0.1:
        return f"{seconds:.3g} s"
    if seconds >= 0.0001:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds * 1e6:.3g} µs"


def format_count(number: int, noun: str) -> str:
    """Format a number with its noun: ``1 trial``, ``1,204 trials``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_percent(ratio: float) -> str:
    """Format a ratio as a percentage with at most three significant digits: ``5 %``, ``0.4 %``, ``100 %``."""
    return f"{ratio * 100:.3g} %" if abs(ratio) < 9.995 else f"{ratio * 100:,.0f} %"


def format_confidence(share: float) -> str:
    """Format the confidence of an interval with enough digits to differ from 100 %: ``95 %``, ``99.97 %``."""
    rounded = (f"{share * 100:.{digits}g}" for digits in range(3, 9))
    return f"{next((each for each in rounded if each != '100'), '100')} %"


def _plain(number: Fraction) -> str:
    return str(int(number)) if number.denominator == 1 else str(float(number))
