"""Every metric, declared once: its meaning, its unit, how it is read from a trial, and which direction is worse.

The metrics of ``compare`` and its gates, of reports, JSON and exports, and the manual's table come from this table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

import msgspec

from middlemark.model.cell import ONE_WAY, Cell
from middlemark.model.outcome import WorkerCost
from middlemark.model.protocol import RoleKind
from middlemark.model.spelling import listing, nearest
from middlemark.model.times import NAMES, QUANTILES
from middlemark.problems import Problem
from middlemark.stats import costs, crowd, rates
from middlemark.stats.baselines import by_rate
from middlemark.stats.trials import TrialSummary

Figure = Callable[[Cell, TrialSummary], float | None]
_FASTER = ("faster", "slower")
_NARROWER = ("narrower", "wider")
_LESS = ("less", "more")


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a trial."""

    means: str
    figure: Figure
    """Returns the trial's figure; None: not measured. Only positive figures are compared, because a ratio needs
    them."""
    unit: str
    """ns, ns/message, s, messages/s, switches/s, packets, packets/s, bytes, bytes/s, processors, threads, paths,
    deadlines, medians; 1 for a share."""
    words: tuple[str, str] = _LESS
    """The words of a verdict, if B is better than A, and if B is worse than A."""
    higher_is_better: bool = False
    applies: Callable[[Cell], bool] = lambda _: True
    """Returns whether the metric describes the middleware in this cell, and not a schedule or a queue."""
    where: str = "any"
    """The condition of ``applies`` in words."""
    samples: tuple[str, ...] = ()
    """Fields of round trips that the metric needs in addition to ``COMPARED_TIMES``."""
    latency: bool = False
    """True if the metric is computed from the times of messages that arrived. Lost messages have no time."""
    has_raw_transport: bool = False
    """True if no middleware can be better than a raw transport by this metric. False for processor time and memory."""
    of_cell: bool = False
    """True if a cell's result has the figure. For other metrics, CSV has the median over trials."""

    @property
    def better(self) -> str:
        """The word of a verdict if B is better than A."""
        return self.words[0]

    @property
    def worse(self) -> str:
        """The word of a verdict if B is worse than A."""
        return self.words[1]


def _has_latency(cell: Cell) -> bool:
    """Say whether one latency describes the cell.

    At full rate the latency would be queueing, and a workload has one latency for each edge.
    """
    return cell.workload is None and not by_rate(cell)


def _has_throughput(cell: Cell) -> bool:
    """Say whether the middleware determines the rate, and not a schedule."""
    return cell.workload is None and not isinstance(cell.rate, int | float) and not cell.burst


def _quantile(name: str) -> Figure:
    def figure(cell: Cell, trial: TrialSummary) -> float | None:
        summary = trial.times.latency_of(cell)
        value: float | None = getattr(summary, name) if summary else None
        return value

    return figure


def _between(low: str, high: str) -> Figure:
    def figure(cell: Cell, trial: TrialSummary) -> float | None:
        least, most = _quantile(low)(cell, trial), _quantile(high)(cell, trial)
        return None if least is None or most is None else most - least

    return figure


def _times_p50(name: str) -> Metric:
    def figure(cell: Cell, trial: TrialSummary) -> float | None:
        middle, far = _quantile("p50")(cell, trial), _quantile(name)(cell, trial)
        return far / middle if middle and far is not None else None

    quantile = name.replace("_", ".")
    return msgspec.structs.replace(_latency(f"{quantile} divided by p50", figure, _NARROWER), unit="medians")


def _of_summary(field: str, means: str, words: tuple[str, str] = _FASTER) -> Metric:
    metric = _latency(means, _quantile(field), words)
    return msgspec.structs.replace(metric, has_raw_transport=words == _FASTER, of_cell=True)


def _latency(means: str, figure: Figure, words: tuple[str, str] = _FASTER) -> Metric:
    return Metric(
        means=means,
        figure=figure,
        unit="ns",
        words=words,
        latency=True,
        applies=_has_latency,
        where="latency: all but streams as fast as possible",
    )


def _median_of(field: str) -> Figure:
    def figure(_: Cell, trial: TrialSummary) -> float | None:
        summary = getattr(trial.times, field)
        value: float | None = summary.p50 if summary else None
        return value

    return figure


def _hertz(_: Cell, trial: TrialSummary) -> float | None:
    return trial.rates.rate_hz if trial.rates else trial.replies_hz


def _round_trips(cell: Cell, trial: TrialSummary) -> float | None:
    return None if cell.pattern in ONE_WAY else rates.replies_hz(trial.outcome)


def _bytes(cell: Cell, trial: TrialSummary) -> float | None:
    hertz = _hertz(cell, trial) or _round_trips(cell, trial)
    return None if hertz is None or "size" in cell.unknown else hertz * cell.size


