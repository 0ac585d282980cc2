"""Rows → judged experiments. Who wins, by how much and how sure is computed here, once, and nowhere else.

An experiment is what a reader can choose from: every candidate that does the same job under the same load. First it is
judged whatever carries the messages, then by p99, and carrier by carrier where there are several.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Literal

import msgspec

from middlemark.model.cell import EXPERIMENT, FACTORS, Cell
from middlemark.stats.candidates import RaceState, raced_by
from middlemark.stats.comparisons import Comparison
from middlemark.stats.floors import by_rate
from middlemark.stats.interval import FEWEST
from middlemark.stats.pairings import at_levels_of_others
from middlemark.stats.race import FINALISTS
from middlemark.stats.verdict import MARGIN, Verdict
from middlemark.stats.warnings.cells import SERIOUS
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.names import WORDS, is_contradicted, warning_name
from middlemark.verdicts.rows import Row, headline_figure, latency_of

NEAR = 0.1
"""Candidates that significantly differ by no more than this part tie when nothing more is measured."""
WIDEST = 1 / 3
"""The same where the interval of each difference contains 0."""

_KEY = (*(each for each in EXPERIMENT if each != "size"), "label", "unknown")
"""What makes another experiment, beside the run and the size."""
_ASKED = tuple(each.field for each in FACTORS.values() if each.of == "middleware" and each.field != "loan")
"""So does this, where several middlewares were measured. Loans are a candidate's own: they do the same job."""


class Standing(StrEnum):
    """One row's result in its experiment."""

    BEST = "best"
    EQUIVALENT = "equivalent"
    """To the best, or it ties with it."""
    SLOWER = "slower"
    """Significantly worse than another candidate."""
    UNDECIDED = "undecided"
    ELIMINATED = "eliminated"
    """From its race, by the rule of the race, without a verdict of its own."""
    TOO_FEW_TRIALS = "too_few_trials"
    NO_COMMON_ROUNDS = "no_common_rounds"
    """It has enough trials, but fewer than six in the rounds of the candidate that it is compared with."""
    ONLY = "only"
    """No other candidate has a result."""
    FAILED = "failed"
    """It has no result, or one of something else than its name says."""


class JudgedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row in its experiment."""

    row: Row
    figure: float | None
    """The headline figure, the median over its good trials; less is better. None: it failed."""
    ratio: float | None
    """Of that figure to its baseline's; None without a baseline."""
    times_first: float | None
    """Of that figure to that of the first of the ranking."""
    standing: Standing
    is_candidate: bool
    """Whether it is the best row of its middleware, which stands for the middleware."""
    comparison: Comparison | None = None
    """It beside the reference of its experiment; None of the reference itself, and where they share no round."""
    doubt: str = ""
    """In two words, why its median may be of something else, or of two things; empty: nothing says so."""


class JudgedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment at one size by one metric."""

    run: int
    key: tuple[object, ...]
    """What makes another experiment, but for the size."""
    metric: str
    size: int
    carrier: str | None
    """What carries all of its rows; None where they differ in that."""
    restricted: bool
    """Whether it has only the rows of that carrier, of an experiment with several."""
    cell: Cell
    """With the levels that all of its rows share."""
    levels: dict[str, str]
    """Those levels in words, by factor."""
    copying: Row | None
    """The baseline of the rows that copy."""
    handing_over: Row | None
    """The baseline of the rows that hand over."""
    rows: tuple[JudgedRow, ...]
    """The ranking: those that may be the best by rising figure, then the eliminated, then the failed."""
    reference: int | None
    """The row that the others are compared with: the best one that can be judged. None: no row can."""
    verdict: Literal["best", "tie", "undecided", "only", "none holds"]
    within: float
    """Candidates that tie significantly differ by less than this part."""
    race: RaceState | None
    """That of its race; None: there was none."""
    one_middleware: bool
    """Whether every row is a candidate, because the run has one middleware."""

    @property
    def by(self) -> str:
        """p50, which stands for the rate as well where trials are judged by it; or p99."""
        return "p99" if self.metric == "p99" else "p50"

    @property
    def by_rate(self) -> bool:
        """Whether its figure is a rate to the reader: messages a second."""
        return self.metric == "throughput"

    @property
    def ranked(self) -> tuple[JudgedRow, ...]:
        """The candidates with a figure: one row a middleware."""
        return tuple(each for each in self.rows if each.is_candidate)

    @property
    def winner(self) -> JudgedRow | None:
        """The first of the ranking: the best, or the one with the lowest median. None: no row has a figure."""
        return next((each for each in self.ranked if self.verdict != "none holds"), None)

    @property
    def judged_by(self) -> JudgedRow | None:
        """The reference."""
        return next((each for each in self.rows if each.row.index == self.reference), None)

    @property
    def doubted(self) -> tuple[JudgedRow, ...]:
        """The candidates in the verdict whose figure is doubtful."""
        unsure = (Standing.TOO_FEW_TRIALS, Standing.NO_COMMON_ROUNDS) if self.is_judgeable else ()
        return tuple(
            each
            for each in self.ranked
            if each.doubt and not each.row.is_eliminated and each.standing not in (Standing.ELIMINATED, *unsure)
        )

    @property
    def sure(self) -> bool:
        """Whether there is a verdict, and no figure in it is doubtful."""
        return self.verdict in ("best", "tie") and not self.doubted

    @property
    def is_open(self) -> bool:
        """Whether more trials could decide more: nothing is decided, or a tie is a wide one."""
        return self.verdict == "undecided" or (self.verdict == "tie" and self.within > MARGIN)

    @property
    def is_judgeable(self) -> bool:
        """Whether there can be a verdict: two candidates have the trials for one, or a race decided."""
        if self.verdict in ("best", "tie"):
            return True
        return any(each.comparison is not None and each.comparison.judged.low is not None for each in self.ranked)

    def of(self, *standings: Standing) -> list[JudgedRow]:
        """Return the candidates with one of these standings, but not the reference."""
        return [each for each in self.ranked if each.standing in standings and each.row.index != self.reference]

    @property
    def beaten(self) -> list[JudgedRow]:
        """The candidates that are significantly slower, or were eliminated."""
        return self.of(Standing.SLOWER, Standing.ELIMINATED)

    @property
    def equal(self) -> list[JudgedRow]:
        """The candidates that tie with the reference, or are equivalent to it."""
        return self.of(Standing.EQUIVALENT)

    @property
    def undecided(self) -> list[JudgedRow]:
        """The candidates that are undecided against the reference, or cannot be compared with it."""
        return self.of(Standing.UNDECIDED, Standing.NO_COMMON_ROUNDS)

    @property
    def too_few(self) -> list[JudgedRow]:
        """The candidates with too few trials."""
        return self.of(Standing.TOO_FEW_TRIALS)

    @property
    def failed(self) -> list[JudgedRow]:
        """The rows without a result of their own."""
        return [each for each in self.rows if each.standing is Standing.FAILED]

    @property
    def trials_needed(self) -> int | None:
        """How many trials would decide what is undecided and can be decided; None: no number would."""
        judged = [each.comparison.judged for each in (*self.undecided, *self.equal) if each.comparison]
        needed = (each.trials_needed for each in judged if each.verdict is Verdict.CANNOT_TELL)
        return max((each for each in needed if each is not None), default=None)


def figure_of(row: Row, metric: str) -> float | None:
    """Return the row's figure by that metric, the median over its good trials; less is better."""
    if metric != "p99":
        return headline_figure(row.result)
    latency = latency_of(row.result)
    return latency.p99 if latency and not by_rate(row.result.cell) else None


def doubt_of(row: Row) -> str:
    """Return in two words why the row's median may be of something else, or of two things; empty: nothing says so."""
    return next((warning_name(each.code) for each in row.result.warnings if each.code in SERIOUS), "")


