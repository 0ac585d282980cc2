"""The slowest thousandth of a trial's samples is attributed to causes, but only with evidence."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noise_cases import ORIGIN_NS, probe, switches, witnessed
from scipy import stats as scipy_stats
from stats_cases import cell as a_cell
from stats_cases import outcome, plan, samples

from middlemark.model.noise import Witnessed
from middlemark.model.outcome import Arrived
from middlemark.model.samples import ARRIVAL
from middlemark.stats.outliers import (
    Exposure,
    Outliers,
    Stillness,
    _had_by_others,
    middlewares,
    of_round_trips,
    of_stream,
    poisson_quantile,
    stillness,
    upper_bound,
)
from middlemark.stats.quantiles import summarise
from middlemark.stats.samples import Kept

TRIAL = plan(a_cell(), trials=1).trials[0]
STEADY_NS = 10_000
COUNT = 20_000


def found(slow: Sequence[tuple[int, int]], seen: Witnessed | None, **about: object) -> Outliers | None:
    """Return the attribution of a trial's ``slow`` samples (index, ns). All other samples take 10 µs."""
    trips = np.full(COUNT, STEADY_NS)
    for at, ns in slow:
        trips[at] = ns
    kept = samples(trips)
    kept["round_trip_ns"] = trips  # samples are kept in the order of time
    kept["begin_ns"] = np.arange(COUNT) * 50_000
    trial_outcome = outcome(TRIAL, samples=COUNT, noise=seen, **about)
    return of_round_trips([kept], summarise(kept["round_trip_ns"]), trial_outcome)


def certain(slow: Sequence[tuple[int, int]], seen: Witnessed, still: Stillness | None = None) -> int:
    attributed = found(slow, seen)
    assert attributed is not None
    return middlewares(attributed, still or stillness([seen] * 1000))


def test_a_sample_during_another_process_is_attributed_to_the_machine() -> None:
    spell = switches((1000 * 50_000 + 5_000, 900_000, 1))
    attributed = found([(1000, 1_000_000), (2000, 1_000_000)], witnessed(switches=spell))
    assert attributed is not None
    assert (attributed.above, attributed.machine, attributed.unexplained_ns) == (2, 1, (990_000.0,))


@pytest.mark.parametrize(("length", "machines"), [(600_000, 1), (400_000, 0)])
def test_the_machine_is_the_cause_if_it_took_half_of_the_excess_over_the_median(length: int, machines: int) -> None:
    attributed = found([(1000, 1_000_000)], witnessed(switches=switches((1000 * 50_000, length, 0))))
    assert attributed is not None
    assert attributed.machine == machines


def test_a_disturbance_on_both_processors_at_once_counts_once() -> None:
    at = 1000 * 50_000
    attributed = found([(1000, 1_000_000)], witnessed(switches=switches((at, 300_000, 0), (at, 300_000, 1))))
    assert attributed is not None
    assert attributed.machine == 0


def test_without_pinning_no_sample_is_attributed() -> None:
    seen = witnessed(switches=switches((1000 * 50_000, 1_000_000, 0)), pinned=False)
    attributed = found([(1000, 1_000_000)], seen)
    assert attributed is not None
    assert (attributed.machine, attributed.blind) == (0, "the roles were not pinned")
    assert middlewares(attributed, stillness([seen] * 1000)) == 0


def test_only_samples_above_p99_9_are_attributed() -> None:
    slow = [(at, 100_000 + at) for at in range(30)]
    attributed = found(slow, witnessed())
    assert attributed is not None
    assert attributed.above == COUNT // 1000
    assert min(attributed.unexplained_ns) == 100_010 - STEADY_NS
    flat = found([], witnessed())
    assert flat is None


def test_without_a_witness_nothing_is_attributed() -> None:
    assert found([(1000, 1_000_000)], None) is None


def test_samples_that_a_quiet_machine_does_not_explain_are_the_middlewares() -> None:
    assert certain([(at, 1_000_000) for at in range(0, 2000, 100)], witnessed()) >= 18


def test_gaps_of_the_machine_are_not_attributed_to_the_middleware() -> None:
    # Probes of 0.02 s contained two gaps of a millisecond, so 20 gaps in a second on two processors are normal.
    seen = witnessed(before=(probe((1_024_000, 2)), probe((1_024_000, 2))))
    assert certain([(at, 1_000_000) for at in range(0, 2000, 100)], seen) == 0


def test_gaps_too_short_for_a_sample_do_not_explain_it() -> None:
    seen = witnessed(before=(probe((8_000, 25)), probe((8_000, 25))))
    assert certain([(at, 1_000_000) for at in range(0, 2000, 100)], seen) >= 18
    assert certain([(at, 26_000) for at in range(0, 2000, 100)], seen) == 0


def test_few_probes_do_not_exclude_rare_gaps() -> None:
    seen = witnessed()
    slow = [(at, 1_000_000) for at in range(0, 2000, 100)]
    assert certain(slow, seen, stillness([seen])) == 0
    assert certain(slow, seen, stillness([seen] * 1000)) > 0


