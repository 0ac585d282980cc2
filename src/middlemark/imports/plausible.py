"""Check that the figures of an imported row fit together; add a warning to figures that contradict each other."""

import itertools
from collections.abc import Iterable

import msgspec

from middlemark.imports.log import ImportedTrial, Log
from middlemark.model.outcome import RunWarning
from middlemark.model.times import NAMES, QUANTILES, Summary, Times

_ROUNDING = 1e-6


def checked(log: Log) -> Log:
    """Return the log with a warning about contradictions. Quantiles that contradict other quantiles are left out."""
    return msgspec.structs.replace(log, measured=tuple(map(_checked, log.measured)))


def contradiction(text: str, reading: str) -> RunWarning:
    """Return the warning about figures that contradict each other. ``reading``: what the row shows in this case."""
    return RunWarning(
        "contradiction", f"{text}; {reading}", "check the log against the tool's source, or measure again"
    )


def ascending(figures: Iterable[float | None]) -> bool:
    """Say whether the figures ascend. None is skipped."""
    known = [each for each in figures if each is not None]
    return all(lower <= higher for lower, higher in itertools.pairwise(known))


def in_lines(lines: int, of: int, text: str) -> tuple[RunWarning, ...]:
    """Return a warning if the figures of some lines contradict each other. ``text``: the contradiction."""
    if not lines:
        return ()
    return (contradiction(f"in {lines:,} of {of:,} lines {text}", "the figures are read as printed"),)


def near(value: float, other: float, rounding: float = 0.0) -> bool:
    """Say whether two figures agree, if one of them is rounded by at most ``rounding``."""
    return abs(value - other) <= _TOLERANCE * max(abs(value), abs(other)) + rounding


def between(low: float | None, mean: float | None, high: float | None) -> bool:
    """Say whether the mean is between minimum and maximum, except for rounding. None is skipped."""
    if mean is None:
        return True
    return not (
        (low is not None and mean < low - _BETWEEN * abs(low))
        or (high is not None and mean > high + _BETWEEN * abs(high))
    )


def out_of_order(lines: int, of: int) -> tuple[RunWarning, ...]:
    """Return a warning if the minimum, quantiles and maximum of some lines do not ascend."""
    return in_lines(lines, of, "the minimum, quantiles and maximum do not ascend")


def differ(name: str, value: float, of_what: str, other: float) -> tuple[RunWarning, ...]:
    """Return a warning if ``value`` differs by more than ``_TOLERANCE`` from ``other``, the value by other figures."""
    if near(value, other, _SMALL):
        return ()
    return (contradiction(f"{name} is {value:,.6g}, but {of_what} is {other:,.6g}", f"{name} is shown as printed"),)


_TOLERANCE = 0.05
_SMALL = 0.1
"""Differences up to this are allowed, because tools print small rates with one decimal."""


def _checked(trial: ImportedTrial) -> ImportedTrial:
    found: list[RunWarning] = []
    times = {}
    for field in Times.__struct_fields__:
        summary = getattr(trial.times, field)
        if summary is not None:
            kind = field.removesuffix("_ns").replace("_", " ")
            times[field] = _in_order(_without_maxima(summary, trial, kind, found), kind, found)
    negative = {name: None for name in _RATES if (getattr(trial, name) or 0.0) < 0}
    if negative:
        found.append(contradiction("a rate is below zero", "it is left out"))
        trial = msgspec.structs.replace(trial, **negative)
    found += _counts(trial)
    return msgspec.structs.replace(
        trial,
        times=msgspec.structs.replace(trial.times, **times),
        warnings=_one_for_each_code((*trial.warnings, *found)),
    )


_RATES = ("rate_hz", "rate_total_hz", "sent_hz")


def _one_for_each_code(warnings: Iterable[RunWarning]) -> tuple[RunWarning, ...]:
    """Return one warning for each code, with the texts of all its warnings: a row shows one warning for each code."""
    merged: dict[str, RunWarning] = {}
    for each in warnings:
        first = merged.get(each.code)
        text = each.text if first is None else f"{first.text}; {each.text}"
        merged[each.code] = msgspec.structs.replace(first or each, text=text)
    return tuple(merged.values())


def _us(ns: float) -> str:
    return f"{ns / 1e3:,.6g} µs"


