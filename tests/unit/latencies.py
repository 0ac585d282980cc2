"""Latencies as on a real machine: consecutive latencies are similar, the tail is heavy, and the machine drifts."""

import numpy as np
from scipy.signal import lfilter

ALIKE = 0.95
"""The correlation of consecutive samples."""


def trial(rng: np.random.Generator, samples: int, *, level: float = 0.0, wander: float = 0.03) -> np.ndarray:
    """Return one trial's round trips in ns: 12 µs × exp(``level``) with variation; one in fifty has a Pareto tail."""
    steps = rng.normal(0, wander, samples + 200)
    wandering = lfilter([1.0], [1.0, -ALIKE], steps)[200:]
    tail = np.where(rng.random(samples) < 0.02, rng.pareto(1.2, samples), 0.0)
    return np.round(12_000 * (np.exp(level + wandering + np.abs(rng.normal(0, 0.05, samples))) + tail)).astype(
        np.uint64
    )
