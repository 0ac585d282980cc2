"""Read ``[scorecard]``: metrics and their weights."""

from middlemark.model.spelling import did_you_mean, quoted
from middlemark.problems import Problem


def read_scorecard(value: object, place: str) -> tuple[tuple[tuple[str, float], ...], list[Problem]]:
    """Return the metrics with their weights, and all problems. The form is ``weights = { p50 = 3, memory = 1 }``."""
    if value is None:
        return (), []
    from middlemark.stats.metrics import METRICS

    weights = value.get("weights") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(weights, dict) or not weights:
        return (), [Problem(place, "weights are missing; write weights = { p50 = 3, throughput = 2, memory = 1 }")]
    problems = [Problem(f"{place}: {key}", "no such key; the only key is weights") for key in value if key != "weights"]
    for name, weight in weights.items():
        if name not in METRICS:
            problems.append(Problem(f"{place}: {name}", f"there is no such metric; {did_you_mean(name, METRICS)}"))
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= 1e6:
            problems.append(Problem(f"{place}: {name}", f"{quoted(weight)} is not a weight; write a number above 0"))
    return (() if problems else tuple((name, float(weight)) for name, weight in weights.items())), problems
