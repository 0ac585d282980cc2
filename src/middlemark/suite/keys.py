"""The keys of a sweep: every factor and every limit, what each accepts, and its default. The one table of them."""

import re
from collections.abc import Callable
from typing import Literal, cast

import msgspec

from middlemark.suite.model import Level
from middlemark.suite.spelling import did_you_mean, nearest, quoted
from middlemark.units import UnitError, check_rate, parse_percent, parse_rate, parse_seconds, parse_size

Reader = Callable[[object], Level]

MOST_SAMPLES = 1_000_000_000
MOST_SECONDS = 7 * 24 * 3600.0
MOST_SEED = 2**63 - 1
MOST_ROLES = 64
"""Publishers, subscribers or topics of one trial."""
MOST_BURST = 1_000_000_000


class Wrong(ValueError):
    """A value that its key does not accept; the message says what would be right."""


class Key(msgspec.Struct, frozen=True):
    """One key of a sweep. ``kind`` says how a word typed on the command line is to be taken before it is read.

    ``default``: the levels where nobody names any; of streams the depth is another (``own_depth`` of the plan).
    """

    name: str
    read: Reader
    default: tuple[Level, ...] = ()
    kind: Literal["text", "whole", "flag", "pin"] = "text"
    listed: bool = True
    """A list of levels is accepted; what is not listed is set once for a sweep."""


def _words(what: str, *words: str) -> Reader:
    def read(value: object) -> str:
        if not isinstance(value, str):
            raise Wrong(f"{quoted(value)} is no {what}; write {_or(words)}")
        if value not in words:
            raise Wrong(f"{quoted(value)} is no {what}; {did_you_mean(value, words)}")
        return value

    return read


def _or(words: tuple[str, ...]) -> str:
    shown = [f"'{word}'" for word in words]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _whole(what: str, least: int, most: int) -> Reader:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            hint = (
                f"; write {value} without quotes"
                if isinstance(value, str) and re.fullmatch("[0-9]{1,18}", value)
                else ""
            )
            raise Wrong(f"{quoted(value)} is no {what}; a whole number from {least} to {most} is{hint}")
        if not least <= value <= most:
            raise Wrong(f"{quoted(value)} is no {what}; a whole number from {least} to {most} is")
        return value

    return read


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Wrong(f"{quoted(value)} is neither true nor false; write true or false without quotes")
    return value


def _time(least: float) -> Reader:
    def read(value: object) -> float:
        if not isinstance(value, str):
            number = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else "1"
            number = number if len(number) < 20 else "1"
            raise Wrong(f"{quoted(value)} is no time with a unit; write '{number}s' or '{number}ms', in quotes")
        try:
            seconds = parse_seconds(value)
        except UnitError as error:
            raise Wrong(str(error)) from None
        if seconds < least:
            raise Wrong(f"{quoted(value)} is too short; from {'1us' if least >= 1e-6 else '1ns'} on it is a time")
        if seconds > MOST_SECONDS:
            raise Wrong(f"{quoted(value)} is too long; at most a week (168h)")
        return seconds

    return read


def _name(what: str) -> Reader:
    def read(value: object) -> str:
        if not isinstance(value, str):
            raise Wrong(f"{quoted(value)} is no {what}; write its name in quotes")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", value):
            raise Wrong(f"{quoted(value)} is no {what}; `middlemark list adapters` shows the names")
        return value

    return read


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise Wrong(f"{quoted(value)} is no size; write bytes (64512) or, in quotes, KiB and MiB ('64k', '1m')")
    if isinstance(value, int):
        size = value
    else:
        try:
            size = parse_size(value)
        except UnitError as error:
            raise Wrong(str(error)) from None
    if not 0 <= size < 1 << 40:
        raise Wrong(f"{quoted(value)} is no size; it is to be from 0 to below 1024g")
    return size


def _depth(value: object) -> int | None:
    if value == "all":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
        hint = f"; write {value} without quotes" if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value) else ""
        raise Wrong(f"{quoted(value)} is no depth; a whole number of messages from 1, or 'all', is{hint}")
    return value


def _rate(value: object) -> float | str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Wrong(f"{quoted(value)} is no rate; write messages a second (1000, '2.5k', '1M'), or 'max'")
    if isinstance(value, str) and value in RATE_WORDS:
        return value
    try:
        if isinstance(value, str):
            if re.match(r"\s*[A-Za-z]", value):
                near = nearest(value, RATE_WORDS)
                hint = f"did you mean '{near}'?" if near else "write messages a second (1000, 2.5k, 1M), or 'max'"
                raise Wrong(f"{quoted(value)} is no rate; {hint}")
            return parse_rate(value)
        rate = float(value) if abs(value) < 1e18 else float("inf")
        check_rate(rate, quoted(value))
    except UnitError as error:
        raise Wrong(str(error)) from None
    return rate


