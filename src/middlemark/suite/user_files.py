"""Read users' own configuration files: ``--config ADAPTER=FILE`` and a suite's ``config`` table."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from middlemark.model.spelling import quoted
from middlemark.model.user_file import KEY, UserFile
from middlemark.problems import Problem
from middlemark.suite.sweep import Native, TypedNative

LARGEST = 4 << 20


def read_user_file(path: Path, place: str) -> tuple[UserFile | None, list[Problem]]:
    """Return the absolute path and the hash of a file, or the problem of the file."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return None, [Problem(place, f"{path}: {why}; give the path of a configuration file")]
    if len(content) > LARGEST:
        return None, [Problem(place, f"{path}: larger than 4 MiB, which is too large for a configuration")]
    return UserFile(os.path.abspath(path), hashlib.sha256(content).hexdigest()), []


def read_typed(raw: Sequence[str]) -> tuple[tuple[TypedNative, ...], list[Problem]]:
    """Read each ``ADAPTER=FILE`` of the command line."""
    found: dict[str, TypedNative] = {}
    problems: list[Problem] = []
    for text in raw:
        adapter, equals, path = text.partition("=")
        place = f"--config {text}"
        if not equals or not adapter or not path:
            problems.append(Problem(place, "write --config ADAPTER=FILE, as in --config cyclonedds=my.xml"))
        elif adapter in found:
            problems.append(Problem(place, f"{adapter} is given twice; remove one of the two files"))
        else:
            file, wrong = read_user_file(Path(path), place)
            problems += wrong
            if file is not None:
                found[adapter] = TypedNative(f"{adapter}.{KEY}", file.written)
    return tuple(found.values()), problems


def read_table_of_files(table: object, place: str, folder: Path) -> tuple[list[Native], list[Problem]]:
    """Read a suite's ``config`` table: adapter → path, relative to the suite's folder ``folder``."""
    if not isinstance(table, dict):
        return [], [Problem(place, f'{quoted(table)} is not a table; write config.ADAPTER = "FILE"')]
    natives: list[Native] = []
    problems: list[Problem] = []
    for adapter, path in table.items():
        where = f"{place}: {adapter}"
        if not isinstance(path, str):
            problems.append(Problem(where, f"{quoted(path)} is not a path; write it in quotes"))
            continue
        file, wrong = read_user_file(folder / path, where)
        problems += wrong
        if file is not None:
            natives.append(Native(adapter, ((KEY, file.written),), where))
    return natives, problems
