"""Verdicts on expectations: known true values, trials that are no evidence, and the rate of false verdicts."""

import itertools
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
import pytest
from stats_cases import DESCRIPTIONS, cell, outcome, plan

from middlemark.model.cell import Cell
from middlemark.model.expectation import (
    Band,
    Bound,
    Claim,
    Deciding,
    Expectation,
    NoInfluence,
    Order,
    Picked,
    Ratio,
    Untestable,
    fewest_trials,
)
from middlemark.model.outcome import Placed, TrialCounts
from middlemark.model.plan import Plan
from middlemark.model.selection import read_typed_selection
from middlemark.model.times import Summary, Times
from middlemark.model.workload import Topic, Workload
from middlemark.stats.expectations import ClaimVerdict, look_trials
from middlemark.stats.interval import exact_median_interval
from middlemark.stats.one_way import OneWay
from middlemark.stats.trials import TrialSummary
from middlemark.stats.workload import EdgeTrial, GraphTrial
from middlemark.verdicts.expectations import JudgedExpectation, judge_expectations

UDP, SHM = cell(), cell(transport="shm")
SCATTER = 0.03
"""Standard deviation of the logarithm of a trial's figure, and of the shift that a round adds to all its trials."""


def picked(text: str) -> Picked:
    levels, wrong = read_typed_selection(text)
    assert not wrong
    return Picked(text, levels)


A, B = picked("transport=udp"), picked("transport=shm")


def expecting(*claims: Claim, metric: str = "p50", cells: Sequence[Cell] = (UDP, SHM), rounds: int = 20) -> Plan:
    found = tuple(
        Expectation(id=f"O{at}", say=f"claim {at}", claim=each, claimed="", metric=metric)
        for at, each in enumerate(claims)
    )
    return msgspec.structs.replace(plan(*cells, trials=rounds), expectations=found)


def measured(
    asked: Plan, medians: Sequence[float], draw: np.random.Generator, **given: object
) -> list[list[TrialSummary]]:
    """Return trials by cell, whose figures vary around these medians."""
    rounds = max(each.number for each in asked.trials)
    of_round = draw.normal(0, SCATTER, rounds + 1)
    found: list[list[TrialSummary]] = [[] for _ in asked.cells]
    for trial in asked.trials:
        figure = medians[trial.cell] * np.exp(of_round[trial.number] + draw.normal(0, SCATTER))
        carried = {"udp": "udp", "shm": "shared-memory"}[asked.cells[trial.cell].transport]
        fields = {"actual_transport": carried} | given
        times = Times(round_trip_ns=Summary(p50=figure, p99=3 * figure, max=9 * figure))
        found[trial.cell].append(TrialSummary(outcome=outcome(trial, **fields), times=times))
    return found


def judged(asked: Plan, trials: Sequence[Sequence[TrialSummary]], **more: bool) -> tuple[JudgedExpectation, ...]:
    return judge_expectations(asked, trials, DESCRIPTIONS, **more)


def verdicts(asked: Plan, medians: Sequence[float], seed: int) -> list[ClaimVerdict]:
    return [each.verdict for each in judged(asked, measured(asked, medians, np.random.default_rng(seed)))]


CHANGE = Ratio(A, B, Band(0.28, 0.38), "change")
FASTER = Ratio(A, B, Band(None, 1 / 1.05), "direction")
SAME = NoInfluence((A, B), "", Band(1 / 1.05, 1.05), 0.01)
IN_TIME = Bound(B, Band(None, 500.0))
ORDER = Order((B, A), Band(1.05, None))
WORLDS: Mapping[ClaimVerdict, Sequence[tuple[Claim, tuple[float, float]]]] = {
    ClaimVerdict.HOLDS: [
        (CHANGE, (1000, 330)), (FASTER, (1000, 800)), (SAME, (1000, 1000)), (IN_TIME, (1000, 420)), (ORDER, (1000, 800))
    ],
    ClaimVerdict.DOES_NOT_HOLD: [
        (CHANGE, (1000, 600)), (FASTER, (1000, 1100)), (SAME, (1000, 1200)), (IN_TIME, (1000, 600)), (ORDER, (800, 900))
    ],
    ClaimVerdict.UNDECIDED: [
        (CHANGE, (1000, 380)), (FASTER, (1050, 1000)), (SAME, (1000, 1050)), (IN_TIME, (1000, 500)),
        (ORDER, (1050, 1000)),
    ],
}  # fmt: skip
"""By claim: medians of A and B for which the claim is true, false, and undecided with any number of trials."""


