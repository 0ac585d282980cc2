"""The part of a request on the command line: options that override every sweep, ``--only``, and the precision."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from middlemark.model.cell import FACTORS
from middlemark.model.factors import Key
from middlemark.model.levels import Level, Wrong
from middlemark.model.selection import same_level
from middlemark.model.spelling import did_you_mean
from middlemark.model.units import parse_percent, parse_seconds
from middlemark.problems import Problem
from middlemark.suite.sweep import KEYS, RawOptions, Suite, TypedNative
from middlemark.suite.table import SEED, Table, read_key, read_seed

COMMAND_LINE = "command line"


class Only(msgspec.Struct, frozen=True):
    """One ``--only``: keep the cells with one of these ``values`` of ``factor``. Values are as in cells."""

    factor: str
    values: tuple[Level, ...]
    place: str

    def keeps(self, level: Level) -> bool:
        """Say whether cells with this level are kept."""
        field = FACTORS[self.factor].field
        return any(same_level(field, each, level) for each in self.values)


def read_options(options: RawOptions) -> tuple[Table, int | None, list[Problem]]:
    """Return the typed keys, the seed (None: not typed), and all problems.

    The place of a problem is the option: ``--size``.
    """
    found: Table = {}
    problems: list[Problem] = []
    for name, raw in options.keys.items():
        given, wrong = read_key(KEYS[name], typed(KEYS[name], raw), flag_name(name), Path())
        problems += wrong
        if given is not None:
            found[name] = given
    if {"samples", "duration"} <= options.keys.keys():
        problems.append(Problem("--samples", "--duration is also given; remove one of the two options"))
    seed: int | None = None
    if options.seed is not None:
        try:
            seed = read_seed(SEED.typed(options.seed.strip()))
        except Wrong as error:
            problems.append(Problem("--seed", str(error)))
    return found, seed, problems


def read_only(raw: Sequence[str], option: str = "--only") -> tuple[list[Only], list[Problem]]:
    """Read each ``KEY=VALUE``. Commas separate several values, except for processors, whose list is one value."""
    found: list[Only] = []
    problems: list[Problem] = []
    for text in raw:
        place = f"{option} {text}"
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals:
            problems.append(Problem(place, f"'=' is missing; write {option} KEY=VALUE, as in {option} size=64k"))
            continue
        key = FACTORS.get(name)
        if key is None:
            problems.append(Problem(place, f"'{name}' is not a factor; {did_you_mean(name, FACTORS)}"))
            continue
        given, wrong = read_key(key, typed(key, value), place, Path())
        problems += wrong
        if given is None:
            continue
        found.append(Only(name, tuple(dict.fromkeys(map(key.in_cells, given.values))), place))
    return found, problems


def read_native(raw: Sequence[str]) -> tuple[tuple[TypedNative, ...], list[Problem]]:
    """Read each ``[ADAPTER.]KEY=VALUE``. The value is everything after the first ``=``."""
    found: dict[str, TypedNative] = {}
    problems: list[Problem] = []
    for text in raw:
        word, equals, value = text.partition("=")
        native = TypedNative(word.strip(), value)
        if not equals or not native.word:
            missing = "'=' is missing" if not equals else "the key before '=' is missing"
            problems.append(Problem(f"--native {text}", f"{missing}; write --native KEY=VALUE or ADAPTER.KEY=VALUE"))
        elif native.word in found:
            problems.append(Problem(native.place, f"'{native.word}' is given twice; remove one of them"))
        else:
            found[native.word] = native
    return tuple(found.values()), problems


def typed(key: Key, raw: str | bool) -> object:
    """Convert a typed value to the form of a suite: split lists, and convert digits to numbers."""
    if not isinstance(raw, str):
        return raw
    words = raw.split(key.kind.separator) if key.listed else [raw]
    found = [key.kind.typed(word.strip()) for word in words]
    return found[0] if len(found) == 1 else found


def flag_name(key: str) -> str:
    """Return the option that sets this key."""
    return "--" + key.replace("_", "-")


FIRST_ROUNDS = 6
"""The fewest trials for a median with an interval."""
BUDGET_S = 600.0
"""The default time in s for further rounds. A bimodal cell never becomes precise, so there must be a limit."""


class PrecisionAsked(msgspec.Struct, frozen=True):
    """The precision that the user requests: intervals within ± ``part`` of the median, for the cells in ``focus``."""

    part: float
    budget_s: float
    focus: tuple[Only, ...]


def read_precision(
    part: str | None, budget: str | None, focus: Sequence[str], trials: str | bool | None
) -> tuple[PrecisionAsked | None, list[Problem]]:
    """Return the precision (None: not requested) from the options as typed, and all problems."""
    problems: list[Problem] = []
    if part is None:
        text = "needs --until-precise PERCENT; add it, or remove this option"
        return None, [Problem("--focus", text)] if focus else []
    if trials is not None:
        problems.append(Problem("--trials", "--until-precise chooses the number of trials; remove one option"))
    share = 0.0
    try:
        share = parse_percent(part)
        if not 0 < share < 1:
            problems.append(Problem("--until-precise", f"'{part}' is not between 0 % and 100 %; write for example 2%"))
    except ValueError as error:
        problems.append(Problem("--until-precise", str(error)))
    budget_s, wrong_budget = read_budget(budget)
    chosen, wrong = read_only(focus, "--focus")
    return PrecisionAsked(share, budget_s, tuple(chosen)), [*problems, *wrong_budget, *wrong]


def race_budget_s(suites: Sequence[Suite]) -> float | None:
    """Return the time in s for the rounds of the races: the longest budget of a sweep. None: there is no race."""
    racing = [sweep for suite in suites for sweep in suite.sweeps if sweep.race]
    return max((each.budget_s for each in racing if each.budget_s is not None), default=BUDGET_S) if racing else None


def suite_budget_s(suites: Sequence[Suite]) -> float | None:
    """Return the time in s for trials without races: the sum of the suites' longest budgets; None: no limit.

    There is no limit if a sweep has no budget.
    """
    budgets = [[each.budget_s for each in suite.sweeps] for suite in suites]
    limited = [[each for each in found if each is not None] for found in budgets]
    return sum(map(max, limited)) if suites and limited == budgets else None


def read_budget(typed: str | None, default_s: float = BUDGET_S) -> tuple[float, list[Problem]]:
    """Return the time in seconds that was typed, or the default, and the problems."""
    if typed is None:
        return default_s, []
    try:
        budget_s = parse_seconds(typed)
    except ValueError as error:
        return default_s, [Problem("--budget", str(error))]
    return budget_s, [] if budget_s > 0 else [Problem("--budget", f"'{typed}' is not a positive time")]
