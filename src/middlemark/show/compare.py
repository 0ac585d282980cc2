"""What was compared, as a table, as JSON and as Markdown."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from middlemark.document.judged import interval_of, told_factors, verdict_of, what
from middlemark.document.numbers import ABSENT, part, ratio
from middlemark.document.words import plain
from middlemark.show.lines import aligned, hanging
from middlemark.stats.comparisons import METRICS, AgainstFloor, Comparison, against_floors
from middlemark.stats.verdict import CONFIDENCE

SCHEMA = 1

_COLUMNS = ("what", "metric", "A", "B", "B over A", "interval", "pairs", "verdict")
_FLOORS = ("A × alone", "B × alone")


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
    remarks = (line for each in _remarks(comparisons, margin) for line in hanging("", each, width))
    return "\n".join([*aligned(_rows(comparisons), right=False), "", *remarks]) + "\n"


def render_markdown(comparisons: Sequence[Comparison], margin: float) -> str:
    """Return a table as pull requests and wikis show it."""
    head, *rows = _rows(comparisons)
    lines = [
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
        for row in (head, ("---",) * len(head), *rows)
    ]
    return "\n".join([*lines, "", *(f"- {each}" for each in _remarks(comparisons, margin))]) + "\n"


def _rows(comparisons: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Return the head and a row each; A and B as times of their floors where there is a floor at all."""
    told = told_factors([side.cell for each in comparisons for side in (each.pairing.a, each.pairing.b)])
    rows = [_COLUMNS, *(_row(each, told) for each in comparisons)]
    held = [against_floors(each) for each in comparisons]
    if not any(each for both in held for each in both):
        return rows
    floors = [_FLOORS, *(tuple(_times(each) for each in both) for both in held)]
    return [(*row[:-1], *both, row[-1]) for row, both in zip(rows, floors, strict=True)]


def _times(against: AgainstFloor | None) -> str:
    return ABSENT if against is None else f"{ratio(against.times)} × {against.floor}"


def _floor(against: AgainstFloor | None) -> dict[str, object] | None:
    return None if against is None else {"floor": against.floor, "median": against.median, "times": against.times}


def _row(each: Comparison, told: Collection[str]) -> tuple[str, ...]:
    judged, same = each.judged, what(each.pairing, told)
    names = f"{each.pairing.names[0]} → {each.pairing.names[1]}" + (" (!)" if each.pairing.marks else "")
    figures = (_figure(each.metric, median) for median in each.medians)
    verdict = verdict_of(each, judged.trials_needed)
    shift = (part(judged.shift), interval_of(judged), str(judged.pairs))
    return (plain(f"{same}: {names}" if same else names), each.metric, *figures, *shift, verdict)


def _figure(metric: str, value: float) -> str:
    unit = METRICS[metric].unit
    if unit == "ns":
        return f"{value / 1000:,.4g} µs"
    if unit == "bytes":
        return f"{value / 1e6:,.4g} MB"
    return f"{value:,.4g} {'ns' if unit == 'ns/message' else '/s'}"


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
            ["× alone: times slower than the machine alone, over the transport named, in that run."]
            if any(floor for each in comparisons for floor in against_floors(each))
            else []
        ),
        *(f"(!) {mark}" for mark in marks),
    ]
