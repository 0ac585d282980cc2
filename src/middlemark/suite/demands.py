"""``@demands.csv``: the sizes of LatencyTest, separated by semicolons over any number of lines."""

import re
from pathlib import Path

from middlemark.problems import Problem
from middlemark.suite.keys import Wrong
from middlemark.units import UnitError, parse_size

_LARGEST_FILE = 1 << 20


def read_demands(text: str, place: str) -> tuple[list[int], list[Problem]]:
    """Return the sizes in order, and a problem with line and column (both from 1) for each entry that is none.

    Blank entries and lines are skipped: LatencyTest's own files end their lines with a semicolon.
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
        problems.append(Problem(place, "no size in this file; write them as 16;1024;64512"))
    return sizes, problems


def load_demands(name: str, folder: Path) -> tuple[list[int], list[Problem]]:
    """Read the file ``name`` (relative to ``folder``). Raises Wrong when it cannot be read as text."""
    if not name:
        raise Wrong("'@' without a file's name; write @demands.csv")
    path = folder / name
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
        if len(data) > _LARGEST_FILE:
            raise Wrong(f"{name} is larger than 1 MiB: that is no list of sizes")
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise Wrong(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        if isinstance(error, Wrong):
            raise
        raise Wrong(f"cannot read {name}: it is not text") from None
    return read_demands(text, name)
