"""Read the tables ``[[expect]]`` of a suite, and ``--expect``. The result is expectations and all problems."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.model.expectation import Expectation
from middlemark.problems import Problem
from middlemark.suite.claim import ClaimReader
from middlemark.suite.table import line_of, parse_toml


def read_expectations(tables: object, place: str, text: str = "") -> tuple[tuple[Expectation, ...], list[Problem]]:
    """Check the tables ``[[expect]]`` of a file. ``text``: the file's content, to report line numbers."""
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        return (), [Problem(f"{place}: expect", "is not a list of tables; write [[expect]] and its keys below")]
    found: list[Expectation] = []
    problems: list[Problem] = []
    for number, table in enumerate(tables):

        def where(key: str, number: int = number) -> str:
            line = line_of(text, "expect", number, key)
            at = f"line {line}: " if line else ""
            return f"{place}: {at}expect {number + 1}: {key}".rstrip(": ")

        _read(table, where, found, problems)
    return tuple(found), problems


def read_typed_expectations(typed: Sequence[str]) -> tuple[tuple[Expectation, ...], list[Problem]]:
    """Read each ``--expect``: the keys of an ``[[expect]]``, separated by commas."""
    found: list[Expectation] = []
    problems: list[Problem] = []
    for text in typed:
        place = f"--expect {text}"
        document, wrong = parse_toml(f"expect = {{ {text} }}", place)
        problems += wrong
        table = (document or {}).get("expect")
        if isinstance(table, dict):
            _read(table, _below(place), found, problems)
    return tuple(found), problems


def _below(place: str) -> Callable[[str], str]:
    return lambda key: f"{place}: {key}".rstrip(": ")


def same_ids(expectations: Sequence[Expectation]) -> tuple[tuple[Expectation, ...], list[Problem]]:
    """Return the expectations, each with an id, and a problem for each id that is used twice."""
    named = [each.id for each in expectations if each.id]
    problems = [
        Problem(each.place, f"another expectation also has the id '{each.id}'; choose a different one")
        for at, each in enumerate(expectations)
        if each.id and each.id in [other.id for other in expectations[:at]]
    ]
    taken = set(named)
    found = []
    for number, each in enumerate(expectations, 1):
        slug = re.sub(r"[^a-z0-9]+", "-", each.say.lower()).strip("-")[:48].strip("-") or str(number)
        own = each.id or (slug if slug not in taken else f"{slug}-{number}")
        taken.add(own)
        found.append(msgspec.structs.replace(each, id=own))
    return tuple(found), problems


def _read(
    table: Mapping[str, Any],
    where: Callable[[str], str],
    found: list[Expectation],
    problems: list[Problem],
) -> None:
    reader = ClaimReader(table, where)
    expectation = reader.expectation()
    problems += reader.problems
    if expectation is not None:
        found.append(expectation)
