"""The command line's part of a request: options that override every sweep, and ``--only``."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from middlemark.problems import Problem
from middlemark.suite.keys import FACTORS, KEYS, Key, Wrong, read_seed
from middlemark.suite.model import Level, RawOptions, TypedNative
from middlemark.suite.spelling import did_you_mean
from middlemark.suite.table import Table, read_key

COMMAND_LINE = "command line"


class Only(msgspec.Struct, frozen=True):
    """One ``--only``: the cells kept are those whose ``factor`` has one of ``values``, written as cells have them."""

    factor: str
    values: tuple[Level, ...]
    place: str


def read_options(options: RawOptions) -> tuple[Table, int | None, list[Problem]]:
    """Return the keys given, the seed, and every problem. Problems and levels are placed at ``--size`` and so on."""
    found: Table = {}
    problems: list[Problem] = []
    for key in KEYS.values():
        raw = getattr(options, key.name, None)
        if raw is None:
            continue
        given, wrong = read_key(key, _typed(key, raw), _flag_name(key.name), Path())
        problems += wrong
        if given is not None:
            found[key.name] = given
    if options.samples is not None and options.duration is not None:
        problems.append(Problem("--samples", "both --samples and --duration are given; a trial ends by one of them"))
    seed: int | None = None
    if options.seed is not None:
        try:
            seed = read_seed(_number(options.seed.strip()))
        except Wrong as error:
            problems.append(Problem("--seed", str(error)))
    return found, seed, problems


def read_only(raw: Sequence[str], option: str = "--only") -> tuple[list[Only], list[Problem]]:
    """Read each ``KEY=VALUE``; several values may be joined by commas (except processors, which are one value)."""
    found: list[Only] = []
    problems: list[Problem] = []
    for text in raw:
        place = f"{option} {text}"
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals:
            problems.append(Problem(place, f"no '='; write {option} KEY=VALUE, as in {option} size=64k"))
            continue
        key = FACTORS.get(name)
        if key is None:
            problems.append(Problem(place, f"'{name}' is no factor; {did_you_mean(name, FACTORS)}"))
            continue
        given, wrong = read_key(key, _typed(key, value.strip()), place, Path())
        problems += wrong
        if given is None:
            continue
        values = list(given.values)
        if name == "size":
            values = list(dict.fromkeys(max(16, each) if isinstance(each, int) else each for each in values))
        if name == "pin":
            if "auto" in values:
                problems.append(Problem(place, "'auto' becomes processors in each cell; name them, or 'off'"))
                continue
            values = [None if each == "off" else each for each in values]
        found.append(Only(name, tuple(values), place))
    return found, problems


def read_native(raw: Sequence[str]) -> tuple[tuple[TypedNative, ...], list[Problem]]:
    """Read each ``[ADAPTER.]KEY=VALUE``. The value is all that follows the first ``=``, whatever is in it."""
    found: dict[str, TypedNative] = {}
    problems: list[Problem] = []
    for text in raw:
        word, equals, value = text.partition("=")
        native = TypedNative(word.strip(), value)
        if not equals or not native.word:
            missing = "no '='" if not equals else "no key before the '='"
            problems.append(Problem(f"--native {text}", f"{missing}; write --native KEY=VALUE or ADAPTER.KEY=VALUE"))
        elif native.word in found:
            problems.append(Problem(native.place, f"'{native.word}' is given twice; leave one of them out"))
        else:
            found[native.word] = native
    return tuple(found.values()), problems


def _typed(key: Key, raw: object) -> object:
    """Take a typed word for what its key wants: lists are split at commas, digits are numbers, true and false flags."""
    if not isinstance(raw, str):
        return raw
    if key.kind == "pin":
        return raw.strip()
    words: list[object] = [word.strip() for word in raw.split(",")] if key.listed else [raw.strip()]
    if key.kind == "whole":
        words = [_number(word) for word in words]
    elif key.kind == "flag":
        words = [{"true": True, "false": False}.get(str(word), word) for word in words]
    return words if key.listed else words[0]


def _number(word: object) -> object:
    return int(word) if isinstance(word, str) and re.fullmatch(r"-?[0-9]{1,18}", word) else word


def _flag_name(key: str) -> str:
    return "--" + key.replace("_", "-")
