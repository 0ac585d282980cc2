"""Cells held against each other, by a factor or run against run: what may be compared, and beside which floors."""

import statistics
from collections.abc import Callable, Mapping, Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Description
from middlemark.model.levels import Level
from middlemark.stats.costs import trial_cpu_ns_per_message, trial_rss_bytes
from middlemark.stats.floors import by_rate, floors
from middlemark.stats.trials import TrialSummary
from middlemark.stats.verdict import MARGIN, Judgement, Verdict, judge

SHARED_MEMORY = "shared_memory"
"""A factor of its own, on or off by what carries the transport's data: it stands in place of ``transport``."""

_HIDDEN = {
    SHARED_MEMORY: ("transport",),
    "adapter": ("adapter", "transport", "native"),
    "label": ("label", "native"),
}
"""Factors in which cells may differ beside the one they are compared by: an adapter brings its own transports, and a
label may stand for a setting of its own (the selftest's planted delays)."""

_MATTER = ("receive", "rate", "payload", "reliability", "processes", "pin")
"""What a comparison with an imported cell says is not known, of what is not."""

_Figure = Callable[[Cell, TrialSummary], float | None]


def _latency(quantile: str) -> _Figure:
    def figure(cell: Cell, trial: TrialSummary) -> float | None:
        times = trial.times.latency_of(cell)
        value: float | None = getattr(times, quantile) if times else None
        return value

    return figure


def _throughput(_: Cell, trial: TrialSummary) -> float | None:
    return trial.rates.rate_hz if trial.rates else trial.replies_hz


class Metric(msgspec.Struct, frozen=True):
    """What can be compared, one figure a trial."""

    figure: _Figure
    better: str
    worse: str
    unit: str
    higher_is_better: bool = False


METRICS: Mapping[str, Metric] = {
    "p50": Metric(_latency("p50"), "faster", "slower", "ns"),
    "p99": Metric(_latency("p99"), "faster", "slower", "ns"),
    "throughput": Metric(_throughput, "faster", "slower", "messages/s", higher_is_better=True),
    "cpu": Metric(lambda _, trial: trial_cpu_ns_per_message(trial.outcome), "less", "more", "ns/message"),
    "memory": Metric(lambda _, trial: trial_rss_bytes(trial.outcome), "less", "more", "bytes"),
}


COMPARED_TIMES = ("round_trip_ns",)
"""The fields of a round trip that a metric is made of."""


class FloorBeside(msgspec.Struct, frozen=True):
    """The floor of a cell in its run: its label, and its figures as a ``Side`` has them."""

    label: str
    figures: Mapping[str, Mapping[int, float]]


class Side(msgspec.Struct, frozen=True):
    """One cell as it was measured. ``figures``: by metric, by round, those that there are."""

    label: str
    run: str
    """What tells its run from others."""
    cell: Cell
    shared_memory: bool | None
    machine: str
    figures: Mapping[str, Mapping[int, float]]
    floor: FloorBeside | None = None


class Pairing(msgspec.Struct, frozen=True):
    """Two cells to be compared. ``marks`` say what stands against it (`--anyway`) or should be known of it."""

    a: Side
    b: Side
    names: tuple[str, str]
    marks: tuple[str, ...] = ()


class Comparison(msgspec.Struct, frozen=True):
    """B beside A by one metric; ``word`` is the verdict in the metric's own words."""

    pairing: Pairing
    metric: str
    medians: tuple[float, float]
    judged: Judgement
    word: str


def side(
    label: str, run: str, cell: Cell, shared_memory: bool | None, machine: str, trials: Sequence[TrialSummary]
) -> Side:
    """Return a cell with the figures of its measured trials."""
    figures: dict[str, dict[int, float]] = {}
    for name, metric in METRICS.items():
        known = {
            each.outcome.number: value
            for each in trials
            if each.outcome.failed is None and (value := metric.figure(cell, each)) is not None and value > 0
        }
        figures[name] = known
    return Side(label, run, cell, shared_memory, machine, figures)


def level(each: Side, factor: str) -> Level:
    """Return the cell's level of a factor."""
    if factor == SHARED_MEMORY:
        return None if each.shared_memory is None else "on" if each.shared_memory else "off"
    found: Level = getattr(each.cell, factor)
    return found


def by_factor(sides: Sequence[Side], factor: str, baseline: Level = None) -> list[Pairing]:
    """Pair cells that differ in that factor alone: with the baseline's level, or each level with all before it."""
    hidden = _HIDDEN.get(factor, (factor,))
    groups: dict[tuple[object, ...], list[Side]] = {}
    for each in sides:
        if level(each, factor) is not None:
            groups.setdefault(_key(each.cell, hidden), []).append(each)
    pairings = []
    for group in groups.values():
        for index, b in enumerate(group):
            for a in group[:index] if baseline is None else group:
                known = baseline is None or level(a, factor) == baseline
                if known and level(a, factor) != level(b, factor):
                    pairings.append(Pairing(a, b, (_name(a, factor), _name(b, factor))))
    return pairings


def _name(each: Side, factor: str) -> str:
    if factor == "adapter":
        return f"{each.cell.adapter} {each.cell.transport}"
    return f"{factor}={level(each, factor)}"


