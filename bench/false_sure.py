"""How often a report of nothing but noise says something surely, and a race of like ones has a winner.

Usage: python bench/false_sure.py RUN [REPORTS]

RUN is stored, and each of its configurations has the same rounds: `middlemark run … --trials 40 --no-baseline`. Rounds
that follow each other are taken together, as many as there are candidates; each candidate of a report is given one
round of each such group, by lot. So they differ in nothing, have the noise of that machine, and share its drift.
"""

import itertools
import math
import sys
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

import numpy as np

from middlemark.runs.read import read_measured
from middlemark.stats.race import standing
from middlemark.stats.trials import figures
from middlemark.stats.verdict import Verdict, judge

CANDIDATES = 4
REPORTS = 100
Values = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def rounds_of(run: Path) -> list[Values]:
    """Return the trials' figures in ns by configuration: a row a group of rounds, a column each of the rounds in it."""
    measured = read_measured(run)
    found = []
    for result, trials in zip(measured.results, measured.trials, strict=True):
        known = [each for each in figures(result.cell, trials) if each]
        groups = len(known) // CANDIDATES
        if groups:
            found.append(np.array(known[: groups * CANDIDATES]).reshape(groups, CANDIDATES))
    return found


def says_something(questions: Sequence[Values]) -> bool:
    """Say whether the report has a verdict of faster or slower on any two."""
    keys = [(at, *pair) for at in range(len(questions)) for pair in itertools.combinations(range(CANDIDATES), 2)]
    pairs: list[Mapping[int, tuple[float, float]]] = [
        {number: (float(row[a]), float(row[b])) for number, row in enumerate(questions[at])} for at, a, b in keys
    ]
    judged = judge(pairs, higher_is_better=[False] * len(keys), questions=[at for at, _, _ in keys])
    return any(each.verdict in (Verdict.BETTER, Verdict.WORSE) for each in judged)


def has_winner(values: Values) -> bool:
    """Say whether the race of those has a winner, its last look after the last round."""
    running: tuple[Hashable, ...] = tuple(range(CANDIDATES))
    for rounds in range(1, len(values) + 1):
        known = {each: dict(enumerate(np.log(values[:rounds, int(str(each))]))) for each in running}
        now = standing(known, last=rounds == len(values))
        running = now.running
        if now.ended:
            return now.ended == "best"
    return False


def main() -> None:
    """Print the shares."""
    reports = int(sys.argv[2]) if len(sys.argv) > 2 else REPORTS
    draw = np.random.default_rng(0)
    found = rounds_of(Path(sys.argv[1]))
    scatter = np.median([np.std(np.log(each)) for each in found])
    print(f"{len(found)} configurations, {len(found[0])} rounds of {CANDIDATES} alike, trials scatter by {scatter:.1%}")
    said = won = races = 0
    for _ in range(reports):
        questions = [draw.permuted(each, axis=1) for each in found]
        said += says_something(questions)
        won += sum(map(has_winner, questions))
        races += len(questions)
    pairs = len(found) * math.comb(CANDIDATES, 2)
    print(f"{said} of {reports} reports of {pairs} pairs say something surely; {won} of {races} races have a winner")


if __name__ == "__main__":
    main()
