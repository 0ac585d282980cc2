"""Read a table of keys: a sweep, the defaults, or the command line. The result is checked levels and all problems."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import msgspec

from middlemark.model.factors import Key
from middlemark.model.levels import Level, Wrong, whole
from middlemark.model.spelling import did_you_mean, quoted
from middlemark.model.units import UnitError, parse_size
from middlemark.problems import Problem
from middlemark.suite.sweep import KEYS


class Given(msgspec.Struct, frozen=True):
    """The value of one key: a single value, or the levels of a factor in order."""

    values: tuple[Level, ...]
    place: str


Table = dict[str, Given]

MOST_LEVELS = 10_000
SEED = whole("seed", 0, 2**63 - 1)


def parse_toml(text: str, place: str) -> tuple[dict[str, object] | None, list[Problem]]:
    """Return the parsed TOML, or None and the syntax error as a problem with its line."""
    try:
        return tomllib.loads(text), []
    except tomllib.TOMLDecodeError as error:
        match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), re.DOTALL)
        if match:
            return None, [Problem(f"{place}: line {match[2]}: column {match[3]}", f"not TOML: {match[1]}")]
        return None, [Problem(place, f"not TOML: {error}")]
    except ValueError:  # a number with too many digits, or an impossible date
        return None, [Problem(place, "not TOML: it contains a number or a date that is out of range")]
    except RecursionError:
        return None, [Problem(place, "not TOML: lists or tables are nested too deeply")]


def line_of(text: str, head: str, number: int, key: str) -> int | None:
    """Return the line of a key in table ``number`` of ``[[head]]``.

    If the key is missing, return the line of the head.
    """
    heads = [*re.finditer(r"(?m)^[ \t]*\[\[?[^\]\n]*\]\]?", text)]
    matching = [at for at, each in enumerate(heads) if re.sub(r"\s", "", each[0]) == f"[[{head}]]"]
    if number >= len(matching):
        return None
    begin = heads[matching[number]].start()
    end = heads[matching[number] + 1].start() if matching[number] + 1 < len(heads) else len(text)
    found = re.compile(rf"(?m)^[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*=").search(text, begin, end) if key else None
    return text.count("\n", 0, found.start() if found else begin) + 1


def read_seed(value: object) -> int:
    """Return the seed. Raises Wrong."""
    return cast("int", SEED.read(value))


def read_table(
    table: Mapping[str, object], place: str, folder: Path, extra: tuple[str, ...] = ()
) -> tuple[Table, list[Problem]]:
    """Read every key of a table. ``extra``: keys to skip. ``folder``: the folder of files that values name with @."""
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
        problems.append(Problem(f"{place}: samples", "duration is also set; remove one of the two keys"))
    return found, problems


def read_key(key: Key, value: object, place: str, folder: Path) -> tuple[Given | None, list[Problem]]:
    """Read one key: a single value or, for a factor, a list of levels. Returns None if no value is valid."""
    if not key.listed:
        if isinstance(value, list):
            return None, [Problem(place, f"is a list, but a sweep has only one {key.name}; write another [[sweep]]")]
        levels: list[object] = [value]
    else:
        levels = _spread(key, value)
        if not levels:
            return None, [Problem(place, "is an empty list; write a level, or remove the key for its default")]
        if len(levels) > MOST_LEVELS:
            return None, [Problem(place, f"has {len(levels)} levels; at most {MOST_LEVELS} can be combined")]
    values: list[Level] = []
    seen: set[Level] = set()
    problems: list[Problem] = []
    for level in levels:
        try:
            if key.kind.files and isinstance(level, str) and level.startswith("@"):
                sizes, wrong = load_demands(level[1:], folder)
                problems += [Problem(f"{place}: {each.place}", each.text) for each in wrong]
                read: list[Level] = list(dict.fromkeys(sizes))
            else:
                read = [key.kind.read(level)]
        except Wrong as error:
            problems.append(Problem(place, str(error)))
            continue
        for one in read:
            if one in seen:
                written = one if isinstance(one, int | str) else level
                problems.append(Problem(place, f"{quoted(written)} is listed twice"))
            else:
                seen.add(one)
                values.append(one)
    has_all = key.kind.not_in_all is not None and "all" in values
    if has_all and not {"all", *(key.kind.not_in_all or ())}.issuperset(values):
        problems.append(Problem(place, "'all' includes the other names; remove them, or remove 'all'"))
    return (Given(tuple(values), place) if values else None), problems


def _spread(key: Key, value: object) -> list[object]:
    if not isinstance(value, list):
        return [value]
    if key.kind.compound and value and all(isinstance(each, int) for each in value):
        return [value]  # [0, 1] is one placement, and [[0, 1], "off"] are two
    return value


_LARGEST_FILE = 1 << 20


def read_demands(text: str, place: str) -> tuple[list[int], list[Problem]]:
    """Return the sizes in order, and a problem for each invalid entry, with line and column (from 1).

    Blank entries and lines are skipped, because the lines of LatencyTest's own files end with a semicolon.
    """
    sizes: list[int] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.splitlines(), start=1):
        for entry in re.finditer(r"[^;]+", line):
            word = entry[0].strip()
            if not word:
                continue
            column = entry.start() + len(entry[0]) - len(entry[0].lstrip()) + 1
            try:
                size = parse_size(word)
            except UnitError as error:
                hint = "; the separator is a semicolon" if "," in word else ""
                problems.append(Problem(f"{place}: line {number}: column {column}", f"{error}{hint}"))
                continue
            if size in sizes:
                problems.append(Problem(f"{place}: line {number}: column {column}", f"{word} is listed twice"))
            sizes.append(size)
    if not sizes and not problems:
        problems.append(Problem(place, "contains no size; write sizes as 16;1024;64512"))
    return sizes, problems


def load_demands(name: str, folder: Path) -> tuple[list[int], list[Problem]]:
    """Read the file ``name`` in ``folder``. Raises Wrong if it is not readable text."""
    if not name:
        raise Wrong("'@' needs the name of a file; write @demands.csv")
    path = folder / name
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
        if len(data) > _LARGEST_FILE:
            raise Wrong(f"{name} is larger than 1 MiB, which is too large for a list of sizes")
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise Wrong(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        if isinstance(error, Wrong):
            raise
        raise Wrong(f"cannot read {name}: it is not text") from None
    return read_demands(text, name)
