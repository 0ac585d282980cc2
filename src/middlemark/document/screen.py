"""A document in a few lines: the answer, the decided, undecided and failed rows, and the warnings by kind."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from middlemark.document.answers import span, states
from middlemark.document.document import Document, WarningSummary
from middlemark.document.matrix import Matrix, at
from middlemark.document.next_steps import TRIALS, settling
from middlemark.document.numbers import ratio
from middlemark.document.statements import figure_text, no_verdict, some
from middlemark.model.cell import EXPERIMENT
from middlemark.model.pairs import NO_INTEROP
from middlemark.model.run import NotTried
from middlemark.model.spelling import listing
from middlemark.model.units import format_count, format_percent
from middlemark.stats.interval import FEWEST
from middlemark.stats.noise import DISTURBED
from middlemark.stats.result import TrialNoise
from middlemark.stats.warnings.cells import NOT_MEASURED, SERIOUS
from middlemark.verdicts.experiments import JudgedExperiment, Standing
from middlemark.verdicts.names import plain, size
from middlemark.verdicts.rows import Row, grouped, headline_figure, loss_of, misnamed


def disturbance(trial: TrialNoise) -> float:
    """Return the share of the roles' processor time that other processes and the hypervisor took: 0 to 1."""
    return (trial.others_share or 0.0) + (trial.steal_share or 0.0) + (trial.delay_share or 0.0)


def _most_disturbed(row: Row) -> float:
    return max((disturbance(each) for each in row.result.noise.trials), default=0.0) if row.result.noise else 0.0


def _spread(row: Row) -> float:
    values = row.result.trial_values
    return max(values) / min(values) if values and min(values) > 0 else 0.0


_BY: Mapping[str, Callable[[Row], float | None]] = {
    DISTURBED: _most_disturbed,
    "faster-than-baseline": lambda row: -(row.result.times_raw_transport or 1.0),
    "loss": lambda row: loss_of(row.result),
    "loss-behind-latency": lambda row: loss_of(row.result),
    "trials-disagree": _spread,
}
"""Code of a warning → function from a row to how bad its warning is. For other codes the first row counts as
the worst."""


