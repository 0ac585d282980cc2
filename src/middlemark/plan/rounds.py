"""Change the rounds of a plan: add rounds until precise or decided, fit them into a time, race, or add labels."""

import math
import random
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import msgspec

from middlemark.model.cell import FACTORS, Cell, experiment, level_of, show_level
from middlemark.model.expectation import Deciding, GrowthBound
from middlemark.model.plan import Fitted, Note, Plan, Precision, Race, Raced, Trial, Wanted
from middlemark.model.spelling import listing
from middlemark.model.units import format_count, format_seconds
from middlemark.plan.estimate import estimate_seconds, estimate_trial
from middlemark.plan.make import Measuring, interleave
from middlemark.problems import Problem, RequestError
from middlemark.suite.overrides import FIRST_ROUNDS, PrecisionAsked

_NOTHING_MORE = Wanted()


def until_precise(plan: Plan, asked: PrecisionAsked) -> Plan:
    """Return the plan with the requested precision. Raises RequestError if no cell is selected or no round fits.

    Baselines are measured in every round. No round is added for a baseline unless the focus names it.
    """
    problems = [*_too_long(plan, asked.budget_s)]
    named = any(FACTORS[each.factor].of == "subject" for each in asked.focus)
    excluded = frozenset(() if named else plan.baselines)
    chosen = [index for index in range(len(plan.cells)) if index not in excluded]
    for each in asked.focus:
        there = [level_of(plan.cells[index], each.factor) for index in chosen]
        kept = [index for index, level in zip(chosen, there, strict=True) if each.keeps(level)]
        if not kept:
            existing = listing(show_level(each.factor, level) for level in dict.fromkeys(there))
            asked_for = listing(show_level(each.factor, level) for level in each.values)
            problems.append(
                Problem(each.place, f"no configuration has {each.factor} {asked_for}; there are {existing}")
            )
        else:
            chosen = kept
    if problems:
        raise RequestError(problems)
    precision = Precision(part=asked.part, budget_s=asked.budget_s, focus=tuple(chosen))
    return msgspec.structs.replace(plan, precision=precision)


def until_decided(plan: Plan, budget_s: float) -> Plan:
    """Return the plan with rounds that are added until its expectations are decided.

    Raises RequestError if there is no expectation, or no time for a round.
    """
    problems = [*_too_long(plan, budget_s)]
    if not plan.expectations:
        problems.append(
            Problem("--until-decided", "there is no expectation: write [[expect]] in the suite, or give --expect")
        )
    elif all(isinstance(each.claim, GrowthBound) for each in plan.expectations):
        problems.append(Problem("--until-decided", "further rounds do not decide a trend; give a longer --duration"))
    if problems:
        raise RequestError(problems)
    return msgspec.structs.replace(plan, deciding=Deciding(budget_s))


def within(plan: Plan, budget_s: float) -> Plan:
    """Return the plan with only the rounds for which there is time, and a note on the other rounds.

    Raises RequestError if not even one round fits.
    """
    problems = [*_too_long(plan, budget_s)]
    if problems:
        raise RequestError(problems)
    planned = max(trial.number for trial in plan.trials)
    for trials in range(planned, 0, -1):
        shorter = first_rounds(plan, trials)
        if trials == 1 or estimate_seconds(shorter) <= budget_s:
            break
    if trials == planned:
        return plan
    fitted = Fitted(
        budget_s=budget_s,
        planned_trials=planned,
        trials=trials,
        wider=math.sqrt(planned / trials),
        verdicts=trials >= FIRST_ROUNDS,
    )
    whole = f"--trials {planned} takes about {format_seconds(float(round(estimate_seconds(plan))))}"
    note = Note(f"--budget {format_seconds(budget_s).removesuffix(' 00 s')}", f"{_cost(fitted)}; {whole}")
    return msgspec.structs.replace(shorter, fitted=fitted, notes=(note, *plan.notes))


def _cost(fitted: Fitted) -> str:
    """Return how many trials are left, and how much certainty is lost."""
    verdicts = "" if fitted.verdicts else f"no verdict is possible (a verdict needs {FIRST_ROUNDS} trials), and "
    left = f"{format_count(fitted.trials, 'trial')} per row instead of {fitted.planned_trials}"
    return f"{left}: {verdicts}intervals are about {fitted.wider:.2g} times as wide"


def _too_long(plan: Plan, budget_s: float) -> Iterator[Problem]:
    first = first_rounds(plan, 1)
    needed = estimate_seconds(first)
    if needed > budget_s:
        trials = format_count(len(first.trials), "trial")
        text = f"one round of {trials} takes about {format_seconds(float(round(needed)))}"
        yield Problem("--budget", f"{text}: give {_enough(needed)}, or measure fewer configurations (--only)")


def _enough(needed_s: float) -> str:
    return f"--budget {math.ceil(needed_s / 60)}m"


