"""Every pair of cells that differ in one factor only, judged as by ``middlemark compare RUN --by FACTOR``."""

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from middlemark.model.plan import Raced
from middlemark.model.run import Run
from middlemark.stats.comparisons import Comparison, Pairing, Side, compare, describes_middleware, mirrored, side
from middlemark.stats.pairings import of_run, of_two_runs
from middlemark.verdicts.names import is_contradicted
from middlemark.verdicts.rows import Row, grouped

SHOWN_METRICS = ("p50", "throughput", "p99", "deadline", "cpu", "memory")
"""The metrics of a report, the most important first. If there is no room for all, the last are left out."""
_FIGURES = tuple(dict.fromkeys((*SHOWN_METRICS, *get_args(Raced))))
"""The metrics that a comparison may have: those that are shown, and those that decide a race."""


class Comparisons:
    """All comparisons between rows of the same run, and between rows of two runs."""

    def __init__(self, rows: Sequence[Row], runs: Sequence[Run], *, between: bool = False) -> None:
        """Compare the rows. ``between``: only rows of different runs.

        For each metric, the p-values of all comparisons of a run, or of two runs, are adjusted together.
        """
        self._sides = {row.index: _side(row, runs[row.run]) for row in rows if row.result.failed is None}
        self._index = {id(each): index for index, each in self._sides.items()}
        self.families: dict[tuple[str, str], list[Comparison]] = {}
        """(factor, metric) → comparisons."""
        self.unjudged: dict[str, int] = {}
        """Factor → number of pairs that were not judged, because there are too many."""
        self._judged: dict[str, Sequence[Pairing]] = {}
        by_run = grouped(self._sides.values(), lambda each: each.run)
        for at, run in enumerate(() if between else runs):
            found, unjudged = of_run(by_run.get(f"r{at}", ()), run.file.plan.together)
            self._judged[f"r{at}"] = self._judge(found)
            for factor, number in unjudged.items():
                self.unjudged[factor] = self.unjudged.get(factor, 0) + number
        first, *others = [*by_run.values()] or [[]]
        for other in others:
            self._judge({"run": of_two_runs(first, other)})
        self._found: dict[tuple[int, int, str], Comparison | None] = {
            (*self.rows_of(each), metric): each
            for (_, metric), family in reversed(self.families.items())
            for each in family
        }

    def _judge(self, pairings: Mapping[str, Sequence[Pairing]]) -> Sequence[Pairing]:
        together = [each for members in pairings.values() for each in members]
        factors = {id(each): factor for factor, members in pairings.items() for each in members}
        for metric in SHOWN_METRICS:
            for each in compare(
                [each for each in together if describes_middleware(each, metric)], [metric], reported=together
            ):
                self.families.setdefault((factors[id(each.pairing)], metric), []).append(each)
        return together

    def rows_of(self, comparison: Comparison) -> tuple[int, int]:
        """Return the indices of the rows A and B of the comparison."""
        return self._index[id(comparison.pairing.a)], self._index[id(comparison.pairing.b)]

    def also_judge(self, pairs: Iterable[tuple[Row, Row]], metric: str) -> None:
        """Also compare these pairs, adjusted together with the pairs of their run.

        The rows of a pair may differ in several factors.
        """
        missing: dict[str, dict[tuple[int, int], Pairing]] = {}
        for a, b in pairs:
            is_judged = (a.index, b.index, metric) in self._found or (b.index, a.index, metric) in self._found
            if not is_judged and a.index in self._sides and b.index in self._sides:
                sides = self._sides[a.index], self._sides[b.index]
                missing.setdefault(sides[0].run, {})[a.index, b.index] = Pairing(*sides, (a.name, b.name))
        for run, pairings in missing.items():
            self._found |= {(*both, metric): None for both in pairings}
            for each in compare([*pairings.values()], [metric], reported=self._judged[run]):
                self._found[(*self.rows_of(each), metric)] = each

    def find(self, a: int, b: int, metric: str) -> Comparison | None:
        """Return the comparison of row B with row A. None: the rows have no common round, or were not compared."""
        if (a, b, metric) in self._found:
            return self._found[a, b, metric]
        other = self._found.get((b, a, metric))
        return None if other is None else mirrored(other)


def _side(row: Row, run: Run) -> Side:
    machine = run.file.machine
    shared = None if row.carrier is None else row.carrier == "shared-memory"
    return side(
        run.name,
        f"r{row.run}",
        row.result.cell,
        shared,
        f"{machine.host}/{machine.cpu}/{machine.processors}",
        row.trials,
        is_raw_transport=row.is_raw_transport,
        contradicted=is_contradicted(row.result),
        in_race=row.in_race,
        metrics=_FIGURES,
    )