def warnings_of(rows: Sequence[Row]) -> tuple[WarningSummary, ...]:
    """Return the warnings by kind. Kinds that make a median doubtful come first, then kinds with many rows."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        for code in dict.fromkeys(each.code for each in row.result.warnings):
            found.setdefault(code, []).append(row)
    return tuple(
        _summary(code, members)
        for code, members in sorted(found.items(), key=lambda item: (item[0] not in SERIOUS, -len(item[1])))
    )


def _summary(code: str, members: Sequence[Row]) -> WarningSummary:
    bad = _BY.get(code)
    worst_first = sorted(members, key=lambda row: -(bad(row) or 0.0)) if bad else members
    remedies = Counter(
        remedy
        for row in members
        for each in row.result.warnings
        if each.code == code and each.advice
        for remedy in each.advice.split("; ")
    )
    return WarningSummary(
        code=code,
        count=len(members),
        text=next(each.text for each in worst_first[0].result.warnings if each.code == code),
        advice="; ".join(remedy for remedy, _ in remedies.most_common()),
        cells=tuple(row.index for row in worst_first),
    )


DISTURBED_PART = 0.1
"""From this fraction of disturbed trials on, the summary begins with the disturbance. Fewer disturbed trials only widen
the intervals."""
_MOST_TRIALS = 60
"""A command recommends at most this number of trials, because nobody waits for more."""
_NAMED = 4
_NOT_FOUND = " was not found"
_ALL_NOT_FOUND = "not found: ./middlemark list adapters names what each needs"
_MOST_REASON = 48
"""The number of characters to which a reason is cut; `middlemark show --rows` shows all."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """Texts on one subject, and a command or remedy (empty: none)."""

    texts: tuple[str, ...]
    remedy: str = ""


def disturbed(rows: Sequence[Row]) -> str:
    """Return how many trials were disturbed, and the worst disturbance; empty: fewer than ``DISTURBED_PART``."""
    trials = [each for row in rows if row.result.noise for each in row.result.noise.trials]
    marked = [each for each in trials if each.marked]
    if not marked or len(marked) < DISTURBED_PART * len(trials):
        return ""
    most = max(marked, key=disturbance)
    of = f"{len(marked):,} of {format_count(len(trials), 'trial')}"
    # The part in parentheses names a process. It is left out, because the warnings name the process.
    worst = most.marked[0].split(" (")[0]
    return plain(f"The machine was disturbed in {of}; the worst: {worst}.")


def headline(matrix: Matrix) -> str:
    """Return the answer of a matrix: which row is the fastest in which columns, and which columns are undecided."""
    columns = matrix.columns
    if len({each.row.name for column in columns for each in column.ranked}) == 1:
        return _only_row(matrix)
    fastest = _by_winner(each for each in columns if each.sure and each.verdict == "best")
    ties = [each for each in columns if each.sure and each.verdict == "tie"]
    open_ = _by_winner(each for each in columns if not each.sure and each.verdict != "only")
    without_rival = _by_winner(each for each in columns if each.verdict == "only")
    parts = [f"{name} is the fastest{at(matrix, of)}{_ratios(of)}" for name, of in fastest.items()]
    for each in ties:
        tied = listing([row.row.name for row in each.ranked if row.standing is Standing.EQUIVALENT])
        parts.append(f"{tied} tie, within {format_percent(each.within)},{at(matrix, [each])}")
    leads = [f"{name} leads{at(matrix, of)}" for name, of in open_.items()]
    parts += [f"{name} has no rival{at(matrix, of)}" for name, of in without_rival.items()]
    if not fastest and not ties and leads:
        few = sorted({each.few_trials or 0 for each in columns if each.verdict != "only"})
        number = format_count(few[0], "trial") if len(few) == 1 else f"{few[0]} to {few[-1]} trials"
        why = f" with {number} each" if few[0] else ""
        return f"Undecided{why}: {'; '.join((*leads, *parts))}."
    return "; ".join(parts) + (f"; undecided: {'; '.join(leads)}" if leads else "") + "."


def decided(matrices: Sequence[Matrix]) -> Statement:
    """Return the verdicts that the headline does not have.

    These are the slower rows in columns without a single fastest row, and the number of decided columns in other
    matrices.
    """
    found: dict[str, list[JudgedExperiment]] = {}
    for column in matrices[0].columns if matrices else ():
        beaten, first = column.beaten, column.judged_by
        if beaten and first is not None and not column.sure:
            others = len(column.ranked) - 1 - len(column.of(Standing.TOO_FEW_TRIALS))
            number = f"{len(beaten)} of {others}" if len(beaten) > 2 else listing([each.row.name for each in beaten])
            text = f"{number} {'is' if len(beaten) == 1 else 'are'} slower than {first.row.name}"
            found.setdefault(text, []).append(column)
    texts = [f"{text}{at(matrices[0], columns)}" for text, columns in found.items()]
    further = [each for matrix in matrices[1:] for each in matrix.columns if len(each.ranked) > 1]
    if number_sure := sum(each.sure for each in further):
        texts.append(f"the fastest in {number_sure} of {len(further)} columns of the other experiments")
    return Statement(texts=tuple(texts))


def undecided(document: Document, matrices: Sequence[Matrix]) -> Statement:
    """Return the undecided rows, the reason, and the command that measures enough trials to decide."""
    found: dict[str, list[JudgedExperiment]] = {}
    again: list[Row] = []
    wanted = 0
    for column in matrices[0].columns if matrices else ():
        first, few = column.winner, column.few_trials
        if first is None or column.sure or column.verdict == "only":
            continue
        if few is not None:
            found.setdefault(f"{format_count(few, 'trial')} each ({FEWEST} are the fewest)", []).append(column)
            wanted = max(wanted, TRIALS)
            again += [each.row for each in column.ranked]
        elif not column.is_judgeable:
            found.setdefault(no_verdict(column), []).append(column)
        elif column.undecided:
            wanted = max(wanted, min(column.trials_needed or TRIALS, _MOST_TRIALS))
            again += [first.row, *(each.row for each in column.undecided)]
            names = some((each.row.name for each in column.undecided if each is not first), _NAMED)
            found.setdefault(f"{first.row.name} or {names}", []).append(column)
        else:
            doubted = {each.row.name: each.doubt for each in column.doubted}
            most = max(dict.fromkeys(doubted.values()), key=[*doubted.values()].count, default="")
            found.setdefault(f"{most} in {some(doubted, _NAMED)}" if most else first.row.name, []).append(column)
    texts = [f"{text}{at(matrices[0], columns)}" for text, columns in found.items()]
    cells = [row.result.cell for row in document.rows if not row.is_raw_transport]
    fields = {field for field in EXPERIMENT if len({getattr(cell, field) for cell in cells}) > 1}
    command, _ = (settling(document, again, wanted, fields) if again else None) or ("", 0.0)
    return Statement(texts=tuple(texts), remedy=command)


def broken(document: Document) -> Statement:
    """Return whether the run is incomplete, and which rows failed, have no median or used another transport."""
    run = document.runs[0]
    known = (NOT_MEASURED, NO_INTEROP)  # the table of pairs shows rows with NO_INTEROP
    failed = [row for row in document.rows if row.result.failed and row.result.failed.code not in known]
    texts = [each for each in states(document) if "no result; the reasons" not in each]
    remedy = next((row.result.failed.advice for row in failed if row.result.failed and row.result.failed.advice), "")
    if failed and failed[0].result.failed:
        text = failed[0].result.failed.text
        short = text if len(text) <= _MOST_REASON else f"{text[:_MOST_REASON].rsplit(' ', 1)[0]} …"
        texts.append(f"{some(_names(failed), 1)} failed: {short}")
    another_transport, unprotected = misnamed(document.rows)
    without_median = [row for row in document.rows if headline_figure(row.result) is None and _few_samples(row)]
    for rows, how in (
        (another_transport, "on another transport"),
        (unprotected, "not protected as named"),
        (without_median, "without a median: too few samples"),
    ):
        if names := _names(rows):
            texts.append(f"{some(names, 1)} {how}")
    if without_median and not remedy:
        remedy = _few_samples(without_median[0])
    if not run.running and not run.file.imported and len(run.outcomes) < run.planned_trials:
        remedy = shlex.join(["middlemark", "run", "--resume", str(run.folder)])
    return Statement(texts=tuple(map(plain, texts)), remedy=plain(remedy))


def _few_samples(row: Row) -> str:
    """Return the advice of the row's warning that it has too few samples; empty: it has no such warning."""
    return next((each.advice for each in row.result.warnings if each.code == "few-samples"), "")


