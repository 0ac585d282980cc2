"""Every pair of cells that differ in one factor alone, judged: a family is a factor and a metric.

So the verdicts are those of ``middlemark compare RUN --by FACTOR --metric M``, but for three things. Left out are
floors (how far from them a cell is stands beside it) and cells that something else than their transport carried.
Adapters are held against each other over the same carrier only; floods by their throughput, schedules by their latency.
And a pair with fewer trials than a verdict wants is
judged alone: it can have none, and would cost the others theirs.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from middlemark.document.document import Compared, Document, Row
from middlemark.document.numbers import ABSENT, part
from middlemark.document.words import ASKED, EXPERIMENT, is_contradicted, plain, subject, words
from middlemark.model.cell import FIELDS, Cell
from middlemark.model.run import Run
from middlemark.model.units import format_size
from middlemark.stats.comparisons import (
    Comparison,
    Pairing,
    Side,
    against,
    by_factor,
    compare,
    level,
    run_against_run,
    side,
)
from middlemark.stats.floors import by_rate
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import CONFIDENCE, Judgement, Verdict

SHOWN_METRICS = ("p50", "throughput", "p99", "cpu", "memory")
"""In the order in which they are kept where there is no room for all."""
MOST_JUDGED = 8_000
MOST_SHOWN = 3_000
_FIRST = ("adapter", "transport", "loan", "reliability", "run")


class Found(msgspec.Struct, frozen=True):
    """One comparison, and how many of its family could have a verdict."""

    judged: Judgement
    family: int


def what(pairing: Pairing, told: Collection[str] = EXPERIMENT) -> str:
    """Return what is the same on both sides: subject, size, and of the factors in ``told`` how it was measured."""
    a, b = pairing.a.cell, pairing.b.cell
    shared = {factor for factor in told if getattr(a, factor) == getattr(b, factor)}
    named = subject(a) if subject(a) == subject(b) else a.adapter if a.adapter == b.adapter else ""
    size = format_size(a.size) if a.size == b.size else ""
    return plain(", ".join(each for each in (named, size, words(a, shared)) if each))


def told_factors(cells: Sequence[Cell]) -> list[str]:
    """Return the factors that not all of these cells have in common: the others would stand in every line."""
    return [factor for factor in (*EXPERIMENT, *ASKED) if len({getattr(each, factor) for each in cells}) > 1]


def verdict_of(each: Comparison, needed: int | None) -> str:
    """Return the verdict, and of what cannot be told how many trials would tell."""
    told = each.judged.verdict is not Verdict.CANNOT_TELL
    return each.word if told else f"{each.word} ({trials_wanted(needed)} trials would)"


def trials_wanted(needed: int | None) -> str:
    """Return a number of trials in words; None: beyond 10,000."""
    return "more than 10,000" if needed is None else f"about {needed:,}"


def interval_of(judged: Judgement) -> str:
    """Return the interval of the shift: ``-1.0 % … +3.0 %``."""
    return ABSENT if judged.low is None or judged.high is None else f"{part(judged.low)} … {part(judged.high)}"


def trials_needed(judged: Judgement, family: int) -> int | None:
    """Return how many trials would tell, nine times in ten: by their spread, and never fewer than the family wants.

    None where it can be told, and where more than 10,000 would be needed.
    """
    if judged.trials_needed is None:
        return None
    fewest = FEWEST
    while family * 2.0 ** (1 - fewest) > 1 - CONFIDENCE:  # the least p-value that so many pairs can have
        fewest += 1
    return max(judged.trials_needed, fewest)


class JudgedDocument:
    """All comparisons of a document. ``find`` tells one by its rows."""

    def __init__(self, document: Document) -> None:
        """Judge them all."""
        rows, runs = document.rows, document.runs
        self._told_factors = told_factors([row.result.cell for row in rows])
        sides = [_side(row, runs[row.run]) for row in rows]
        self._index = {id(each): row.index for each, row in zip(sides, rows, strict=True)}
        only_floors = all(row.floor for row in rows)
        chosen = [
            each
            for each, row in zip(sides, rows, strict=True)
            if row.result.failed is None and not is_contradicted(row.result) and (only_floors or not row.floor)
        ]
        self.families: dict[tuple[str, str], list[Comparison]] = {}
        self.unjudged: dict[str, int] = {}
        total = 0
        for factor, pairings in _by_factor(chosen, rows, self._index, len(runs)).items():
            for metric in SHOWN_METRICS:
                members = [each for each in pairings if _common(each, metric) and _means(each, metric)]
                if total + len(members) > MOST_JUDGED:
                    self.unjudged[factor] = self.unjudged.get(factor, 0) + len(members)
                elif members:
                    self.families[factor, metric] = _family(members, metric)
                    total += len(members)
        self._found = {
            (self._index[id(each.pairing.a)], self._index[id(each.pairing.b)], metric): (factor, each)
            for (factor, metric), family in reversed(self.families.items())
            for each in family
        }

    def find(self, a: int, b: int, metric: str) -> "Found | None":
        """Return what is known of two rows, as B beside A; None where they differ in more than one factor."""
        for one, other in ((a, b), (b, a)):
            if (one, other, metric) in self._found:
                factor, each = self._found[one, other, metric]
                family = self._size(factor, metric)
                return Found(each.judged if one == a else _mirrored(each.judged), family)
        return None

    def _size(self, factor: str, metric: str) -> int:
        """Return how many of a family could have a verdict."""
        return sum(each.judged.pairs >= FEWEST for each in self.families[factor, metric])

    def told(self) -> tuple[tuple[Compared, ...], dict[str, int]]:
        """Return those there is room for, verdicts first where there is not for all, and how many are not told."""
        left_out = dict(self.unjudged)
        shown: list[Compared] = []
        for metric in SHOWN_METRICS:
            for (factor, of), family in self.families.items():
                if of != metric:
                    continue
                room = MOST_SHOWN - len(shown)
                kept = family
                if len(family) > room:
                    order = sorted(
                        range(len(family)), key=lambda at: (family[at].judged.verdict is Verdict.CANNOT_TELL, at)
                    )
                    kept = [family[at] for at in sorted(order[:room])]
                    left_out[factor] = left_out.get(factor, 0) + len(family) - len(kept)
                size = self._size(factor, metric)
                shown += [self._told(factor, each, size) for each in kept]
        return tuple(shown), left_out

    def _told(self, factor: str, each: Comparison, family: int) -> Compared:
        return Compared(
            a=self._index[id(each.pairing.a)],
            b=self._index[id(each.pairing.b)],
            factor=factor,
            what=what(each.pairing, self._told_factors),
            comparison=each,
            trials_needed=trials_needed(each.judged, family),
        )


def _side(row: Row, run: Run) -> Side:
    machine = run.file.machine
    shared = None if row.carrier is None else row.carrier == "shared-memory"
    place = f"{machine.host}/{machine.cpu}/{machine.processors}"
    return side(run.name, f"r{row.run}", row.result.cell, shared, place, row.trials)


def _by_factor(
    sides: Sequence[Side], rows: Sequence[Row], index: Mapping[int, int], runs: int
) -> dict[str, list[Pairing]]:
    """Return what may be compared, by factor: within each run, and of several runs the same cells of the first's."""
    of_run: dict[str, list[Side]] = {}
    for each in sides:
        of_run.setdefault(each.run, []).append(each)
    found: dict[str, list[Pairing]] = {}
    for factor in _varying(sides):
        pairings = [pairing for members in of_run.values() for pairing in by_factor(members, factor)]
        if factor == "adapter":
            pairings = [
                each
                for each in pairings
                if rows[index[id(each.a)]].carrier == rows[index[id(each.b)]].carrier is not None
                or each.a.cell.transport == each.b.cell.transport
            ]
        if allowed := [each for each in pairings if not against(each)]:
            found[factor] = allowed
    if runs > 1 and (across := list(_across(of_run))):
        found["run"] = across
    return {factor: found[factor] for factor in sorted(found, key=_place)}


