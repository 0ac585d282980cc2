"""Round trips that a ping or a client counted in a histogram, because its memory for samples was full."""

from typing import Any

import numpy as np
import pytest
from stats_cases import cell, outcome, plan, samples

from middlemark.model.outcome import SamplesFile, TrialOutcome
from middlemark.model.samples import HISTOGRAM
from middlemark.stats.samples import Kept, Samples
from middlemark.stats.trials import trial_summary

RAW = samples([100] * 40)
LATER = np.array([(1000, 1008, 59), (50_000, 50_256, 1)], dtype=HISTOGRAM)


def with_histogram(**levels: Any) -> tuple[Any, TrialOutcome]:
    of = cell(**levels)
    trial = plan(of).trials[0]
    return of, outcome(trial, samples=40, histogram_file="samples/x.histogram.npy", in_histogram=60)


def kept(file: SamplesFile) -> Kept:
    assert (file.role, file.histogram_path, file.in_histogram) == ("ping", "samples/x.histogram.npy", 60)
    return Kept(file.role, file.index, RAW, LATER)


def raw(_: TrialOutcome) -> Samples:
    return RAW


def test_quantiles_are_of_the_samples_and_the_histogram() -> None:
    of, trial = with_histogram()
    found = trial_summary(of, trial, raw, kept)
    assert found.outcome.failed is None
    assert found.samples == 100
    assert found.times.round_trip_ns is not None
    assert (found.times.round_trip_ns.min, found.times.round_trip_ns.p50) == (100, 1003.5)
    assert found.times.round_trip_ns.max == 50_255


def test_with_a_rate_the_histogram_counts_from_the_intended_instant() -> None:
    of, trial = with_histogram(rate=100.0)
    found = trial_summary(of, trial, raw, kept)
    assert found.times.round_trip_from_intended_ns is not None
    assert found.times.round_trip_from_intended_ns.p50 == 1003.5
    assert found.times.round_trip_ns is not None
    assert found.times.round_trip_ns.max == 100, "only samples have the time of publishing"


@pytest.mark.parametrize("clients", [1, 2])
def test_clients_are_added_up(clients: int) -> None:
    of = cell(pattern="request-reply", publishers=clients)
    files = tuple(
        SamplesFile(
            role="client", index=at, path=f"{at}.npy", samples=40, histogram_path=f"{at}.h.npy", in_histogram=60
        )
        for at in range(clients)
    )
    trial = outcome(plan(of).trials[0], samples=40 * clients, files=files)
    found = trial_summary(of, trial, raw, lambda file: Kept(file.role, file.index, RAW, LATER))
    assert found.samples == 100 * clients
    assert found.times.round_trip_ns is not None
    assert found.times.round_trip_ns.p50 == 1003.5
