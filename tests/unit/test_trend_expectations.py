"""``[[expect]] trend``: what is read, what is refused, and the verdicts, which are those of ``--fail-if``."""

from pathlib import Path
from typing import cast

import msgspec
import pytest
from test_long_trial_verdicts import MIB, simulated, trend
from test_store import FILE, outcome

from middlemark.model.expectation import Expectation, GrowthBound
from middlemark.model.growth import Resource
from middlemark.model.plan import Plan
from middlemark.model.run import Run
from middlemark.plan.make import deciding_trials
from middlemark.plan.rounds import until_decided
from middlemark.problems import Problem, RequestError
from middlemark.suite.expect import read_expectations
from middlemark.suite.table import parse_toml
from middlemark.verdicts.expectations import judge_expectations
from middlemark.verdicts.judged_expectation import JudgedExpectation
from middlemark.verdicts.long_trials import judged, judged_growth, long_trials


def read(text: str) -> tuple[tuple[Expectation, ...], list[Problem]]:
    return read_expectations((parse_toml(text, "lan.toml")[0] or {})["expect"], "lan.toml", text)


def expected(at_most: str, resource: str = "rss") -> Expectation:
    (found,), problems = read(f'[[expect]]\ntrend = {{ resource = "{resource}", at_most = "{at_most}" }}')
    assert not problems
    return found


def plan_with(*expectations: Expectation) -> Plan:
    return msgspec.structs.replace(FILE.plan, expectations=expectations)


def verdict_on(expectation: Expectation, *, minutes: int = 120, leak_bytes: float = 0.0) -> JudgedExpectation:
    records = tuple(
        msgspec.structs.replace(each, started=outcome(0).started)
        for each in simulated(1, minutes=minutes, leak_bytes=leak_bytes)
    )
    file = msgspec.structs.replace(FILE, plan=plan_with(expectation))
    run = Run(folder=Path("x"), file=file, outcomes=(outcome(0),), records=records)
    [found] = judge_expectations(file.plan, [[] for _ in file.plan.cells], {}, long_trials(run))
    return found


def test_a_trend_is_read_with_its_resource_and_its_amount_per_hour() -> None:
    found = expected("1 MiB/h")
    assert found.claim == GrowthBound(found.claim.of, "rss", MIB)  # type: ignore[union-attr]
    assert (found.kind, found.metric, found.claimed) == ("trend", "", "rss grows by at most 1 MiB/h")
    assert cast("GrowthBound", expected("2/h", "threads").claim).per_hour == 2
    assert cast("GrowthBound", expected("64k/h", "shm").claim).per_hour == 65536


@pytest.mark.parametrize(
    ("trend", "text"),
    [
        ('{ resource = "rsss", at_most = "1 MiB/h" }', "trend: resource: there is no 'rsss'; did you mean 'rss'?"),
        ('{ resource = ["rss"], at_most = "1 MiB/h" }', "resource: there is no a list; write its name in quotes"),
        ('{ resource = "rss", at_most = "1 MiB" }', "at_most: '1 MiB' is not an amount per hour; write '1 MiB/h'"),
        ('{ resource = "rss", at_most = "much/h" }', "at_most: 'much' is not a size"),
        ('{ resource = "rss", at_most = "-1 MiB/h" }', "at_most: '-1MiB' is not a size"),
        ('{ resource = "rss", at_most = 5 }', "at_most: 5 is not an amount per hour; write '1 MiB/h', in quotes"),
        ('{ resource = "threads", at_most = "1 MiB/h" }', "'1 MiB/h' is not a number of threads per hour"),
        ('{ resource = "rss" }', "trend: at_most is missing"),
        ('{ resource = "rss", at_most = "1 MiB/h", at_least = "1k/h" }', "trend: at_least: no such key"),
        ('"rss"', "trend: 'rss' is not a table; write { resource = …, at_most = … }"),
        ('{ resource = "rss", at_most = "1 MiB/h" }\nmetric = "p99"', "metric: has no effect with trend; leave it out"),
        ('{ resource = "rss", at_most = "1 MiB/h" }\nof = { topic = "odom" }', "trend describes a whole trial"),
    ],
)
def test_a_wrong_trend_is_refused_with_what_to_write(trend: str, text: str) -> None:
    problems = [str(each) for each in read(f"[[expect]]\ntrend = {trend}\n")[1]]
    assert any(text in each for each in problems), problems


@pytest.mark.parametrize(("at_most", "verdict"), [("512k/h", "does not hold"), ("2 MiB/h", "holds")])
def test_a_trend_is_judged_by_the_interval_of_its_slope(at_most: str, verdict: str) -> None:
    found = verdict_on(expected(at_most), leak_bytes=MIB)
    assert found.verdict == verdict
    assert found.trend is not None
    assert found.trend.role == "pong 0"
    assert found.shown is not None
    assert found.shown.estimate == pytest.approx(MIB, rel=0.1)


def test_a_bound_within_the_interval_is_undecided_and_adds_no_rounds() -> None:
    leak = trend(judged(simulated(1, leak_bytes=MIB)), "pong 0", "rss")
    within = expected(f"{round((leak.low + leak.high) / 2)}/h")
    assert verdict_on(within, leak_bytes=MIB).verdict == "undecided"
    assert deciding_trials(plan_with(within)) == 0
    with pytest.raises(RequestError, match="give a longer --duration"):
        until_decided(plan_with(within), 1e6)


@pytest.mark.parametrize("resource", ["rss", "private"])
@pytest.mark.parametrize("at_most", [0.0, 0.5, 1.0, 2.0])
def test_the_gate_and_the_expectation_decide_alike(resource: str, at_most: float) -> None:
    growth = judged_growth(judged(simulated(1, leak_bytes=MIB)), cast("Resource", resource), at_most * MIB)
    gate = "does not hold" if growth.above else "undecided" if growth.undecided else "holds"
    assert verdict_on(expected(f"{round(at_most * MIB)}/h", resource), leak_bytes=MIB).verdict == gate


def test_a_trend_without_records_is_untestable_and_says_why() -> None:
    few = verdict_on(expected("1 MiB/h"), minutes=5)
    assert few.verdict == "untestable"
    assert few.spoiled[0].why == "has no slope of rss, which needs 8 records: measure longer"
    file = msgspec.structs.replace(FILE, plan=plan_with(expected("1 MiB/h")))
    [none] = judge_expectations(file.plan, [[] for _ in file.plan.cells], {})
    assert none.spoiled[0].why == "has no records: measure for 10 minutes or more, or set record_every"
