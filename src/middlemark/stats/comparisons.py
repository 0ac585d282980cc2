"""Comparisons of cells by a metric, and the raw transports of both sides. All verdicts come from these comparisons."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Description
from middlemark.stats.baselines import by_rate, nearest_raw_transports
from middlemark.stats.candidates import InRace, raced_by
from middlemark.stats.interval import FEWEST
from middlemark.stats.metrics import METRICS
from middlemark.stats.trials import TrialSummary
from middlemark.stats.verdict import MARGIN, Judgement, Verdict, judge

_COMPARED_BY = ("p50", "throughput")
"""The metrics by which cells are compared with raw transports."""


class RawTransportFigures(msgspec.Struct, frozen=True):
    """The raw transport of a cell in the same run: its label, and its figures as in ``Side.figures``."""

    label: str
    figures: Mapping[str, Mapping[int, float]]


class Side(msgspec.Struct, frozen=True):
    """One measured cell. ``figures``: metric → round → figure."""

    label: str
    run: str
    cell: Cell
    shared_memory: bool | None
    machine: str
    figures: Mapping[str, Mapping[int, float]]
    raw_transport: RawTransportFigures | None = None
    is_raw_transport: bool = False
    contradicted: bool = False
    """True if the actual transport is not the transport in the cell's name. Such a cell is compared only on request."""
    added: bool = False
    """True if the plan added the cell as a raw transport."""
    in_race: InRace | None = None
    """The cell's state in its race; None: the cell was in no race."""


class Pairing(msgspec.Struct, frozen=True):
    """Two cells to be compared.

    ``marks`` are reasons against the comparison (`--anyway`), or notes on it.
    """

    a: Side
    b: Side
    names: tuple[str, str]
    marks: tuple[str, ...] = ()


class Comparison(msgspec.Struct, frozen=True):
    """The comparison of B with A by one metric. ``word``: the verdict in the metric's words, or the eliminated side."""

    pairing: Pairing
    metric: str
    medians: tuple[float, float]
    judged: Judgement
    word: str
    family: int
    """Number of comparisons that were judged together and had enough rounds for a verdict."""
    eliminated: Literal["a", "b"] | None = None
    """The side that the race eliminated as slower, while the other side stayed; set only if the common trials give no
    verdict. The rule of the race uses the scatter of all candidates, and has its own error of 5 % in total."""

    @property
    def is_undecided(self) -> bool:
        """True if neither a verdict nor the rule of a race decides the comparison."""
        return self.judged.verdict is Verdict.UNDECIDED and self.eliminated is None

    @property
    def is_worse(self) -> bool:
        """True if B is significantly worse, by the verdict or by the rule of their race."""
        return self.judged.verdict is Verdict.WORSE or self.eliminated == "b"


def side(
    label: str,
    run: str,
    cell: Cell,
    shared_memory: bool | None,
    machine: str,
    trials: Sequence[TrialSummary],
    *,
    is_raw_transport: bool = False,
    contradicted: bool = False,
    added: bool = False,
    in_race: InRace | None = None,
    metrics: Iterable[str] = METRICS,
) -> Side:
    """Return the cell as a ``Side``, with the figures of its measured trials by ``metrics`` and by ``_COMPARED_BY``."""
    figures = {
        name: {
            each.outcome.number: value
            for each in trials
            if each.outcome.failed is None
            and (value := METRICS[name].figure(cell, each)) is not None
            and math.isfinite(value)
            and value > 0
        }
        for name in {*metrics, *_COMPARED_BY}
    }
    return Side(
        label,
        run,
        cell,
        shared_memory,
        machine,
        figures,
        is_raw_transport=is_raw_transport,
        contradicted=contradicted,
        added=added,
        in_race=in_race,
    )


