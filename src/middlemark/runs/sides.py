"""Check a request to compare, and find the pairs of cells to compare."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from middlemark.model.spelling import nearest
from middlemark.model.units import parse_percent
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.runs.read import RUNS, newest

if TYPE_CHECKING:
    from middlemark.model.cell import Cell
    from middlemark.model.expectation import Picked
    from middlemark.model.selection import Selection
    from middlemark.stats.comparisons import Comparison, Pairing, Side
    from middlemark.stats.trials import TrialSummary

Warn = Callable[[str], None]
"""Prints a message next to the verdicts."""

_USUAL = {"security": "p50,throughput,cpu,handshake"}
"""Factor → the default metrics of a comparison by this factor. Other factors have p50."""


class ComparisonRequest:
    """A checked request to compare."""

    def __init__(
        self,
        runs: Sequence[str],
        by: str | None,
        reference: str | None,
        metric: str | None,
        margin: str,
        fail_if: Sequence[str],
        edge: str | None = None,
    ) -> None:
        """Check the arguments as typed. Raises RequestError with all problems."""
        from middlemark.model.selection import FIELD_OF
        from middlemark.runs.fail_if import UNDECIDED, WORSE, read_fail_if
        from middlemark.stats.metrics import read_metrics

        problems: list[Problem] = []
        factors = [] if by is None else list(dict.fromkeys(each.strip() for each in by.split(",")))
        self.by = [FIELD_OF[each] for each in factors if each in FIELD_OF]
        self.reference = None if reference is None else _reference(factors, reference, problems)
        usual = next((_USUAL[each] for each in self.by if each in _USUAL), "p50")
        self.metrics, wrong = read_metrics(metric or usual)
        problems += wrong
        for each in factors:
            if each not in FIELD_OF:
                near = nearest(each, FIELD_OF)
                hint = f"did you mean '{near}'?" if near else f"there are {', '.join(FIELD_OF)}"
                problems.append(Problem("--by", f"there is no factor {each}; {hint}"))
        if reference is not None and by is None:
            problems.append(Problem("--reference", "is a level of the factor that --by names; add --by FACTOR"))
        if by is not None and len(runs) != 1:
            problems.append(Problem("--by", f"compares the configurations of one run; {len(runs)} are named"))
        if by is None and len(runs) != 2:
            problems.append(Problem("compare", "needs two runs, A and B, or one and --by FACTOR"))
        if by is None and len(runs) == 2 and runs[0] == runs[1]:
            problems.append(Problem("compare", f"A and B are the same run, {runs[0]}"))
        self.part = _percent("--margin", margin, problems)
        self.fail_if, wrong = read_fail_if(fail_if, (UNDECIDED, WORSE))
        problems += wrong
        self.selections = [_selection(each, problems) for each in runs]
        self.edge = None if edge is None else _edge(edge)
        if problems:
            raise RequestError(problems)

    @property
    def read(self) -> tuple[str, ...]:
        """The metrics to read from the trials: the metrics to compare, and the metrics of --fail-if."""
        return tuple(dict.fromkeys((*self.metrics, *(metric for metric, _ in self.fail_if.worse))))


def named_sides(runs: Sequence[str], by: str | None) -> list[tuple[str, ...]]:
    """Return the runs of each comparison as typed: one run with ``by``, else A and B.

    Without ``by``, each further run is compared with the first. A single run (by default the newest in ``runs``) is
    compared with the previous run of the same suites. Raises MeasureError if there is no previous run.
    """
    if by is not None:
        return [(each,) for each in runs or (RUNS,)]
    if len(runs) < 2:
        path, selection = _split(runs[0] if runs else RUNS)
        return [(f"{_before(path)}{selection}", f"{newest(Path(path))}{selection}")]
    return [(runs[0], each) for each in runs[1:]]


def _before(path: str) -> Path:
    """Return the previous run of the same suites in the same folder. Raises MeasureError if there is no such run."""
    from middlemark.runs.read import earlier_run, stored_run

    last = newest(Path(path))
    suites = stored_run(last).file.suites
    found = earlier_run(last, lambda run: run.file.suites == suites)
    if found is not None:
        return found.folder
    raise MeasureError(
        f"{last}: there is no earlier run of {', '.join(suites)} in {last.parent} to compare it with",
        "name two runs, A and B, or compare within one: --by adapter",
    )


def _split(text: str) -> tuple[str, str]:
    """Split ``PATH:SELECTION``. Return the path of a run, and the selection with its colon (empty: none)."""
    if Path(text).exists():
        return text, ""
    path, colon, rest = text.partition(":")
    return path, colon + rest


def _percent(place: str, text: str, problems: list[Problem]) -> float:
    try:
        return parse_percent(text)
    except ValueError as error:
        problems.append(Problem(place, str(error)))
        return 0.05


def _edge(text: str) -> "Picked":
    """Read an edge of a workload: ``camera/image → detector``, or only the topic if a single node receives it."""
    from middlemark.model.expectation import Picked

    topic, _, node = text.replace("->", "→").partition("→")
    return Picked(text, topic=topic.strip(), to=node.strip())


def _reference(factors: Sequence[str], text: str, problems: list[Problem]) -> "Selection":
    """Return the levels of side A. The user types ``off`` for one factor, ``pin=off,priority=other`` for several."""
    from middlemark.model.selection import read_typed_selection

    [name] = factors if len(factors) == 1 else [""]
    is_level_only = name and not text.startswith(f"{name}=")
    found, wrong = read_typed_selection(f"{name}={text}" if is_level_only else text)
    problems += [Problem("--reference", each.removeprefix(f"{name}: ")) for each in wrong]
    return found


class SelectedRun(msgspec.Struct, frozen=True):
    """A run's folder, or a folder of runs, and the levels that select cells."""

    path: Path
    selection: "Selection"
    text: str = ""
    """The levels that select cells, as typed."""


