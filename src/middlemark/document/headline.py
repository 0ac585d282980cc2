"""A document in a few lines: the answer, what is sure of it, what is not, and what is broken. From verdicts alone."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from middlemark.document.answers import states
from middlemark.document.document import Document, Row
from middlemark.document.matrix import Column, Matrix
from middlemark.document.numbers import brief, ratio, us
from middlemark.document.outcome import doubt_of
from middlemark.document.settle import TRIALS, settling
from middlemark.document.warnings import disturbance
from middlemark.document.words import is_contradicted, is_unprotected, plain, size
from middlemark.model.cell import EXPERIMENT
from middlemark.model.spelling import listing
from middlemark.model.units import format_percent
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import Verdict
from middlemark.stats.warnings.cells import NOT_MEASURED

DISTURBED_PART = 0.1
"""From this part of the trials on the machine comes before any answer; a smaller one only widens intervals."""
_MOST_TRIALS = 60
"""More are no advice: nobody waits for them."""
_NAMED = 4
_MOST_REASON = 48
"""Characters; `middlemark show --rows` has the others."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What is said, and the command or the remedy that helps; empty: none does."""

    texts: tuple[str, ...]
    remedy: str = ""


def disturbed(rows: Sequence[Row]) -> str:
    """Return what the machine did where that was too much for too many trials; empty: it was quiet enough."""
    trials = [each for row in rows if row.result.noise for each in row.result.noise.trials]
    marked = [each for each in trials if each.marked]
    if not marked or len(marked) < DISTURBED_PART * len(trials):
        return ""
    most = max(marked, key=disturbance)
    of = f"{len(marked):,} of {len(trials):,} trials"
    worst = most.marked[0].split(" (")[0]  # who it was stands beside the warnings
    return plain(f"The machine was disturbed in {of}; the worst: {worst}.")


def headline(matrix: Matrix) -> str:
    """Return the answer of an experiment: who is the fastest where, and where that is not sure."""
    columns, name = matrix.columns, {each.best.index: each.best.name for each in matrix.columns}
    if len(matrix.lines) == 1:
        return _alone(matrix)
    fastest = _by_best(each for each in columns if _is_sure(each) and each.outcome.verdict == "best")
    level = [each for each in columns if _is_sure(each) and each.outcome.verdict == "tie"]
    open_ = _by_best(each for each in columns if not _is_sure(each))
    parts = [
        f"{name[best]} is the fastest{_at(matrix, members)}{_times(matrix, members)}"
        for best, members in fastest.items()
    ]
    parts += [
        f"{_level(each)} are level, within {format_percent(each.outcome.within)},{_at(matrix, [each])}"
        for each in level
    ]
    leads = [f"{name[best]} leads{_at(matrix, members)}" for best, members in open_.items()]
    if not parts:
        few = [each.few for each in columns]
        why = f" with {_trials(min(map(int, filter(None, few))))} each" if all(few) else ""
        return f"Not sure who is the fastest{why}: {'; '.join(leads)}."
    return "; ".join(parts) + (f"; not sure: {'; '.join(leads)}" if leads else "") + "."


def sure(document: Document) -> Told:
    """Return what the verdicts bear beyond the headline: how many are surely slower, and other experiments."""
    found: dict[str, list[Column]] = {}
    for column in _first(document):
        verdicts = [each.judged.verdict for _, each in column.outcome.beside if each]
        gone = len(column.outcome.gone)
        slower, others = verdicts.count(Verdict.WORSE) + gone, len(column.outcome.beside) + gone
        if slower and not _is_sure(column):
            names = [row.name for row in (*column.outcome.of(Verdict.WORSE), *column.outcome.gone)]
            number = f"{slower} of {others}" if slower > 2 else listing(names)
            text = f"{number} {'is' if slower == 1 else 'are'} slower than {column.contest.contenders[0].name}"
            found.setdefault(text, []).append(column)
    texts = [f"{text}{_at(document.matrices[0], columns)}" for text, columns in found.items()]
    further = [
        each for matrix in document.matrices[1:] for each in matrix.columns if each.outcome.beside or each.outcome.gone
    ]
    if told := sum(map(_is_sure, further)):
        texts.append(f"who is the fastest in {told} of {len(further)} columns of the other experiments")
    return Told(texts=tuple(texts))


