"""What was compared, as a table, as JSON and as Markdown."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from middlemark.report.factors import ASKED, EXPERIMENT, plain, subject, words
from middlemark.report.layout import hanging
from middlemark.report.numbers import ABSENT, ratio
from middlemark.stats.comparison_floors import AgainstFloor, against_floors
from middlemark.stats.comparisons import METRICS, Comparison, Pairing
from middlemark.stats.verdict import CONFIDENCE, Verdict
from middlemark.units import format_size

SCHEMA = 1

_COLUMNS = ("what", "metric", "A", "B", "B over A", "interval", "pairs", "verdict")
_FLOORS = ("A × floor", "B × floor")


def render_json(comparisons: Sequence[Comparison], margin: float) -> str:
    """Return ``{"schema":1,"margin":…,"comparisons":[…]}``; shifts are parts: 0.1 is a tenth more than A has."""
    rows = [json_row(each) for each in comparisons]
    return json.dumps({"schema": SCHEMA, "margin": margin, "comparisons": rows}, ensure_ascii=False, indent=1) + "\n"


def json_row(each: Comparison) -> dict[str, Any]:
    """Return one comparison for a program."""
    return {
        "what": what(each.pairing),
        "a": each.pairing.names[0],
        "b": each.pairing.names[1],
        "metric": each.metric,
        "unit": METRICS[each.metric].unit,
        "a_median": each.medians[0],
        "b_median": each.medians[1],
        "shift": each.judged.shift,
        "low": each.judged.low,
        "high": each.judged.high,
        "p": each.judged.p,
        "p_family": each.judged.p_family,
        "pairs": each.judged.pairs,
        "verdict": each.word,
        "trials_needed": each.judged.trials_needed,
        "marks": list(each.pairing.marks),
        **dict(zip(("a_floor", "b_floor"), map(_floor, against_floors(each)), strict=True)),
    }


def render_table(comparisons: Sequence[Comparison], margin: float, width: int) -> str:
    """Return aligned columns, and what is to be known beneath."""
    told = _told(comparisons)
    rows = _with_floors([_COLUMNS, *(_row(each, told) for each in comparisons)], comparisons)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", *_beneath(comparisons, margin, width)]) + "\n"


def render_markdown(comparisons: Sequence[Comparison], margin: float) -> str:
    """Return a table as pull requests and wikis show it."""
    told = _told(comparisons)
    head, *rows = _with_floors([_COLUMNS, *(_row(each, told) for each in comparisons)], comparisons)
    rows = [head, ("---",) * len(head), *rows]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"- {each}" for each in _remarks(comparisons, margin))]) + "\n"


def _with_floors(rows: Sequence[tuple[str, ...]], comparisons: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Return the rows with A and B as times of their floors before the verdict, where there is a floor at all."""
    held = [against_floors(each) for each in comparisons]
    if not any(each for both in held for each in both):
        return list(rows)
    told = [_FLOORS, *(tuple(_times(each) for each in both) for both in held)]
    return [(*row[:-1], *floors, row[-1]) for row, floors in zip(rows, told, strict=True)]


def _times(against: AgainstFloor | None) -> str:
    return ABSENT if against is None else f"{ratio(against.times)} × {against.floor}"


def _floor(against: AgainstFloor | None) -> dict[str, object] | None:
    return None if against is None else {"floor": against.floor, "median": against.median, "times": against.times}


def what(pairing: Pairing, told: Collection[str] = EXPERIMENT) -> str:
    """Return what is the same on both sides: subject, size, and of the factors in ``told`` how it was measured."""
    a, b = pairing.a.cell, pairing.b.cell
    shared = {factor for factor in told if getattr(a, factor) == getattr(b, factor)}
    named = subject(a) if subject(a) == subject(b) else a.adapter if a.adapter == b.adapter else ""
    size = format_size(a.size) if a.size == b.size else ""
    return plain(", ".join(each for each in (named, size, words(a, shared)) if each))


def _told(comparisons: Sequence[Comparison]) -> Collection[str]:
    """Return the factors that not all comparisons have in common: the others would stand in every line."""
    cells = [side.cell for each in comparisons for side in (each.pairing.a, each.pairing.b)]
    return [factor for factor in (*EXPERIMENT, *ASKED) if len({getattr(cell, factor) for cell in cells}) > 1]


def _row(each: Comparison, told: Collection[str]) -> tuple[str, ...]:
    judged = each.judged
    interval = "–" if judged.low is None or judged.high is None else f"{_part(judged.low)} … {_part(judged.high)}"
    names = f"{each.pairing.names[0]} → {each.pairing.names[1]}"
    verdict = each.word
    if judged.verdict is Verdict.CANNOT_TELL:
        more = "more than 10,000" if judged.trials_needed is None else f"about {judged.trials_needed:,}"
        verdict += f" ({more} trials would)"
    figures = (_figure(each.metric, median) for median in each.medians)
    same = what(each.pairing, told)
    first = (f"{same}: " if same else "") + names + (" (!)" if each.pairing.marks else "")
    return (plain(first), each.metric, *figures, _part(judged.shift), interval, str(judged.pairs), verdict)


def _figure(metric: str, value: float) -> str:
    unit = METRICS[metric].unit
    if unit == "ns":
        return f"{value / 1000:,.4g} µs"
    if unit == "bytes":
        return f"{value / 1e6:,.4g} MB"
    return f"{value:,.4g} {'ns' if unit == 'ns/message' else '/s'}"


def _part(part: float) -> str:
    return f"{100 * part:+.1f} %"


def _beneath(comparisons: Sequence[Comparison], margin: float, width: int) -> list[str]:
    return [line for each in _remarks(comparisons, margin) for line in hanging("", each, width)]


def _remarks(comparisons: Sequence[Comparison], margin: float) -> list[str]:
    marks = dict.fromkeys(mark for each in comparisons for mark in each.pairing.marks)
    few = any(each.judged.low is None for each in comparisons)
    return [
        f"Paired by round, one figure a trial; Hodges–Lehmann shift with its exact {100 * CONFIDENCE:.0f} % interval; "
        f"different where Holm's p over these {len(comparisons)} is at most 5 % and the shift beyond "
        f"{100 * margin:g} %, "
        f"equivalent where the interval lies within ±{100 * margin:g} %.",
        *(
            ["A dash: fewer than six pairs have no interval, and no verdict can come of them: --trials 10."]
            if few
            else []
        ),
        *(
            ["× floor: times slower than the floor named, what this machine does in that run with no middleware."]
            if any(floor for each in comparisons for floor in against_floors(each))
            else []
        ),
        *(f"(!) {mark}" for mark in marks),
    ]