def _selection(text: str, problems: list[Problem]) -> SelectedRun:
    from middlemark.model.selection import read_typed_selection

    path, rest = _split(text)
    found, wrong = read_typed_selection(rest[1:])
    problems += [Problem(text, each) for each in wrong]
    return SelectedRun(Path(path), found, rest[1:])


class PlannedComparisons(msgspec.Struct, frozen=True):
    """The requested pairs of cells, and the other pairs in reports of these runs. All are judged as one family."""

    pairings: "Sequence[Pairing]"
    others: "Sequence[Pairing]"
    edge: str | None = None
    """The edge of the workloads that is compared, ``topic → node``; None: the whole workloads."""

    def judged(self, metrics: Sequence[str], margin: float) -> "list[Comparison]":
        """Return the verdicts on the requested pairs. Raises MeasureError if there are no verdicts."""
        from middlemark.stats.comparisons import compare

        found = compare(self.pairings, metrics, margin, self.others)
        if not found:
            raise MeasureError(
                "nothing can be compared: no two configurations have a measured trial of the same round and metric",
                "for --by FACTOR measure more than one level of the factor; for two runs measure the same "
                "configurations",
            )
        return found

    def missed(self, asked: ComparisonRequest) -> "Iterator[tuple[str, float, Comparison]]":
        """Yield metric, margin and comparison wherever B is significantly worse by more than a margin of --fail-if."""
        from middlemark.stats.comparisons import compare

        for metric, margin in asked.fail_if.worse:
            for each in compare(self.pairings, [metric], margin, self.others):
                if each.is_worse:
                    yield metric, margin, each


def asked_pairings(asked: ComparisonRequest, anyway: bool, warn: Warn) -> PlannedComparisons:
    """Read the runs and pair their cells.

    ``warn`` is called for pairs that are left out. Raises RequestError if none is left.
    """
    from middlemark.model.selection import unmatched
    from middlemark.stats.pairings import by_factors, of_run, of_two_runs, reasons_against, run_against_run

    read = [sides_of(each.path, warn, each.text, asked.read, asked.edge) for each in asked.selections]
    runs = [sides for sides, _ in read]
    chosen = [_selected(run, each, asked) for run, each in zip(runs, asked.selections, strict=True)]
    if problems := [
        Problem(f"{each.path}:{each.text}", sentence)
        for sides, each in zip(runs, asked.selections, strict=True)
        for sentence in unmatched(each.selection, [side.cell for side in sides])
    ]:
        raise RequestError(problems)
    if asked.by:
        pairings = by_factors(chosen[0], asked.by, asked.reference)
    else:
        fields = dict.fromkeys(field for each in asked.selections for field in each.selection.levels)
        pairings = run_against_run(chosen[0], chosen[1], tuple(fields))
    if not asked.by and not pairings and any(each.cell.unknown for side in chosen for each in side):
        raise MeasureError(
            "Middlemark does not know which configurations of an imported run match those of the other run",
            "name one configuration of each: runs/imported:size=1k "
            "runs/measured:adapter=cyclonedds,transport=udp,size=1k",
        )
    allowed: list[Pairing] = []
    problems = []
    for pairing in pairings:
        reasons = reasons_against(pairing)
        if reasons and not anyway:
            problems.append(
                Problem(" against ".join(pairing.names), f"{'; '.join(reasons)}; to compare them, marked, add --anyway")
            )
        else:
            allowed.append(msgspec.structs.replace(pairing, marks=(*reasons, *pairing.marks)))
    if problems and not allowed:
        raise RequestError(list(dict.fromkeys(problems)))
    for problem in dict.fromkeys(problems):
        warn(f"left out: {problem}")
    apart = len(runs) == 2 and not (runs[0] and runs[1] and runs[0][0].run == runs[1][0].run)
    of_one = {} if apart else of_run(*read[0])[0]
    others = of_two_runs(*runs) if apart else [each for members in of_one.values() for each in members]
    named = {name for each in chosen for side in each for _, name in asked.edge.edges(side.cell)} if asked.edge else ()
    return PlannedComparisons(allowed, others, ", ".join(sorted(named)) or None)


