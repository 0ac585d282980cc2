"""What a reader can choose from, experiment by experiment: the first screen of the report."""

import math
from collections.abc import Sequence

import msgspec

from middlemark.document.document import Document
from middlemark.document.next_steps import settling_of
from middlemark.document.numbers import rounded
from middlemark.document.statements import CARRIERS, lead, reason, why
from middlemark.verdicts.experiments import JudgedExperiment, Standing
from middlemark.verdicts.names import WORDS, plain

USUAL_SIZE = 1024
"""What is shown first: the measured size that is nearest to it."""
_KEPT = ("pattern", "rate", "processes", "subscribers", "receive")
"""Which factor names an experiment where another would do as well."""


class Place(msgspec.Struct, frozen=True):
    """A row in the ranking. ``figure``: ns, or messages a second where the experiment is by rate."""

    row: int
    standing: Standing
    why: str
    figure: float
    ratio: float | None


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Who wins at one size in one experiment, over any carrier or one of them."""

    by: str
    """p50, which stands for the rate as well where trials are judged by it; or p99."""
    size: int
    levels: dict[str, str]
    """What tells this experiment from the others of the document, in words: by factor, ``carrier`` and ``run``."""
    verdict: str
    sure: bool
    lead: str
    why: str
    """Two sentences: who is first, and how sure that is."""
    winner: str
    places: tuple[Place, ...]
    """Each middleware at its best transport, the best first."""
    baseline: int | None
    """The row of the winner's baseline."""
    failed: tuple[int, ...]
    """Without a result, or with another actual transport than they name; in no order."""
    command: str | None
    """What would decide what is undecided, and the seconds it would take."""
    seconds: float | None


def choices(document: Document) -> tuple[Choice, ...]:
    """Return one an experiment: those by p50 first, sizes ascending."""
    found = document.choices
    everything = [each.levels for each in found]
    factors = [each for each in WORDS if len({levels.get(each) for levels in everything}) > 1]
    for factor in sorted(factors, key=lambda each: _KEPT.index(each) if each in _KEPT else len(_KEPT), reverse=True):
        without = [each for each in factors if each != factor]
        if _distinct(everything, without) == _distinct(everything, factors):
            factors = without
    several = len(document.runs) > 1
    carriers = any(each.restricted for each in found)

    def levels(each: JudgedExperiment) -> dict[str, str]:
        own = {factor: each.levels.get(factor, "") for factor in factors}
        carrier = CARRIERS.get(str(each.carrier), str(each.carrier)) if each.restricted else "any"
        own |= {"carrier": carrier} if carriers else {}
        return own | ({"run": plain(document.runs[each.run].name)} if several else {})

    return tuple(_choice(document, each, levels(each)) for each in found)


def usual(found: Sequence[Choice]) -> int:
    """Return which of them is shown first: of the first experiment the one whose size is the nearest to the usual."""
    if not found:
        return 0
    first = [at for at, each in enumerate(found) if (each.levels, each.by) == (found[0].levels, found[0].by)]
    return min(first, key=lambda at: abs(math.log(max(found[at].size, 1) / USUAL_SIZE)))


def _distinct(everything: Sequence[dict[str, str]], factors: Sequence[str]) -> int:
    return len({tuple(levels.get(each) for each in factors) for levels in everything})


def _choice(document: Document, experiment: JudgedExperiment, levels: dict[str, str]) -> Choice:
    first = experiment.ranked[0]
    baseline = None if first.row.is_raw_transport else experiment.baseline_of(first.row)
    command, seconds = settling_of(document, experiment, {"size", *levels}) or (None, None)
    adapters = [each.row.result.cell.adapter for each in experiment.ranked]
    return Choice(
        **{name: getattr(experiment, name) for name in ("by", "size", "verdict", "sure")},
        levels=levels,
        lead=lead(experiment),
        why=plain(why(experiment)),
        winner=first.row.result.cell.adapter if len({*adapters}) == len(adapters) else first.row.name,
        places=tuple(
            Place(
                row=each.row.index,
                standing=each.standing,
                why=reason(experiment, each),
                figure=experiment.shown(each.figure) or 0.0,
                ratio=each.ratio,
            )
            for each in experiment.ranked
        ),
        baseline=None if baseline is None else baseline.index,
        failed=tuple(each.row.index for each in experiment.failed),
        command=command,
        seconds=rounded(seconds),
    )
