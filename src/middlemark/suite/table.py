"""One table of keys (a sweep, the defaults, the command line) → checked levels, or every problem in it."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from middlemark.problems import Problem
from middlemark.suite.demands import load_demands
from middlemark.suite.keys import KEYS, Key, Wrong
from middlemark.suite.model import Level
from middlemark.suite.spelling import did_you_mean, quoted


class Given(msgspec.Struct, frozen=True):
    """What one key was given: a factor's levels in order, or the one value of a limit."""

    values: tuple[Level, ...]
    place: str


Table = dict[str, Given]

MOST_LEVELS = 10_000


def read_table(
    table: Mapping[str, object], place: str, folder: Path, extra: tuple[str, ...] = ()
) -> tuple[Table, list[Problem]]:
    """Read every key of a table. ``extra``: keys that are somebody else's to read. ``folder``: where @files are."""
    found: Table = {}
    problems: list[Problem] = []
    for name, value in table.items():
        if name in extra:
            continue
        key = KEYS.get(name)
        if key is None:
            problems.append(Problem(f"{place}: {name}", f"no such key; {did_you_mean(name, (*KEYS, *extra))}"))
            continue
        given, wrong = read_key(key, value, f"{place}: {name}", folder)
        problems += wrong
        if given is not None:
            found[name] = given
    if "samples" in table and "duration" in table:
        problems.append(Problem(f"{place}: samples", "both samples and duration are set; a trial ends by one of them"))
    return found, problems


def read_key(key: Key, value: object, place: str, folder: Path) -> tuple[Given | None, list[Problem]]:
    """Read one key: a single value or, for a factor, a list of levels. None when nothing of it can be used."""
    if not key.listed:
        if isinstance(value, list):
            return None, [Problem(place, f"a list, but {key.name} is set once for a sweep; write another [[sweep]]")]
        levels: list[object] = [value]
    else:
        levels = _spread(key, value)
        if not levels:
            return None, [Problem(place, "an empty list leaves nothing to measure; leave the key out for its default")]
        if len(levels) > MOST_LEVELS:
            return None, [Problem(place, f"{len(levels)} levels; at most {MOST_LEVELS} can be crossed")]
    values: list[Level] = []
    seen: set[Level] = set()
    problems: list[Problem] = []
    for level in levels:
        try:
            if key.name == "size" and isinstance(level, str) and level.startswith("@"):
                sizes, wrong = load_demands(level[1:], folder)
                problems += [Problem(f"{place}: {each.place}", each.text) for each in wrong]
                read: list[Level] = list(dict.fromkeys(sizes))
            else:
                read = [key.read(level)]
        except Wrong as error:
            problems.append(Problem(place, str(error)))
            continue
        for one in read:
            if one in seen:
                written = one if isinstance(one, int | str) else level
                shown = "'all'" if key.name == "depth" and one is None else quoted(written)
                problems.append(Problem(place, f"{shown} is listed twice"))
            else:
                seen.add(one)
                values.append(one)
    if key.name in ("adapter", "transport") and "all" in values and len(values) > 1:
        problems.append(Problem(place, "'all' stands alone; leave the other names out, or leave out 'all'"))
    return (Given(tuple(values), place) if values else None), problems


def _spread(key: Key, value: object) -> list[object]:
    if not isinstance(value, list):
        return [value]
    if key.kind == "pin" and value and all(isinstance(each, int) for each in value):
        return [value]  # [0, 1] is one placement; [[0, 1], "off"] are two
    return value
