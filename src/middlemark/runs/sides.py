"""A request to compare, checked, and the two sides of each comparison that it comes to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from middlemark.model.units import parse_percent
from middlemark.problems import MeasureError, Problem, RequestError

if TYPE_CHECKING:
    from middlemark.model.levels import Level
    from middlemark.stats.comparisons import Comparison, Pairing, Side
    from middlemark.stats.trials import TrialSummary

Tell = Callable[[str], None]
"""Takes what is to be said beside the verdicts."""

FORMATS = ("table", "json", "markdown")


class ComparisonRequest:
    """The request, checked: every problem of it at once."""

    def __init__(
        self,
        runs: Sequence[str],
        by: str | None,
        baseline: str | None,
        metric: str,
        margin: str,
        fail_if: Sequence[str],
        output_format: str,
    ) -> None:
        """Take everything as typed. Raises RequestError."""
        from middlemark.stats.comparisons import METRICS

        problems: list[Problem] = []
        factors = _factors()
        self.by = None if by is None else factors.get(by)
        self.baseline = None if by is None or baseline is None else _level("--baseline", by, baseline, problems)
        self.metrics = tuple(dict.fromkeys(metric.split(",")))
        unknown = [each for each in self.metrics if each not in METRICS]
        if unknown:
            problems.append(Problem("--metric", f"there is no {', '.join(unknown)}; there are {', '.join(METRICS)}"))
        if by is not None and by not in factors:
            problems.append(Problem("--by", f"there is no factor {by}; there are {', '.join(factors)}"))
        if baseline is not None and by is None:
            problems.append(Problem("--baseline", "is a level of the factor that --by names; add --by FACTOR"))
        if by is not None and len(runs) != 1:
            problems.append(Problem("--by", f"compares the configurations of one run; {len(runs)} are named"))
        if by is None and len(runs) != 2:
            problems.append(Problem("compare", "wants two runs, A and B, or one and --by FACTOR"))
        if output_format not in FORMATS:
            problems.append(Problem("--format", f"there is no {output_format}; there are {', '.join(FORMATS)}"))
        self.part = _percent("--margin", margin, problems)
        self.gates = [gate for each in fail_if if (gate := _gate_of(each, problems))]
        self.selections = [_selection(each, problems) for each in runs]
        if problems:
            raise RequestError(problems)


def _percent(place: str, text: str, problems: list[Problem]) -> float:
    try:
        return parse_percent(text)
    except ValueError as error:
        problems.append(Problem(place, str(error)))
        return 0.05


def _gate_of(text: str, problems: list[Problem]) -> tuple[str, float] | None:
    from middlemark.stats.comparisons import METRICS

    words = text.split()
    known = len(words) == 4 and words[0] in METRICS and words[1] == METRICS[words[0]].worse and words[2] == "than"
    if not known:
        shown = ", ".join(f"'{name} {metric.worse} than 5%'" for name, metric in METRICS.items())
        problems.append(Problem("--fail-if", f"'{text}' is not understood; there are {shown}"))
        return None
    return words[0], _percent("--fail-if", words[3], problems)


def _factors() -> dict[str, str]:
    """Return by the name that is typed the field of ``Cell``, or what else cells are told apart by."""
    from middlemark.model.cell import FACTORS
    from middlemark.stats.comparisons import SHARED_MEMORY

    others = {name: name for name in ("native", "label", SHARED_MEMORY)}
    return {name: each.field for name, each in FACTORS.items()} | others


def _level(place: str, factor: str, text: str, problems: list[Problem]) -> "Level":
    """Return the level as cells have it."""
    from middlemark.model.cell import FACTORS
    from middlemark.model.levels import Wrong

    if factor not in FACTORS:
        return text
    key = FACTORS[factor]
    try:
        return key.in_cells(key.kind.read(key.kind.typed(text)))
    except Wrong as error:
        problems.append(Problem(place, str(error)))
        return None


class Selection(msgspec.Struct, frozen=True):
    """A run's folder, or a folder of runs, and the levels by which its cells are chosen."""

    path: Path
    levels: "Mapping[str, Level]" = {}
    """By the field of ``Cell``."""
    text: str = ""
    """The levels as typed."""