def _of_link(share: Callable[[Cell, float], float | None], means: str, *, of_cell: bool = False) -> Metric:
    def figure(cell: Cell, trial: TrialSummary) -> float | None:
        hertz = _hertz(cell, trial)
        return None if hertz is None else share(cell, hertz)

    return Metric(
        means=means,
        figure=figure,
        unit="1",
        higher_is_better=True,
        applies=lambda cell: cell.link is not None and cell.pattern == "stream",
        where="streams over an emulated link",
        of_cell=of_cell,
    )


def _loss(_: Cell, trial: TrialSummary) -> float | None:
    if trial.outcome.imported is not None and trial.outcome.imported.loss is not None:
        return trial.outcome.imported.loss
    counts = rates.counts(trial.outcome)
    expected = counts.received + counts.lost if counts else 0
    is_counted = trial.outcome.imported is None or "lost" in trial.outcome.imported.counted
    return counts.lost / expected if counts and expected and is_counted else None


def _rate(means: str, figure: Figure, unit: str, where: str, *, of_cell: bool = False) -> Metric:
    return Metric(
        means=means,
        figure=figure,
        unit=unit,
        words=_FASTER,
        higher_is_better=True,
        applies=_has_throughput,
        where=where,
        has_raw_transport=True,
        of_cell=of_cell,
    )


PER_ROLE: Mapping[str, tuple[str, Callable[[WorkerCost], float | None], str]] = {
    "processors": ("processors used", costs.cpu_of, "processors"),
    "memory": ("resident memory at the end", lambda each: float(each.rss_bytes), "bytes"),
    "peak_memory": ("the highest resident memory", lambda each: float(each.peak_rss_bytes), "bytes"),
    "voluntary": ("context switches in which the worker waited", costs.voluntary_hz, "switches/s"),
    "involuntary": ("context switches in which another thread took the processor", costs.involuntary_hz, "switches/s"),
    "threads": ("threads, including the bench's own", costs.threads_of, "threads"),
}
"""Metrics that every worker has. ``NAME`` is the sum over all workers, ``NAME.ROLE`` the sum over the workers of the
role.

Companions (RouDi, a broker) are only in the figures of ``NAME.companion``.
"""
COMPANION = "companion"
ROLES: tuple[str, ...] = (*get_args(RoleKind), COMPANION)


def _of_workers(name: str, role: str | None) -> Metric:
    means, figure_of, unit = PER_ROLE[name]

    def figure(_: Cell, trial: TrialSummary) -> float | None:
        if role == COMPANION:
            figures = [figure_of(each) for each in trial.outcome.companions]
        else:
            figures = [figure_of(each) for each in trial.outcome.costs if role is None or each.who.split()[0] == role]
        found = [each for each in figures if each is not None]
        return sum(found) if found and len(found) == len(figures) else None

    return Metric(means=means, figure=figure, unit=unit)


def _of_crowd(declared: crowd.CrowdFigure) -> Metric:
    def of_trial(_: Cell, trial: TrialSummary) -> float | None:
        return None if trial.outcome.crowd is None else declared.figure(trial.outcome.crowd)

    return Metric(
        means=declared.means,
        figure=of_trial,
        unit=declared.unit,
        words=_FASTER if declared.unit == "ns" else _LESS,
        applies=lambda cell: cell.pattern == "crowd",
        where="crowds",
    )


CROWD: Mapping[str, Metric] = {name: _of_crowd(each) for name, each in crowd.FIGURES.items()}
"""Metrics of a crowd."""