@pytest.mark.parametrize("right", WORLDS)
@pytest.mark.parametrize("at", range(5))
def test_planted_worlds_get_the_right_verdict_95_times_in_100(right: ClaimVerdict, at: int) -> None:
    claim, medians = WORLDS[right][at]
    # If the true ratio is on the edge of a band, every decision is false, and 5 % of the runs may contain one. Two
    # claims share the 5 %.
    asked = expecting(claim, claim, rounds=30)
    found = [verdicts(asked, medians, seed)[0] for seed in range(100)]
    assert sum(each is right for each in found) >= 95


@pytest.mark.slow
def test_at_most_5_of_100_runs_contain_a_false_verdict() -> None:
    """Ten claims whose true values lie on the edges of their bands, judged as one family, so any decision is false."""
    cells = [cell(transport=transport, size=64 << at) for at in range(5) for transport in ("udp", "shm")]
    claims = [
        Ratio(picked(f"transport=udp,size={64 << at}"), picked(f"transport=shm,size={64 << at}"), band, "ratio")
        for at in range(5)
        for band in (Band(0.5, None), Band(None, 0.5))
    ]
    asked = expecting(*claims, cells=cells, rounds=15)
    verdict_sets = [set(verdicts(asked, [1000, 500] * 5, seed)) for seed in range(200)]
    # For both claims about a ratio of 0.5, every decision is false.
    assert sum(each != {ClaimVerdict.UNDECIDED} for each in verdict_sets) <= 0.05 * 200 + 2 * (0.05 * 0.95 * 200) ** 0.5


def test_several_pairs_must_all_hold_and_a_failing_one_is_shown() -> None:
    cells = [cell(transport=transport, size=size) for size in (64, 1024) for transport in ("udp", "shm")]
    asked = expecting(FASTER, cells=cells, rounds=12)
    [found] = judged(asked, measured(asked, [1000, 500, 1000, 500], np.random.default_rng(1)))
    assert (found.verdict, found.parts) == (ClaimVerdict.HOLDS, 2)
    [found] = judged(asked, measured(asked, [1000, 500, 1000, 1500], np.random.default_rng(1)))
    assert (found.verdict, found.parts) == (ClaimVerdict.DOES_NOT_HOLD, 2)
    assert found.shown is not None
    assert [subject.cell for subject in found.shown.part.subjects] == [2, 3]


def test_too_few_trials_state_how_many_more_are_needed() -> None:
    asked = expecting(FASTER, IN_TIME, rounds=4)
    found = judged(asked, measured(asked, [1000, 300], np.random.default_rng(1)))
    assert [each.verdict for each in found] == [ClaimVerdict.UNDECIDED] * 2
    assert [each.trials_needed for each in found] == [fewest_trials(0.025)] * 2 == [7, 7]
    assert all(each.shown is not None and each.shown.low is None for each in found)


def test_the_estimated_number_of_trials_is_about_sufficient() -> None:
    asked = expecting(Ratio(A, B, Band(None, 0.9), "ratio"), rounds=8)
    open_ = [
        each.trials_needed
        for seed in range(40)
        for each in judged(asked, measured(asked, [1000, 850], np.random.default_rng(seed)))
        if each.verdict is ClaimVerdict.UNDECIDED
    ]
    needed = float(np.median([each or 10_000 for each in open_]))
    enough = expecting(Ratio(A, B, Band(None, 0.9), "ratio"), rounds=2 * round(needed))
    assert sum(verdicts(enough, [1000, 850], seed) == [ClaimVerdict.HOLDS] for seed in range(20)) >= 17