def _across(of_run: Mapping[str, Sequence[Side]]) -> Iterator[Pairing]:
    first, *others = of_run.values()
    for other in others:
        allowed = (each for each in run_against_run(first, other) if not against(each))
        yield from (each for each in allowed if each.a.cell == each.b.cell)


def _place(factor: str) -> int:
    return _FIRST.index(factor) if factor in _FIRST else len(_FIRST)


def _varying(sides: Sequence[Side]) -> list[str]:
    return [factor for factor in FIELDS if factor != "size" and len({level(each, factor) for each in sides}) > 1]


def _common(pairing: Pairing, metric: str) -> int:
    """Return how many rounds both have a figure of."""
    return len(pairing.a.figures[metric].keys() & pairing.b.figures[metric].keys())


def _means(pairing: Pairing, metric: str) -> bool:
    """Say whether the metric is of the middleware: in a flood latency is queueing, and a schedule sets the rate."""
    if metric in ("p50", "p99"):
        return not by_rate(pairing.a.cell) and not by_rate(pairing.b.cell)
    scheduled = any(isinstance(each.cell.rate, int | float) or each.cell.burst for each in (pairing.a, pairing.b))
    return metric != "throughput" or not scheduled


def _family(pairings: Sequence[Pairing], metric: str) -> list[Comparison]:
    """Judge those with enough pairs as one family and each of the others alone; in the order given."""
    enough = iter(compare([each for each in pairings if _common(each, metric) >= FEWEST], [metric]))
    return [next(enough) if _common(each, metric) >= FEWEST else compare([each], [metric])[0] for each in pairings]


_OTHER_WAY = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def _mirrored(judged: Judgement) -> Judgement:
    """Return the same with A and B exchanged: log-ratios change their sign, and nothing else."""

    def other_way(part: float | None) -> float | None:
        return None if part is None else 1 / (1 + part) - 1

    return msgspec.structs.replace(
        judged,
        shift=1 / (1 + judged.shift) - 1,
        low=other_way(judged.high),
        high=other_way(judged.low),
        verdict=_OTHER_WAY.get(judged.verdict, judged.verdict),
    )
