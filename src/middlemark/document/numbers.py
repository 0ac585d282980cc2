"""The formats of figures: in tables for people, and as JSON and CSV numbers for programs.

For people, a figure is first cut to four significant digits, as in the data of the HTML report, so that it has the
same digits wherever it is shown.
"""

import decimal
from collections.abc import Callable, Mapping

from middlemark.model.units import format_us

_FOUR = decimal.Context(prec=4, rounding=decimal.ROUND_HALF_EVEN)
_FOUR_TO_ROUND_AGAIN = decimal.Context(prec=4, rounding=decimal.ROUND_05UP)

ABSENT = "–"
"""The text for a figure that was not measured, which is never zero or blank."""


def us(nanoseconds: float | None) -> str:
    """Write ns as µs without the unit, to three significant digits or whole µs."""
    return ABSENT if nanoseconds is None else format_us(four_digits(nanoseconds))


def whole(number: float | None) -> str:
    """Write a count, or a figure in whole units: ``30,000``."""
    return ABSENT if number is None else f"{number:,.0f}"


def ratio(times: float | None) -> str:
    """Write a ratio to three significant digits, or whole: ``1.03``, ``32.7``, ``1,204``."""
    if times is None:
        return ABSENT
    times = four_digits(times)
    if round(times, 2) < 10:
        return f"{times:.2f}"
    return f"{times:.1f}" if round(times, 1) < 100 else f"{times:,.0f}"


def exact(figure: float | None) -> int | float | None:
    """Return a figure for a program: an integer if it is whole, else with three decimals and at least four digits.

    No clock resolves a thousandth of a ns, but a share of 0.0004 must not become 0.
    """
    if figure is None:
        return None
    rounded = round(figure, 3) if abs(figure) >= 0.1 else four_digits(figure)
    return int(rounded) if rounded == int(rounded) else rounded


def brief(number: float | None) -> str:
    """Write a rate or a large count to three significant digits: ``0.52``, ``987``, ``9,870``, ``98.7k``, ``1.23M``."""
    if number is None:
        return ABSENT
    number = four_digits(number)
    if abs(number) < 9_999.5:
        return f"{number:.3g}" if abs(number) < 999.5 else f"{number:,.0f}"
    if abs(number) < 999_500:
        return f"{float(f'{number / 1e3:.3g}'):g}k"
    return f"{float(f'{number / 1e6:.3g}'):,g}M"


def share(part: float | None) -> str:
    """Write a share of 0 to 1 as a percentage. A share is written as 0 % or 100 % only if it is exactly 0 or 1."""
    if part is None:
        return ABSENT
    if part <= 0 or part >= 1:
        return "0 %" if part <= 0 else "100 %"
    percent = 100 * four_digits(part)
    if percent < 0.001:
        return "<0.001 %"
    if percent > 99.5:
        return ">99.5 %"
    return f"{percent:.2g} %" if percent < 9.95 else f"{percent:.0f} %"


def megabytes(number: float | None) -> str:
    """Write bytes in units of 10⁶ bytes: ``0.16``, ``9.88``, ``34.1``, ``1,262``."""
    if number is None:
        return ABSENT
    millions = four_digits(number) / 1e6
    if millions < 0.0995:
        return f"{millions:.2g}"
    return ratio(millions)


def of_deadline(part: float | None) -> str:
    """Write a time divided by its deadline: ``0.0026``, ``0.31``, ``1.20``."""
    return ratio(part) if part is None or part >= 0.0995 else f"{part:.2g}"


def processors(number: float | None) -> str:
    """Write processors used: ``0.04``, ``1.3``, ``12``."""
    if number is None:
        return ABSENT
    number = four_digits(number)
    return f"{number:.2f}" if number < 0.995 else f"{number:.1f}"


_WRITTEN: Mapping[str, tuple[Callable[[float | None], str], str]] = {
    "ns": (us, " µs"),
    "ns/message": (whole, " ns"),
    "messages/s": (brief, "/s"),
    "switches/s": (brief, "/s"),
    "packets/s": (brief, "/s"),
    "s": (brief, " s"),
    "packets": (brief, ""),
    "paths": (whole, ""),
    "bytes": (megabytes, " MB"),
    "bytes/s": (megabytes, " MB/s"),
    "processors": (brief, ""),
    "threads": (whole, ""),
    "deadlines": (ratio, " × deadline"),
    "medians": (ratio, " × p50"),
    "1": (share, ""),
}
"""Unit of a metric → the function that writes a figure, and the text after the figure."""


def measured(figure: float | None, unit: str) -> str:
    """Write a metric's figure with its unit: ``50.0 µs``, ``98.7k/s``, ``12.3 MB``."""
    write, suffix = _WRITTEN[unit]
    return ABSENT if figure is None else f"{write(figure)}{suffix}"


def part(figure: float | None) -> str:
    """Write the relative difference of two figures: ``+12.0 %``."""
    return ABSENT if figure is None else f"{100 * figure:+.1f} %"


def four_digits(figure: float) -> int | float:
    """Return the figure to four significant digits, an integer if it is whole.

    A report rounds the result to three digits, and must get the same text as from ``figure`` itself. So 62.948 becomes
    62.94, because 62.95 would then be rounded to 63.0.
    """
    exact = repr(float(figure))
    short = float(_FOUR.create_decimal(exact))
    if f"{short:.3g}" != f"{figure:.3g}":
        short = float(_FOUR_TO_ROUND_AGAIN.create_decimal(exact))
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def rounded(figure: float | None) -> int | float | None:
    """Return the figure to four significant digits; None if it is absent."""
    return None if figure is None else four_digits(figure)