def test_a_bound_names_the_trial_farthest_beyond_it() -> None:
    asked = expecting(IN_TIME, rounds=8)
    trials = measured(asked, [1000, 700], np.random.default_rng(2))
    worst = max(trials[1], key=lambda each: each.times.round_trip_ns.p50)  # type: ignore[union-attr, return-value]
    [found] = judged(asked, trials)
    assert found.shown is not None
    assert found.shown.worst == (worst.outcome.number, worst.times.round_trip_ns.p50)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"actual_transport": "tcp"}, "the actual transport was tcp, not udp, in trial 1"),
        ({"counts": TrialCounts(sent=1000, received=990, lost=10)}, "lost 10 of 1,000 messages in trial 1"),
        (
            {"placed": (Placed(role="ping", pid=1, cpus=(0,), policy="other", priority=0, mlocked=False),)},
            "was not placed as asked in trial 1: the ping ran under other instead of fifo:80",
        ),
    ],
)
def test_contradicted_transports_placements_and_losses_make_a_claim_untestable(
    given: dict[str, object], why: str
) -> None:
    cells = (cell(priority="fifo:80"), cell(transport="shm", priority="fifo:80"))
    asked = expecting(FASTER, cells=cells)
    [found] = judged(asked, measured(asked, [1000, 500], np.random.default_rng(1), **given))
    assert found.verdict is ClaimVerdict.UNTESTABLE
    assert found.spoiled[0].why == why


def test_a_claim_of_no_influence_tolerates_a_small_loss() -> None:
    asked = expecting(SAME)
    draw = np.random.default_rng(1)
    [found] = judged(asked, measured(asked, [1000, 1000], draw, counts=TrialCounts(received=995, lost=5)))
    assert found.verdict is ClaimVerdict.HOLDS
    [found] = judged(asked, measured(asked, [1000, 1000], draw, counts=TrialCounts(received=985, lost=15)))
    assert found.verdict is ClaimVerdict.UNTESTABLE


def test_messages_that_never_arrived_are_later_than_any_bound() -> None:
    """More messages are missing than may be above the quantile, so the quantile is above every bound."""
    asked = expecting(Bound(B, Band(None, 1e9)), metric="p99", rounds=8)
    draw = np.random.default_rng(1)
    [found] = judged(asked, measured(asked, [10, 10], draw, counts=TrialCounts(received=980, lost=20)))
    assert found.verdict is ClaimVerdict.DOES_NOT_HOLD
    [found] = judged(asked, measured(asked, [10, 10], draw, counts=TrialCounts(received=995, lost=5)))
    assert found.verdict is ClaimVerdict.UNTESTABLE


def test_a_row_with_losses_can_miss_a_bound_but_not_meet_it() -> None:
    few = TrialCounts(received=999, lost=1)
    asked = expecting(IN_TIME, IN_TIME, rounds=9)
    found = judged(asked, measured(asked, [1000, 700], np.random.default_rng(1), counts=few))
    assert {each.verdict for each in found} == {ClaimVerdict.DOES_NOT_HOLD}
    found = judged(asked, measured(asked, [1000, 300], np.random.default_rng(1), counts=few))
    assert {each.verdict for each in found} == {ClaimVerdict.UNTESTABLE}
    assert found[0].spoiled[0].why == "lost 1 of 1,000 messages in trial 1"
    lower = expecting(Bound(B, Band(500.0, None)), rounds=9)
    [least] = judged(lower, measured(lower, [1000, 300], np.random.default_rng(1), counts=few))
    assert least.verdict is ClaimVerdict.UNTESTABLE


def test_an_untestable_expectation_has_its_reason() -> None:
    asked = expecting(Untestable("no source of MIRA can be had"), Bound(picked("adapter=zenoh"), Band(None, 5.0)))
    link = expecting(Bound(B, Band(0.85, None)), metric="link_share")
    trials = measured(asked, [1000, 500], np.random.default_rng(1))
    untestable = [judged(asked, trials)[0], judged(asked, trials)[1], judged(link, trials)[0]]
    assert {each.verdict for each in untestable} == {ClaimVerdict.UNTESTABLE}
    assert [each.spoiled[0].why for each in untestable] == [
        "no source of MIRA can be had",
        "no configuration has adapter zenoh; there is dds",
        "has no link_share: measure longer, or expect another metric",
    ]


ROBOT = Workload(
    name="robot",
    topics=(
        Topic(name="cmd_vel", source="planner", to=("base", "recorder"), size=64, rate_hz=100.0),
        Topic(name="image", source="camera", to=("planner",), size=64, rate_hz=100.0),
    ),
)