def compare(
    pairings: Sequence[Pairing], metrics: Sequence[str], margin: float = MARGIN, reported: Sequence[Pairing] = ()
) -> list[Comparison]:
    """Judge each pairing by each metric that both sides have in a common round.

    ``reported``: all pairings in reports of these runs (``pairings.of_run``). For each metric and run (or pair of
    runs), all of ``reported`` is one family, even if ``pairings`` has only some of it. So a report, a table and a gate
    give the same verdict on a pair. Pairings outside the family are judged together with it and do not change its
    verdicts.
    """
    asked_pairs = {_both(each) for each in pairings}
    found: dict[tuple[int, str], Comparison] = {}
    for metric in metrics:
        applicable = [each for each in reported if describes_middleware(each, metric) and common_rounds(each, metric)]
        usual = {_both(each) for each in applicable}
        for runs in {_runs(each) for each in pairings}:
            asked = [each for each in pairings if _runs(each) == runs and common_rounds(each, metric)]
            family = [each for each in applicable if _runs(each) == runs and _both(each) not in asked_pairs]
            family += [each for each in asked if _both(each) in usual]
            further = [each for each in asked if _both(each) not in usual]
            of_family = _judged(family, metric, margin) if len(further) < len(asked) else []
            for each in of_family + (_judged(family + further, metric, margin) if further else []):
                found.setdefault((id(each.pairing), metric), each)
    return [found[id(each), metric] for each in pairings for metric in metrics if (id(each), metric) in found]


def _judged(members: Sequence[Pairing], metric: str, margin: float) -> list[Comparison]:
    pairs = [_pairs(each, metric) for each in members]
    verdicts = judge(
        pairs,
        higher_is_better=[METRICS[metric].higher_is_better] * len(members),
        questions=[_question(each) for each in members],
        margin=margin,
    )
    family = sum(each.pairs >= FEWEST for each in verdicts)
    found = []
    for pairing, rounds, judgement in zip(members, pairs, verdicts, strict=True):
        eliminated = _eliminated(pairing, judgement) if metric == raced_by(pairing.a.cell, pairing.a.in_race) else None
        judged = judgement if eliminated is None else msgspec.structs.replace(judgement, trials_needed=None)
        verdict_word = word(metric, judged.verdict, eliminated)
        found.append(
            Comparison(pairing, metric, _medians([*rounds.values()]), judged, verdict_word, family, eliminated)
        )
    return found


def _eliminated(pairing: Pairing, judged: Judgement) -> Literal["a", "b"] | None:
    a, b = pairing.a.in_race, pairing.b.in_race
    if judged.verdict is not Verdict.UNDECIDED or a is None or b is None or a.race != b.race:
        return None
    if (a.eliminated, b.eliminated) == (None, "slower") and judged.shift > 0:
        return "b"
    return "a" if (a.eliminated, b.eliminated) == ("slower", None) and judged.shift < 0 else None


_OTHER_WAY = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
_OTHER_SIDE: dict[Literal["a", "b"] | None, Literal["a", "b"] | None] = {"a": "b", "b": "a", None: None}


def mirrored(comparison: Comparison) -> Comparison:
    """Return the comparison with A and B exchanged. The log-ratios change their sign.

    All other values stay the same.
    """

    def other_way(part: float | None) -> float | None:
        return None if part is None else 1 / (1 + part) - 1

    judged = comparison.judged
    verdict = _OTHER_WAY.get(judged.verdict, judged.verdict)
    return msgspec.structs.replace(
        comparison,
        pairing=Pairing(
            comparison.pairing.b, comparison.pairing.a, comparison.pairing.names[::-1], comparison.pairing.marks
        ),
        medians=comparison.medians[::-1],
        word=word(comparison.metric, verdict, _OTHER_SIDE[comparison.eliminated]),
        eliminated=_OTHER_SIDE[comparison.eliminated],
        judged=msgspec.structs.replace(
            judged,
            shift=1 / (1 + judged.shift) - 1,
            low=other_way(judged.high),
            high=other_way(judged.low),
            verdict=verdict,
        ),
    )


