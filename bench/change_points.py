"""Computes the thresholds of stats/change_points.py.

usage: PYTHONPATH=src python bench/change_points.py [DRAWS]

For each number of runs, ranks are shuffled, so that there is no change. One shuffled series in 400 gains more than the
first threshold by one change point, and one in 400 gains more than the second by two. The program prints the table
THRESHOLDS.
"""

import sys

import numpy as np

from middlemark.stats.change_points import FEWEST_RUNS, LEVEL, gains

COUNTS = (FEWEST_RUNS, 16, 24, 32, 48, 64, 96, 128, 256, 512)


def main() -> int:
    """Print the thresholds for each number of runs."""
    draws = int(sys.argv[1]) if sys.argv[1:] else 20_000
    draw = np.random.default_rng(1)
    for count in COUNTS:
        ranks = np.arange(count, dtype=float)
        found = np.array([[gain for gain, _ in gains(draw.permutation(ranks))] for _ in range(draws)])
        first, second = np.quantile(found, 1 - LEVEL / 2, axis=0)
        print(f"    {count}: ({first:.1f}, {second:.1f}),", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