def test_each_edge_of_a_topic_is_judged_by_its_own_latencies() -> None:
    robot = msgspec.structs.replace(cell(pattern="stream", rate=100.0, transport="shm"), workload=ROBOT)
    in_time = Bound(Picked("topic=cmd_vel", topic="cmd_vel"), Band(None, 5e6))
    asked = expecting(in_time, metric="p99", cells=[robot], rounds=8)

    def summaries(late_ns: float) -> list[list[TrialSummary]]:
        edge = EdgeTrial(sent=1000, received=1000, lost=0, late=0, unsent=0, received_hz=100.0, worst=None)
        latencies = {0: Summary(p99=1e6), 1: Summary(p99=late_ns), 2: Summary(p99=9e9)}
        one_way = OneWay(
            all=None, by_subscriber=latencies, from_sent=None, absent=None, write=None, samples=3000, in_histogram=0
        )
        graph = GraphTrial(edges=(edge,) * 3, chains=())
        return [
            [
                TrialSummary(outcome=outcome(each, actual_transport="shared-memory"), one_way=one_way, graph=graph)
                for each in asked.trials
            ]
        ]

    [found] = judged(asked, summaries(2e6))
    assert (found.verdict, found.parts) == (ClaimVerdict.HOLDS, 2)
    [found] = judged(asked, summaries(12e6))
    assert found.verdict is ClaimVerdict.DOES_NOT_HOLD
    assert found.shown is not None
    assert (found.shown.part.a.name, found.shown.worst) == ("cmd_vel → recorder", (1, 12e6))


def until_decided(claim: Claim, medians: Sequence[float], seed: int, rounds: int = 60) -> ClaimVerdict:
    """Return the verdict of a run that grows by rounds until it is decided, as in ``runs/until.py``."""
    whole = expecting(claim, claim, rounds=rounds)
    whole = msgspec.structs.replace(whole, deciding=Deciding(budget_s=1.0))
    trials = measured(whole, medians, np.random.default_rng(seed))
    for number in itertools.takewhile(lambda each: each <= rounds, look_trials(whole)):
        found = judged(whole, [cell_trials[:number] for cell_trials in trials], ended=False)
        if found[0].verdict is not ClaimVerdict.UNDECIDED:
            assert judged(whole, [cell_trials[:number] for cell_trials in trials])[0].verdict is found[0].verdict
            return found[0].verdict
    return judged(whole, trials)[0].verdict


@pytest.mark.slow
@pytest.mark.parametrize("right", WORLDS)
def test_a_run_until_decided_is_right_as_often_as_a_fixed_run(right: ClaimVerdict) -> None:
    claim, medians = WORLDS[right][0]
    found = [until_decided(claim, medians, seed) for seed in range(100)]
    assert sum(each is right for each in found) >= 95


def test_no_verdict_is_made_between_two_looks() -> None:
    whole = msgspec.structs.replace(expecting(FASTER, SAME, rounds=40), deciding=Deciding(budget_s=1.0))
    trials = measured(whole, [1000, 500], np.random.default_rng(1))
    by_rounds = {
        number: [each.verdict for each in judged(whole, [cell_trials[:number] for cell_trials in trials], ended=False)]
        for number in (8, 9, 13)
    }
    assert by_rounds[8] == [ClaimVerdict.UNDECIDED] * 2
    assert by_rounds[9] == by_rounds[13] == [ClaimVerdict.HOLDS, ClaimVerdict.DOES_NOT_HOLD]


def test_looks_at_a_growing_run_are_at_increasing_numbers_of_trials() -> None:
    looks = look_trials(expecting(FASTER, SAME))
    assert [next(looks) for _ in range(5)] == [9, 14, 21, 31, 46]


def binomial(trials: int) -> Callable[[np.random.Generator], bool]:
    def covered(draw: np.random.Generator) -> bool:
        low, high = exact_median_interval([*draw.lognormal(0, 2, trials)], 0.95) or (np.inf, 0.0)
        return bool(low <= 1.0 <= high)

    return covered


@pytest.mark.parametrize(("trials", "ends"), [(6, (0, 5)), (9, (1, 7)), (12, (2, 9)), (20, (5, 14))])
def test_the_exact_interval_of_a_median_has_the_ranks_of_published_tables(trials: int, ends: tuple[int, int]) -> None:
    """The ranks are those of Conover, Practical Nonparametric Statistics."""
    assert exact_median_interval([*range(trials)], 0.95) == ends
    draw = np.random.default_rng(trials)
    assert sum(binomial(trials)(draw) for _ in range(1000)) >= 940


def test_an_interval_needs_six_trials() -> None:
    assert exact_median_interval([1, 2, 3, 4, 5], 0.95) is None