def racing(
    plan: Plan,
    raw_transports: Container[str],
    budget_s: float,
    wanted: Wanted = _NOTHING_MORE,
    *,
    question: bool = False,
    metric: Raced = "p50",
) -> Plan:
    """Return the plan as one race for each experiment; if ``question``, as one race of all cells.

    The adapters in ``raw_transports`` are no candidates. Raises RequestError if there is no candidate, or if the first
    rounds take too long.
    """
    experiments: dict[tuple[object, ...], list[int]] = {}
    for index, cell in enumerate(plan.cells):
        if cell.adapter not in raw_transports:
            experiments.setdefault(() if question else experiment(cell), []).append(index)
    problems: list[Problem] = []
    if not experiments:
        problems.append(Problem("--adapter", "nothing is left to race: a raw transport is not a candidate"))
    for graph in dict.fromkeys(cell.workload for cell in plan.cells if cell.workload is not None):
        if all(topic.deadline_s is None for topic in graph.topics):
            text = "no topic has a deadline, and deadlines decide a race of workloads; give one topic a deadline"
            problems.append(Problem(f"workload {graph.name}", text))
    needed = sum(estimate_trial(plan.cells[trial.cell], trial) for trial in plan.trials)
    if needed > budget_s:
        from middlemark.stats.race import FINAL_LOOKS, FINALISTS  # imports numpy, which no plan needs

        text = f"the first rounds, {len(plan.trials)} trials, take about {format_seconds(float(round(needed)))}"
        text += f", and a verdict needs about {FINAL_LOOKS[0]} rounds of the last candidates"
        last = [each for cells in experiments.values() for each in cells[:FINALISTS]]
        whole_s = needed + _further_rounds_s(plan, (*last, *plan.baselines), FINAL_LOOKS[0])
        fewer = "or fewer candidates (--adapter, --transport)"
        problems.append(Problem("--budget", f"{text}: give {_enough(whole_s)}, {fewer}"))
    if problems:
        raise RequestError(problems)
    race = Race(
        experiments=tuple(map(tuple, experiments.values())),
        budget_s=budget_s,
        wanted=wanted,
        metric=metric,
        question=question,
    )
    return msgspec.structs.replace(plan, race=race)


def _further_rounds_s(plan: Plan, cells: Iterable[int], rounds: int) -> float:
    """Return the time in s of the trials that these cells need beyond the plan to have ``rounds`` trials each."""
    planned = Counter(trial.cell for trial in plan.trials)
    model = {trial.cell: trial for trial in plan.trials}
    return sum(max(0, rounds - planned[each]) * estimate_trial(plan.cells[each], model[each]) for each in cells)


def with_another_round(plan: Plan, cells: Iterable[int] | None = None) -> Plan:
    """Return the plan with one more round, in which each of these cells (None: every cell) is measured once.

    The order depends only on the seed, the round and the cells.
    """
    number = 1 + max(trial.number for trial in plan.trials)
    draw = random.Random(f"{plan.seed}/{number}")
    model = {trial.cell: trial for trial in plan.trials}
    due = sorted(model if cells is None else cells)
    draw.shuffle(due)
    further: list[Trial] = [
        msgspec.structs.replace(model[cell], order=len(plan.trials) + place, number=number, seed=draw.getrandbits(32))
        for place, cell in enumerate(due)
    ]
    return msgspec.structs.replace(plan, trials=(*plan.trials, *further))


class Variant(msgspec.Struct, frozen=True):
    """One label of a cell, and the native settings that the cell has under this label in addition to its own."""

    label: str
    native: Mapping[str, str] = {}

    def labelled(self, cell: Cell) -> Cell:
        """Return the cell under this label."""
        settings = tuple(sorted({**dict(cell.native), **self.native}.items()))
        return msgspec.structs.replace(cell, label=self.label, native=settings)


def labelled(plan: Plan, variants: Sequence[Sequence[Variant]]) -> Plan:
    """Return the plan in which each cell i is replaced by its ``variants[i]``, each with the cell's number of trials.

    All trials are interleaved again with the plan's own seed. Raises ValueError if two variants of a cell have the same
    label. Also raises ValueError if the plan has baselines: each baseline would be measured once for each variant.
    """
    if plan.baselines:
        raise ValueError("a plan with baselines cannot be labelled")
    cells: list[Cell] = []
    names: list[str] = []
    measured: list[Measuring] = []
    for index, (cell, name, some) in enumerate(zip(plan.cells, plan.names, variants, strict=True)):
        if len({each.label for each in some}) < len(some):
            raise ValueError(f"two variants of {cell.adapter} have the same label")
        trials = [each for each in plan.trials if each.cell == index]
        how = Measuring(name, trials[0].limits, trials[0].domain, len(trials), name)
        for each in some:
            cells.append(each.labelled(cell))
            names.append(f"{name}: {each.label}")
            measured.append(how)
    return msgspec.structs.replace(
        plan, cells=tuple(cells), names=tuple(names), trials=tuple(interleave(measured, plan.seed))
    )


def first_rounds(plan: Plan, number: int) -> Plan:
    """Return the plan with its first ``number`` rounds only."""
    return msgspec.structs.replace(plan, trials=tuple(each for each in plan.trials if each.number <= number))


def without(plan: Plan, cells: Container[int], notes: Sequence[Note]) -> Plan:
    """Return the plan without these cells, which are given by index, and with ``notes`` on the reasons."""
    kept = [number for number in range(len(plan.cells)) if number not in cells]
    now = {before: after for after, before in enumerate(kept)}
    trials = [trial for trial in plan.trials if trial.cell in now]
    precision = plan.precision
    if precision is not None:
        focus = tuple(now[number] for number in precision.focus if number in now)
        precision = msgspec.structs.replace(precision, focus=focus)
    race = plan.race
    if race is not None:
        experiments = (tuple(now[number] for number in cells if number in now) for cells in race.experiments)
        race = msgspec.structs.replace(race, experiments=tuple(each for each in experiments if each))
    breaking = plan.breaking and msgspec.structs.replace(plan.breaking, planned=len(trials))
    return msgspec.structs.replace(
        plan,
        cells=tuple(plan.cells[number] for number in kept),
        names=tuple(plan.names[number] for number in kept),
        trials=tuple(
            msgspec.structs.replace(trial, order=order, cell=now[trial.cell]) for order, trial in enumerate(trials)
        ),
        notes=(*plan.notes, *notes),
        precision=precision,
        race=race,
        breaking=breaking,
        baselines=tuple(now[number] for number in plan.baselines if number in now),
    )
