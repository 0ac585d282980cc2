"""``run --against``: adds another build of each adapter, and an expectation that compares both builds."""

from collections.abc import Mapping

import msgspec

from middlemark.model.description import Worker
from middlemark.model.version import is_version
from middlemark.problems import Problem
from middlemark.suite.sweep import RawOptions

NOT_WORSE = {"p50": "-99% … 5%", "throughput": "-5% … 9900%"}
"""Metric → the allowed change from the other build to the usual build: at most 5 % worse, the margin of all
verdicts."""


def against_another_build(
    options: RawOptions, workers: Mapping[str, Worker], which: str
) -> tuple[RawOptions, list[Problem]]:
    """Return the options with the other builds as adapters and an expectation for each. Also return the problems.

    ``which``: the version of the other builds (the part of a name after the @), or the folder of an installation.
    """
    named = [each.strip() for each in str(options.keys.get("adapter", "all")).split(",")]
    if "all" in named:
        return options, [Problem("--against", "needs the name of an adapter: --adapter cyclonedds")]
    floods = options.keys.get("pattern") == "stream" and "rate" not in options.keys
    metric = "throughput" if floods else "p50"
    adapters, expected, problems = [], [], []
    for name in named:
        asked = f"{name}@{which}"
        old = next((each for each, worker in workers.items() if is_version(worker.description, asked)), asked)
        if old == name:
            problems.append(Problem("--against", f"{name} already is the build {which}; give another build"))
        adapters += [name, old]
        words = {"a": f"adapter={old}", "b": f"adapter={name}", "metric": metric, "change": NOT_WORSE[metric]}
        words["say"] = f"{name} is no worse than {old}"
        expected.append(", ".join(f'{key} = "{value}"' for key, value in words.items()))
    keys = {**options.keys, "adapter": ",".join(dict.fromkeys(adapters))}
    return msgspec.structs.replace(options, keys=keys, expect=(*options.expect, *expected)), problems
