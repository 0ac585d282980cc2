"""Kinds of level: how a level is read from TOML or from the command line, and how it is shown."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from middlemark.model.spelling import did_you_mean, nearest, quoted
from middlemark.model.units import (
    UnitError,
    check_rate,
    format_percent,
    format_rate,
    format_seconds,
    format_size,
    parse_percent,
    parse_rate,
    parse_seconds,
    parse_size,
)

Level = str | int | float | bool | tuple[int, ...] | None
"""One level of a factor. The factor decides what None means: keep-all history, no bursts, no limit, not pinned."""

MOST_SECONDS = 7 * 24 * 3600.0
RATE_WORDS = ("max", "sustainable", "curve")


class Wrong(ValueError):
    """A value that a key does not accept. The message contains an accepted value."""


def _number(word: str) -> object:
    return int(word) if re.fullmatch(r"-?[0-9]{1,18}", word) else word


def _shown(level: Level) -> str:
    if level is None:
        return "off"
    if isinstance(level, bool):
        return "true" if level else "false"
    return ",".join(map(str, level)) if isinstance(level, tuple) else str(level)


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """The rules by which the levels of one kind are read and shown."""

    read: Callable[[object], Level]
    """Converts a value of TOML to the level. Raises Wrong."""
    show: Callable[[Level], str] = _shown
    """Returns the level as a person would write it after the factor's name: ``64 KiB``, ``all``, ``0,1``."""
    typed: Callable[[str], object] = str
    """Converts a word of the command line to the value that TOML would have."""
    written: Callable[[Level], object] = lambda level: list(level) if isinstance(level, tuple) else level
    """Converts a level, except None, to a value of TOML."""
    compound: bool = False
    """True if a level may contain commas; a list of whole numbers is then one level."""
    not_in_all: tuple[str, ...] | None = None
    """Names that ``all`` does not include, but that can be added to ``all``. None: ``all`` is not accepted."""
    files: bool = False
    """True if ``@FILE`` is accepted, for the levels in a file."""

    @property
    def separator(self) -> str:
        """The character that separates levels on the command line."""
        return ";" if self.compound else ","


def words(what: str, *levels: str, meant: Mapping[str, str] = MappingProxyType({})) -> Kind:
    """Return the kind whose levels are these words. ``meant``: word of another tool → the level."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise Wrong(f"{quoted(value)} is not {_a(what)}; write {_or(levels)}")
        if value not in levels:
            other = meant.get(re.sub("[^a-z]", "", value.lower()))
            hint = f"did you mean '{other}'?" if other else did_you_mean(value, levels)
            raise Wrong(f"{quoted(value)} is not {_a(what)}; {hint}")
        return value

    return Kind(read=read)


def whole(what: str, least: int, most: int, *, none: str | None = None) -> Kind:
    """Return the kind of whole numbers; ``none`` is the word for the level None."""

    def read(value: object) -> int | None:
        if none is not None and value == none:
            return None
        wrong = f"{quoted(value)} is not {_a(what)}; write a whole number from {least} to {most}"
        if isinstance(value, bool) or not isinstance(value, int):
            raise Wrong(wrong + _unquoted(value, 18))
        if not least <= value <= most:
            raise Wrong(wrong)
        return value

    return Kind(read=read, typed=_number)


def seconds(least: float, none: str = "off") -> Kind:
    """Return the kind of times of at least ``least`` seconds; ``none`` is the text shown for the level None."""

    def read(value: object) -> float:
        if not isinstance(value, str):
            number = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else "1"
            number = number if len(number) < 20 else "1"
            raise Wrong(f"{quoted(value)} is not a time with a unit; write '{number}s' or '{number}ms', in quotes")
        try:
            time_s = parse_seconds(value)
        except UnitError as error:
            raise Wrong(str(error)) from None
        if time_s < least:
            raise Wrong(f"{quoted(value)} is too short; the shortest time is {'1us' if least >= 1e-6 else '1ns'}")
        if time_s > MOST_SECONDS:
            raise Wrong(f"{quoted(value)} is too long; at most a week (168h)")
        return time_s

    return Kind(
        read=read,
        show=lambda level: format_seconds(level) if isinstance(level, float) else none,
        written=lambda level: f"{level:.9f}s",
    )


def names(what: str, *not_in_all: str) -> Kind:
    """Return the kind of an adapter's or a transport's name; ``all`` does not include the names in ``not_in_all``."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise Wrong(f"{quoted(value)} is not {_a(what)}; write the name in quotes")
        version = r"(@[\w./+~-]{1,200})?" if what == "adapter" else ""
        if not re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,63}}{version}", value):
            raise Wrong(f"{quoted(value)} is not {_a(what)}; `middlemark list adapters` shows the names")
        return value

    return Kind(read=read, not_in_all=not_in_all)


