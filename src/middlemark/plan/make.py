"""Make the plan from suites and a context: merge cells, and interleave trials. Equal arguments give equal plans."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from middlemark.model.cell import Cell, level_of, show_level
from middlemark.model.description import Description
from middlemark.model.expectation import ALPHA, Claim, Expectation, GrowthBound, fewest_trials
from middlemark.model.parts import ClaimPart, NothingToJudge, parts_of, sides_of
from middlemark.model.plan import Limits, Note, Plan, Trial
from middlemark.model.spelling import listing
from middlemark.plan.baselines import baselines_of, copies, same_baseline, without_names
from middlemark.plan.expand import expand
from middlemark.plan.native import check_typed_native
from middlemark.plan.targets import Context
from middlemark.plan.turns import problems_of_turns, seated
from middlemark.problems import Problem, RequestError
from middlemark.suite.overrides import Only, read_only
from middlemark.suite.sweep import Suite, Sweep

MOST_TRIALS = 1_000_000


class Measuring(msgspec.Struct, frozen=True):
    """How one cell is measured. The first sweep with the cell sets every field; others may raise ``trials``."""

    name: str
    limits: Limits
    domain: int | None
    trials: int
    place: str
    deciding_trials: bool = False


def make_plan(
    suites: Sequence[Suite],
    descriptions: Sequence[Description],
    *,
    cpus: Sequence[int],
    seed: int,
    only: Sequence[str] = (),
    absent: Mapping[str, str] | None = None,
    unchecked: Sequence[str] = (),
    hosts: Sequence[str] = (),
) -> Plan:
    """Plan every cell of every suite.

    Args:
        suites: The suites.
        descriptions: The adapters that are built.
        cpus: The processors that this process may use.
        seed: The seed, unless a suite has a seed.
        only: ``KEY=VALUE`` as typed.
        absent: How to get each adapter that is known but not built.
        unchecked: Absent adapters that are left out with a note instead of being refused.
        hosts: Names of the hosts that roles may be on.

    Raises:
        RequestError: With every problem found.

    """
    chosen, problems = read_only(only)
    context = Context(
        descriptions=tuple(descriptions),
        absent=dict(absent or {}),
        unchecked=tuple(unchecked),
        cpus=tuple(cpus) or (0,),
        only=tuple(chosen),
        hosts=tuple(hosts),
    )
    notes: list[Note] = []
    measured: dict[Cell, Measuring] = {}
    baselines: list[tuple[Suite, Sweep, list[Cell]]] = []
    for suite in suites:
        for sweep in suite.sweeps:
            expansion = expand(sweep, context)
            problems += expansion.problems
            notes += expansion.notes
            _merge(measured, expansion.cells, suite, sweep, notes)
            if sweep.baseline:
                baselines.append((suite, sweep, _baselines_of(sweep, expansion.cells, context)))
    asked = len(measured)
    _add_baselines(measured, baselines)
    problems += check_typed_native(suites, context)
    if chosen:
        problems += _matching_nothing(chosen, suites, context)
    total = sum(each.trials for each in measured.values())
    problems += problems_of_turns(measured)
    if total > MOST_TRIALS:
        problems.append(
            Problem(
                "trials",
                f"{len(measured)} configurations make {total} trials; at most {MOST_TRIALS} can be planned",
            )
        )
    if not measured and not problems:
        why = f": {'; '.join(dict.fromkeys(str(note.text) for note in notes))}" if notes else ""
        where = listing(dict.fromkeys(suite.place for suite in suites)) or "suites"
        problems.append(Problem(where, f"nothing is left to measure{why}"))
    if problems:
        raise RequestError(list(dict.fromkeys(problems)))
    seed = next((suite.seed for suite in suites if suite.seed is not None), seed)
    plan = Plan(
        cells=tuple(measured),
        trials=(),
        names=tuple(each.name for each in measured.values()),
        notes=tuple(dict.fromkeys(notes)),
        seed=seed,
        scorecard=next((suite.scorecard for suite in suites if suite.scorecard), ()),
        together=tuple(dict.fromkeys(each for suite in suites for each in suite.together)),
        expectations=tuple(each for suite in suites for each in suite.expectations),
        baselines=tuple(range(asked, len(measured))),
    )
    if wrong := unmatched(plan, suites, context):
        raise RequestError(wrong)
    enough = deciding_trials(plan)
    trials = [
        msgspec.structs.replace(each, trials=max(each.trials, enough)) if each.deciding_trials else each
        for each in measured.values()
    ]
    return msgspec.structs.replace(plan, trials=tuple(interleave(trials, seed)))


def _merge(
    measured: dict[Cell, Measuring], cells: Iterable[Cell], suite: Suite, sweep: Sweep, notes: list[Note]
) -> None:
    """Add a sweep's cells. If a cell is already in the plan, it gets the larger number of trials."""
    new = _measured(f"{suite.name}: {sweep.name}" if sweep.name else suite.name, sweep)
    for cell in cells:
        added = new if sweep.limits.samples is not None else _enough(cell, new)
        old = measured.setdefault(cell, added)
        if old is added:
            continue
        if (old.limits, old.domain) != (added.limits, added.domain):
            text = f"configurations that are also in {old.place} are measured once, with the limits of that sweep"
            notes.append(Note(sweep.place, text))
        if old.trials < new.trials:
            measured[cell] = msgspec.structs.replace(old, trials=new.trials)


