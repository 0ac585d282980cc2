"""Every pair of cells that differ in one factor alone, judged as ``middlemark compare RUN --by FACTOR`` does."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from middlemark.document.document import Compared, Document, Row
from middlemark.document.numbers import ABSENT, part
from middlemark.document.words import ASKED, EXPERIMENT, is_contradicted, plain, subject, words
from middlemark.model.cell import Cell
from middlemark.model.run import Run
from middlemark.model.units import format_size
from middlemark.stats.comparisons import Comparison, Pairing, Side, compare, means, mirrored, side
from middlemark.stats.pairings import of_run, of_two_runs
from middlemark.stats.verdict import Judgement, Verdict

SHOWN_METRICS = ("p50", "throughput", "p99", "deadline", "cpu", "memory")
"""In the order in which they are kept where there is no room for all."""
MOST_SHOWN = 3_000


def size_of(cells: Sequence[Cell]) -> str:
    """Return the size that all of them have; empty: they differ in it."""
    return format_size(cells[0].size) if len({each.size for each in cells}) == 1 else ""


def what(pairing: Pairing, told: Collection[str], *, size: bool = True) -> str:
    """Return what is the same on both sides: subject, size, and of the factors in ``told`` how it was measured."""
    return common((pairing.a.cell, pairing.b.cell), told, size=size)


def common(cells: Sequence[Cell], told: Collection[str], *, size: bool = True) -> str:
    """Return the same of several."""
    first = cells[0]
    shared = {factor for factor in told if len({getattr(each, factor) for each in cells}) == 1}
    adapter = first.adapter if len({each.adapter for each in cells}) == 1 else ""
    named = subject(first) if len({subject(each) for each in cells}) == 1 else adapter
    at = size_of(cells) if size else ""
    return plain(", ".join(each for each in (named, at, words(first, shared)) if each))


def told_factors(cells: Sequence[Cell]) -> list[str]:
    """Return the factors that not all of these cells have in common: the others would stand in every line."""
    return [factor for factor in (*EXPERIMENT, *ASKED) if len({getattr(each, factor) for each in cells}) > 1]


def telling(pairings: Iterable[Pairing]) -> list[str]:
    """Return the factors that tell these apart: the experiment's, and those asked of a middleware that vary."""
    cells = [each.cell for pairing in pairings for each in (pairing.a, pairing.b)]
    return [*EXPERIMENT, *(each for each in told_factors(cells) if each in ASKED)]


def verdict_of(each: Comparison) -> str:
    """Return the verdict, and of what cannot be told how many trials would tell."""
    told = each.judged.verdict is not Verdict.CANNOT_TELL
    return each.word if told else f"{each.word} ({trials_wanted(each.judged.trials_needed)} trials would)"


def trials_wanted(needed: int | None) -> str:
    """Return a number of trials in words; None: beyond 10,000."""
    return "more than 10,000" if needed is None else f"about {needed:,}"


def interval_of(judged: Judgement) -> str:
    """Return the interval of the shift: ``-1.0 % … +3.0 %``."""
    return ABSENT if judged.low is None or judged.high is None else f"{part(judged.low)} … {part(judged.high)}"


class JudgedDocument:
    """All comparisons of a document. ``find`` tells one by its rows."""

    def __init__(self, document: Document) -> None:
        """Judge them all."""
        rows, runs = document.rows, document.runs
        self._told_factors = told_factors([row.result.cell for row in rows])
        sides = [_side(row, runs[row.run]) for row in rows if row.result.failed is None]
        measured = [row.index for row in rows if row.result.failed is None]
        self._index = {id(each): index for each, index in zip(sides, measured, strict=True)}
        by_run: dict[str, list[Side]] = {}
        for each in sides:
            by_run.setdefault(each.run, []).append(each)
        together = {f"r{at}": run.file.plan.together for at, run in enumerate(runs)}
        self.families: dict[tuple[str, str], list[Comparison]] = {}
        first, *others = [*by_run.values()] or [[]]
        self.unjudged: dict[str, int] = {}
        for name, members in by_run.items():
            found, unjudged = of_run(members, together[name])
            self._judge(found)
            for factor, number in unjudged.items():
                self.unjudged[factor] = self.unjudged.get(factor, 0) + number
        for other in others:
            self._judge({"run": of_two_runs(first, other)})
        self._found = {
            (self._index[id(each.pairing.a)], self._index[id(each.pairing.b)], metric): each
            for (_, metric), family in reversed(self.families.items())
            for each in family
        }

    def _judge(self, pairings: Mapping[str, Sequence[Pairing]]) -> None:
        """Judge what one run has, or two have in common, as one family a metric."""
        together = [each for members in pairings.values() for each in members]
        factors = {id(each): factor for factor, members in pairings.items() for each in members}
        for metric in SHOWN_METRICS:
            for each in compare([each for each in together if means(each, metric)], [metric], beside=together):
                self.families.setdefault((factors[id(each.pairing)], metric), []).append(each)

    def find(self, a: int, b: int, metric: str) -> Comparison | None:
        """Return what is known of two rows, as B beside A; None where they differ in more than one factor."""
        if (a, b, metric) in self._found:
            return self._found[a, b, metric]
        other = self._found.get((b, a, metric))
        return None if other is None else mirrored(other)

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
                shown += [self._told(factor, each) for each in kept]
        return tuple(shown), left_out

    def _told(self, factor: str, each: Comparison) -> Compared:
        return Compared(
            a=self._index[id(each.pairing.a)],
            b=self._index[id(each.pairing.b)],
            factor=factor,
            what=what(each.pairing, self._told_factors),
            comparison=each,
        )


def _side(row: Row, run: Run) -> Side:
    machine = run.file.machine
    shared = None if row.carrier is None else row.carrier == "shared-memory"
    place = f"{machine.host}/{machine.cpu}/{machine.processors}"
    contradicted = is_contradicted(row.result)
    return side(
        run.name,
        f"r{row.run}",
        row.result.cell,
        shared,
        place,
        row.trials,
        is_floor=row.floor,
        contradicted=contradicted,
        place=row.place,
        metrics=SHOWN_METRICS,
    )
