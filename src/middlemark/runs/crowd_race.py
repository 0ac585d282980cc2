"""Plan a race of crowds, for ``which --participants``."""

from collections.abc import Mapping
from typing import Any

import msgspec

from middlemark.model.plan import Plan, Raced
from middlemark.model.spelling import listing
from middlemark.problems import Problem, RequestError
from middlemark.runs.conduct import Built, plan_here
from middlemark.stats.race import FIRST_LOOK
from middlemark.suite import Suite, load, raw_options

OF_MESSAGES: tuple[Raced, ...] = ("p50", "p99", "cpu", "memory")
"""The choices of --metric without --participants, which are metrics."""
OF_CROWDS: Mapping[str, Raced] = {"discovery": "complete_max", "idle-cpu": "idle_cpu", "memory": "idle_memory"}
"""The choices of --metric with --participants → the metric of ``METRICS`` that decides."""
TOPICS = 10
"""Topics of each participant, as in the suite crowd."""
PAYLOAD_BYTES = 64
DURATION_S: Mapping[str, int] = {"complete_max": 3, "idle_cpu": 6, "idle_memory": 3}
"""Metric that decides the race → duration of the idle phase, and of the talk, in s."""


def raced_metric(chosen: str | None, participants: str | None) -> tuple[Raced, list[Problem]]:
    """Return the metric that decides, and the problem of a choice that this race does not have."""
    if participants is None:
        if chosen is None or chosen in OF_MESSAGES:
            return chosen or "p50", []
        return "p50", [Problem("--metric", f"{chosen} is a figure of a crowd; add --participants N")]
    if chosen is None or chosen in OF_CROWDS:
        return OF_CROWDS[chosen or "discovery"], []
    text = f"{chosen} is no figure of a crowd; with --participants there are {listing(OF_CROWDS)}"
    return "complete_max", [Problem("--metric", text)]


def planned_crowds(
    keys: dict[str, Any], metric: Raced, built: Built, problems: list[Problem], seed: str | None
) -> tuple[tuple[Suite, ...], Plan]:
    """Plan the first rounds. Raises RequestError with ``problems`` and all problems found while planning."""
    options = raw_options(
        **keys,
        seed=seed,
        pattern="crowd",
        topics=str(TOPICS),
        size=str(PAYLOAD_BYTES),
        trials=str(FIRST_LOOK),
        duration=f"{DURATION_S[metric]}s",
        skip_unsupported=True,
    )
    suites: tuple[Suite, ...] = ()
    try:
        suites = tuple(msgspec.structs.replace(each, name="which") for each in load((), options))
    except RequestError as error:
        problems += error.problems
    for suite in suites:
        levels = suite.sweeps[0].levels("participants")
        if len(levels.values) > 1:
            problems.append(Problem(levels.place, "give only one value to `which`"))
        elif levels.values == (1,):
            problems.append(Problem(levels.place, "one participant has nobody to find; give at least 2"))
    if problems:
        raise RequestError(list(dict.fromkeys(problems)))
    return suites, plan_here(suites, built)