def _baselines_of(sweep: Sweep, cells: Sequence[Cell], context: Context) -> list[Cell]:
    """Return the baselines of a sweep, including the baselines of cells that ``--only`` excludes."""
    wide = without_names(context)
    return list(baselines_of(cells if wide == context else expand(sweep, wide).cells, context))


def _add_baselines(measured: dict[Cell, Measuring], baselines: Iterable[tuple[Suite, Sweep, Sequence[Cell]]]) -> None:
    """Add the baselines of each sweep.

    A baseline that is already in the plan gets at least the sweep's number of trials.
    """
    there = {same_baseline(cell): cell for cell in measured}
    for suite, sweep, cells in baselines:
        new = _measured(f"{suite.name}: baseline", sweep)
        for baseline in cells:
            cell = there.setdefault(same_baseline(baseline), baseline)
            old = measured.setdefault(cell, _enough(baseline, new))
            if old.trials < new.trials:
                measured[cell] = msgspec.structs.replace(old, trials=new.trials)


def _enough(cell: Cell, measured: Measuring) -> Measuring:
    """Return how the cell is measured: a cell that only copies within one process gets a limited number of samples."""
    return measured if cell.subscribers else msgspec.structs.replace(measured, limits=copies(cell, measured.limits))


def _measured(name: str, sweep: Sweep) -> Measuring:
    return Measuring(name, sweep.limits, sweep.domain, sweep.trials, sweep.place, sweep.deciding_trials)


def interleave(measured: list[Measuring], seed: int) -> Iterable[Trial]:
    """Yield the trials in rounds. Each round has one trial of every cell with remaining trials, in random order."""
    draw = random.Random(seed)
    order = 0
    for number in range(1, max((each.trials for each in measured), default=0) + 1):
        due = [index for index, each in enumerate(measured) if each.trials >= number]
        draw.shuffle(due)
        turns = seated(due, [each.limits for each in measured], seed, number)
        for index in due:
            each = measured[index]
            yield Trial(
                order=order,
                cell=index,
                number=number,
                limits=each.limits,
                domain=each.domain,
                seed=draw.getrandbits(32),
                turn=turns.get(index),
            )
            order += 1


def _matching_nothing(chosen: Sequence[Only], suites: Sequence[Suite], context: Context) -> list[Problem]:
    """Return a problem for each value of ``--only`` that no cell of any suite has."""
    everything = msgspec.structs.replace(context, only=())
    cells: list[Cell] = []
    for sweep in (sweep for suite in suites for sweep in suite.sweeps):
        crossed = expand(sweep, everything).cells
        cells += crossed
        cells += baselines_of(crossed, everything) if sweep.baseline else ()
    problems: list[Problem] = []
    for each in chosen:
        there = dict.fromkeys(level_of(cell, each.factor) for cell in cells)
        for value in each.values:
            if any(Only(each.factor, (value,), each.place).keeps(level) for level in there):
                continue
            text = f"no configuration has {each.factor} {show_level(each.factor, value)}"
            levels = listing(show_level(each.factor, level) for level in there)
            problems.append(Problem(each.place, f"{text}; there are {levels}" if levels else text))
    return problems


def unmatched(plan: Plan, suites: Sequence[Suite], context: Context) -> list[Problem]:
    """Return a problem for each expectation that no cell of the plan can decide.

    Empty if ``--only``, ``skip_unsupported`` or a missing adapter may have excluded the cells. The expectation's
    verdict is then "untestable".
    """
    skips = any(sweep.skip_unsupported for suite in suites for sweep in suite.sweeps)
    return [] if context.only or skips else [*_problems(plan, context)]


def deciding_trials(plan: Plan) -> int:
    """Return the fewest trials with which every expectation can be decided; 0: no expectations.

    With m expectations, each gets an m-th of the error. Each of an expectation's n parts gets an n-th of the
    expectation's share, so that one part can decide. One trial decides a trend.
    """
    of_trials = [each for each in plan.expectations if not isinstance(each.claim, GrowthBound)]
    parts = [found for each in of_trials if (found := _parts(each, plan))]
    return fewest_trials(ALPHA / len(parts) / max(map(len, parts))) if parts else 0


def _parts(expected: Expectation, plan: Plan) -> tuple[ClaimPart, ...]:
    try:
        return parts_of(expected, plan)
    except NothingToJudge:
        return ()


def _problems(plan: Plan, context: Context) -> Iterator[Problem]:
    for each in plan.expectations:
        if _adapters(each.claim) & context.absent.keys():
            continue
        try:
            parts_of(each, plan)
        except NothingToJudge as why:
            yield Problem(each.place, str(why))


def _adapters(claim: Claim) -> set[object]:
    return {level for side in sides_of(claim) for level in side.levels.levels.get("adapter", ())}