def judged_experiments(
    everything: Sequence[Row], comparisons: Comparisons, shown: Sequence[Row] | None = None
) -> tuple[JudgedExperiment, ...]:
    """Return every experiment of these rows, those first in which most is decided; sizes ascend.

    ``shown``: the rows whose experiments are wanted, of ``everything`` that was judged.
    """
    fields = [_Field(everything, *each) for each in _groups(everything if shown is None else shown)]
    fields = [each for each in fields if len(each.candidates) >= (2 if each.restricted else 1) or each.is_none]
    for metric in dict.fromkeys(each.metric for each in fields):
        comparisons.judge_too((pair for each in fields if each.metric == metric for pair in each.pairs()), metric)
    found = [each.judged(comparisons) for each in fields]
    groups: dict[tuple[object, ...], list[JudgedExperiment]] = {}
    for each in found:
        groups.setdefault((each.by, each.carrier if each.restricted else None, each.key), []).append(each)
    ordered = sorted(
        groups.values(),
        key=lambda group: (
            group[0].metric == "deadline",
            group[0].by,
            not any(each.is_judgeable for each in group),
            group[0].restricted,
            -max(len(each.ranked) for each in group),
        ),
    )
    return tuple(each for group in ordered for each in sorted(group, key=lambda each: each.size))


Group = tuple[tuple[object, ...], str, int, str | None, Sequence[Row], Cell, bool]
"""Key, metric, size, the carrier that it is restricted to, its rows, the levels that they share, one middleware."""


def _groups(rows: Sequence[Row]) -> Iterator[Group]:
    """Yield the rows of each experiment, once a figure and carrier; raw transports where nothing else was measured."""
    middleware = [each for each in rows if not each.floor and not each.bench_only]
    subjects = middleware or [each for each in rows if not each.floor] or list(rows)
    one_middleware = len({each.result.cell.adapter for each in subjects}) == 1
    keys: dict[tuple[int, int], tuple[object, ...]] = {}
    found: dict[tuple[tuple[object, ...], int], list[tuple[Row, Cell]]] = {}
    # A middleware that was measured at one level of a factor stands beside the others at their usual one.
    for row, (cell, *_) in zip(subjects, at_levels_of_others([each.result.cell for each in subjects]), strict=True):
        if "size" in cell.unknown:
            continue
        fields = _KEY if one_middleware else (*_KEY, *_ASKED)
        key = (row.run, *(getattr(cell, each) for each in fields))
        if row.in_race is not None:  # those that raced each other are one experiment
            key = keys.setdefault((row.run, row.in_race.race), key)
        found.setdefault((key, cell.size), []).append((row, cell))
    for (key, size), members in found.items():
        of, cells = [each for each, _ in members], [each for _, each in members]
        graph = cells[0].workload is not None
        metric = raced_by(cells[0]) if graph or not by_rate(cells[0]) else "throughput"
        shared = _shared(cells)
        carriers = dict.fromkeys(each.carrier or each.result.cell.transport for each in of)
        whole = [None, *carriers] if len(carriers) > 1 and not one_middleware and not graph else [None]
        for by in (metric,) if graph or by_rate(cells[0]) else (metric, "p99"):
            for carrier in whole:
                some = [each for each in of if carrier in (None, each.carrier or each.result.cell.transport)]
                yield key, by, size, carrier, some, shared, one_middleware


def _shared(cells: Sequence[Cell]) -> Cell:
    """Return the first cell, with what the others do not share among its unknown levels."""
    several = [
        each
        for each in Cell.__struct_fields__
        if each not in ("unknown", "adapter", "transport", "label") and len({getattr(cell, each) for cell in cells}) > 1
    ]
    return msgspec.structs.replace(cells[0], unknown=(*cells[0].unknown, *several))


