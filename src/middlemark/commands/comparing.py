"""A request to compare, checked, and what it comes to: for every verb that gives verdicts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.units import parse_percent

if TYPE_CHECKING:
    from middlemark.stats.comparisons import Comparison, Pairing, Side

FORMATS = ("table", "json", "markdown")


class Asked:
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
        from middlemark.plan.cell import Cell
        from middlemark.stats.comparisons import METRICS, SHARED_MEMORY

        problems: list[Problem] = []
        factors = (*(each for each in Cell.__struct_fields__ if each != "unknown"), SHARED_MEMORY)
        self.by, self.baseline = by, baseline
        self.metrics = tuple(dict.fromkeys(metric.split(",")))
        unknown = [each for each in self.metrics if each not in METRICS]
        if unknown:
            problems.append(Problem("--metric", f"there is no {', '.join(unknown)}; there are {', '.join(METRICS)}"))
        if by is not None and by not in factors:
            problems.append(Problem("--by", f"there is no factor {by}; there are {', '.join(factors)}"))
        if baseline is not None and by is None:
            problems.append(Problem("--baseline", "is a level of the factor that --by names; add --by FACTOR"))
        if by is not None and len(runs) != 1:
            problems.append(Problem("--by", f"compares the cells of one run; {len(runs)} are named"))
        if by is None and len(runs) != 2:
            problems.append(Problem("compare", "wants two runs, A and B, or one and --by FACTOR"))
        if output_format not in FORMATS:
            problems.append(Problem("--format", f"there is no {output_format}; there are {', '.join(FORMATS)}"))
        self.part = _percent("--margin", margin, problems)
        self.gates = [gate for each in fail_if if (gate := _gate_of(each, problems))]
        self.selections = [_selection(each, factors, problems) for each in runs]
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


class Selection(msgspec.Struct, frozen=True):
    """A run's folder, or a folder of runs, and the levels by which its cells are chosen."""

    path: Path
    levels: tuple[tuple[str, str], ...] = ()


def _selection(text: str, factors: Sequence[str], problems: list[Problem]) -> Selection:
    path, _, rest = text.partition(":") if not Path(text).exists() else (text, "", "")
    levels = []
    for part in rest.split(",") if rest else []:
        factor, found, value = part.partition("=")
        if not found or factor not in factors:
            problems.append(Problem(text, f"'{part}' selects nothing; write FACTOR=LEVEL with {', '.join(factors)}"))
        levels.append((factor, value))
    return Selection(Path(path), tuple(levels))


def pairings_of(asked: Asked, anyway: bool) -> "list[Pairing]":
    """Read the runs and pair their cells. RequestError when nothing of it may be compared; what is left out is told."""
    from middlemark.stats.comparisons import against, by_factor, run_against_run

    sides = [sides_of(each, asked) for each in asked.selections]
    if asked.by is not None:
        pairings = by_factor(sides[0], asked.by, asked.baseline)
    else:
        named = {factor for each in asked.selections for factor, _ in each.levels}
        pairings = run_against_run(sides[0], sides[1], tuple(named))
    if asked.by is None and not pairings and any(each.cell.unknown for side in sides for each in side):
        raise MeasureError(
            "what was imported has no cell that is known to be the same as one of the other run",
            "name one cell of each: runs/imported:size=1k runs/measured:adapter=cyclonedds,transport=udp,size=1k",
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
        click.echo(f"middlemark: left out: {problem}", err=True)
    return allowed


def sides_of(selection: Selection, asked: Asked | None = None) -> "list[Side]":
    """Read one run and the figures of the cells that were selected.

    The floors that stand beside the others are compared where they are named, by a selection or as the baseline: else
    each would be one more comparison that all the others pay for.
    """
    from middlemark.commands.stored import newest, readers, stored_run, tell_damaged
    from middlemark.stats.comparison_floors import beside_floors
    from middlemark.stats.comparisons import COMPARED_TIMES, level, side
    from middlemark.stats.trials import trial_summary

    folder = newest(selection.path)
    run = stored_run(folder)
    tell_damaged(folder, run.damaged_lines)

    samples, kept = readers(folder)
    descriptions = {each.name: each for each in run.file.adapters}
    by_cell: dict[int, list[Any]] = {}
    for outcome in sorted(run.outcomes, key=lambda each: each.order):
        cell = run.file.plan.cells[outcome.cell]
        by_cell.setdefault(outcome.cell, []).append(trial_summary(cell, outcome, samples, kept, times=COMPARED_TIMES))
    machine = f"{run.file.machine.host}/{run.file.machine.cpu}/{run.file.machine.processors}"
    label = ",".join(f"{factor}={value}" for factor, value in selection.levels) or run.name
    sides = []
    for index, trials in sorted(by_cell.items()):
        cell = run.file.plan.cells[index]
        transport = descriptions[cell.adapter].transport(cell.transport) if cell.adapter in descriptions else None
        shared = None if transport is None else transport.carrier == "shared-memory"
        sides.append(side(label, str(folder.resolve()), cell, shared, machine, trials))
    added = frozenset(run.file.plan.floors)
    named = any(factor in ("adapter", "transport") for factor, _ in selection.levels)
    return [
        each
        for index, each in zip(sorted(by_cell), beside_floors(sides, descriptions), strict=True)
        if named or index not in added or (asked and asked.by == "adapter" and each.cell.adapter == asked.baseline)
        if all(_is_level(level(each, factor), text) for factor, text in selection.levels)
    ]


def _is_level(level: object, text: str) -> bool:
    from middlemark.units import parse_size

    if isinstance(level, int) and not isinstance(level, bool):
        try:
            return level == parse_size(text)
        except ValueError:
            return False
    shown = "all" if level is None else str(level).lower() if isinstance(level, bool) else str(level)
    return shown == text


def missed(asked: Asked, pairings: "Sequence[Pairing]") -> "Iterator[tuple[str, float, Comparison]]":
    """Yield the metric, the margin and the comparison of each gate that is missed.

    Each is judged with the gate's own margin, over all comparisons of its metric.
    """
    from middlemark.stats.comparisons import compare
    from middlemark.stats.verdict import Verdict

    for metric, margin in asked.gates:
        for each in compare(pairings, [metric], margin):
            if each.judged.verdict is Verdict.WORSE:
                yield metric, margin, each