def unsure(document: Document) -> Told:
    """Return what the verdicts leave open, why, and the command that measures enough to tell."""
    found: dict[str, list[Column]] = {}
    again: list[Row] = []
    wanted = 0
    for column in _first(document):
        staying = {row.index for row in column.outcome.open}
        open_ = [(row, each) for row, each in column.outcome.beside if row.index in staying]
        if column.few is not None:
            found.setdefault(f"{_trials(column.few)} each ({FEWEST} are the fewest)", []).append(column)
            wanted = max(wanted, TRIALS)
            again += column.contest.ranked
        elif open_:
            needed = [each.judged.trials_needed for _, each in open_ if each and each.judged.trials_needed]
            wanted = max(wanted, min(max(needed, default=TRIALS), _MOST_TRIALS))
            again += [column.best, *(row for row, _ in open_)]
            found.setdefault(f"{column.best.name} or {_some([row.name for row, _ in open_])}", []).append(column)
        elif not _is_sure(column) and column.outcome.verdict != "alone":
            contenders = (column.contest.contenders[0], *(row for row, _ in column.outcome.beside))
            doubted = {row.name: doubt for row in contenders if (doubt := doubt_of(row))}
            why = Counter(doubted.values()).most_common(1)
            found.setdefault(f"{why[0][0]} in {_some([*doubted])}" if why else column.best.name, []).append(column)
    texts = [f"{text}{_at(document.matrices[0], columns)}" for text, columns in found.items()]
    return Told(texts=tuple(texts), remedy=_settled_by(document, again, wanted))


def _settled_by(document: Document, again: Sequence[Row], trials: int) -> str:
    """Return the command that measures these and the machine alone so often; empty where there is none."""
    rows = {row.index: row for row in document.rows}
    alone = [rows[at] for at in dict.fromkeys(each.alone_row for each in again) if at in rows]
    cells = [row.result.cell for row in rows.values() if not row.floor]
    fields = {field for field in EXPERIMENT if len({getattr(cell, field) for cell in cells}) > 1}
    found = settling(document, again, alone, trials, fields) if again else None
    return found[0] if found else ""


def _first(document: Document) -> Sequence[Column]:
    """Return the columns of the first matrix; the others are told in their own places."""
    return document.matrices[0].columns if document.matrices else ()


def broken(document: Document) -> Told:
    """Return how far the run came, what has no result, and what was carried by something else than its name says."""
    run = document.runs[0]
    failed = [row for row in document.rows if row.result.failed and row.result.failed.code != NOT_MEASURED]
    texts = [each for each in states(document) if "no result; it is told" not in each]
    remedy = next((row.result.failed.advice for row in failed if row.result.failed and row.result.failed.advice), "")
    if failed and failed[0].result.failed:
        texts.append(f"{_some(_names(failed), 1)} failed: {_cut(failed[0].result.failed.text)}")
    unprotected = [row for row in document.rows if is_unprotected(row.result)]
    carried = [row for row in document.rows if is_contradicted(row.result) and row not in unprotected]
    for which, how in ((carried, "carried"), (unprotected, "protected")):
        if others := _names(which):
            texts.append(f"{_some(others, 1)} not {how} as named")
    if not run.running and not run.file.imported and len(run.outcomes) < run.planned_trials:
        remedy = shlex.join(["middlemark", "run", "--resume", str(run.folder)])
    return Told(texts=tuple(map(plain, texts)), remedy=plain(remedy))


def _alone(matrix: Matrix) -> str:
    (line,) = matrix.lines
    figures = [
        f"{_figure(matrix, entry.figure)}{_at(matrix, [column])}"
        + (f" ({ratio(entry.times)} × machine alone)" if column.base else "")
        for column, entry in zip(matrix.columns, line.entries, strict=True)
        if entry is not None
    ]
    return f"{line.name}: {_some(figures)}."


def _figure(matrix: Matrix, figure: float) -> str:
    return f"{brief(figure)} messages/s" if matrix.by_rate else f"{us(figure)} µs"


def _by_best(columns: Iterable[Column]) -> dict[int, list[Column]]:
    found: dict[tuple[object, ...], list[Column]] = {}
    for each in columns:
        found.setdefault((each.best.name,), []).append(each)
    return {members[0].best.index: members for members in found.values()}


def _at(matrix: Matrix, members: Sequence[Column]) -> str:
    if len(members) == len(matrix.columns) > 1:
        return f" at every {matrix.factor}"
    named = "" if matrix.factor == "size" else f"{matrix.factor} "
    return f" at {named}{listing([each.title for each in members])}"


def _times(matrix: Matrix, members: Sequence[Column]) -> str:
    """Return how far the best of those columns are from the machine alone."""
    wanted = {each.best.index for each in members if each.base is not None}
    times = sorted(
        entry.times for line in matrix.lines for entry in line.entries if entry is not None and entry.row in wanted
    )
    if not times:
        return ""
    ends = dict.fromkeys((ratio(times[0]), ratio(times[-1])))
    return f", {' to '.join(ends)} × machine alone"


def _level(column: Column) -> str:
    return listing([column.best.name, *(row.name for row in column.outcome.level)])


def _is_sure(column: Column) -> bool:
    """Say whether there is a verdict on the best of it, beside all others, and nothing in it is doubtful."""
    return column.outcome.sure and column.few is None


def _some(names: Sequence[str], most: int = _NAMED) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def _names(rows: Sequence[Row]) -> list[str]:
    return [f"{row.name} at {size(row.result.cell)}" for row in rows]


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_REASON else f"{text[:_MOST_REASON].rsplit(' ', 1)[0]} …"


def _trials(number: int) -> str:
    return "1 trial" if number == 1 else f"{number} trials"