class _Field:
    """The rows of an experiment before they are judged: who failed, who was eliminated, who may be the best."""

    def __init__(
        self,
        everything: Sequence[Row],
        key: tuple[object, ...],
        metric: str,
        size: int,
        carrier: str | None,
        members: Sequence[Row],
        shared: Cell,
        one_middleware: bool,
    ) -> None:
        self.key, self.metric, self.size = key, metric, size
        self.restricted = carrier is not None
        self._everything, self._members, self._shared, self._one = everything, members, shared, one_middleware
        carriers = {each.carrier for each in members}
        self._carrier = carrier or (carriers.pop() if len(carriers) == 1 else None)
        state = members[0].in_race.state if members[0].in_race else None
        self._race = None if self.restricted or metric == "p99" else state
        figures = {each.index: figure_of(each, metric) for each in members if not is_contradicted(each.result)}
        self.figures = {index: figure for index, figure in figures.items() if figure is not None}
        measured = sorted(
            (each for each in members if each.index in self.figures),
            key=lambda row: (self.figures[row.index], row.index),
        )
        # Nobody was eliminated for the p99; nor by a candidate over one carrier, but by the leader of the whole race.
        self.eliminated = [each for each in measured if (each.is_eliminated if self._race else _misses(each))]
        running = [each for each in measured if each not in self.eliminated]
        self.able = [each for each in running if each.in_race is None or each.in_race.holds]
        self.running = [*self.able, *(each for each in running if each not in self.able)]
        self.candidates = self._best_of_each([*self.running, *self.eliminated])
        enough = [each for each in self.able if each.result.trials >= FEWEST]
        judgeable = len(enough if self._one else {each.result.cell.adapter for each in enough}) > 1
        self.contenders = self._best_of_each(enough if judgeable else self.able)
        self.reference = self.contenders[0] if self.contenders else None

    @property
    def is_none(self) -> bool:
        """Whether nobody did what the race asked for."""
        return self._race is not None and self._race.ended == "none holds"

    def _best_of_each(self, ordered: Iterable[Row]) -> list[Row]:
        """Return the first row of each middleware; where there is one middleware, every row."""
        if self._one:
            return list(ordered)
        best: dict[str, Row] = {}
        for row in ordered:
            best.setdefault(row.result.cell.adapter, row)
        return list(best.values())

    def pairs(self) -> Iterator[tuple[Row, Row]]:
        """Yield the reference with every other row."""
        for each in (*self.running, *self.eliminated):
            if self.reference is not None and each is not self.reference:
                yield self.reference, each

    def judged(self, comparisons: Comparisons) -> JudgedExperiment:
        """Return the experiment with its verdict, and each row with its standing."""
        found = {
            row.index: known
            for reference, row in self.pairs()
            if (known := comparisons.find(reference.index, row.index, self.metric)) is not None
        }
        reopened = [each for each in self.eliminated if _is_reopened(each, found.get(each.index))]
        rivals = [*self.contenders[1:], *reopened]
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
                times_first=self.figures[each.index] / self.figures[cells[0].index],
                standing=self._standing(each, found.get(each.index), verdict, each in eliminated),
                is_candidate=each.index in names,
                comparison=found.get(each.index),
                doubt=doubt_of(each),
            )
            for each in cells
        ]
        rows += [
            JudgedRow(row=each, figure=None, ratio=None, times_first=None, standing=Standing.FAILED, is_candidate=False)
            for each in self._members
            if each.index not in self.figures
        ]
        return JudgedExperiment(
            run=self._members[0].run,
            key=self.key,
            metric=self.metric,
            size=self.size,
            carrier=self._carrier,
            restricted=self.restricted,
            cell=self._shared,
            levels={factor: told for factor, tell in WORDS.items() if (told := tell(self._shared))},
            copying=self._baseline(hands_over=False),
            handing_over=self._baseline(hands_over=True),
            rows=tuple(rows),
            reference=self.reference.index if self.reference else None,
            verdict=verdict,
            within=within,
            race=self._race,
            one_middleware=self._one,
        )

    def _verdict(
        self, rivals: Sequence[Comparison | None]
    ) -> tuple[Literal["best", "tie", "undecided", "only", "none holds"], float]:
        if self.is_none or (self._race is not None and not self.running):
            return "none holds", MARGIN
        if self.reference is None:
            return "undecided", MARGIN
        known = [each if each is not None and each.judged.low is not None else None for each in rivals]
        verdicts = {each.judged.verdict if each else None for each in known}
        lower = self._best_of_each(self.able)[0] is not self.reference
        unable = len(self.running) > len(self.able)
        if not rivals and not unable:
            return ("undecided" if lower else "best" if self.eliminated and self._race else "only"), MARGIN
        if lower or unable or Verdict.BETTER in verdicts:
            return "undecided", MARGIN
        if verdicts <= {Verdict.WORSE, Verdict.EQUIVALENT}:
            return ("tie" if Verdict.EQUIVALENT in verdicts else "best"), MARGIN
        staying = [each for each in known if each is None or not self._is_worse(each)]
        within = apart(staying)
        if not staying:
            return "best", MARGIN
        return ("tie", within) if len(staying) < FINALISTS and within < math.inf else ("undecided", MARGIN)

    def _standing(self, row: Row, found: Comparison | None, verdict: str, eliminated: bool) -> Standing:
        """Return the one standing of a row with a figure."""
        if row is self.reference:
            told = {"best": Standing.BEST, "tie": Standing.EQUIVALENT, "only": Standing.ONLY}
            few = row.result.trials < FEWEST and verdict == "undecided"
            return Standing.TOO_FEW_TRIALS if few else told.get(verdict, Standing.UNDECIDED)
        judged = found.judged if found is not None and found.judged.low is not None else None
        if judged is not None and judged.verdict is Verdict.WORSE and not _misses(row):
            return Standing.SLOWER
        if eliminated or (found is not None and self._race is not None and found.eliminated == "b"):
            return Standing.ELIMINATED
        if judged is None:
            few = row.result.trials < FEWEST
            return Standing.TOO_FEW_TRIALS if few else self._unjudged(found)
        if judged.verdict is Verdict.EQUIVALENT or (judged.verdict is Verdict.CANNOT_TELL and verdict == "tie"):
            return Standing.EQUIVALENT
        return Standing.UNDECIDED

    def _is_worse(self, found: Comparison) -> bool:
        """Say whether a row is significantly worse than the reference, by its verdict or by the rule of their race."""
        return found.judged.verdict is Verdict.WORSE or (self._race is not None and found.is_worse)

    def _unjudged(self, found: Comparison | None) -> Standing:
        """Return the standing of a row that has the trials, and no verdict."""
        if self.reference is None or self.reference.result.trials < FEWEST:
            return Standing.UNDECIDED
        return Standing.NO_COMMON_ROUNDS

    def _ratio(self, row: Row) -> float | None:
        if self.metric != "p99":
            return row.ratio
        base = None if row.baseline_row is None else figure_of(self._everything[row.baseline_row], self.metric)
        return self.figures[row.index] / base if base else None

    def _baseline(self, *, hands_over: bool) -> Row | None:
        some = [each.baseline_row for each in self._members if each.hands_over == hands_over and not each.floor]
        return next((self._everything[each] for each in some if each is not None), None)


def _misses(row: Row) -> bool:
    """Say whether the row was eliminated because it does not do what is asked."""
    return row.in_race is not None and row.in_race.eliminated not in (None, "slower")


def _is_reopened(row: Row, found: Comparison | None) -> bool:
    """Say whether the trials do not confirm that an eliminated row is slower: it may be the best after all."""
    slower = row.in_race is not None and row.in_race.eliminated == "slower"
    return slower and found is not None and found.judged.low is not None and not found.is_worse


def apart(comparisons: Iterable[Comparison | None]) -> float:
    """Return by what part they significantly differ at most, in whole percent; infinite: too much for a tie."""
    farthest, alike = 0.0, True
    for each in comparisons:
        if each is None or each.judged.low is None or each.judged.high is None:
            return math.inf
        farthest = max(farthest, -math.log1p(each.judged.low), math.log1p(each.judged.high))
        alike = alike and each.judged.low <= 0 <= each.judged.high
    if farthest > math.log1p(WIDEST if alike else NEAR):
        return math.inf
    return max(math.ceil(100 * math.expm1(farthest)) / 100, MARGIN)