def describes_middleware(pairing: Pairing, metric: str) -> bool:
    """Say whether the metric describes the middleware on both sides, and not a schedule or a queue."""
    return all(METRICS[metric].applies(each.cell) for each in (pairing.a, pairing.b))


def common_rounds(pairing: Pairing, metric: str) -> int:
    """Return the number of rounds in which both sides have a figure."""
    return len(pairing.a.figures[metric].keys() & pairing.b.figures[metric].keys())


def _both(pairing: Pairing) -> frozenset[tuple[str, Cell]]:
    return frozenset((each.run, each.cell) for each in (pairing.a, pairing.b))


def _runs(pairing: Pairing) -> frozenset[str]:
    return frozenset((pairing.a.run, pairing.b.run))


def _question(pairing: Pairing) -> tuple[object, ...]:
    """Return the size, pattern and rate of A's cell.

    Comparisons with an equal size, pattern and rate scatter similarly.
    """
    return pairing.a.cell.size, pairing.a.cell.pattern, pairing.a.cell.rate


def _pairs(pairing: Pairing, metric: str) -> dict[int, tuple[float, float]]:
    a, b = pairing.a.figures[metric], pairing.b.figures[metric]
    return {number: (a[number], b[number]) for number in sorted(a.keys() & b.keys())}


def _medians(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def word(metric: str, verdict: Verdict, eliminated: Literal["a", "b"] | None = None) -> str:
    """Return the verdict in the metric's own words: faster or slower, less or more, equivalent, undecided.

    If only the rule of a race decided, the word is ``eliminated`` (B) or ``A eliminated``.
    """
    if eliminated is not None:
        return "eliminated" if eliminated == "b" else "A eliminated"
    if verdict is Verdict.BETTER:
        return METRICS[metric].better
    return METRICS[metric].worse if verdict is Verdict.WORSE else verdict.value


class TimesRawTransport(msgspec.Struct, frozen=True):
    """Comparison of one side with the raw transport of its carrier, by one metric.

    ``median`` is the raw transport's figure. ``times`` is the side's time divided by the raw transport's time.
    """

    label: str
    median: float
    times: float


def with_raw_transports(
    sides: Sequence[Side], descriptions: Mapping[str, Description], actual_transports: Sequence[str | None] = ()
) -> tuple[Side, ...]:
    """Return the cells of one run, each with the raw transport of its carrier.

    The cells of raw transports get no raw transport.
    """
    found = nearest_raw_transports(
        [each.cell for each in sides], [_compared_ns(each) for each in sides], descriptions, actual_transports
    )
    return tuple(
        side
        if raw is None or raw.cell == index
        else msgspec.structs.replace(side, raw_transport=RawTransportFigures(raw.label, sides[raw.cell].figures))
        for index, (side, raw) in enumerate(zip(sides, found, strict=True))
    )


def times_raw_transports(comparison: Comparison) -> tuple[TimesRawTransport | None, TimesRawTransport | None]:
    """Return the time of A, and of B, divided by the time of its raw transport; None: the side has no raw transport."""
    a, b = comparison.pairing.a, comparison.pairing.b
    return (
        _against(a, comparison.metric, comparison.medians[0]),
        _against(b, comparison.metric, comparison.medians[1]),
    )


def _against(side: Side, metric: str, median: float) -> TimesRawTransport | None:
    if side.raw_transport is None or not METRICS[metric].has_raw_transport or not side.raw_transport.figures[metric]:
        return None
    raw_transport = statistics.median(side.raw_transport.figures[metric].values())
    times = raw_transport / median if METRICS[metric].higher_is_better else median / raw_transport
    return TimesRawTransport(side.raw_transport.label, raw_transport, times)


def _compared_ns(side: Side) -> float | None:
    """Return the figure to compare with a raw transport, in ns: the time per message if ``by_rate``, else the p50."""
    rated = by_rate(side.cell)
    figures = side.figures["throughput" if rated else "p50"].values()
    if not figures:
        return None
    median = statistics.median(figures)
    return 1e9 / median if rated else median
