"""Tests of the selection of trials from all combinations of levels, and of the trials that are left out."""

import shlex
from itertools import combinations

import msgspec
from candidate import Candidate, scripted
from click.testing import CliRunner
from declared import left_out
from variants import Row, levels_of, new_levels, new_pairs, rows_of

from middlemark.commands import run
from middlemark.model.description import Worker

Pair = tuple[tuple[int, str], ...]


def pairs(rows: list[Row]) -> set[Pair]:
    """Return every pair of levels in the rows. Each level is its index in the row and its name."""
    return {two for row in rows for two in combinations([(at, level.name) for at, level in enumerate(row)], 2)}


def test_few_trials_contain_every_pair_of_levels_of_an_adapter_and_every_level_of_a_transport(worker: Worker) -> None:
    before: list[Candidate] = []
    offered: set[Pair] = set()
    measured: set[Pair] = set()
    for transport in worker.description.transports:
        who = Candidate(worker, transport)
        rows = rows_of(who, every=False)
        chosen = new_pairs(rows, before)
        assert levels_of(chosen) == levels_of(rows)
        assert len(chosen) <= 30
        before.append(who)
        offered |= pairs(rows)
        measured |= pairs(chosen)
    assert measured == offered


def test_the_brief_selection_contains_each_pattern_and_each_new_level(worker: Worker) -> None:
    before: list[Candidate] = []
    offered: set[tuple[str, int, str]] = set()
    measured: set[tuple[str, int, str]] = set()
    for transport in worker.description.transports:
        who = Candidate(worker, transport)
        rows = rows_of(who, every=False)
        chosen = new_levels(rows, before)
        assert {row[0].name for row in chosen} == {row[0].name for row in rows}
        before.append(who)
        offered |= levels_of(rows)
        measured |= levels_of(chosen)
    assert measured == offered


def test_a_silent_pong_with_a_bounded_history_has_only_trials_with_a_number_of_messages() -> None:
    offered = msgspec.structs.replace(scripted().transport, keep_all=False, max_depth=None)
    echoed_by_one = [
        {level.name for level in row}
        for row in rows_of(Candidate(scripted().worker, offered), every=True)
        if any(level.name == "one-of-three-echoes" for level in row)
    ]
    assert echoed_by_one
    assert all("for-a-while" not in names for names in echoed_by_one)


def test_the_commands_that_show_why_trials_are_left_out_can_be_run(worker: Worker) -> None:
    for each in left_out(worker.description.name):
        verb, *options = shlex.split(each.reproduce)
        assert verb == "run"
        ended = CliRunner().invoke(run.command, [*options, "--dry-run"])
        assert ended.exit_code == int(each.refused), f"{each.reproduce}\n{ended.output} {ended.exception}"
