"""The warnings of many rows, by their kind: how many rows, the worst of them, and each remedy once."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from middlemark.document.document import WarningSummary
from middlemark.stats.noise import DISTURBED
from middlemark.stats.result import TrialNoise
from middlemark.stats.warnings.cells import SERIOUS
from middlemark.verdicts.rows import Row, loss_of


def disturbance(trial: TrialNoise) -> float:
    """Return the share of the roles' processors' time that the machine took."""
    return (trial.others_share or 0.0) + (trial.steal_share or 0.0) + (trial.delay_share or 0.0)


def _most_disturbed(row: Row) -> float:
    return max((disturbance(each) for each in row.result.noise.trials), default=0.0) if row.result.noise else 0.0


def _spread(row: Row) -> float:
    values = row.result.trial_values
    return max(values) / min(values) if values and min(values) > 0 else 0.0


_BY: Mapping[str, Callable[[Row], float | None]] = {
    DISTURBED: _most_disturbed,
    "faster-than-floor": lambda row: -(row.result.times_floor or 1.0),
    "loss": lambda row: loss_of(row.result),
    "loss-behind-latency": lambda row: loss_of(row.result),
    "trials-disagree": _spread,
}
"""How bad it is, where there is a figure for that; elsewhere the first row stands for all."""


def warnings_of(rows: Sequence[Row]) -> tuple[WarningSummary, ...]:
    """Return the kinds of warnings: those that make a median doubtful first, then those of the most rows."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        for code in dict.fromkeys(each.code for each in row.result.warnings):
            found.setdefault(code, []).append(row)
    return tuple(
        _summary(code, members)
        for code, members in sorted(found.items(), key=lambda item: (item[0] not in SERIOUS, -len(item[1])))
    )


def _summary(code: str, members: Sequence[Row]) -> WarningSummary:
    bad = _BY.get(code)
    worst_first = sorted(members, key=lambda row: -(bad(row) or 0.0)) if bad else members
    remedies = Counter(
        remedy
        for row in members
        for each in row.result.warnings
        if each.code == code and each.advice
        for remedy in each.advice.split("; ")
    )
    return WarningSummary(
        code=code,
        count=len(members),
        text=next(each.text for each in worst_first[0].result.warnings if each.code == code),
        advice="; ".join(remedy for remedy, _ in remedies.most_common()),
        cells=tuple(row.index for row in worst_first),
    )
