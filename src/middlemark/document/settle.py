"""The command that measures again what is open, often enough, and as little else as a few words can say."""

import shlex
import statistics
from collections.abc import Collection, Iterable, Iterator, Sequence

from middlemark.document.document import Document, Row
from middlemark.document.runs import command_of
from middlemark.document.words import plain
from middlemark.model.cell import FACTORS, Cell

TRIALS = 10
"""They usually show a difference of a tenth on a quiet machine."""
_DROPPED = ("--trials", "--until-precise", "--budget", "--focus", "--resume", "--format")
_MOST_NAMED = 5
"""More levels of a factor are not named: a command is read before it is copied."""


def settling(
    document: Document, open_: Sequence[Row], beside: Sequence[Row], trials: int, fields: Collection[str]
) -> tuple[str, float] | None:
    """Return the command for so many trials of those that are open, and the seconds it takes.

    ``beside``: the machine alone, which ``--only`` would leave out; ``fields``: the factors by which the open rows are
    chosen, adapter and transport apart. None where nobody typed a ``run`` that could be measured again.
    """
    run = document.runs[open_[0].run]
    words = tuple(each for each in command_of(run) if each != "--race")
    if words[1:2] != ("run",) or run.file.imported:
        return None
    chosen = {name: _levels(name, (*open_, *beside)) for name in ("adapter", "transport")}
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
    command = shlex.join([*_without(words, only), *options, "--trials", str(trials)])
    return plain(command), trials * sum(seconds)


def _level(name: str, cell: Cell) -> str:
    """Return the factor's level as ``--only`` reads it."""
    factor = FACTORS[name]
    return factor.kind.show(getattr(cell, factor.field)).replace(" ", "")


def _levels(name: str, rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(_level(name, row.result.cell) for row in rows))


def _without(words: Sequence[str], only: Collection[str]) -> Iterator[str]:
    """Yield a command's words without the options that are given anew."""
    at = 0
    while at < len(words):
        option, _, value = words[at].partition("=")
        width = 1 if value else 2
        given = value or "".join(words[at + 1 : at + 2])
        if option in _DROPPED or (option == "--only" and given.partition("=")[0].strip() in only):
            at += width
        else:
            yield words[at]
            at += 1
