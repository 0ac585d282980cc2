"""The conditions of ``--fail-if``. All verbs use the same grammar."""

from collections.abc import Collection, Sequence
from typing import cast

import msgspec

from middlemark.model.growth import RESOURCES, Resource, parse_growth
from middlemark.model.spelling import did_you_mean
from middlemark.model.units import parse_percent
from middlemark.problems import Problem

EXPECTATIONS, UNDECIDED, WORSE = "expectations", "undecided", "METRIC WORSE than PERCENT"
GROWS = "RESOURCE grows by AMOUNT/h"
GRAMMAR = (EXPECTATIONS, UNDECIDED, WORSE, GROWS)
"""The forms of a condition."""

_ELSEWHERE = {
    EXPECTATIONS: "this verb judges no expectations; `run` and `reproduce` do",
    GROWS: "this verb does not judge growth; use `run`",
    WORSE: "this verb compares nothing; `middlemark compare RUN --by FACTOR` does, or write --expect",
}


class FailIf(msgspec.Struct, frozen=True):
    """The conditions under which a command exits with 4."""

    expectations: bool = False
    """True if an expectation that does not hold makes the command fail."""
    undecided: bool = False
    """True if an undecided expectation or comparison makes the command fail."""
    worse: tuple[tuple[str, float], ...] = ()
    """(metric, largest share by which B may be worse than A). If B is worse by a larger share, the command fails."""
    grows: tuple[tuple[Resource, float], ...] = ()
    """(resource, amount per hour). If the whole interval of a slope in a long trial is above it, the command fails."""

    @property
    def judges_expectations(self) -> bool:
        """True if a condition is about expectations."""
        return self.expectations or (self.undecided and not self.grows)

    def __bool__(self) -> bool:
        """True if there is at least one condition."""
        return self.expectations or self.undecided or bool(self.worse or self.grows)


def read_fail_if(typed: Sequence[str], judged: Collection[str]) -> tuple[FailIf, list[Problem]]:
    """Return the conditions that the user typed, and all problems.

    ``judged``: the forms in ``GRAMMAR`` that the verb can judge.
    """
    found = FailIf()
    problems: list[Problem] = []
    for text in typed:
        word = text.strip()
        if word.split()[1:2] == ["grows"]:
            found = msgspec.structs.replace(found, grows=(*found.grows, *_grows(word, judged, problems)))
            continue
        kind = word if word in (EXPECTATIONS, UNDECIDED) else WORSE
        worse = _worse(word, judged, problems) if kind == WORSE else None
        if kind not in judged and (worse or kind != WORSE):
            problems.append(Problem("--fail-if", f"'{word}': {_ELSEWHERE[kind]}"))
        elif worse:
            found = msgspec.structs.replace(found, worse=(*found.worse, worse))
        elif kind != WORSE:
            found = msgspec.structs.replace(found, **{kind: True})
    return found, problems


def _grows(text: str, judged: Collection[str], problems: list[Problem]) -> tuple[tuple[Resource, float], ...]:
    """Return the resource and its amount per hour, or add a problem."""
    if GROWS not in judged:
        problems.append(Problem("--fail-if", f"'{text}': {_ELSEWHERE[GROWS]}"))
        return ()
    resource, _, *words = text.split()
    amount = "".join(words[1:])
    if resource not in RESOURCES:
        problems.append(Problem("--fail-if", f"there is no resource {resource}; {did_you_mean(resource, RESOURCES)}"))
    elif words[:1] != ["by"] or not amount.endswith("/h"):
        problems.append(Problem("--fail-if", f"'{text}' is not a condition; write 'rss grows by 1 MiB/h'"))
    else:
        try:
            known = cast("Resource", resource)
            return ((known, parse_growth(amount, known)),)
        except ValueError as error:
            problems.append(Problem("--fail-if", str(error)))
    return ()


def _worse(text: str, judged: Collection[str], problems: list[Problem]) -> tuple[str, float] | None:
    from middlemark.stats.metrics import METRICS, read_metrics

    words = text.split()
    if (len(words) == 1 and WORSE not in judged) or not words:
        problems.append(Problem("--fail-if", f"'{text}' is not a condition; {did_you_mean(text, judged)}"))
        return None
    if len(words) == 4 and words[0] not in METRICS and words[2] == "than":
        problems += read_metrics(words[0], "--fail-if")[1]
        return None
    name = words[0] if words[0] in METRICS else "p50"
    if len(words) != 4 or words[:3] != [name, METRICS[name].worse, "than"]:
        right = f"'{name} {METRICS[name].worse} than 5%'"
        text = f"'{text}' is not a condition; write {WORSE}, as in {right}"
        problems.append(Problem("--fail-if", f"{text}{', or undecided' if UNDECIDED in judged else ''}"))
        return None
    try:
        return name, parse_percent(words[3])
    except ValueError as error:
        problems.append(Problem("--fail-if", str(error)))
        return None