def _without_maxima(summary: Summary, trial: ImportedTrial, kind: str, found: list[RunWarning]) -> Summary:
    """Leave out the quantiles that equal the maximum: fewer than ten samples are above such a quantile.

    If the number of samples is known, nothing is left out here.
    """
    if trial.samples or summary.max is None:
        return summary
    same = {field: None for field in QUANTILES if getattr(summary, field) == summary.max != summary.min}
    if same:
        names = ", ".join(NAMES[each] for each in same)
        found.append(
            RunWarning(
                "few-samples",
                f"left out: {names} of its {kind}, which equals the maximum, so fewer than ten samples are above it",
                "such a quantile is the maximum",
            )
        )
    return msgspec.structs.replace(summary, **same)


def _in_order(summary: Summary, kind: str, found: list[RunWarning]) -> Summary:
    """Leave out each quantile that is zero although the minimum is not, or that is not between its neighbours."""
    order = ("min", *QUANTILES, "max")
    kept = {field: value for field in order if (value := getattr(summary, field)) is not None}
    out: dict[str, float] = {}
    while True:
        fields = list(kept)
        wrong = {
            field: sum(
                kept[lower] > kept[higher] * (1 + _ROUNDING) + _ROUNDING
                for at, lower in enumerate(fields)
                for higher in fields[at + 1 :]
                if field in (lower, higher)
            )
            for field in fields
        }
        most = max((each for each in wrong if each in QUANTILES), key=lambda each: (wrong[each], each), default=None)
        if most is None or not wrong[most]:
            break
        out[most] = kept.pop(most)
    if out:
        named = ", ".join(f"{NAMES[field]} is {_us(out[field])}" for field in order if field in out)
        others = ", ".join(f"{NAMES[field]} {_us(value)}" for field, value in kept.items())
        text = f"the quantiles of its {kind} do not ascend: {named}, but {others}"
        found.append(contradiction(text, f"left out: {', '.join(NAMES[each] for each in order if each in out)}"))
    low, high, mean = summary.min, summary.max, summary.mean
    if low is not None and high is not None and low > high:
        found.append(contradiction(f"its minimum {kind} is above its maximum", "both are shown as printed"))
    elif mean is not None and not between(low, mean, high):
        found.append(
            contradiction(f"its mean {kind}, {_us(mean)}, is not between minimum and maximum", "the mean is as printed")
        )
    if low is not None and high is not None and summary.stdev is not None:
        widest = _WIDEST * max(high - low, 0.0)
        if summary.stdev > widest * (1 + _BETWEEN) + _ROUNDED_NS:
            text = f"its standard deviation, {_us(summary.stdev)}, is too large for its minimum and maximum"
            found.append(contradiction(text, "all three are shown as printed"))
    return msgspec.structs.replace(summary, **dict.fromkeys(out))


_BETWEEN = 0.02
"""A mean is wrong only if it is outside minimum and maximum by more than this share, because tools round the three
differently."""
_WIDEST = 2**-0.5
"""A standard deviation is at most this share of the difference of maximum and minimum. Two samples have this share."""
_ROUNDED_NS = 4_000.0
"""Some tools print half of a round trip in whole µs. The difference of two such figures may be too small by this."""


def _counts(trial: ImportedTrial) -> list[RunWarning]:
    """Return a warning if more messages arrived than were sent.

    The counts are compared, or the rates if there are none.
    """
    counts = trial.counts
    if counts is not None and counts.received == 0 and "received" in trial.counted and _timed(trial.times):
        return [contradiction("no message arrived, but the log has latencies", "both are shown as printed")]
    round_trips = trial.cell.pattern != "stream"
    if not round_trips and "subscribers" in trial.cell.unknown and trial.rate_total_hz is None:
        return []
    copies = 1 if round_trips or "subscribers" in trial.cell.unknown else trial.cell.subscribers
    if counts is not None and {"sent", "received"} <= set(trial.counted):
        sent, received, unit = float(counts.sent), float(counts.received), "messages"
    elif trial.sent_hz is not None and trial.rate_hz is not None:
        sent, received, unit = trial.sent_hz, trial.rate_hz * copies, "messages/s"
    else:
        return []
    if received <= sent * copies * _MOST_ARRIVED + copies:
        return []
    of_several = "" if copies == 1 else f" at {copies} subscribers"
    return [
        contradiction(
            f"{received:,.6g} {unit} arrived{of_several}, but only {sent:,.6g} were sent", "both are shown as printed"
        )
    ]


def _timed(times: Times) -> bool:
    summaries = (times.round_trip_ns, times.one_way_ns, times.one_way_from_sent_ns)
    return any(each is not None and each.max is not None for each in summaries)


_MOST_ARRIVED = 1.01
"""More messages may arrive than were sent, up to this factor: sender and receiver count over slightly different
times."""
