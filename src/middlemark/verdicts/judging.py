"""Make judged experiments from rows. No other module decides which candidate wins.

An experiment is judged over all carriers and, if there are several, for each carrier. It is judged by p50, and again by
p99.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from middlemark.model.cell import EXPERIMENT, OF_MIDDLEWARE, Cell
from middlemark.stats.baselines import by_rate
from middlemark.stats.candidates import raced_by
from middlemark.stats.comparisons import Comparison
from middlemark.stats.interval import FEWEST
from middlemark.stats.metrics import METRICS
from middlemark.stats.pairings import at_levels_of_others
from middlemark.stats.race import FINALISTS
from middlemark.stats.verdict import MARGIN, Verdict
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import (
    HEADLINE,
    Experiment,
    JudgedExperiment,
    JudgedRow,
    Standing,
    doubt_of,
    figure_of,
    is_slower_in_every_trial,
)
from middlemark.verdicts.names import WORDS, is_contradicted
from middlemark.verdicts.rows import Row, grouped

NEAR = 0.1
"""After the run has ended, candidates tie if their intervals show that they differ by at most this fraction."""
WIDEST = 1 / 3
"""The limit in place of ``NEAR``, if the interval of each difference contains 0."""

_KEY = (*(each for each in EXPERIMENT if each != "size"), "label", "unknown")
"""Fields of a cell that all rows of an experiment have in common, besides the run and the size."""
_ASKED = tuple(field for field in OF_MIDDLEWARE if field != "loan")
"""Further fields that the rows have in common if there are several middlewares. The loan may differ, because the job is
the same."""


def judged_experiments(
    everything: Sequence[Row], comparisons: Comparisons, shown: Sequence[Row] | None = None
) -> tuple[JudgedExperiment, ...]:
    """Return every experiment of these rows: first those that can be judged, then by their number of candidates.

    Sizes ascend. ``shown``: return only the experiments of these rows; baselines may be any rows of ``everything``.
    """
    fields = [_Field(*each, everything) for each in _experiments(everything if shown is None else shown, everything)]
    fields = [each for each in fields if each.is_shown]
    for metric in dict.fromkeys(each.experiment.metric for each in fields):
        pairs = (pair for each in fields if each.experiment.metric == metric for pair in each.pairs())
        comparisons.also_judge(pairs, metric)
    judged = (each.judged(comparisons) for each in fields)
    groups = grouped(judged, lambda each: (each.by, each.restricted and each.carrier, each.key))
    ordered = sorted(
        groups.values(),
        key=lambda group: (
            group[0].metric == "deadline",
            group[0].race is None,
            group[0].by,
            not any(each.is_judgeable for each in group),
            group[0].restricted,
            -max(len(each.ranked) for each in group),
        ),
    )
    return tuple(each for group in ordered for each in sorted(group, key=lambda each: each.size))


def _experiments(rows: Sequence[Row], everything: Sequence[Row]) -> Iterator[tuple[Experiment, Sequence[Row]]]:
    """Yield each experiment with its rows, by metric and carrier.

    Raw transports are rows only if there are no others.
    """
    middleware = [each for each in rows if not each.is_raw_transport and not each.bench_only]
    subjects = middleware or [each for each in rows if not each.is_raw_transport] or list(rows)
    one_middleware = len({each.result.cell.middleware for each in subjects}) == 1
    keys: dict[tuple[int, int], tuple[object, ...]] = {}
    found: dict[tuple[tuple[object, ...], int], list[tuple[Row, Cell]]] = {}
    # If a middleware was measured at only one level of a factor, it is compared with the others at their most common
    # level.
    for row, (cell, *_) in zip(subjects, at_levels_of_others([each.result.cell for each in subjects]), strict=True):
        if "size" in cell.unknown:
            continue
        fields = _KEY if one_middleware else (*_KEY, *_ASKED)
        key = (row.run, *(getattr(cell, each) for each in fields))
        if row.in_race is not None:  # the candidates of one race are one experiment
            key = keys.setdefault((row.run, row.in_race.race), key)
        found.setdefault((key, cell.size), []).append((row, cell))
    for (key, size), members in found.items():
        shared = _shared([cell for _, cell in members])
        levels = {factor: text for factor, in_words in WORDS.items() if (text := in_words(shared))}
        graph = shared.workload is not None
        in_race = members[0][0].in_race
        first = "throughput" if by_rate(shared) and not graph else raced_by(shared, in_race)
        latencies = () if graph or by_rate(shared) else ("p50", "p99")
        ways = {row.index: row.carrier or row.result.cell.transport for row, _ in members}
        several = dict.fromkeys(ways.values()) if len({*ways.values()}) > 1 and not one_middleware and not graph else ()
        for metric in dict.fromkeys((first, *latencies)):
            for carrier in (None, *several):
                some = [row for row, _ in members if carrier in (None, ways[row.index])]
                carriers = {row.carrier for row in some}
                yield (
                    Experiment(
                        run=some[0].run,
                        key=key,
                        metric=metric,
                        size=size,
                        carrier=carrier or (carriers.pop() if len(carriers) == 1 else None),
                        restricted=carrier is not None,
                        cell=shared,
                        levels=levels,
                        copying=_baseline(some, everything, hands_over=False),
                        handing_over=_baseline(some, everything, hands_over=True),
                        # A race is decided by one metric over all carriers, so it decides no other experiment.
                        race=in_race.state if in_race and carrier is None and metric == first else None,
                        one_middleware=one_middleware,
                    ),
                    some,
                )


_OF_A_ROW = ("unknown", "adapter", "transport", "pair", "label")


def _shared(cells: Sequence[Cell]) -> Cell:
    """Return the first cell. The fields in which the other cells differ from it are added to ``unknown``."""
    several = [
        each
        for each in Cell.__struct_fields__
        if each not in _OF_A_ROW and len({getattr(cell, each) for cell in cells}) > 1
    ]
    return msgspec.structs.replace(cells[0], unknown=(*cells[0].unknown, *several))


def _baseline(members: Sequence[Row], everything: Sequence[Row], *, hands_over: bool) -> Row | None:
    some = (each.baseline_row for each in members if each.hands_over == hands_over and not each.is_raw_transport)
    return next((everything[each] for each in some if each is not None), None)


class _Field:
    """The rows of an experiment that is not judged yet: failed rows, eliminated rows, and rows that may be the best."""

    def __init__(self, experiment: Experiment, members: Sequence[Row], everything: Sequence[Row]) -> None:
        self.experiment, self._members, self._everything = experiment, members, everything
        self._race, self._metric = experiment.race, experiment.metric
        self.figures = {
            each.index: figure
            for each in members
            if not is_contradicted(each.result) and (figure := figure_of(each, self._metric)) is not None
        }
        measured = [each for each in members if each.index in self.figures]
        measured.sort(key=lambda row: self.figures[row.index])
        # A race eliminates by its own metric and over all carriers. So its eliminations do not count for p99 or for one
        # carrier.
        self.eliminated = [each for each in measured if (each.is_eliminated if self._race else _misses(each))]
        running = [each for each in measured if each not in self.eliminated]
        self.able = [each for each in running if each.in_race is None or each.in_race.holds]
        self.running = [*self.able, *(each for each in running if each not in self.able)]
        self._candidates = self._best_of_each([*self.running, *self.eliminated])
        enough = [each for each in self.able if each.result.trials >= FEWEST]
        self.candidates = self._best_of_each(enough if len(self._best_of_each(enough)) > 1 else self.able)
        self.reference = self.candidates[0] if self.candidates else None

    @property
    def is_shown(self) -> bool:
        """True if there is a candidate (two if the experiment is restricted to a carrier), or if no candidate holds."""
        return self.is_none or len(self._candidates) >= (2 if self.experiment.restricted else 1)

    @property
    def is_none(self) -> bool:
        """True if no candidate met the requirements of the race."""
        return self._race is not None and self._race.ended == "none holds"

    def _best_of_each(self, ordered: Iterable[Row]) -> list[Row]:
        """Return the first row of each middleware. If there is only one middleware, return every row."""
        if self.experiment.one_middleware:
            return list(ordered)
        return [first for first, *_ in grouped(ordered, lambda row: row.result.cell.middleware).values()]

    def pairs(self) -> Iterator[tuple[Row, Row]]:
        """Yield the pair of the reference and each other row."""
        for each in (*self.running, *self.eliminated):
            if self.reference is not None and each is not self.reference:
                yield self.reference, each

    def judged(self, comparisons: Comparisons) -> JudgedExperiment:
        """Return the experiment with its verdict, and each row with its standing."""
        found = {
            row.index: comparison
            for reference, row in self.pairs()
            if (comparison := comparisons.find(reference.index, row.index, self._metric)) is not None
        }
        reopened = [each for each in self.eliminated if _is_reopened(each, found.get(each.index))]
        rivals = [*self.candidates[1:], *reopened]
        verdict, within = self._verdict([found.get(each.index) for each in rivals])
        if self._race is not None and self._race.ended == "tie" and verdict == "undecided":
            verdict, within = "tie", MARGIN
        eliminated = [each for each in self.eliminated if each not in reopened]
        cells = [*self.running, *reopened, *eliminated]
        names = {each.index for each in self._best_of_each(cells)}
        rows = [
            JudgedRow(
                row=each,
                figure=self.figures[each.index],
                ratio=self._ratio(each),
                times_first=self.figures[each.index] / first if (first := self.figures[cells[0].index]) else None,
                standing=self._standing(each, found.get(each.index), verdict, each in eliminated),
                is_candidate=each.index in names,
                comparison=found.get(each.index),
                doubt=doubt_of(each),
                slower_in_every_trial=self.reference is not None
                and is_slower_in_every_trial(each, self.reference, self._metric),
            )
            for each in cells
        ]
        rows += [
            JudgedRow(row=each, figure=None, ratio=None, times_first=None, standing=Standing.FAILED, is_candidate=False)
            for each in self._members
            if each.index not in self.figures
        ]
        return JudgedExperiment(
            **msgspec.structs.asdict(self.experiment),
            rows=tuple(rows),
            reference=self.reference.index if self.reference else None,
            verdict=verdict,
            within=within,
        )

    def _verdict(
        self, rivals: Sequence[Comparison | None]
    ) -> tuple[Literal["best", "tie", "undecided", "only", "none holds"], float]:
        if self.is_none or (self._race is not None and not self.running):
            return "none holds", MARGIN
        if self.reference is None:
            return "undecided", MARGIN
        with_interval = [each if each is not None and each.judged.low is not None else None for each in rivals]
        verdicts = {each.judged.verdict if each else None for each in with_interval}
        lower = self._best_of_each(self.able)[0] is not self.reference
        unable = len(self.running) > len(self.able)
        if not rivals and not unable:
            return ("undecided" if lower else "best" if self.eliminated and self._race else "only"), MARGIN
        if lower or unable or Verdict.BETTER in verdicts:
            return "undecided", MARGIN
        if verdicts <= {Verdict.WORSE, Verdict.EQUIVALENT}:
            return ("tie" if Verdict.EQUIVALENT in verdicts else "best"), MARGIN
        staying = [
            each
            for each in with_interval
            if each is None or not (each.is_worse if self._race else each.judged.verdict is Verdict.WORSE)
        ]
        within = widest_difference(staying)
        if not staying:
            return "best", MARGIN
        return ("tie", within) if len(staying) < FINALISTS and within < math.inf else ("undecided", MARGIN)

    def _standing(self, row: Row, found: Comparison | None, verdict: str, eliminated: bool) -> Standing:
        """Return the standing of a row that has a figure."""
        if row is self.reference:
            by_verdict = {"best": Standing.BEST, "tie": Standing.EQUIVALENT, "only": Standing.ONLY}
            few = row.result.trials < FEWEST and verdict == "undecided"
            return Standing.TOO_FEW_TRIALS if few else by_verdict.get(verdict, Standing.UNDECIDED)
        judged = found.judged if found is not None and found.judged.low is not None else None
        if judged is not None and judged.verdict is Verdict.WORSE and not _misses(row):
            return Standing.SLOWER
        if eliminated or (found is not None and self._race is not None and found.eliminated == "b"):
            return Standing.ELIMINATED
        if judged is None and row.result.trials < FEWEST:
            return Standing.TOO_FEW_TRIALS
        if judged is None:
            enough = self.reference is not None and self.reference.result.trials >= FEWEST
            return Standing.NO_COMMON_ROUNDS if enough else Standing.UNDECIDED
        if judged.verdict is Verdict.EQUIVALENT or (judged.verdict is Verdict.UNDECIDED and verdict == "tie"):
            return Standing.EQUIVALENT
        return Standing.UNDECIDED

    def _ratio(self, row: Row) -> float | None:
        if self._metric in HEADLINE:
            return row.ratio
        if not METRICS[self._metric].has_raw_transport:
            return None
        base = None if row.baseline_row is None else figure_of(self._everything[row.baseline_row], self._metric)
        return self.figures[row.index] / base if base else None


def _misses(row: Row) -> bool:
    """Say whether the row was eliminated because it misses a requirement, and not because it is slower."""
    return row.in_race is not None and row.in_race.eliminated not in (None, "slower")


def _is_reopened(row: Row, found: Comparison | None) -> bool:
    """Say whether a row may still be the best although the race eliminated it as slower.

    That is so if ``found``, its comparison with the reference, has an interval and is not significantly worse.
    """
    slower = row.in_race is not None and row.in_race.eliminated == "slower"
    return slower and found is not None and found.judged.low is not None and not found.is_worse


def widest_difference(comparisons: Iterable[Comparison | None]) -> float:
    """Return the fraction by which the pairs differ at most, rounded up to a percent. Infinite: they do not tie."""
    farthest, alike = 0.0, True
    for each in comparisons:
        if each is None or each.judged.low is None or each.judged.high is None:
            return math.inf
        farthest = max(farthest, -math.log1p(each.judged.low), math.log1p(each.judged.high))
        alike = alike and each.judged.low <= 0 <= each.judged.high
    if farthest > math.log1p(WIDEST if alike else NEAR):
        return math.inf
    return max(math.ceil(100 * math.expm1(farthest)) / 100, MARGIN)
