"""Runs made by hand for the tests of the report: cells with the figures of their trials, without files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from descriptions import description, transport

from middlemark.document import Document, MeasuredRun, with_verdicts
from middlemark.document import document_of as plain_document
from middlemark.model.cell import Cell
from middlemark.model.outcome import Arrived, Failure, RunWarning, Sent, TrialCounts, TrialOutcome
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.model.protocol import Clock
from middlemark.model.run import Machine, RunFile
from middlemark.model.times import Summary, Times
from middlemark.show.html import data
from middlemark.stats.cells import results_of
from middlemark.stats.rates import rates
from middlemark.stats.trials import TrialSummary

MACHINE = Machine(
    host="robot-7", cpu="A processor", processors=2, memory_bytes=1 << 34, kernel="6.1", system="Debian", virtual=False,
    clocksource="tsc", governor=None,
)  # fmt: skip
ADAPTERS = (
    description("udp", transport("udp"), floor=True),
    description("shm", transport("shm", carrier="shared-memory"), floor=True),
    description("lyra", transport("udp"), transport("shm", carrier="shared-memory")),
    description("vega", transport("udp"), transport("shm", carrier="shared-memory")),
    description("deneb", transport("udp")),
)
NS = 1_000_000_000

Figures = Mapping[Cell, Sequence[float | Failure]]
"""One figure for each trial: p50 in ns, or messages a second if the rate counts; or why the trial failed."""


def cell(adapter: str = "lyra", transport: str = "udp", **levels: Any) -> Cell:
    return Cell(adapter=adapter, transport=transport, **({"size": 64} | levels))


def run_of(
    figures: Figures, *, name: str = "first-run", warnings: Sequence[RunWarning] = (), **file: Any
) -> MeasuredRun:
    """Return a run of those trials, interleaved round by round. Every trial has all of ``warnings``."""
    cells = tuple(figures)
    rounds = max((len(each) for each in figures.values()), default=0)
    planned, trials = [], [[] for _ in cells]  # type: ignore[var-annotated]
    for number in range(rounds):
        for index, each in enumerate(cells):
            if number < len(figures[each]):
                trial = Trial(order=len(planned), cell=index, number=number + 1, limits=Limits(samples=1000))
                planned.append(trial)
                trials[index].append(_summary(each, trial, figures[each][number], warnings))
    plan = Plan(cells=cells, trials=tuple(planned), names=("first-look",) * len(cells))
    facts: dict[str, Any] = {
        "middlemark": "0.1",
        "suites": ("first-look",),
        "suite_texts": {"first-look": "# as written\n"},
        "command": ("/usr/bin/middlemark", "run", "first-look"),
        "started": "2026-11-21T10:00:00.000+00:00",
        "ended": "2026-11-21T10:02:00.000+00:00",
        "seed": 7,
        "machine": MACHINE,
        "adapters": ADAPTERS,
        "plan": plan,
    }
    kept = RunFile(**(facts | file))
    return MeasuredRun(
        folder=Path(f"runs/{name}"),
        file=kept,
        outcomes=tuple(sorted((each.outcome for of in trials for each in of), key=lambda each: each.order)),
        trials=trials,
        results=results_of(plan, trials, {each.name: each for each in kept.adapters}),
        samples=lambda _: None,
        kept=_nothing,
    )


def document_of(*runs: MeasuredRun) -> Document:
    document = plain_document(runs, generated="2026-11-21T11:00:00.000+00:00", middlemark="0.2")
    return with_verdicts(document, runs)


class Plain(dict[str, Any]):
    """An object of the page's data; what was left out is None."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)


def data_of(*runs: MeasuredRun) -> Plain:
    """Return what the page of the report would hold, read back."""
    return json.loads(msgspec.json.encode(data.data_of(document_of(*runs))), object_hook=Plain)


def answers_of(*runs: MeasuredRun) -> list[str]:
    return [each.text for each in document_of(*runs).answers]


def _nothing(_: object) -> Any:
    raise AssertionError("nothing was kept")


def _summary(cell: Cell, trial: Trial, figure: float | Failure, warnings: Sequence[RunWarning]) -> TrialSummary:
    outcome = TrialOutcome(
        cell=trial.cell,
        number=trial.number,
        order=trial.order,
        started="",
        seconds=1.0,
        failed=figure if isinstance(figure, Failure) else None,
        samples=0 if isinstance(figure, Failure) else 1000,
        measured_s=1.0,
        counts=TrialCounts(sent=1000, received=1000),
        carried_by={"udp": "udp", "shm": "shared-memory"}.get(cell.transport),
        clock=Clock(source="tsc", ticks_per_second=1e9, cost_ns=9.0, resolution_ns=0.4),
        warnings=tuple(warnings),
    )
    if isinstance(figure, Failure):
        return TrialSummary(outcome=outcome)
    if cell.pattern == "stream":
        outcome = msgspec.structs.replace(outcome, counts=None, **_stream(figure))
        times = Times(one_way_ns=_times(50_000.0))
        return TrialSummary(outcome=outcome, times=times, samples=1000, rates=rates(outcome))
    return TrialSummary(outcome=outcome, times=Times(round_trip_ns=_times(figure)), samples=1000)


def _times(p50: float) -> Summary:
    return Summary(min=p50 / 2, mean=p50, stdev=1.0, p50=p50, p90=p50 * 1.2, p99=p50 * 2, max=p50 * 9)


def _stream(hertz: float) -> dict[str, Any]:
    """A publisher and a subscriber, ten seconds at that rate."""
    number = round(hertz * 10)
    sent = Sent(
        index=0, topic=0, scheduled=None, sent=number, timed_out=0, publish_failed=0, late_sends=None, unsent=None,
        blocked_ns=None, pacing_ns=0, writing_ns=None, first_sent_ns=NS, last_sent_ns=11 * NS,
    )  # fmt: skip
    arrived = Arrived(
        index=0, topic=0, expected=number, received=number, lost=0, duplicated=0, reordered=0, damaged=0,
        first_received_ns=NS, last_received_ns=11 * NS,
    )  # fmt: skip
    return {"publishers": (sent,), "subscribers": (arrived,)}


def spread(middle: float, trials: int = 10, by: float = 0.01) -> list[float | Failure]:
    """Return figures around a middle, each a little different from the others."""
    return [middle * (1 + by * (at - (trials - 1) / 2) / trials) for at in range(trials)]