def _read_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Wrong(f"{quoted(value)} is neither true nor false; write true or false without quotes")
    return value


def _read_size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise Wrong(f"{quoted(value)} is not a size; write bytes (64512) or, in quotes, KiB and MiB ('64k', '1m')")
    try:
        size = parse_size(value) if isinstance(value, str) else value
    except UnitError as error:
        raise Wrong(str(error)) from None
    if not 0 <= size < 1 << 40:
        raise Wrong(f"{quoted(value)} is not a size; write a size from 0 to below 1024g")
    return size


def _read_depth(value: object) -> int | None:
    if value == "all":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
        wrong = f"{quoted(value)} is not a depth; write a whole number of messages from 1, or 'all'"
        raise Wrong(wrong + _unquoted(value, 9))
    return value


def _read_rate(value: object) -> float | str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Wrong(f"{quoted(value)} is not a rate; write messages per second (1000, '2.5k', '1M'), or 'max'")
    if isinstance(value, str) and value in RATE_WORDS:
        return value
    try:
        if isinstance(value, str):
            if re.match(r"\s*[A-Za-z]", value):
                near = nearest(value, RATE_WORDS)
                hint = f"did you mean '{near}'?" if near else "write messages per second (1000, 2.5k, 1M), or 'max'"
                raise Wrong(f"{quoted(value)} is not a rate; {hint}")
            return parse_rate(value)
        rate = float(value) if abs(value) < 1e18 else float("inf")
        check_rate(rate, quoted(value))
    except UnitError as error:
        raise Wrong(str(error)) from None
    return rate


def _read_share(value: object) -> float:
    share: float | None = None
    if isinstance(value, str):
        try:
            share = parse_percent(value) if "%" in value else float(value) if re.fullmatch(r"[0-9.]+", value) else None
        except ValueError:
            share = None
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18:
        share = float(value)
    if share is None or not 0 <= share < 1:
        raise Wrong(f"{quoted(value)} is not a share of the messages; write '1%' or 0.01 (below 100%), or 0 for none")
    return share


def _read_processors(value: object) -> str | tuple[int, ...]:
    if value in ("off", "auto"):
        return str(value)
    if isinstance(value, str):
        if re.fullmatch(r"\s*[0-9]{1,5}(\s*,\s*[0-9]{1,5})*\s*", value):
            return tuple(int(each) for each in value.split(","))
    elif isinstance(value, list):
        if value and all(_is_processor(each) for each in value):
            return tuple(value)
    elif _is_processor(value):
        return (int(str(value)),)
    shown = f"[{', '.join(map(quoted, value[:9]))}]" if isinstance(value, list) else quoted(value)
    raise Wrong(f"{shown} names no processors; write 'auto', 'off', '0,1' or [0, 1] (senders' first, then receivers')")


def _is_processor(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 100_000


def _read_priority(value: object) -> str:
    if isinstance(value, str):
        match = re.fullmatch(r"(fifo|rr):([0-9]{1,3})", value)
        if value == "other":
            return value
        if match and 1 <= int(match[2]) <= 99:
            return f"{match[1]}:{int(match[2])}"
    raise Wrong(
        f"{quoted(value)} is not a priority; write 'other', or 'fifo:80' or 'rr:80' with a priority from 1 to 99"
    )


def _a(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def _or(levels: tuple[str, ...]) -> str:
    shown = [f"'{word}'" for word in levels]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _unquoted(value: object, digits: int) -> str:
    number = isinstance(value, str) and re.fullmatch(f"[0-9]{{1,{digits}}}", value)
    return f" ({value}, without quotes)" if number else ""


FLAG = Kind(read=_read_flag, typed=lambda word: {"true": True, "false": False}.get(word, word))
SIZE = Kind(
    read=_read_size, show=lambda level: format_size(level) if isinstance(level, int) else _shown(level), files=True
)


def _read_times(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1e-6 <= value <= 1e6:
        raise Wrong(f"{quoted(value)} is not a factor of a rate; write a number from 0.000001 to 1000000")
    return float(value)


def _decimal(word: str) -> object:
    return float(word) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", word) else word


TIMES = Kind(read=_read_times, show=lambda level: f"{level:g}", typed=_decimal)
DEPTH = Kind(read=_read_depth, show=lambda level: "all" if level is None else str(level), typed=_number)
RATE = Kind(read=_read_rate, show=lambda level: format_rate(level) if isinstance(level, float) else str(level))
SHARE = Kind(read=_read_share, show=lambda level: format_percent(level) if isinstance(level, float) else _shown(level))
PROCESSORS = Kind(read=_read_processors, compound=True)
PRIORITY = Kind(read=_read_priority)