def _selection(text: str, problems: list[Problem]) -> Selection:
    path, _, rest = text.partition(":") if not Path(text).exists() else (text, "", "")
    factors, levels = _factors(), {}
    for part in rest.split(",") if rest else []:
        factor, found, value = part.partition("=")
        if found and factor in factors:
            levels[factors[factor]] = _level(text, factor, value, problems)
        else:
            problems.append(Problem(text, f"'{part}' selects nothing; write FACTOR=LEVEL with {', '.join(factors)}"))
    return Selection(Path(path), levels, rest)


def pairings_of(asked: ComparisonRequest, anyway: bool, tell: Tell) -> "list[Pairing]":
    """Read the runs and pair their cells. RequestError when nothing of it may be compared; what is left out is told."""
    from middlemark.stats.comparisons import against, by_factor, run_against_run

    sides = [sides_of(each, tell, asked) for each in asked.selections]
    if asked.by is not None:
        pairings = by_factor(sides[0], asked.by, asked.baseline)
    else:
        named = {field for each in asked.selections for field in each.levels}
        pairings = run_against_run(sides[0], sides[1], tuple(named))
    if asked.by is None and not pairings and any(each.cell.unknown for side in sides for each in side):
        raise MeasureError(
            "what was imported has no configuration that is known to be the same as one of the other run",
            "name one of each: runs/imported:size=1k runs/measured:adapter=cyclonedds,transport=udp,size=1k",
        )
    allowed: list[Pairing] = []
    problems: list[Problem] = []
    for pairing in pairings:
        reasons = against(pairing)
        if reasons and not anyway:
            problems.append(
                Problem(" against ".join(pairing.names), f"{'; '.join(reasons)}; --anyway compares them, marked")
            )
        else:
            allowed.append(msgspec.structs.replace(pairing, marks=(*reasons, *pairing.marks)))
    if problems and not allowed:
        raise RequestError(list(dict.fromkeys(problems)))
    for problem in dict.fromkeys(problems):
        tell(f"left out: {problem}")
    return allowed


def sides_of(selection: Selection, tell: Tell, asked: ComparisonRequest | None = None) -> "list[Side]":
    """Read one run and the figures of the cells that were selected.

    The floors that stand beside the others are compared where they are named, by a selection or as the baseline: else
    each would be one more comparison that all the others pay for.
    """
    from middlemark.runs.read import damaged, newest, readers, stored_run
    from middlemark.stats.comparisons import COMPARED_TIMES, beside_floors, level, side
    from middlemark.stats.trials import trial_summary

    folder = newest(selection.path)
    run = stored_run(folder)
    for each in damaged(folder, run.damaged_lines):
        tell(each)

    samples, kept = readers(folder)
    descriptions = {each.name: each for each in run.file.adapters}
    by_cell: dict[int, list[TrialSummary]] = {}
    for outcome in sorted(run.outcomes, key=lambda each: each.order):
        cell = run.file.plan.cells[outcome.cell]
        by_cell.setdefault(outcome.cell, []).append(trial_summary(cell, outcome, samples, kept, times=COMPARED_TIMES))
    machine = f"{run.file.machine.host}/{run.file.machine.cpu}/{run.file.machine.processors}"
    label = selection.text or run.name
    sides = []
    for index, trials in sorted(by_cell.items()):
        cell = run.file.plan.cells[index]
        transport = descriptions[cell.adapter].transport(cell.transport) if cell.adapter in descriptions else None
        shared = None if transport is None else transport.carrier == "shared-memory"
        sides.append(side(label, str(folder.resolve()), cell, shared, machine, trials))
    added = frozenset(run.file.plan.floors)
    named = bool({"adapter", "transport"} & selection.levels.keys())
    return [
        each
        for index, each in zip(sorted(by_cell), beside_floors(sides, descriptions), strict=True)
        if named or index not in added or (asked and asked.by == "adapter" and each.cell.adapter == asked.baseline)
        if all(level(each, field) == wanted for field, wanted in selection.levels.items())
    ]


def missed(asked: ComparisonRequest, pairings: "Sequence[Pairing]") -> "Iterator[tuple[str, float, Comparison]]":
    """Yield the metric, the margin and the comparison of each gate that is missed.

    Each is judged with the gate's own margin, over all comparisons of its metric.
    """
    from middlemark.stats.comparisons import compare
    from middlemark.stats.verdict import Verdict

    for metric, margin in asked.gates:
        for each in compare(pairings, [metric], margin):
            if each.judged.verdict is Verdict.WORSE:
                yield metric, margin, each