def test_late_wake_ups_count_if_roles_sleep() -> None:
    quiet, late = ((probe(wakes=50, late=each),) * 2 for each in ((), ((1_024_000, 1),)))
    slow = [(at, 1_000_000) for at in range(0, 2000, 100)]
    assert certain(slow, witnessed(before=quiet, voluntary=1000)) > 0
    assert certain(slow, witnessed(before=late, voluntary=1000)) == 0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"switches": None, "absent": {"switches": "not allowed"}}, "not allowed"),
        ({"switches": switches(complete=False)}, "the record of context switches overflowed"),
        ({"before": None, "after": None, "absent": {"before": "no program"}}, "no program"),
    ],
)
def test_without_evidence_no_sample_is_attributed(given: dict[str, object], why: str) -> None:
    seen = witnessed(**given)
    attributed = found([(at, 1_000_000) for at in range(0, 2000, 100)], seen)
    assert attributed is not None
    assert attributed.blind == why
    assert middlewares(attributed, stillness([witnessed()] * 1000)) == 0


def test_disturbances_that_were_not_listed_may_explain_shorter_samples() -> None:
    attributed = found([(at, 100_000) for at in range(0, 2000, 100)], witnessed())
    assert attributed is not None
    still = stillness([witnessed()] * 1000)
    assert middlewares(attributed, still, least_ns=2 * 30_000) > 0
    assert middlewares(attributed, still, least_ns=2 * 60_000) == 0


def test_a_streams_samples_are_placed_by_their_arrival() -> None:
    kept = np.zeros(COUNT, dtype=ARRIVAL)
    kept["one_way_ns"] = STEADY_NS
    kept["received_ns"] = ORIGIN_NS + np.arange(COUNT) * 50_000 + STEADY_NS
    kept["one_way_ns"][1000] = 1_000_000
    kept["received_ns"][1000] += 1_000_000 - STEADY_NS
    arrived = Arrived(
        index=0,
        topic=0,
        expected=COUNT,
        received=COUNT,
        lost=0,
        duplicated=0,
        reordered=0,
        damaged=0,
        first_received_ns=1,
        last_received_ns=2,
    )
    seen = witnessed(switches=switches((1000 * 50_000, 900_000, 0)))
    trial_outcome = outcome(TRIAL, noise=seen, subscribers=(arrived,))
    attributed = of_stream([Kept("subscriber", 0, kept)], summarise(kept["one_way_ns"]), trial_outcome)
    assert attributed is not None
    assert (attributed.above, attributed.machine) == (1, 1)
    assert attributed.blind is not None
    assert "queue" in attributed.blind


@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 2000)), min_size=1, max_size=30),
    st.integers(0, 12_000),
    st.integers(0, 3000),
)
def test_the_overlap_equals_a_count_nanosecond_by_nanosecond(
    spells: list[tuple[int, int]], begin: int, length: int
) -> None:
    taken = np.zeros(20_000, dtype=bool)
    for at, ns in spells:
        taken[at : at + ns] = True
    found = _had_by_others(
        [(at, ns, 0) for at, ns in spells], np.array([begin * 1.0]), np.array([begin + length * 1.0])
    )
    assert found[0] == pytest.approx(taken[begin : begin + length].sum())


@pytest.mark.parametrize("count", [0, 1, 2, 5, 20, 1000])
def test_the_poisson_bound_equals_scipys(count: int) -> None:
    assert upper_bound(count) == pytest.approx(scipy_stats.chi2.ppf(0.95, 2 * count + 2) / 2, rel=0.012)


@pytest.mark.parametrize("mean", [0.0, 0.01, 0.06, 1.0, 7.3, 60.0, 499.0])
def test_the_poisson_quantile_equals_scipys(mean: float) -> None:
    assert poisson_quantile(mean) == scipy_stats.poisson.ppf(0.95, mean) if mean else poisson_quantile(mean) == 0


def test_the_quantile_of_a_large_mean_is_close_to_scipys() -> None:
    assert poisson_quantile(20_000.0) == pytest.approx(scipy_stats.poisson.ppf(0.95, 20_000), rel=1e-3)


def test_without_probes_the_number_of_gaps_is_unbounded() -> None:
    assert Stillness().most(1000.0, Exposure(1.0, 0)) == math.inf
    assert Stillness(spun_s=1.0).most(1000.0, Exposure(1.0, 10)) == math.inf


def test_gaps_of_the_machine_are_seldom_attributed_to_a_middleware_without_stalls() -> None:
    """Random gaps, 20 per second on each of two processors, are in the trials and in the probes."""
    random = np.random.default_rng(7)
    blamed = 0
    for _ in range(1000):
        still = stillness([witnessed(before=(probe((64_000, int(random.poisson(20))), spun_s=1.0),), after=None)])
        met = int(random.poisson(2 * 20))
        trial = Outliers(above=met, machine=0, unexplained_ns=(64_000.0,) * met, exposure=Exposure(2.0, 0))
        blamed += middlewares(trial, still) > 0
    assert blamed <= 0.05 * 1000
