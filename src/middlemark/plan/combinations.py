"""Combinations of the load's levels (senders, rate, arrivals): valid combinations, and levels without effect."""

import itertools
from collections.abc import Callable, Mapping, Sequence

import msgspec

from middlemark.model.levels import Level
from middlemark.model.load import LOAD, InvalidCombination, LoadLevels, invalid, meaningless, settled
from middlemark.model.plan import Note
from middlemark.problems import Problem
from middlemark.suite.sweep import Levels


class ExpandedLoads(msgspec.Struct, frozen=True):
    """The loads of a sweep, each once, in the order in which the levels are combined.

    Notes and problems name invalid ones.
    """

    rows: tuple[LoadLevels, ...]
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()


def expand_loads(
    asked: Mapping[str, Levels], duration_s: float | None, *, lenient: bool, wanted: Callable[[LoadLevels], bool]
) -> ExpandedLoads:
    """Return all combinations of the load's levels.

    An invalid combination is left out with a note. A level that the user named is refused if it is in no valid
    combination; if ``lenient``, it is left out with a note. Combinations that are not ``wanted`` are left out without a
    note.
    """
    loads: list[LoadLevels] = [
        dict(zip(LOAD, levels, strict=True)) for levels in itertools.product(*(asked[factor].values for factor in LOAD))
    ]
    against = [tuple(invalid(load, duration_s)) for load in loads]
    rows = [load for load, reasons in zip(loads, against, strict=True) if not reasons]
    excluded = [(load, reasons) for load, reasons in zip(loads, against, strict=True) if reasons]
    decisive = _reasons_to_refuse(asked, loads, rows, excluded)
    refused: dict[InvalidCombination, None] = {}
    left_out: dict[InvalidCombination, None] = {}
    for load, reasons in excluded:
        if wanted(settled(load)):
            for why in reasons:
                (refused if why in decisive and not lenient else left_out)[why] = None
    meant = {
        pair for load in loads for pair in load.items() if pair[0] not in {each.factor for each in meaningless(load)}
    }
    for load in loads:
        for why in meaningless(load):
            if (why.factor, load[why.factor]) not in meant and asked[why.factor].named and wanted(settled(load)):
                (left_out if lenient else refused)[why] = None
    found = (settled(load) for load in rows)
    return ExpandedLoads(
        rows=tuple({tuple(row.values()): row for row in found if wanted(row)}.values()),
        notes=tuple(Note(asked[each.factor].place, f"left out: {each.text}") for each in left_out),
        problems=tuple(Problem(asked[each.factor].place, each.text) for each in refused),
    )


def _reasons_to_refuse(
    asked: Mapping[str, Levels],
    loads: Sequence[LoadLevels],
    rows: Sequence[LoadLevels],
    excluded: Sequence[tuple[LoadLevels, tuple[InvalidCombination, ...]]],
) -> set[InvalidCombination]:
    """Return the reasons why a level that the user named is in no valid combination."""
    broken = [(load, {each.rule for each in reasons}) for load, reasons in excluded]
    fine = {
        rule: {pair for load in rows for pair in load.items()}
        | {pair for load, rules in broken if rule not in rules for pair in load.items()}
        for rule in dict.fromkeys(each.rule for _, reasons in excluded for each in reasons)
    }
    measured = {pair for load in rows for pair in load.items()}
    dead = {pair for load in loads for pair in load.items() if pair not in measured and asked[pair[0]].named}
    decisive: set[InvalidCombination] = set()
    explained: set[tuple[str, Level]] = set()
    for load, reasons in excluded:
        for why in reasons:
            by_itself = {pair for pair in load.items() if pair in dead and pair not in fine[why.rule]}
            if by_itself:
                decisive.add(why)
                explained |= by_itself
    for load, reasons in excluded:
        if any(pair in dead and pair not in explained for pair in load.items()):
            decisive |= set(reasons)
    return decisive
