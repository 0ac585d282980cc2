"""Check that the figures of an imported row fit together, and mark those that do not."""

import msgspec

from middlemark.imports.log import ImportedTrial, Log
from middlemark.model.outcome import RunWarning
from middlemark.model.times import NAMES, QUANTILES, Summary, Times

_ROUNDING = 1e-6


def checked(log: Log) -> Log:
    """Return the log with a warning for each contradiction. Quantiles that contradict others are left out."""
    return msgspec.structs.replace(log, measured=tuple(map(_checked, log.measured)))


def contradiction(text: str, reading: str) -> RunWarning:
    """Return the warning about figures that contradict each other. ``reading``: which of them the row uses."""
    return RunWarning(
        "contradiction", f"{text}; {reading}", "check the log against the tool's source, or measure again"
    )


def _checked(trial: ImportedTrial) -> ImportedTrial:
    found: list[RunWarning] = []
    times = {}
    for field in Times.__struct_fields__:
        summary = getattr(trial.times, field)
        if summary is not None:
            kind = field.removesuffix("_ns").replace("_", " ")
            times[field] = _in_order(_without_maxima(summary, trial, kind, found), kind, found)
    found += _counts(trial)
    if not found:
        return trial
    return msgspec.structs.replace(
        trial, times=msgspec.structs.replace(trial.times, **times), warnings=(*trial.warnings, *found)
    )


def _us(ns: float) -> str:
    return f"{ns / 1e3:,.6g} µs"


def _without_maxima(summary: Summary, trial: ImportedTrial, kind: str, found: list[RunWarning]) -> Summary:
    """Leave out the quantiles that equal the maximum, if the number of samples is unknown: too few are above them."""
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
    """Leave out quantiles that are zero above a minimum, or out of order with most of the other figures."""
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
        found.append(contradiction(f"its {kind}s are not in order: {named}, but {others}", "the former are left out"))
    low, high, mean = summary.min, summary.max, summary.mean
    if low is not None and high is not None and low > high:
        found.append(contradiction(f"its minimum {kind} is above its maximum", "both are shown as printed"))
    elif mean is not None and (
        (low is not None and mean < low * (1 - _BETWEEN)) or (high is not None and mean > high * (1 + _BETWEEN))
    ):
        found.append(
            contradiction(f"its mean {kind}, {_us(mean)}, is not between minimum and maximum", "it is shown as printed")
        )
    return msgspec.structs.replace(summary, **dict.fromkeys(out))


_BETWEEN = 0.02
"""Tools round the mean, minimum and maximum differently: a mean is wrong only if it is this share outside."""


def _counts(trial: ImportedTrial) -> list[RunWarning]:
    """Return a warning if more messages arrived than were sent."""
    counts = trial.counts
    if counts is None or trial.cell.pattern != "stream" or not {"sent", "received"} <= set(trial.counted):
        return []
    copies = trial.cell.subscribers if "subscribers" not in trial.cell.unknown else 0
    if not copies or not counts.sent or counts.received <= counts.sent * copies * 1.001 + copies:
        return []
    return [
        contradiction(
            f"{counts.received:,} messages arrived at {copies} subscribers, but only {counts.sent:,} were sent",
            "both are shown as printed",
        )
    ]