METRICS: Mapping[str, Metric] = {
    **{
        NAMES[each]: _of_summary(
            each,
            "half of the messages took at most this long"
            if each == "p50"
            else f"{100 * float(q):.12g} % of the messages took at most this long",
        )
        for each, q in QUANTILES.items()
    },
    "mean": _of_summary("mean", "the mean"),
    "min": _of_summary("min", "the shortest of a trial"),
    "max": _of_summary("max", "the longest of a trial"),
    "stdev": _of_summary("stdev", "the standard deviation", _NARROWER),
    "spread": _latency("p99 minus p50", _between("p50", "p99"), _NARROWER),
    "range": _latency("the longest minus the shortest of a trial", _between("min", "max"), _NARROWER),
    "tail": _times_p50("p99"),
    "far_tail": _times_p50("p99_99"),
    "write": Metric(
        means="median time within publish()",
        figure=_median_of("write_ns"),
        unit="ns",
        words=_FASTER,
        samples=("write_ns",),
        of_cell=True,
    ),
    "take": Metric(
        means="median time to take the messages that have arrived",
        figure=_median_of("take_ns"),
        unit="ns",
        words=_FASTER,
        where="round trips, polled or blocking",
        samples=("take_ns",),
        of_cell=True,
    ),
    "throughput": _rate(
        "messages that arrived at a subscriber; replies at all clients",
        _hertz,
        "messages/s",
        "streams and requests as fast as possible",
        of_cell=True,
    ),
    "round_trips": _rate("round trips done", _round_trips, "messages/s", "round trips as fast as possible"),
    "bytes": _rate(
        "bytes of the messages that arrived",
        _bytes,
        "bytes/s",
        "everything that is sent as fast as possible",
        of_cell=True,
    ),
    "seconds_spread": Metric(
        means="the messages of the best second minus the messages of the worst second, divided by the messages of the "
        "median second",
        figure=lambda _, trial: rates.spread_of_seconds(trial.outcome.series),
        unit="1",
        words=_NARROWER,
        where="trials of three seconds and more",
    ),
    "link_share": _of_link(
        rates.link_share,
        "the rate that arrived, divided by the rate of the line in datagrams of this size",
        of_cell=True,
    ),
    "payload_share": _of_link(rates.payload_share, "the payload that arrived, divided by the rate of the line"),
    "loss": Metric(means="the share of messages that never arrived", figure=_loss, unit="1", of_cell=True),
    "deadline": Metric(
        means="the worst edge's p99, divided by its deadline",
        figure=lambda _, trial: trial.graph.worst if trial.graph else None,
        unit="deadlines",
        words=("earlier", "later"),
        latency=True,
        applies=lambda cell: cell.workload is not None,
        where="workloads",
        has_raw_transport=True,
    ),
    "discovery": Metric(
        means="from the creation of the topics until every role has found its peers",
        figure=lambda _, trial: trial.outcome.discovery_ns,
        unit="ns",
        words=_FASTER,
        of_cell=True,
    ),
    "handshake": Metric(
        means="from opening the middleware until every role has found its peers; includes authentication",
        figure=lambda _, trial: trial.outcome.handshake_ns,
        unit="ns",
        words=_FASTER,
        of_cell=True,
    ),
    "start": Metric(
        means="from starting the first worker to the first measured message, without the warm-up",
        figure=lambda _, trial: trial.outcome.first_sample_ns,
        unit="ns",
        words=_FASTER,
    ),
    f"start.{COMPANION}": Metric(
        means="from starting the companions (RouDi, a broker) until they report that they are ready",
        figure=lambda _, trial: sum(each.ready_ns for each in trial.outcome.companions) or None,
        unit="ns",
        words=_FASTER,
        where="transports with a companion",
    ),
    **CROWD,
    "cpu": Metric(
        means="processor time of all workers for each message received",
        figure=lambda _, trial: costs.trial_cpu_ns_per_message(trial.outcome),
        unit="ns/message",
        of_cell=True,
    ),
    f"cpu.{COMPANION}": Metric(
        means="processor time of the companions (RouDi, a broker, a router) for each message received",
        figure=lambda _, trial: costs.trial_companions_ns_per_message(trial.outcome),
        unit="ns/message",
        where="transports with a companion",
    ),
    **{name: _of_workers(name, None) for name in PER_ROLE},
    **{f"{name}.{role}": _of_workers(name, role) for name in PER_ROLE for role in ROLES},
}
"""Metric, as the user types it → its declaration."""

OF_EDGES = frozenset(name for name, each in METRICS.items() if each.latency) | {"throughput", "loss"}
"""Metrics that an edge of a workload also has."""

COMPARED_TIMES = ("round_trip_ns",)
"""Fields of a round trip that most metrics need. Reading all seven fields takes seven times as long."""


def named_metrics() -> str:
    """Return the names of all metrics in one sentence. Variants for roles are abbreviated."""
    without_role = [name for name in METRICS if "." not in name or name[1].isdigit()]
    return (
        ", ".join(f"{name}[.ROLE]" if name in PER_ROLE else name for name in without_role)
        + f" (ROLE: {listing(ROLES)})"
    )


_MEANT = {"latency": "p50", "median": "p50", "average": "mean", "jitter": "spread", "rate": "throughput"}
_MEANT |= {"bandwidth": "bytes", "rss": "memory", "lost": "loss"}
"""Another word for a metric that users may type → the metric."""


def read_metrics(typed: str | None, option: str = "--metric") -> tuple[tuple[str, ...], list[Problem]]:
    """Return the metrics in the text ``typed``, such as ``p50,cpu``, and all problems.

    None as ``typed``: no metrics.
    """
    names = tuple(dict.fromkeys(each.strip() for each in typed.split(","))) if typed is not None else ()
    problems = []
    for name in names:
        if name not in METRICS:
            near = _MEANT.get(name) or nearest(name, METRICS)
            hint = f"did you mean '{near}'?" if near else f"there are {named_metrics()}"
            problems.append(Problem(option, f"there is no metric {name}; {hint}"))
    return names, problems


def times_of(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the fields of round trips that these metrics need."""
    further = (field for name in metrics for field in METRICS[name].samples)
    return (*COMPARED_TIMES, *dict.fromkeys(further))


def by_trial(cell: Cell, trials: Sequence[TrialSummary]) -> dict[str, tuple[float | None, ...]]:
    """Return metric → figure of each trial in order, for every metric that at least one trial has."""
    measured = [each for each in trials if each.outcome.failed is None]
    found = {
        name: tuple(metric.figure(cell, each) for each in measured)
        for name, metric in METRICS.items()
        if metric.applies(cell)
    }
    return {name: figures for name, figures in found.items() if any(each is not None for each in figures)}
