"""How often a report of pure noise contains a significant verdict, and a race of equal candidates has a winner.

Usage: python bench/false_sure.py RUN [REPORTS]

RUN is a stored run in which each configuration has the same number of rounds: `middlemark run … --trials 40
--no-baseline`. The program makes REPORTS random reports of CANDIDATES candidates each. It splits the rounds of a
configuration into groups of CANDIDATES consecutive rounds. Each candidate gets one round of each group, at random. So
all candidates have the same configuration, with the noise and the drift of a real machine.
"""

import itertools
import math
import sys
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

import numpy as np

from middlemark.runs.read import read_measured
from middlemark.stats.race import after_look
from middlemark.stats.trials import figures
from middlemark.stats.verdict import Verdict, judge

CANDIDATES = 4
REPORTS = 100
Values = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def rounds_of(run: Path) -> list[Values]:
    """Return the trials' figures in ns of each configuration: one row per group, one column per round of the group."""
    measured = read_measured(run)
    found = []
    for result, trials in zip(measured.results, measured.trials, strict=True):
        values = [figure for figure in figures(result.cell, trials) if figure]
        groups = len(values) // CANDIDATES
        if groups:
            found.append(np.array(values[: groups * CANDIDATES]).reshape(groups, CANDIDATES))
    return found


def has_verdict(questions: Sequence[Values]) -> bool:
    """Return whether the report calls any candidate significantly faster or slower than another."""
    keys = [(at, *pair) for at in range(len(questions)) for pair in itertools.combinations(range(CANDIDATES), 2)]
    pairs: list[Mapping[int, tuple[float, float]]] = [
        {number: (float(row[a]), float(row[b])) for number, row in enumerate(questions[at])} for at, a, b in keys
    ]
    judged = judge(pairs, higher_is_better=[False] * len(keys), questions=[at for at, _, _ in keys])
    return any(comparison.verdict in (Verdict.BETTER, Verdict.WORSE) for comparison in judged)


def has_winner(values: Values) -> bool:
    """Return whether the race of these candidates has a winner after the last round at the latest."""
    running: tuple[Hashable, ...] = tuple(range(CANDIDATES))
    for rounds in range(1, len(values) + 1):
        logs = {at: dict(enumerate(np.log(values[:rounds, int(str(at))]))) for at in running}
        now = after_look(logs, last=rounds == len(values))
        running = now.running
        if now.ended:
            return now.ended == "best"
    return False


def main() -> None:
    """Print how many reports have a verdict and how many races have a winner."""
    reports = int(sys.argv[2]) if len(sys.argv) > 2 else REPORTS
    draw = np.random.default_rng(0)
    found = rounds_of(Path(sys.argv[1]))
    scatter = np.median([np.std(np.log(values)) for values in found])
    print(
        f"{len(found)} configurations, {len(found[0])} rounds of {CANDIDATES} equal candidates, "
        f"trials vary by {scatter:.1%}"
    )
    with_verdict = won = races = 0
    for _ in range(reports):
        questions = [draw.permuted(values, axis=1) for values in found]
        with_verdict += has_verdict(questions)
        won += sum(map(has_winner, questions))
        races += len(questions)
    pairs = len(found) * math.comb(CANDIDATES, 2)
    print(f"{with_verdict} of {reports} reports of {pairs} pairs have a verdict; {won} of {races} races have a winner")


if __name__ == "__main__":
    main()
