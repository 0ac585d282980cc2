"""What was compared, as a table, as JSON and as Markdown."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from middlemark.document.compare import tables_of, whole_table
from middlemark.show.layout import terminal
from middlemark.show.lines import hanging
from middlemark.show.markdown import table
from middlemark.stats.comparisons import AgainstFloor, Comparison, against_floors
from middlemark.stats.metrics import METRICS
from middlemark.verdicts.names import telling, what

SCHEMA = 1


def render_json(comparisons: Sequence[Comparison], margin: float, edge: str | None = None) -> str:
    """Return ``{"schema":1,"margin":…,"edge":…,"comparisons":[…]}``; shifts are parts: 0.1 is a tenth more than A has.

    ``edge``: of workloads the one whose figures these are; null: they are those of the whole.
    """
    rows = json_rows(comparisons)
    told = {"schema": SCHEMA, "margin": margin, "edge": edge, "comparisons": rows}
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def json_rows(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return comparisons for a program."""
    told = telling(each.pairing for each in comparisons)
    return [_json_row(each, told) for each in comparisons]


def _json_row(each: Comparison, told: Collection[str]) -> dict[str, Any]:
    return {
        "what": what(each.pairing, told),
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


def _floor(against: AgainstFloor | None) -> dict[str, object] | None:
    return None if against is None else {"floor": against.floor, "median": against.median, "times": against.times}


def render_table(comparisons: Sequence[Comparison], margin: float, width: int, edge: str | None = None) -> str:
    """Return a table for each metric, every name once, within the width; what is to be known stands beneath."""
    lines: list[str] = [*hanging("", f"Edge {edge}", width), ""] if edge else []
    for each in tables_of(comparisons, margin):
        lines += [line.plain.rstrip() for line in terminal(each, width, name=16)] + [""]
    return "\n".join(lines[:-1]) + "\n"


def render_markdown(comparisons: Sequence[Comparison], margin: float, edge: str | None = None) -> str:
    """Return a table as pull requests and wikis show it."""
    title = [f"Edge {edge}", ""] if edge else []
    return "\n".join([*title, *table(whole_table(comparisons, margin))]) + "\n"
