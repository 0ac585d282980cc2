"""The document as one JSON value for the page's script (docs/how-to/read-a-report.md).

Figures that were not measured are left out. Times are in ns, sizes in bytes, rates per second, to four digits.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.document import interop, security
from middlemark.document.choices import Choice, choices, usual
from middlemark.document.crowds import conclusions, scaling_tables, start_curve
from middlemark.document.document import Compared, Distribution, Document
from middlemark.document.expectations import counted
from middlemark.document.next_steps import command_of
from middlemark.document.numbers import rounded
from middlemark.document.over_time import over_time
from middlemark.document.questions import question
from middlemark.document.report_tables import growth_tables, scorecard_table
from middlemark.document.runs import (
    MOST_ORDER,
    clock_line,
    machine_and_duration,
    machine_line,
    notes_of,
    read_as,
    seconds_of,
    state,
)
from middlemark.document.screen import not_tried_text
from middlemark.document.security import proof_in_full
from middlemark.model.cell import FACTORS, ONE_WAY, Cell
from middlemark.model.times import NAMES, QUANTILES
from middlemark.show.html.history import history_lines
from middlemark.show.html.values import Json, fields, present, texts_of
from middlemark.show.html.workloads import graphs
from middlemark.show.json import expectations_document
from middlemark.show.json.output import readable
from middlemark.stats.baselines import by_rate
from middlemark.stats.metrics import COMPANION, METRICS
from middlemark.stats.result import CurveStep, Noise
from middlemark.stats.warnings.cells import SERIOUS
from middlemark.verdicts.experiments import doubt_of
from middlemark.verdicts.names import native_settings, plain, warning_name
from middlemark.verdicts.rows import Row, latency_of, loss_of
from middlemark.verdicts.scaling import Scaling

SCHEMA = 2
DATA_BYTES = 4_200_000
"""Heat maps are left out if the data would exceed this size, so that the page with its script stays under 5 MB."""
MOST_STEPS = 40
MOST_DISTURBED = 30
"""The most disturbances that are marked in a map. More marks would hide a map of 24 bins."""

_RATES = ("times_raw_transport", "rate_hz", "bytes_per_s", "offered_hz", "sent_hz")
_COSTS = ("cpu", "rss_bytes", "bytes_per_subscriber", "voluntary_hz", "involuntary_hz")
_WARNING_FIELDS = ("code", "text", "advice")
_ALWAYS = ("adapter", "transport")
_FIRST = ("adapter", "transport", "size", "pattern", "rate", "receive")
"""The factors that come first in the filters."""

_OFFERED: Sequence[tuple[str, str, Callable[[Any], str], str | None]] = (
    *(
        (each.field, each.title or each.name, each.show, each.unit)
        for each in sorted(FACTORS.values(), key=lambda each: (*_FIRST, each.name).index(each.name))
    ),
    ("native", "own settings", str, None),
    ("label", "label", str, None),
)
"""The factors that a filter offers, in order: (field, label, function that writes a level, unit)."""


def data_of(document: Document) -> Json:
    """Return the data of the page, with as many heat maps as fit."""
    factors = [levels_of(row.result.cell) for row in document.rows]
    distributions = document.distributions or (Distribution(),) * len(document.rows)
    found = choices(document)
    data = {
        "schema": SCHEMA,
        "title": document.title,
        "question": question(document),
        "generated": document.generated,
        "middlemark": document.middlemark,
        "margin": document.margin,
        "runs": [_run(document, at) for at in range(len(document.runs))],
        "quantiles": [NAMES[each] for each in QUANTILES],
        "factors": _factors(factors, [run.name for run in document.runs]),
        "cells": [_cell(*each) for each in zip(document.rows, factors, distributions, strict=True)],
        "comparisons": [*map(_comparison, document.comparisons)],
        "comparisons_left_out": document.comparisons_left_out,
        "workloads": graphs(document),
        "security": _security(document),
        "interop": _interop(document),
        "expectations": expectations_document(document),
        "expected": counted(document.expectations) if document.expectations else "",
        "answers": msgspec.to_builtins(document.answers),
        "since_last_run": document.since_last_run and document.since_last_run.since,
        "history": history_lines(document.history),
        "standings": [_standing(each) for each in found],
        "usual": usual(found),
        "not_tried": msgspec.to_builtins(document.not_tried),
        "not_tried_text": not_tried_text(document.not_tried),
        "scorecards": [
            {"experiment": card.experiment, "method": table.notes[0], **texts_of(table)}
            for card in document.scorecards
            for table in [scorecard_table(card)]
        ],
        "over_time": [
            {"title": each.title, "notes": list(each.notes), **texts_of(each)} for each in over_time(document)
        ],
        "laws": [*map(_law, document.scalings)],
        "laws_in_words": [each.text for each in conclusions(document.scalings)],
        "scaling": [
            {"title": table.title, "notes": list(table.notes), **texts_of(table)}
            for table in scaling_tables(document.scalings)
        ],
        "growth": [
            {"factor": factor, "levels": [each.title for each in table.columns[1:]], **texts_of(table)}
            for factor, table in growth_tables(document.growths)
        ],
        "warnings_summary": _warnings(document),
        "commands": list(document.commands),
    }
    try:
        return _fitting(data)
    except UnicodeEncodeError:  # text that is not Unicode, for example a folder's name
        return _fitting(readable(data))


def _security(document: Document) -> Json | None:
    """Return the cost of security and the proofs of protection.

    None: no experiment has protected and unprotected rows.
    """
    if not document.costs:
        return None
    tables = [security.table_of(each) for each in document.costs]
    return {
        "conclusion": security.headline(document.costs),
        "proven": security.proven(document.rows),
        "tables": [{"title": each.title, "legend": " · ".join(each.legend), **texts_of(each)} for each in tables],
    }


def _interop(document: Document) -> Json | None:
    """Return the tables of senders and receivers; None: no pair of different adapters was measured."""
    if not document.interop:
        return None
    tables = [interop.table_of(each) for each in document.interop]
    return {
        "conclusion": interop.headline(document.interop),
        "tables": [{"title": each.title, "legend": " · ".join(each.legend), **texts_of(each)} for each in tables],
        "apart": [*interop.sentences(document.interop)],
    }


def _standing(choice: Choice) -> Json:
    """Return the ranking of one experiment, without absent fields."""
    places = [present(fields(each, *each.__struct_fields__)) for each in choice.places]
    return present(msgspec.structs.asdict(choice) | {"places": places})


def _warnings(document: Document) -> list[Json]:
    """Return the warnings by kind, in the document's order.

    ``serious``: True if the warning makes a median doubtful.
    """
    return [
        msgspec.to_builtins(each) | {"words": warning_name(each.code), "serious": each.code in SERIOUS}
        for each in document.warnings
    ]


def levels_of(cell: Cell) -> Json:
    """Return field → level for every factor. None and lists are written as on the command line, settings as one text.

    A level that an imported log does not contain is ``unknown``; an unknown size is None.
    """
    levels: Json = {}
    for each in FACTORS.values():
        level = getattr(cell, each.field)
        levels[each.field] = each.kind.show(level) if level is None or isinstance(level, tuple) else level
    levels["native"] = plain(native_settings(cell)) or "defaults"
    levels["label"] = plain(cell.label or "")
    return levels | {factor: None if factor == "size" else "unknown" for factor in cell.unknown if factor in levels}


def _factors(levels: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Json]:
    """Return the factors with more than one level. Adapter and transport are always included.

    If there are several runs, the run counts as a factor, whose levels are ``names``.
    """
    found = []
    for field, title, show, unit in _OFFERED:
        ordered = _ordered(each[field] for each in levels)
        if len(ordered) > 1 or (ordered and field in _ALWAYS):
            shown = [plain(level if isinstance(level, str) else show(level)) for level in ordered]
            found.append({"name": field, "label": title, "levels": ordered, "shown": shown, "unit": unit})
    if len(names) > 1 and levels:
        runs = [f"r{at}" for at in range(len(names))]
        found.append({"name": "run", "label": "run", "levels": runs, "shown": [*map(plain, names)], "unit": None})
    return [*map(present, found)]


def _ordered(levels: Iterable[Any]) -> list[Any]:
    """Return each level once: numbers ascending, then words in their first order."""
    different = list(dict.fromkeys(levels))
    numbers = sorted(each for each in different if isinstance(each, int | float) and not isinstance(each, bool))
    return [*numbers, *(each for each in different if isinstance(each, bool | str))]


def _run(document: Document, at: int) -> Json:
    run = document.runs[at]
    file, machine = run.file, run.file.machine
    first = next((row.index for row in document.rows if row.run == at), 0)
    order = [first + each.cell for each in sorted(run.outcomes, key=lambda each: each.order)]
    facts = {"clock": clock_line(run), "clock of the kernel": machine.clocksource, "governor": machine.governor}
    return present(
        {
            "id": f"r{at}",
            **fields(run, "name", "damaged_lines", "planned_trials", "failed_trials"),
            **fields(file, "started", "ended", "interrupted", "error", "middlemark", "seed"),
            "folder": str(run.folder),
            "running": bool(run.running),
            "suites": [present({"name": each, "text": file.suite_texts.get(each)}) for each in file.suites],
            "command": list(command_of(run)),
            "state": state(run),
            "machine": msgspec.to_builtins(machine),
            "machine_line": machine_line(run),
            "told": machine_and_duration(run),
            "machine_facts": [each for each in facts.items() if each[1]],
            "adapters": [
                fields(each, "name", "title", "version", "licence", "language", "is_raw_transport")
                for each in file.adapters
            ],
            "notes": [*map(read_as, file.imported), *notes_of(run)],
            "trials": len(run.outcomes),
            "seconds": rounded(seconds_of(run)),
            "order": order[:MOST_ORDER],
            "order_cut": len(order) > MOST_ORDER,
        }
    )


def _cell(row: Row, levels: Json, found: Distribution) -> Json:
    result = row.result
    latency, costs = latency_of(result), result.resources
    quantiles = {name: rounded(getattr(latency, each)) for each, name in NAMES.items() if latency and each != "stdev"}
    return present(
        {
            "i": row.index,
            "run": f"r{row.run}",
            "suite": result.name,
            **fields(row, "label", "name", "series", "is_raw_transport", "ratio"),
            "f": levels,
            **fields(
                result,
                "version",
                "language",
                "actual_transport",
                "protected_by",
                "trials",
                "failed_trials",
                "samples",
                *_RATES,
            ),
            "proof": proof_in_full(result) or None,
            "failed": fields(result.failed, *_WARNING_FIELDS) if result.failed else None,
            "kind": "one_way" if result.cell.pattern in ONE_WAY else "round_trip",
            "latency": present(quantiles) if latency else None,
            "interval": [*map(rounded, result.interval)] if result.interval else None,
            "trial_values": [*map(rounded, result.trial_values)],
            "by_rate": by_rate(result.cell),
            "raw_transport": result.raw_transport,
            "raw_transport_cell": row.raw_transport_row,
            "baseline_cell": row.baseline_row,
            "hands_over": row.hands_over or None,
            "doubt": doubt_of(row) or None,
            "loss": rounded(loss_of(result)),
            "cpu_ns_per_message": rounded(costs.ns_per_message) if costs else None,
            **fields(costs, *_COSTS),
            "companion_cpu": rounded(result.median(f"processors.{COMPANION}")),
            "companion_rss_bytes": rounded(result.median(f"memory.{COMPANION}")),
            "sustainable_hz": rounded(result.sustainable.rate_hz) if result.sustainable else None,
            "steps": [*map(_step, result.steps[:MOST_STEPS])],
            "breakdown": [fields(each, "part", "ns") for each in result.breakdown or ()] or None,
            "coding_absent": result.coding_absent,
            "baseline": _compact(msgspec.to_builtins(result.baseline)),
            "noise": _compact(msgspec.to_builtins(result.noise)),
            "warnings": [fields(each, *_WARNING_FIELDS) for each in result.warnings],
            "start": start_curve(row) or None,
            "curve": found.curve,
            "trial_curves": found.trials or None,
            "heat": _heat(found, result.noise),
        }
    )


def _law(scaling: Scaling) -> Json:
    """Return a power law of a crowd: its line, and for each number [number, median, residual]."""
    points = [[each.level, rounded(each.median), rounded(each.residual)] for each in scaling.points]
    names = ("line", "along", "figure", "coefficient", "exponent", "low", "high")
    return {**fields(scaling, *names), "points": points, "rows": scaling.rows}


def _step(step: CurveStep) -> Json:
    rates = ("sent_hz", "received_hz") if step.trials else ()
    return present(fields(step, *rates, "offered_hz", "lost", "p50_ns", "p99_ns", "knee", "held"))


def _heat(found: Distribution, noise: Noise | None) -> Json | None:
    """Return the heat map. If disturbances were recorded in the same trial, the map contains the disturbances."""
    if found.heat is None:
        return None
    seen = noise.disturbed if noise is not None and noise.disturbed_trial == found.trial else ()
    longest = sorted(seen, key=lambda each: each[0] - each[1])[:MOST_DISTURBED]
    heat: Json = msgspec.to_builtins(found.heat)
    return heat | {"disturbed": [[rounded(begin), rounded(end)] for begin, end in sorted(longest)]}


def _compact(value: Any) -> Any:
    """Return the figures and texts of a mapping.

    Lists and reasons are left out, because the JSON of the run has both.
    """
    if not isinstance(value, dict):
        return None
    kept = {name: _compact(each) if isinstance(each, dict) else each for name, each in value.items()}
    return {
        name: rounded(each) if isinstance(each, float) else each
        for name, each in kept.items()
        if each is not None and not isinstance(each, list | tuple) and name != "absent"
    }


def _comparison(each: Compared) -> Json:
    comparison, judged = each.comparison, each.comparison.judged
    return present(
        fields(each, "a", "b", "factor", "what")
        | fields(judged, "shift", "low", "high", "p", "p_family", "pairs", "trials_needed")
        | fields(comparison.pairing, "names", "marks")
        | {
            "metric": comparison.metric,
            "unit": METRICS[comparison.metric].unit,
            "medians": [*map(rounded, comparison.medians)],
            "verdict": comparison.word,
        }
    )


def _fitting(data: Any) -> Json:
    """Return the data with the heat maps that fit. Rows with warnings come first, and raw transports last."""
    cells: list[Json] = data["cells"]
    sizes = [len(msgspec.json.encode(each["heat"])) if "heat" in each else 0 for each in cells]
    room = DATA_BYTES - (len(msgspec.json.encode(data)) - sum(sizes))
    for cell in sorted(cells, key=lambda each: (each["is_raw_transport"], not each["warnings"], each["i"])):
        if sizes[cell["i"]] <= room:
            room -= sizes[cell["i"]]
        else:
            del cell["heat"]
    return dict(data)
