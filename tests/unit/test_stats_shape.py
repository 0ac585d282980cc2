"""The shape of a trial's latencies: shapes that must be found, and ordinary latencies without a finding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latencies import trial

from middlemark.stats.shape import MOST_LOOKED_AT, drift, incidents, modes, slow_start, thinned

COUNTS = (1_000, 5_000, 60_000)


def _rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("samples", COUNTS)
def test_ordinary_latencies_have_no_shape_in_at_least_95_of_100_trials(
    samples: int,
) -> None:
    rng = _rng(samples)
    trials = [thinned(trial(rng, samples)) for _ in range(100)]
    assert sum(modes(each) is not None for each in trials) <= 5
    assert sum(drift(each) is not None for each in trials) <= 5
    assert sum(slow_start(each) is not None for each in trials) <= 5


@pytest.mark.parametrize("samples", COUNTS)
@pytest.mark.parametrize("share", [0.15, 0.5, 0.85])
def test_two_modes_are_found_with_their_shares_in_any_order_of_time(samples: int, share: float) -> None:
    rng = _rng()
    base = trial(rng, samples).astype(np.float64)
    fast = {"mixed": rng.random(samples) < share, "one after the other": np.arange(samples) < share * samples}
    for together, low in fast.items():
        found = modes(thinned(np.where(low, base, 2.2 * base)))
        assert found is not None, together
        assert found.share == pytest.approx(share, abs=0.05), together
        assert found.high_ns == pytest.approx(2.2 * found.low_ns, rel=0.15), together


def test_a_second_mode_needs_a_tenth_of_the_samples_and_a_quarter_of_distance() -> None:
    rng = _rng()
    base = 12_000 * np.exp(rng.normal(0, 0.02, 20_000))
    draw = rng.random(20_000)
    assert modes(np.where(draw < 0.8, base, 2 * base)) is not None
    assert modes(np.where(draw < 0.95, base, 2 * base)) is None, "5 % of the samples are a tail, not a mode"
    assert modes(np.where(draw < 0.5, base, 1.2 * base)) is None, "modes 20 % apart are too close to matter"


@pytest.mark.parametrize("step", [1, 25, 100, 1_000])
def test_the_steps_of_a_coarse_clock_are_no_modes(step: int) -> None:
    values = 600 + 3 * step + 2 * step * np.abs(_rng().standard_normal(20_000))
    combed = np.round(values / step) * step
    assert modes(combed) is None
    assert modes(np.concatenate([combed, 8 * combed])) is not None, "two modes are also found with a coarse clock"


def test_a_constant_and_two_neighbouring_values_have_one_mode() -> None:
    assert modes(np.full(5_000, 700.0)) is None
    assert modes(np.repeat([700.0, 701.0], 2_500)) is None


@pytest.mark.parametrize("part", [0.3, -0.3])
def test_a_drift_is_found_with_its_sign_and_size(part: float) -> None:
    values = trial(_rng(), 20_000) * np.linspace(1, 1 + part, 20_000)
    found = drift(thinned(values))
    assert found is not None
    assert found.part == pytest.approx(part, abs=0.1)


def test_a_small_drift_is_ignored_even_if_significant() -> None:
    steady = 12_000 + _rng().normal(0, 10, 20_000)
    assert drift(steady * np.linspace(1, 1.05, 20_000)) is None
    assert drift(steady * np.linspace(1, 1.15, 20_000)) is not None


@pytest.mark.parametrize("warming", [0.02, 0.1, 0.3])
def test_a_slow_start_is_found_with_its_length(warming: float) -> None:
    values = trial(_rng(), 20_000).astype(np.float64)
    values[: int(warming * 20_000)] *= 1.8
    found = slow_start(thinned(values))
    assert found is not None
    assert found.part == pytest.approx(warming, abs=0.02)
    assert found.first_ns == pytest.approx(1.8 * found.later_ns, rel=0.2)


def test_fast_starts_stalls_and_single_slow_samples_are_no_slow_start() -> None:
    values = trial(_rng(), 20_000).astype(np.float64)
    for stretch, factor in ((slice(0, 2_000), 0.5), (slice(9_000, 11_000), 3.0), (slice(0, 50), 20.0)):
        changed = values.copy()
        changed[stretch] *= factor
        assert slow_start(thinned(changed)) is None, (stretch, factor)


def test_outliers_close_together_are_one_incident() -> None:
    values = np.full(10_000, 100)
    values[5_000:5_100] = 900
    assert incidents(values, 100) == (100, 1)
    values[[10, 2_000, 2_005, 9_999]] = 900
    assert incidents(values, 100) == (104, 4)
    assert incidents(values, 900) == (0, 0)


@given(st.integers(0, 3 * MOST_LOOKED_AT))
@settings(max_examples=20)
def test_thinning_keeps_the_order_and_samples_evenly(count: int) -> None:
    kept = thinned(np.arange(count))
    assert len(kept) == min(count, MOST_LOOKED_AT)
    assert (np.diff(kept) > 0).all()
    if count > MOST_LOOKED_AT:
        assert np.abs(kept / count - np.arange(len(kept)) / len(kept)).max() < 2 / len(kept)


@given(st.integers(0, 2**32), st.floats(0.5, 1_000))
@settings(max_examples=25)
def test_the_unit_of_time_changes_no_shape(seed: int, factor: float) -> None:
    rng = _rng(seed)
    values = trial(rng, 3_000) * np.where(rng.random(3_000) < 0.4, 1.0, 2.5) * np.linspace(1, 1.4, 3_000) + 1_000
    for look in (drift, slow_start, modes):
        found, scaled = look(values), look(values * factor)
        assert (found is None) == (scaled is None), look
