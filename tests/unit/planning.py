"""Plans a suite that is written in a test: from TOML to cells, notes or problems."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from descriptions import EVERYONE

from middlemark.model.description import Description
from middlemark.model.plan import Plan
from middlemark.plan import make_plan
from middlemark.problems import RequestError
from middlemark.suite import Suite
from middlemark.suite.read import parse_toml, read_suite

ABSENT = {"zenoh": "cargo builds it"}


def suite_of(text: str, name: str = "lan", *, baseline: bool = False) -> Suite:
    """Read a suite. Without ``baseline``, its plan has only the cells that the suite names, and no baselines."""
    document, problems = parse_toml(text, f"{name}.toml")
    assert document is not None, problems
    suite, problems = read_suite(document, name, f"{name}.toml", Path(), {})
    assert suite is not None, problems
    return suite if baseline else without_baseline(suite)


def without_baseline(suite: Suite) -> Suite:
    sweeps = tuple(msgspec.structs.replace(each, baseline=False) for each in suite.sweeps)
    return msgspec.structs.replace(suite, sweeps=sweeps)


def plan_of(text: str, adapters: Sequence[Description] = EVERYONE, cpus: Sequence[int] = (0, 1), **more: Any) -> Plan:
    return make_plan([suite_of(text)], adapters, cpus=cpus, seed=1, **{"absent": ABSENT, **more})


def problems_of(
    text: str, adapters: Sequence[Description] = EVERYONE, cpus: Sequence[int] = (0, 1), **more: Any
) -> list[str]:
    with pytest.raises(RequestError) as refused:
        plan_of(text, adapters, cpus, **more)
    return [str(problem).removeprefix("lan.toml: ") for problem in refused.value.problems]


def pairs_of(plan: Plan) -> list[str]:
    return list(dict.fromkeys(f"{cell.adapter} {cell.transport}" for cell in plan.cells))


def texts_of(plan: Plan) -> list[str]:
    return [f"{note.place}: {note.text}".removeprefix("lan.toml: ") for note in plan.notes]