def run_against_run(first: Sequence[Side], second: Sequence[Side], but: Sequence[str] = ()) -> list[Pairing]:
    """Pair the cells of two runs that are the same but for those factors; one cell each is a pair whatever they are."""
    if len(first) == len(second) == 1:
        return [Pairing(first[0], second[0], (first[0].label, second[0].label), _apart(first[0], second[0]))]
    by_cell = {_key(each.cell, but): each for each in first}
    return [
        Pairing(a, b, (a.label, b.label), _apart(a, b))
        for b in second
        if (a := by_cell.get(_key(b.cell, but))) is not None
    ]


def _apart(a: Side, b: Side) -> tuple[str, ...]:
    return (
        ()
        if a.run == b.run
        else ("measured apart: their trials were not interleaved, so the machine may be the difference",)
    )


def _key(cell: Cell, but: Sequence[str]) -> tuple[object, ...]:
    return tuple(getattr(cell, field) for field in Cell.__struct_fields__ if field not in but)


def against(pairing: Pairing) -> tuple[str, ...]:
    """Return what forbids the comparison; nothing where it may be made."""
    a, b = pairing.a.cell, pairing.b.cell
    polling = {each.receive == "poll" for each in (a, b) if "receive" not in each.unknown}
    payloads = {each.payload for each in (a, b) if "payload" not in each.unknown}
    machines = {each.machine for each in (pairing.a, pairing.b) if not each.cell.unknown}
    reasons = (
        f"sizes of {a.size:,} and {b.size:,} bytes" if a.size != b.size else "",
        f"{a.pattern} against {b.pattern}: other times are measured" if a.pattern != b.pattern else "",
        "polling against blocking: they are different experiments" if len(polling) == 2 else "",
        f"{a.payload} against {b.payload} payloads" if len(payloads) == 2 else "",
        *(_imported(each) for each in (pairing.a, pairing.b)),
        "different machines" if len(machines) == 2 else "",
    )
    return tuple(each for each in reasons if each)


def _imported(side: Side) -> str:
    """Say what forbids to compare what another tool measured: another ruler, on a machine that nobody knows."""
    unknown = [each for each in _MATTER if each in side.cell.unknown]
    if not side.cell.unknown:
        return ""
    of = f" and its {', '.join(unknown)} are not known" if unknown else " is not known"
    return f"{side.cell.adapter} was imported: the ruler is another, its machine{of}"


def compare(pairings: Sequence[Pairing], metrics: Sequence[str], margin: float = MARGIN) -> list[Comparison]:
    """Judge each pairing by each metric that both sides have in a common round. All of it is one family."""
    chosen = [
        (pairing, metric, pairs) for pairing in pairings for metric in metrics if (pairs := _pairs(pairing, metric))
    ]
    verdicts = judge(
        [pairs for _, _, pairs in chosen],
        higher_is_better=[METRICS[metric].higher_is_better for _, metric, _ in chosen],
        margin=margin,
    )
    return [
        Comparison(pairing, metric, _medians(pairs), judged, word(metric, judged.verdict))
        for (pairing, metric, pairs), judged in zip(chosen, verdicts, strict=True)
    ]


def _pairs(pairing: Pairing, metric: str) -> list[tuple[float, float]]:
    a, b = pairing.a.figures[metric], pairing.b.figures[metric]
    return [(a[number], b[number]) for number in sorted(a.keys() & b.keys())]


def _medians(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def word(metric: str, verdict: Verdict) -> str:
    """Return the verdict in the metric's own words: faster or slower, less or more, equivalent, cannot tell."""
    if verdict is Verdict.BETTER:
        return METRICS[metric].better
    return METRICS[metric].worse if verdict is Verdict.WORSE else verdict.value


_HELD = ("p50", "p99", "throughput")
"""Metrics of which a floor is the least, or the most, that can be: a floor's processor time or memory is neither."""


class AgainstFloor(msgspec.Struct, frozen=True):
    """One side's floor by one metric. ``times``: how many times slower than it the side is."""

    floor: str
    median: float
    times: float


def beside_floors(sides: Sequence[Side], descriptions: Mapping[str, Description]) -> tuple[Side, ...]:
    """Return the cells of one run, each with its floor as ``stats/floors.py`` finds it; a floor itself has none."""
    found = floors([each.cell for each in sides], [_held(each) for each in sides], descriptions)
    return tuple(
        side
        if floor is None or floor.cell == index
        else msgspec.structs.replace(side, floor=FloorBeside(floor.label, sides[floor.cell].figures))
        for index, (side, floor) in enumerate(zip(sides, found, strict=True))
    )


def against_floors(comparison: Comparison) -> tuple[AgainstFloor | None, AgainstFloor | None]:
    """Return A and B as times of their floors, medians over trials; None where there is none to be held against."""
    a, b = comparison.pairing.a, comparison.pairing.b
    return (
        _against(a, comparison.metric, comparison.medians[0]),
        _against(b, comparison.metric, comparison.medians[1]),
    )


def _against(side: Side, metric: str, median: float) -> AgainstFloor | None:
    if side.floor is None or metric not in _HELD or not side.floor.figures[metric]:
        return None
    floor = statistics.median(side.floor.figures[metric].values())
    times = floor / median if METRICS[metric].higher_is_better else median / floor
    return AgainstFloor(side.floor.label, floor, times)


def _held(side: Side) -> float | None:
    """Return the ns that are held against a floor's: the time a message takes where ``by_rate``, else p50."""
    rated = by_rate(side.cell)
    known = side.figures["throughput" if rated else "p50"].values()
    if not known:
        return None
    median = statistics.median(known)
    return 1e9 / median if rated else median