def not_tried_text(left_out: Sequence[NotTried]) -> str:
    """Return the adapters that were not measured, by reason, with the command that builds them; empty: none.

    ``not tried: zenoh, iceoryx2 (not built: ./middlemark build zenoh iceoryx2)``
    """
    not_found = [each for each in left_out if each.why.endswith(_NOT_FOUND)]
    one_reason = {each.adapter: _ALL_NOT_FOUND for each in not_found} if len(not_found) > 1 else {}
    parts = []
    for why, members in grouped(left_out, lambda each: one_reason.get(each.adapter, each.why)).items():
        commands = list(dict.fromkeys(each.command for each in members if each.command))
        reason = f"{why}: {joined_commands(commands)}" if commands else why
        parts.append(f"{', '.join(each.adapter for each in members)} ({reason})")
    return plain(f"not tried: {'; '.join(parts)}") if parts else ""


def joined_commands(commands: Sequence[str]) -> str:
    """Join commands that differ only in the last word: ``./middlemark build zenoh iceoryx2``.

    Join others with ``;``. Leave out the words if there are many: ``./middlemark build`` builds every adapter.
    """
    begins = {each.rpartition(" ")[0] for each in commands}
    if len(begins) > 1:
        return "; ".join(commands)
    if len(commands) > _NAMED:
        return begins.pop()
    return f"{begins.pop()} {' '.join(each.rpartition(' ')[2] for each in commands)}"


def _only_row(matrix: Matrix) -> str:
    """Return the figures of a matrix with one row, column by column."""
    figures = [
        f"{figure_text(column, each.figure)}{at(matrix, [column])}"
        + (f" ({ratio(each.ratio)} × baseline)" if each.ratio is not None and not each.row.is_raw_transport else "")
        for column in matrix.columns
        for each in column.ranked
    ]
    return f"{matrix.columns[0].ranked[0].row.name}: {some(figures, _NAMED)}."


def _by_winner(columns: Iterable[JudgedExperiment]) -> dict[str, list[JudgedExperiment]]:
    return grouped((each for each in columns if each.winner), lambda each: each.winner.row.name if each.winner else "")


def _ratios(columns: Sequence[JudgedExperiment]) -> str:
    """Return ``, 1.2 to 3.4 × baseline``: the winners' ratios in these columns. Empty: no winner has a baseline."""
    ratios = sorted(each.winner.ratio for each in columns if each.winner and each.winner.ratio is not None)
    return f", {span((ratio(ratios[0]), ratio(ratios[-1])))} × baseline" if ratios else ""


def _names(rows: Sequence[Row]) -> list[str]:
    return [f"{row.name} {'in' if row.result.cell.workload else 'at'} {size(row.result.cell)}" for row in rows]
