"""The choices on the first screen of the report: a ranking for each experiment."""

import math
from collections.abc import Sequence

import msgspec

from middlemark.document.answers import states
from middlemark.document.document import Document
from middlemark.document.next_steps import settling_of
from middlemark.document.numbers import rounded
from middlemark.document.settings import settings_to_copy
from middlemark.document.statements import CARRIERS, figure_text, lead, next_in_words, reason, why
from middlemark.document.which import how_sure
from middlemark.document.workloads import conclusion
from middlemark.verdicts.experiments import JudgedExperiment, Standing
from middlemark.verdicts.names import WORDS, plain
from middlemark.verdicts.race import RaceVerdict, races

USUAL_SIZE = 1024
"""The report first shows the measured size that is nearest to this size."""
_KEPT = ("pattern", "rate", "processes", "subscribers", "receive")
"""Factors that distinguish experiments, the preferred first: if several factors would do, a later one is left out."""


class Place(msgspec.Struct, frozen=True):
    """A row in the ranking.

    ``row``: index of the row; ``figure``: in ns, messages a second or the metric's unit; ``text``: the figure with its
    unit.
    """

    row: int
    standing: Standing
    why: str
    figure: float
    text: str
    ratio: float | None


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The ranking of one experiment at one size, over all carriers or over one carrier."""

    by: str
    """The metric of the ranking. An experiment judged by its rate also has ``p50``."""
    size: int
    levels: dict[str, str]
    """Factor, ``carrier`` or ``run`` → its level in words, if the level differs between experiments."""
    verdict: str
    sure: bool
    mark: str
    """The verdict in one or two words."""
    lead: str
    why: str
    """Two sentences: the candidate with the best figure, and the verdict."""
    sentence: str
    """The sentence after ``lead``. For a race: the comparison of the answer with the next candidate, as ``which``
    prints it. Otherwise: ``why``, and how much more the next candidate takes."""
    settings: str
    """The winner's version, its levels, and its settings in the middleware's own form, to copy."""
    winner: str
    places: tuple[Place, ...]
    """A row for each middleware over its best transport, the best row first."""
    baseline: int | None
    """The row of the winner's baseline."""
    failed: tuple[int, ...]
    """Rows without a result, and rows whose actual transport is not the transport in their name."""
    command: str | None
    """The command that would decide the open comparisons, or None. ``seconds``: the duration of the command."""
    seconds: float | None


def choices(document: Document) -> tuple[Choice, ...]:
    """Return a choice for each experiment: by p50 first, sizes ascending."""
    found = document.choices
    everything = [each.levels for each in found]
    factors = [each for each in WORDS if len({levels.get(each) for levels in everything}) > 1]
    for factor in sorted(factors, key=lambda each: _KEPT.index(each) if each in _KEPT else len(_KEPT), reverse=True):
        without = [each for each in factors if each != factor]
        if _distinct(everything, without) == _distinct(everything, factors):
            factors = without
    several = len(document.runs) > 1
    raced = [each for number, run in enumerate(document.runs) for each in races(document.experiments, run, number)]
    asked = {id(each.experiment): each for each in raced if each.race.question}
    carriers = any(each.restricted for each in found)

    def levels(each: JudgedExperiment) -> dict[str, str]:
        own = {factor: each.levels.get(factor, "") for factor in factors}
        carrier = CARRIERS.get(str(each.carrier), str(each.carrier)) if each.restricted else "any"
        own |= {"carrier": carrier} if carriers else {}
        return own | ({"run": plain(document.runs[each.run].name)} if several else {})

    return tuple(_choice(document, each, levels(each), asked.get(id(each))) for each in found)


def usual(found: Sequence[Choice]) -> int:
    """Return the index of the choice shown first: the first experiment, at the size nearest to ``USUAL_SIZE``."""
    if not found:
        return 0
    first = [at for at, each in enumerate(found) if (each.levels, each.by) == (found[0].levels, found[0].by)]
    return min(first, key=lambda at: abs(math.log(max(found[at].size, 1) / USUAL_SIZE)))


def in_a_line(document: Document) -> str:
    """Return the mark and the first sentence of the choice shown first. Without choices: how complete the runs are."""
    found = choices(document)
    if found:
        shown = found[usual(found)]
        return f"{shown.mark}: {shown.lead}"
    return " ".join(map(conclusion, document.workloads)) or " ".join(states(document))


def _distinct(everything: Sequence[dict[str, str]], factors: Sequence[str]) -> int:
    return len({tuple(levels.get(each) for each in factors) for levels in everything})


def _choice(
    document: Document, experiment: JudgedExperiment, levels: dict[str, str], race: RaceVerdict | None
) -> Choice:
    first = experiment.ranked[0]
    baseline = None if first.row.is_raw_transport else experiment.baseline_of(first.row)
    command, seconds = settling_of(document, experiment, {"size", *levels}) or (None, None)
    adapters = [each.row.result.cell.middleware for each in experiment.ranked]
    return Choice(
        **{name: getattr(experiment, name) for name in ("by", "size", "verdict", "sure")},
        levels=levels,
        mark=_mark(experiment),
        lead=lead(experiment),
        why=plain(why(experiment)),
        sentence=plain((race and how_sure(race)) or f"{why(experiment)} {next_in_words(experiment)}".strip()),
        settings=settings_to_copy(document, first.row),
        winner=first.row.result.cell.middleware if len({*adapters}) == len(adapters) else first.row.name,
        places=tuple(
            Place(
                row=each.row.index,
                standing=each.standing,
                why=reason(experiment, each),
                figure=experiment.shown(each.figure) or 0.0,
                text=figure_text(experiment, each.figure),
                ratio=each.ratio,
            )
            for each in experiment.ranked
        ),
        baseline=None if baseline is None else baseline.index,
        failed=tuple(each.row.index for each in experiment.failed),
        command=command,
        seconds=rounded(seconds),
    )


def _mark(experiment: JudgedExperiment) -> str:
    if experiment.verdict == "best":
        return "significant" if experiment.sure else "doubtful"
    if experiment.verdict == "tie":
        return "tie" if experiment.sure else "doubtful tie"
    return "only candidate" if experiment.verdict == "only" else experiment.verdict
