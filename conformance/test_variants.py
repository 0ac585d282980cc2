"""The trials that stand for all combinations."""

from itertools import combinations

import msgspec
from contender import Contender, scripted
from variants import Row, every_pair, rows_of


def pairs(rows: list[Row]) -> set[tuple[tuple[int, str], ...]]:
    """Return every two levels of a row, told by their place and name."""
    return {two for row in rows for two in combinations([(at, level.name) for at, level in enumerate(row)], 2)}


def test_every_two_levels_that_go_together_are_in_one_of_few_trials(contender: Contender) -> None:
    rows = rows_of(contender, every=False)
    chosen = every_pair(rows)
    assert pairs(chosen) == pairs(rows)
    assert len(chosen) <= 30


def test_a_silent_pong_with_a_bounded_history_is_put_through_counted_trials_only() -> None:
    offered = msgspec.structs.replace(scripted().transport, keep_all=False, max_depth=None)
    echoed_by_one = [
        {level.name for level in row}
        for row in rows_of(Contender(scripted().worker, offered), every=True)
        if any(level.name == "one-of-three-echoes" for level in row)
    ]
    assert echoed_by_one
    assert all("for-a-while" not in names for names in echoed_by_one)