def _burst(value: object) -> int | None:
    return None if value == "off" else _whole_burst(value)


def _share(value: object) -> float:
    """Read a share of messages: 0.01 or '1%'. All of them is no bound."""
    share: float | None = None
    if isinstance(value, str):
        try:
            share = parse_percent(value) if "%" in value else float(value) if re.fullmatch(r"[0-9.]+", value) else None
        except ValueError:
            share = None
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18:
        share = float(value)
    if share is None or not 0 <= share < 1:
        raise Wrong(f"{quoted(value)} is no share of the messages; write '1%' or 0.01 (below 100%), or 0 for none")
    return share


def _pin(value: object) -> str | tuple[int, ...]:
    if value in ("off", "auto"):
        return str(value)
    if isinstance(value, str):
        if re.fullmatch(r"\s*[0-9]{1,5}(\s*,\s*[0-9]{1,5})*\s*", value):
            return tuple(int(each) for each in value.split(","))
    elif isinstance(value, list):
        if value and all(_is_cpu(each) for each in value):
            return tuple(value)
    elif _is_cpu(value):
        return (int(str(value)),)
    shown = f"[{', '.join(map(quoted, value[:9]))}]" if isinstance(value, list) else quoted(value)
    raise Wrong(f"{shown} names no processors; write 'auto', 'off', '0,1' or [0, 1] (senders' first, then receivers')")


def _is_cpu(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 100_000


def _priority(value: object) -> str:
    if isinstance(value, str):
        match = re.fullmatch(r"(fifo|rr):([0-9]{1,3})", value)
        if value == "other":
            return value
        if match and 1 <= int(match[2]) <= 99:
            return f"{match[1]}:{int(match[2])}"
    raise Wrong(f"{quoted(value)} is no priority; write 'other', or 'fifo:80' or 'rr:80' with a priority from 1 to 99")


read_seed = cast("Callable[[object], int]", _whole("seed", 0, MOST_SEED))
_whole_burst = cast("Callable[[object], int]", _whole("number of messages in a burst (or 'off')", 1, MOST_BURST))
RATE_WORDS = ("max", "sustainable", "curve")
PATTERNS = ("ping-pong", "stream", "request-reply")

FACTORS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("adapter", _name("adapter"), ("all",)),
        Key("transport", _name("transport"), ("all",)),
        Key("pattern", _words("pattern", *PATTERNS), ("ping-pong",)),
        Key("size", _size, (1024,)),
        Key("receive", _words("way to receive", "block", "poll", "listen"), ("block",)),
        Key("reliability", _words("reliability", "reliable", "best-effort"), ("reliable",)),
        Key("depth", _depth, (1,), "whole"),
        Key("loan", _flag, (False,), "flag"),
        Key("payload", _words("payload", "filled", "untouched"), ("filled",)),
        Key("processes", _whole("number of processes", 1, 2), (2,), "whole"),
        Key("publishers", _whole("number of publishers", 1, MOST_ROLES), (1,), "whole"),
        Key("subscribers", _whole("number of subscribers", 1, MOST_ROLES), (1,), "whole"),
        Key("topics", _whole("number of topics", 1, MOST_ROLES), (1,), "whole"),
        Key("rate", _rate, ("max",)),
        Key("arrivals", _words("kind of arrivals", "periodic", "poisson"), ("periodic",)),
        Key("burst", _burst, (None,), "whole"),
        Key("recovery", _time(0.0), (None,)),
        Key("max_loss", _share, (0.0,), listed=False),
        Key("max_p99", _time(1e-9), (None,), listed=False),
        Key("echo", _words("echo", "all", "first"), ("all",)),
        Key("pin", _pin, ("auto",), "pin"),
        Key("priority", _priority, ("other",)),
        Key("mlock", _flag, (False,), "flag"),
    )
}
"""Every factor, in the order in which they are crossed: the first varies slowest. They make a cell what it is."""

LIMITS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("samples", _whole("number of samples", 1, MOST_SAMPLES), kind="whole", listed=False),
        Key("duration", _time(1e-6), listed=False),
        Key("warmup", _time(0.0), listed=False),
        Key("trials", _whole("number of trials", 1, 10_000), kind="whole", listed=False),
        Key("timeout", _time(1e-6), listed=False),
        Key("limit", _time(1e-6), listed=False),
        Key("match_timeout", _time(1e-6), listed=False),
        Key("domain", _whole("domain", 0, 232), kind="whole", listed=False),
        Key("skip_unsupported", _flag, kind="flag", listed=False),
        Key("floors", _flag, kind="flag", listed=False),
    )
}
"""What is set once for a sweep. ``timeout`` is the reply's, ``limit`` the measuring's."""

KEYS: dict[str, Key] = {**FACTORS, **LIMITS}
