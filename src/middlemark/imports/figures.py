"""Read figures that a document prints and that a study stores as TOML. Each row becomes a trial without samples.

The keys ``document``, ``tool``, ``unit`` (ns, us, ms or s) and ``halves`` apply to the whole file. With ``halves`` the
document prints half of each round trip, and this module doubles the figures. A ``[[figures]]`` table has levels by
factor name, ``samples``, and figures. A list is a column, and all lists of a table have one value per row. A text in
place of a figure is the reason why the figure is missing.
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
"""The figures that are rates, in messages per second."""
_TOP = ("document", "tool", "unit", "halves", "figures")
_ROW = (*FACTORS, "samples", *_TIMES, *_RATES)


def _read(blocks: Iterable[bytes]) -> Log:
    try:
        header = tomllib.loads(text_of(blocks))
    except (ValueError, RecursionError) as error:
        raise NotRead(f"the file is not TOML: {error}") from None
    wrong = [f"{key}: no such key; {did_you_mean(key, _TOP)}" for key in header if key not in _TOP]
    wrong += [f"{key}: not a text; write it in quotes" for key in _TOP[:3] if not isinstance(header.get(key), str)]
    if header.get("unit") not in _UNITS:
        wrong.append(f"unit: write one of {', '.join(_UNITS)}")
    tables = header.get("figures")
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        wrong.append("figures: write [[figures]]")
        tables = []
    trips = any(_TIMES.get(key, ("", ""))[0] == "round_trip_ns" for each in tables for key in each)
    if not isinstance(header.get("halves", None if trips else False), bool):
        wrong.append("halves: write true if its round trips are halves, else false")
    measured = []
    for number, table in enumerate(tables, start=1):
        for row in _rows(table, f"figures {number}", wrong):
            measured += [] if wrong else [_trial(row, header)]
    if wrong:
        raise NotRead("; ".join(dict.fromkeys(wrong)))
    return Log(measured=tuple(measured), lines=len(measured), unread=0, unit="figure")


def _rows(table: Mapping[str, Any], place: str, wrong: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table with checked keys: levels as cells store them, and figures as numbers or texts."""
    lengths = {len(each) for key, each in table.items() if isinstance(each, list) and key != "pin"}
    if len(lengths) > 1:
        wrong.append(
            f"{place}: the columns have {', '.join(map(str, sorted(lengths)))} values; write the same number in each"
        )
        return
    wrong += [f"{place}: {key}: no such key; {did_you_mean(key, _ROW)}" for key in table if key not in _ROW]
    if "adapter" not in table:
        wrong.append(f"{place}: adapter: missing; name the adapter of the rows")
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
        raise Wrong(f"{value!r} is not a figure; write a number, or a text that says why it is missing")
    return value


def _trial(row: Mapping[str, Any], header: Mapping[str, Any]) -> ImportedTrial:
    where = _cell(row, header["tool"])
    figures = {key: row[key] for key in row if key in _TIMES or key in _RATES}
    numbers = {key: value for key, value in figures.items() if not isinstance(value, str)}
    if not numbers:
        return msgspec.structs.replace(
            no_result(where, "no figure"),
            failed=Failure("no-result", "; ".join(dict.fromkeys(figures.values())) or "the document prints no figure"),
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
        whole = 2 if header.get("halves") and of == "round_trip_ns" else 1
        summaries.setdefault(of, {})[field] = whole * _UNITS[header["unit"]] * value
    return ImportedTrial(
        cell=where,
        times=Times(**{of: Summary(**fields) for of, fields in summaries.items()}),
        samples=samples or 0,
        counts=TrialCounts(received=samples) if samples is not None else None,
        counted=("received",) if samples is not None else (),
        rate_hz=numbers.get("received"),
        rate_total_hz=numbers.get("received"),
        sent_hz=numbers.get("sent"),
        loss=_loss(where, numbers),
        warnings=(*_warnings(where, header, few, samples), *_missing(figures)),
    )


def _loss(where: Cell, numbers: Mapping[str, float]) -> float | None:
    """Return the share of messages that did not arrive at the one subscriber, from the rates."""
    several = where.subscribers > 1 and "subscribers" not in where.unknown
    if several or where.pattern != "stream" or not numbers.get("sent") or "received" not in numbers:
        return None
    share = 1 - numbers["received"] / numbers["sent"]
    return share if share >= 0 else None


def _missing(figures: Mapping[str, Level]) -> Iterator[RunWarning]:
    """Yield a warning with the figures of a row for which the document has a reason in place of a number."""
    reasons = [f"{key}: {value}" for key, value in figures.items() if isinstance(value, str)]
    if reasons:
        yield RunWarning("figures-missing", f"the document has no figure for {'; '.join(reasons)}")


def _cell(row: Mapping[str, Any], tool: str) -> Cell:
    levels = {FACTORS[key].field: value for key, value in row.items() if key in FACTORS and key != "adapter"}
    size, pattern = levels.pop("size", 0), levels.pop("pattern", "ping-pong")
    where = cell(f"{row['adapter']} ({tool})", size, pattern, (), **levels)
    # A cell stores the level ``off`` as None, but the function ``cell`` reads None as an unknown level.
    stated = {FACTORS[key].field for key in row if key in FACTORS}
    return msgspec.structs.replace(where, unknown=tuple(each for each in where.unknown if each not in stated), **levels)


def _warnings(where: Cell, header: Mapping[str, Any], few: list[str], samples: int | None) -> Iterator[RunWarning]:
    missing = [each for each in ("transport", "receive", "reliability", "depth", "pin") if each in where.unknown]
    yield RunWarning(
        "imported",
        f"printed in {header['document']} without samples"
        + (f"; the document does not state {', '.join(missing)}" if missing else ""),
        "do not rank it with rows measured here; compare ratios between its rows with ratios between yours",
    )
    if header.get("halves"):
        yield RunWarning(
            "half-round-trip",
            "the document prints half of each round trip; the figures are doubled here, so they are whole round trips",
            "the document's own figure is half of this one",
        )
    if few:
        yield RunWarning(
            "few-samples",
            f"left out: the document's {', '.join(few)} of {samples:,} samples, as fewer than ten samples are above it",
            "such a quantile is often the maximum",
        )


FORMAT = LogFormat("a study's figures", TOOL, _KNOWN, _read)
