"""Read the figures of expectations: amounts with a unit, or bands for a ratio (B's figure divided by A's)."""

import re
from collections.abc import Callable, Mapping

from middlemark.model.expectation import Band
from middlemark.model.growth import Resource, parse_growth
from middlemark.model.levels import SIZE, Wrong
from middlemark.model.spelling import quoted
from middlemark.model.units import UnitError, parse_percent, parse_rate, parse_seconds

_NUMBER = r"([+\-\u2212]?[0-9]{1,9}(?:\.[0-9]{1,9})?)"
_TO = r"\s*(?:…|\.\.\.|to)\s*"
_PERCENTS = re.compile(rf"{_NUMBER}\s*%(?:{_TO}{_NUMBER}\s*%)?")
_RATIOS = re.compile(rf"{_NUMBER}(?:{_TO}{_NUMBER})?")


def read_change(value: object, tolerance: float) -> Band:
    """Return the band of the ratio for a change: ``-72% … -62%``, or ``-67%`` ± ``tolerance``. Raises Wrong."""
    return _band(value, _PERCENTS, lambda each: 1 + each / 100, tolerance, "'-72% … -62%', or '-67%'")


def read_ratio(value: object, tolerance: float) -> Band:
    """Return the band of the ratio for ``2 … 2.6``, or for ``2.3`` ± ``tolerance``. Raises Wrong."""
    return _band(value, _RATIOS, float, tolerance, "2.3, or '2 … 2.6'")


def _band(
    value: object, form: re.Pattern[str], ratio: Callable[[float], float], tolerance: float, example: str
) -> Band:
    match = form.fullmatch(str(value).strip()) if isinstance(value, str | int | float) else None
    if match is None or isinstance(value, bool):
        raise Wrong(f"{quoted(value)} is not understood; write {example}")
    numbers = [ratio(float(each.replace("\u2212", "-"))) for each in match.groups() if each is not None]
    if min(numbers) <= 0 or numbers != sorted(numbers):
        raise Wrong(f"{quoted(value)}: write the lower value first; a figure cannot fall by 100 % or more")
    if len(numbers) == 2:
        return Band(*numbers)
    return Band(numbers[0] * (1 - tolerance), numbers[0] * (1 + tolerance))


def read_amount(value: object, unit: str) -> float:
    """Convert an amount to the unit of a metric: ``5ms`` to ns, ``1M`` to 1/s, ``64m`` to bytes. Raises Wrong."""
    try:
        return _READ.get(unit, _plain)(value)
    except UnitError as error:
        raise Wrong(str(error)) from None


def read_growth(value: object, resource: Resource) -> float:
    """Return bytes or items per hour: ``1 MiB/h``, ``2/h``. Raises Wrong."""
    if not isinstance(value, str):
        raise Wrong(f"{quoted(value)} is not an amount per hour; write '1 MiB/h', in quotes")
    try:
        return parse_growth(value, resource)
    except UnitError as error:
        raise Wrong(str(error)) from None


def _ns(value: object) -> float:
    if not isinstance(value, str):
        raise Wrong(f"{quoted(value)} is not a time with a unit; write '5ms' or '20us', in quotes")
    return parse_seconds(value) * 1e9


def _hertz(value: object) -> float:
    return parse_rate(value) if isinstance(value, str) else _plain(value)


def _bytes(value: object) -> float:
    read = SIZE.read(value)
    assert isinstance(read, int)
    return float(read)


def _part(value: object) -> float:
    return parse_percent(value) if isinstance(value, str) and "%" in value else _plain(value)


def _plain(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e18:
        raise Wrong(f"{quoted(value)} is not a number, or is negative; write a number without quotes, such as 1.5")
    return float(value)


_READ: Mapping[str, Callable[[object], float]] = {
    "ns": _ns,
    "ns/message": _ns,
    "messages/s": _hertz,
    "switches/s": _hertz,
    "bytes": _bytes,
    "bytes/s": _bytes,
    "1": _part,
    "deadlines": _part,
}
