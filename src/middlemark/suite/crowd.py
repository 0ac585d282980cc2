"""The keys of a sweep with a crowd: its defaults, and the keys that a crowd does not have. Pure."""

from collections.abc import Collection, Mapping
from typing import cast

from middlemark.model.levels import Level
from middlemark.problems import Problem
from middlemark.suite.table import Given, Table

DURATION_S = 10.0
"""The default duration of the idle phase, and of the talk."""
SHORTEST_S = 3.0
"""With a shorter idle phase, its costs would be the difference of two readings that are less than a second apart."""
MATCH_TIMEOUT_S = 60.0
RATE_HZ = 1.0

_ONLY: Mapping[str, tuple[Collection[Level], str]] = {
    "processes": ((2,), "participants_per_process sets how many participants share a process"),
    "receive": (("block", "listen"), "a participant that polls is never idle; take block or listen"),
    "pair": (("same",), "all participants of a crowd use one adapter"),
    "security": (("none",), "a certificate is for a sender or for a receiver, and a participant is both"),
    "link": ((None,), "a crowd is measured on one machine without an emulated link"),
    "across": (("here",), "a crowd is measured on one machine"),
}
"""Factor → the only levels that a crowd has, and the reason."""


def crowd_keys(given: Table, place: str) -> tuple[Table, list[Problem]]:
    """Return the keys of a sweep with the defaults of a crowd, and the problems.

    Sweeps without a crowd are returned unchanged.
    """
    patterns = given["pattern"].values if "pattern" in given else ()
    if "crowd" not in patterns:
        return given, []
    problems: list[Problem] = []
    if len(patterns) > 1:
        text = "a crowd has keys of its own, so other patterns cannot be in its sweep; write a sweep for each"
        problems.append(Problem(given["pattern"].place, text))
    if "samples" in given:
        problems.append(Problem(given["samples"].place, "a crowd is measured for a time; write a duration instead"))
    for factor, (levels, why) in _ONLY.items():
        if factor in given and (wrong := [each for each in given[factor].values if each not in levels]):
            problems.append(Problem(given[factor].place, f"{factor} {wrong[0]} in a crowd: {why}"))
    if "duration" in given and cast("float", given["duration"].values[0]) < SHORTEST_S:
        text = f"the idle phase and the talk of a crowd take this time each; measure for at least {SHORTEST_S:g}s"
        problems.append(Problem(given["duration"].place, text))
    usual: dict[str, Level] = {"rate": RATE_HZ, "pin": "off", "match_timeout": MATCH_TIMEOUT_S, "duration": DURATION_S}
    return {**{name: Given((level,), place) for name, level in usual.items()}, **given}, problems
