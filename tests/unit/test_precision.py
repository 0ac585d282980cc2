"""Rounds are added until the medians are precise enough: the options, the trials of a round, and the end."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_plan_order import plan_of

from middlemark.model.plan import Precision
from middlemark.plan.rounds import until_precise, with_another_round
from middlemark.problems import RequestError
from middlemark.stats.interval import imprecision, reach
from middlemark.suite.overrides import FIRST_ROUNDS, PrecisionAsked, read_precision


def asked(part: str = "2%", budget: str | None = None, focus: Sequence[str] = ()) -> PrecisionAsked:
    precise, problems = read_precision(part, budget, focus, None)
    assert not problems
    assert precise is not None
    return precise


def test_without_until_precise_there_is_no_precision() -> None:
    assert read_precision(None, None, (), "3") == (None, [])


def test_a_percentage_a_budget_and_a_focus_are_read() -> None:
    precise = asked("2.5%", "90s", ["size=64,1k"])
    assert (precise.part, precise.budget_s) == (0.025, 90.0)
    assert [(each.factor, each.values) for each in precise.focus] == [("size", (64, 1024))]


def test_all_problems_are_reported_at_once() -> None:
    _, problems = read_precision("0%", "soon", ["size", "colour=red"], "10")
    assert [each.place for each in problems] == [
        "--trials", "--until-precise", "--budget", "--focus size", "--focus colour=red",
    ]  # fmt: skip
    _, problems = read_precision("2", "0s", (), None)
    assert [each.place for each in problems] == ["--until-precise", "--budget"]


def test_a_focus_without_until_precise_is_refused() -> None:
    _, problems = read_precision(None, "10m", ["size=64"], "3")
    assert [each.place for each in problems] == ["--focus"]


def test_the_focus_is_the_cells_that_match_all_selections() -> None:
    plan = plan_of(adapter="uds,tcp", size="64,1k", trials=str(FIRST_ROUNDS))
    assert until_precise(plan, asked()).precision == Precision(part=0.02, budget_s=600.0, focus=(0, 1, 2, 3))
    found = until_precise(plan, asked(focus=["size=64", "adapter=tcp"])).precision
    assert found is not None
    assert [(plan.cells[each].adapter, plan.cells[each].size) for each in found.focus] == [("tcp", 64)]


def test_planned_baselines_need_not_be_precise_unless_they_are_named() -> None:
    plan = plan_of(adapter="cyclonedds", transport="udp", trials=str(FIRST_ROUNDS), duration="0.1s")
    focus = until_precise(plan, asked()).precision
    assert plan.baselines
    assert focus is not None
    assert [plan.cells[each].adapter for each in focus.focus] == ["cyclonedds"]
    named = until_precise(plan, asked(focus=["adapter=uds"])).precision
    assert named is not None
    assert [plan.cells[each].adapter for each in named.focus] == ["uds"]


def test_a_focus_on_no_cell_and_too_small_a_budget_are_reported_together() -> None:
    plan = plan_of(adapter="uds,tcp", size="64,1k", trials="6", duration="20s")
    with pytest.raises(RequestError) as refused:
        until_precise(plan, asked(budget="30s", focus=["size=2k"]))
    text = str(refused.value)
    assert "no configuration has size 2 KiB; there are 64 B and 1 KiB" in text
    assert "one round of 4 trials takes about 1 min" in text


@given(seed=st.integers(0, 2**63 - 1), further=st.integers(1, 4))
def test_a_further_round_has_every_cell_once_and_changes_no_earlier_round(seed: int, further: int) -> None:
    plan = plan_of(seed, adapter="uds,tcp", size="64,1k,4k", trials="2")
    longer = plan
    for _ in range(further):
        longer = with_another_round(longer)
    assert longer.trials[: len(plan.trials)] == plan.trials
    assert [each.order for each in longer.trials] == list(range(len(longer.trials)))
    for number in range(3, 3 + further):
        assert sorted(each.cell for each in longer.trials if each.number == number) == list(range(len(plan.cells)))
    again = plan
    for _ in range(further):
        again = with_another_round(again)
    assert again == longer


def test_rounds_differ_in_their_order() -> None:
    plan = plan_of(7, adapter="uds,tcp", size="64,1k,4k,16k", trials="1")
    for _ in range(6):
        plan = with_another_round(plan)
    orders = {tuple(t.cell for t in plan.trials if t.number == number) for number in range(1, 8)}
    assert len(orders) > 4


def test_the_imprecision_is_the_longer_side_of_the_interval() -> None:
    assert reach([100.0] * 5) is None
    assert reach([100.0] * 6) == 0.0
    wide = reach([100.0, 100.0, 100.0, 100.0, 100.0, 150.0, 150.0])
    assert wide == pytest.approx(0.5)


@given(st.lists(st.floats(1.0, 1e9), min_size=6, max_size=20), st.sampled_from([0.5, 2.0, 1024.0]))
def test_the_imprecision_is_independent_of_the_unit(figures: list[float], factor: float) -> None:
    assert reach([each * factor for each in figures]) == pytest.approx(reach(figures))


def test_a_cell_is_imprecise_until_its_interval_is_narrow() -> None:
    precision = Precision(part=0.02, budget_s=1.0, focus=(0, 1))
    figures = {0: [100.0] * 6, 1: [100.0, 110.0, 90.0, 120.0, 80.0, 100.0]}
    assert imprecision(precision, figures, 6).imprecise == (1,)
    assert imprecision(precision, {**figures, 1: [100.0] * 5}, 6).imprecise == (1,)  # a trial failed: no interval yet
    assert imprecision(Precision(part=0.5, budget_s=1.0, focus=(0, 1)), figures, 6).imprecise == ()
    assert imprecision(Precision(part=0.02, budget_s=1.0, focus=(0,)), figures, 6).imprecise == ()


def test_a_cell_that_always_fails_is_not_waited_for() -> None:
    precision = Precision(part=0.02, budget_s=1.0, focus=(0, 1))
    found = imprecision(precision, {0: [100.0] * 6}, 6)
    assert (found.imprecise, found.unmeasured) == ((), (1,))
    assert imprecision(precision, {0: [100.0] * 6}, 5).imprecise == (1,)  # cell 1 may still be measured