def sides_of(
    path: Path, warn: Warn, text: str, metrics: Sequence[str], edge: "Picked | None" = None
) -> "tuple[list[Side], Sequence[Sequence[str]]]":
    """Read one run. Return the sides to compare, with their raw transports, and the factors that are varied together.

    ``edge``: use the figures of this edge of the workload. Raises RequestError if a cell has no such edge or several
    such edges.
    """
    from middlemark.runs.read import damaged, readers, stored_run
    from middlemark.stats.baselines import carrier_of, common_actual_transport, used_another_transport
    from middlemark.stats.comparisons import side, with_raw_transports
    from middlemark.stats.metrics import times_of
    from middlemark.stats.trials import at_edge, trial_summary
    from middlemark.verdicts.rows import in_races

    folder = newest(path)
    run = stored_run(folder)
    for each in damaged(run):
        warn(each)

    samples, kept = readers(folder)
    descriptions = {each.name: each for each in run.file.adapters}
    times = times_of(metrics)
    by_cell: dict[int, list[TrialSummary]] = {}
    for outcome in sorted(run.outcomes, key=lambda each: each.order):
        cell = run.file.plan.cells[outcome.cell]
        by_cell.setdefault(outcome.cell, []).append(trial_summary(cell, outcome, samples, kept, times=times))
    machine = f"{run.file.machine.host}/{run.file.machine.cpu}/{run.file.machine.processors}"
    label = text or run.name
    races = {} if edge else in_races(run, by_cell, samples, kept)  # a race compares whole workloads, not edges
    sides = []
    actual: list[str | None] = []
    for index, trials in sorted(by_cell.items()):
        cell = run.file.plan.cells[index]
        number = _number_of(edge, cell) if edge else None
        described = descriptions.get(cell.adapter)
        actual.append(common_actual_transport(each.outcome for each in trials))
        carrier = carrier_of(cell, descriptions, actual[-1])
        shared = None if carrier is None else carrier == "shared-memory"
        contradicted = any(
            used_another_transport(cell, each.outcome, descriptions)
            or (each.outcome.proof and each.outcome.proof.failed)
            for each in trials
        )
        raw_transport = described is not None and described.is_raw_transport
        added = index in run.file.plan.baselines
        sides.append(
            side(
                label,
                str(folder.resolve()),
                cell,
                shared,
                machine,
                trials if number is None else [at_edge(each, number) for each in trials],
                is_raw_transport=raw_transport,
                contradicted=contradicted,
                added=added,
                in_race=races.get(index),
                metrics=metrics,
            )
        )
    return [*with_raw_transports(sides, descriptions, actual)], run.file.plan.together


def _number_of(edge: "Picked", cell: "Cell") -> int:
    from middlemark.model.expectation import Picked, carried

    found = [*edge.edges(cell)]
    if len(found) == 1:
        return found[0][0]
    graph = carried(cell)
    if graph is None:
        raise RequestError([Problem("--edge", "the run has configurations without a workload, which have no edges")])
    names = [name for each in graph.topics for _, name in Picked("", topic=each.name).edges(cell)]
    wrong = f"{edge.text} matches several edges" if found else f"there is no edge {edge.text}"
    raise RequestError([Problem("--edge", f"{wrong}; there are {', '.join([name for _, name in found] or names)}")])


def _selected(sides: "Sequence[Side]", run: SelectedRun, asked: ComparisonRequest) -> "list[Side]":
    """Return the selected sides. Raw transports that the run added are included only if named, or as the reference."""
    from middlemark.stats.pairings import selected

    named = bool({"adapter", "transport"} & run.selection.levels.keys())
    reference = asked.reference if asked.reference and asked.by == ["adapter"] else None
    return [
        each
        for each in sides
        if named or not each.added or (reference is not None and selected(each, reference))
        if selected(each, run.selection)
    ]
