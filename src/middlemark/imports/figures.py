"""Figures that a document prints, as a study stores them: TOML, whose rows become trials without samples.

Keys at the top say of all of them: ``document``, ``tool``, ``unit`` (ns, us, ms or s) and ``halves`` (of round trips).
A ``[[figures]]`` table has levels by their factors' names, ``samples``, and figures; a list is a column, and all lists
of a table have a value a row. A text in place of a figure says why there is none.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from middlemark.imports.lines import MOST
from middlemark.imports.log import ImportedTrial, Log, LogFormat, NotRead, cell, no_result
from middlemark.imports.objects import text_of
from middlemark.model.cell import FACTORS, Cell
from middlemark.model.levels import Level, Wrong
from middlemark.model.outcome import Failure, RunWarning, TrialCounts
from middlemark.model.spelling import did_you_mean
from middlemark.model.times import NAMES, QUANTILES, Summary, Times
from middlemark.stats.quantiles import samples_needed

TOOL = "document"
_KNOWN = re.compile(rb"^\[\[figures\]\][ \t]*(?:#.*)?$", re.M)
_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_SUMMARY = {name: field for field, name in NAMES.items()}
_TIMES = {
    **{name: ("round_trip_ns", field) for name, field in _SUMMARY.items()},
    **{f"{of}_{name}": (f"{of}_ns", field) for of in ("write", "take", "one_way") for name, field in _SUMMARY.items()},
}
_RATES = ("received", "sent")
"""Messages a second."""
_TOP = ("document", "tool", "unit", "halves", "figures")
_ROW = (*FACTORS, "samples", *_TIMES, *_RATES)


def _knows(head: bytes) -> bool:
    return _KNOWN.search(head) is not None


def _read(blocks: Iterable[bytes]) -> Log:
    try:
        told = tomllib.loads(text_of(blocks))
    except (ValueError, RecursionError) as error:
        raise NotRead(f"it is not TOML: {error}") from None
    wrong = [f"{key}: no such key; {did_you_mean(key, _TOP)}" for key in told if key not in _TOP]
    wrong += [f"{key}: no text; write it in quotes" for key in _TOP[:3] if not isinstance(told.get(key), str)]
    if told.get("unit") not in _UNITS:
        wrong.append(f"unit: one of {', '.join(_UNITS)}")
    if not isinstance(told.get("halves"), bool):
        wrong.append("halves: true where its round trips are halves, else false")
    tables = told.get("figures")
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        wrong.append("figures: write [[figures]]")
        tables = []
    measured = []
    for number, table in enumerate(tables, start=1):
        for row in _rows(table, f"figures {number}", wrong):
            measured += [] if wrong else [_trial(row, told)]
    if wrong:
        raise NotRead("; ".join(dict.fromkeys(wrong)))
    return Log(measured=tuple(measured), lines=len(measured), unread=0, unit="figure")


def _rows(table: Mapping[str, Any], place: str, wrong: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, each key checked: levels as cells have them, figures as numbers or texts."""
    lengths = {len(each) for key, each in table.items() if isinstance(each, list) and key != "pin"}
    if len(lengths) > 1:
        wrong.append(f"{place}: its columns have {', '.join(map(str, sorted(lengths)))} values; as many each")
        return
    wrong += [f"{place}: {key}: no such key; {did_you_mean(key, _ROW)}" for key in table if key not in _ROW]
    if "adapter" not in table:
        wrong.append(f"{place}: no adapter")
    if wrong:
        return
    for at in range(lengths.pop() if lengths else 1):
        row = {}
        for key, value in table.items():
            one = value[at] if isinstance(value, list) and key != "pin" else value
            try:
                row[key] = _value(key, one)
            except Wrong as error:
                wrong.append(f"{place}: {key}: {error}")
        yield row


def _value(key: str, value: object) -> Level:
    if key in FACTORS:
        return FACTORS[key].kind.read(value)
    if isinstance(value, str) and key != "samples":
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST:
        raise Wrong(f"{value!r} is no figure; a number is, or a text that says why there is none")
    return value


def _trial(row: Mapping[str, Any], told: Mapping[str, Any]) -> ImportedTrial:
    where = _cell(row, told["tool"])
    figures = {key: row[key] for key in row if key in _TIMES or key in _RATES}
    numbers = {key: value for key, value in figures.items() if not isinstance(value, str)}
    if not numbers:
        return msgspec.structs.replace(
            no_result(where, "no figure"),
            failed=Failure("no-result", "; ".join(dict.fromkeys(figures.values())) or "no figure is printed"),
        )
    samples = row.get("samples")
    summaries: dict[str, dict[str, float]] = {}
    few = []
    for key, value in numbers.items():
        if key in _RATES:
            continue
        of, field = _TIMES[key]
        if field in QUANTILES and samples is not None and samples < samples_needed(QUANTILES[field]):
            few.append(key)
            continue
        whole = 2 if told["halves"] and of == "round_trip_ns" else 1
        summaries.setdefault(of, {})[field] = whole * _UNITS[told["unit"]] * value
    return ImportedTrial(
        cell=where,
        times=Times(**{of: Summary(**fields) for of, fields in summaries.items()}),
        samples=samples or 0,
        counts=TrialCounts(received=samples) if samples is not None else None,
        counted=("received",) if samples is not None else (),
        rate_hz=numbers.get("received"),
        rate_total_hz=numbers.get("received"),
        sent_hz=numbers.get("sent"),
        warnings=tuple(_warnings(where, told, few, samples)),
    )


def _cell(row: Mapping[str, Any], tool: str) -> Cell:
    levels = {FACTORS[key].field: value for key, value in row.items() if key in FACTORS and key != "adapter"}
    size, pattern = levels.pop("size", 0), levels.pop("pattern", "ping-pong")
    where = cell(f"{row['adapter']} ({tool})", size, pattern, (), **levels)
    known = {FACTORS[key].field for key in row if key in FACTORS}  # ``off`` is None, and known
    return msgspec.structs.replace(where, unknown=tuple(each for each in where.unknown if each not in known), **levels)


def _warnings(where: Cell, told: Mapping[str, Any], few: list[str], samples: int | None) -> Iterator[RunWarning]:
    untold = [each for each in ("transport", "receive", "reliability", "depth", "pin") if each in where.unknown]
    yield RunWarning(
        "imported",
        f"printed in {told['document']}: no sample is kept"
        + (f", and it does not tell {', '.join(untold)}" if untold else ""),
        "do not rank it beside rows measured here: hold ratios of its rows against ratios of yours",
    )
    if told["halves"]:
        yield RunWarning(
            "half-round-trip",
            "the document prints half of each round trip; doubled here, so these are whole",
            "where the document's own figure was quoted, it is half of what stands here",
        )
    if few:
        yield RunWarning(
            "few-samples",
            f"the document prints {', '.join(few)} of {samples:,} samples; fewer than ten lie beyond: left out",
            "a quantile of so few samples is often their maximum",
        )


FORMAT = LogFormat("a study's figures", TOOL, _knows, _read)
