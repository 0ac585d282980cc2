"""Commands for the reader: to repeat a run, and to measure enough trials for undecided rows."""

import math
import shlex
import statistics
from collections.abc import Collection, Iterable, Iterator, Sequence

from middlemark.document.document import Document
from middlemark.model.cell import FACTORS, Cell
from middlemark.model.run import Run
from middlemark.stats.race import FINALISTS
from middlemark.verdicts.experiments import JudgedExperiment, Standing
from middlemark.verdicts.names import plain
from middlemark.verdicts.race import RaceVerdict
from middlemark.verdicts.rows import Row

TRIALS = 10
"""The number of trials in a command: ten trials usually show a difference of 10 % on a quiet machine."""
_DROPPED = ("--trials", "--until-precise", "--budget", "--focus", "--resume", "--format")
_MOST_NAMED = 5
"""A command names at most this number of levels of a factor, so that it stays readable."""
_MOST_BUDGET_S = 3600.0
_MORE = 1.5
"""The estimated duration of a race is multiplied by this factor, because rounds differ in duration."""


def command_of(run: Run) -> tuple[str, ...]:
    """Return the command of the run. Its first word is always ``middlemark``, even if the user typed ``python -m``."""
    return ("middlemark", *run.file.command[1:]) if run.file.command else ()


def commands_of(runs: Sequence[Run], factors: Sequence[str]) -> tuple[str, ...]:
    """Return the commands that repeat runs and comparisons; ``factors``: the factors that were compared."""
    lines = []
    for run in runs:
        command = [*command_of(run)]
        seeded = command[1:2] in (["run"], ["which"]) and not run.file.imported
        if seeded and not _has(command, "--seed") and not _has(command, "--resume"):
            command += ["--seed", str(run.file.seed)]
        lines.append(shlex.join(command))
        if command and not run.running and len(run.outcomes) < run.planned_trials:
            lines.append(shlex.join(["middlemark", "run", "--resume", str(run.folder)]))
    folders = [str(run.folder) for run in runs]
    lines.append(shlex.join(["middlemark", "report", *folders]))
    if len(folders) == 1:
        lines += [shlex.join(["middlemark", "compare", folders[0], "--by", factor]) for factor in factors[:4]]
    elif len(folders) == 2:
        lines.append(shlex.join(["middlemark", "compare", *folders]))
    return tuple(dict.fromkeys(plain(each) for each in lines if each))


def _has(command: Sequence[str], option: str) -> bool:
    return any(each == option or each.startswith(f"{option}=") for each in command)


def settling_of(document: Document, experiment: JudgedExperiment, fields: Collection[str]) -> tuple[str, float] | None:
    """Return the command that measures the undecided rows of an experiment often enough, and its duration in seconds.

    None: the experiment is decided, no number of trials would decide it, or the run was not made by a command.
    """
    is_few = experiment.few_trials is not None
    needed = TRIALS if is_few else experiment.trials_needed
    if not experiment.is_open or needed is None:
        return None
    tied = experiment.of(Standing.EQUIVALENT) if experiment.verdict == "tie" else []
    open_ = experiment.ranked if is_few else [experiment.ranked[0], *experiment.undecided, *tied]
    return settling(document, [each.row for each in open_], needed, fields)


def settling(
    document: Document, open_: Sequence[Row], trials: int, fields: Collection[str]
) -> tuple[str, float] | None:
    """Return the command that measures each open row ``trials`` times, and its estimated duration in seconds.

    The command's ``--only`` also names the baselines of these rows; otherwise it would exclude them. ``fields``: the
    fields of Cell that ``--only`` may restrict, besides adapter and transport. None: the run was imported, or not made
    by a ``run`` command.
    """
    run = document.runs[open_[0].run]
    words = tuple(each for each in command_of(run) if each != "--race")
    if words[1:2] != ("run",) or run.file.imported:
        return None
    baselines = dict.fromkeys(each.baseline_row for each in open_)
    baseline_rows = [document.everything[each] for each in baselines if each is not None]
    chosen = {name: _levels(name, (*open_, *baseline_rows)) for name in ("adapter", "transport")}
    chosen |= {each.name: _levels(each.name, open_) for each in FACTORS.values() if each.field in fields}
    only = {
        name: levels
        for name, levels in chosen.items()
        if len(levels) <= _MOST_NAMED and {*levels} != {_level(name, cell) for cell in run.file.plan.cells}
    }
    seconds = [
        statistics.mean(each.outcome.seconds for each in row.trials)
        for row in document.rows
        if row.run == open_[0].run and row.trials
        if all(_level(name, row.result.cell) in levels for name, levels in only.items())
    ]
    options = (word for name, levels in only.items() for word in ("--only", f"{name}={','.join(levels)}"))
    command = shlex.join([*_without(words, _DROPPED, only), *options, "--trials", str(trials)])
    return plain(command), trials * sum(seconds)


def _level(name: str, cell: Cell) -> str:
    """Return the factor's level as ``--only`` reads it."""
    factor = FACTORS[name]
    return factor.kind.show(getattr(cell, factor.field)).replace(" ", "")


def _levels(name: str, rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(_level(name, row.result.cell) for row in rows))


def _without(words: Sequence[str], options: Collection[str], only: Collection[str] = ()) -> Iterator[str]:
    """Yield a command's words without ``options``, and without each ``--only`` for a factor in ``only``."""
    at = 0
    while at < len(words):
        option, equals, value = words[at].partition("=")
        argument = value if equals else "".join(words[at + 1 : at + 2])
        if option in options or (option == "--only" and argument.partition("=")[0].strip() in only):
            at += 1 if equals else 2
        else:
            yield words[at]
            at += 1


def next_of(verdict: RaceVerdict, run: Run) -> str | None:
    """Return the command that continues an undecided race, with the budget it needs; None: the race is decided."""
    experiment, answer = verdict.experiment, verdict.answer
    if not answer or not (verdict.verdict == "undecided" or experiment.is_open):
        return None
    if verdict.cut_short:
        return shlex.join(["middlemark", "run", "--resume", str(run.folder)])
    a_round = (len(answer) + len(verdict.baselines)) * verdict.seconds / max(1, verdict.trials)
    estimated_s = (experiment.trials_needed or 0) * a_round * _MORE
    asked_s = 2 * verdict.race.budget_s
    budget_s = min(max(estimated_s, asked_s), max(_MOST_BUDGET_S, asked_s))
    # With more than FINALISTS candidates, the time was too short or the machine was disturbed: repeat the whole race.
    few = len(answer) <= FINALISTS and verdict.race.question
    words = _between(verdict, run) if few else _without(command_of(run), ("--budget",))
    return shlex.join([*words, "--budget", f"{math.ceil(budget_s / 60)}m"])


def _between(verdict: RaceVerdict, run: Run) -> list[str]:
    """Return a ``which`` command that repeats the race between the candidates that may be the best."""
    cells = [each.row.result.cell for each in verdict.answer]
    names = [
        word
        for factor in ("adapter", "transport")
        for word in (f"--{factor}", ",".join(dict.fromkeys(str(getattr(each, factor)) for each in cells)))
    ]
    dropped = ("--budget", "--seed", "--format", *names[::2])
    return [*_without(command_of(run), dropped), *names]
