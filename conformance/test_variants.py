"""The trials that stand for all combinations."""

from itertools import combinations

from contender import Contender
from variants import Row, every_pair, rows_of


def pairs(rows: list[Row]) -> set[tuple[tuple[int, str], ...]]:
    """Return every two levels of a row, told by their place and name."""
    return {two for row in rows for two in combinations([(at, level.name) for at, level in enumerate(row)], 2)}


def test_every_two_levels_that_go_together_are_in_one_of_few_trials(contender: Contender) -> None:
    rows = rows_of(contender, every=False)
    chosen = every_pair(rows)
    assert pairs(chosen) == pairs(rows)
    assert len(chosen) <= 30
