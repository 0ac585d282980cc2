"""``--until-precise``, ``--budget`` and ``--focus``: how well the cells of a run are to be known, as typed."""

from collections.abc import Sequence

import msgspec

from middlemark.problems import Problem
from middlemark.suite.overrides import Only, read_only
from middlemark.units import parse_percent, parse_seconds

FIRST_ROUNDS = 6
"""With fewer trials a median has no interval to be judged by."""
BUDGET_S = 600.0
"""Unless somebody says otherwise: a cell with two states is never known well, and nothing may run for ever."""


class Precise(msgspec.Struct, frozen=True):
    """Rounds are added until the median of every cell (with ``focus``, of those in it) is known to ``part``."""

    part: float
    budget_s: float
    focus: tuple[Only, ...]


def read_precision(
    part: str | None, budget: str | None, focus: Sequence[str], trials: str | None
) -> tuple[Precise | None, list[Problem]]:
    """Read the options as typed, None where they were not given. Returns every problem found."""
    problems: list[Problem] = []
    if part is None:
        beside = [name for name, given in (("--budget", budget), ("--focus", focus or None)) if given is not None]
        return None, [Problem(each, "goes with --until-precise PERCENT, which is not given") for each in beside]
    if trials is not None:
        problems.append(Problem("--trials", "--until-precise finds the number of trials; leave one of the two out"))
    share, budget_s = 0.0, BUDGET_S
    try:
        share = parse_percent(part)
        if not 0 < share < 1:
            problems.append(Problem("--until-precise", f"'{part}' is not between 0 % and 100 %; 2% is usual"))
    except ValueError as error:
        problems.append(Problem("--until-precise", str(error)))
    if budget is not None:
        try:
            budget_s = parse_seconds(budget)
            if budget_s <= 0:
                problems.append(Problem("--budget", f"'{budget}' is no time to measure in"))
        except ValueError as error:
            problems.append(Problem("--budget", str(error)))
    chosen, wrong = read_only(focus, "--focus")
    return Precise(share, budget_s, tuple(chosen)), [*problems, *wrong]
