"""How figures are written: in a table for people, and as JSON and CSV numbers for programs."""

from middlemark.units import format_us

ABSENT = "–"
"""Stands for a figure that was not measured. Never zero, never blank."""


def us(nanoseconds: float | None) -> str:
    """Write ns as µs without the unit, to three significant digits or whole µs."""
    return ABSENT if nanoseconds is None else format_us(nanoseconds)


def count(number: int | None) -> str:
    """Write a count in groups of three: ``30,000``."""
    return ABSENT if number is None else f"{number:,}"


def ratio(times: float | None) -> str:
    """Write a ratio to three significant digits, or whole: ``1.03``, ``32.7``, ``1,204``."""
    if times is None:
        return ABSENT
    if round(times, 2) < 10:
        return f"{times:.2f}"
    return f"{times:.1f}" if round(times, 1) < 100 else f"{times:,.0f}"


def exact(figure: float | None) -> int | float | None:
    """Return a figure for a program: whole where it is whole, else to a thousandth (of a ns, far below any clock)."""
    if figure is None:
        return None
    rounded = round(figure, 3)
    return int(rounded) if rounded == int(rounded) else rounded
