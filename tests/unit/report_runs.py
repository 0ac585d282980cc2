"""Hand-made runs for the tests of the report: cells with the figures of their trials, without files."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from descriptions import description, transport

from middlemark.document import Document, with_verdicts
from middlemark.document import document_of as plain_document
from middlemark.imports import Log, assemble
from middlemark.imports.log import ImportedTrial
from middlemark.model.cell import Cell, carrying
from middlemark.model.imported import Source
from middlemark.model.outcome import (
    Arrived,
    Failure,
    RunWarning,
    Sent,
    ThreadCost,
    TrialCounts,
    TrialOutcome,
    WorkerCost,
)
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.model.protocol import Clock
from middlemark.model.run import Machine, RunFile
from middlemark.model.times import Summary, Times
from middlemark.model.workload import Process, Topic, Workload
from middlemark.show.html import data
from middlemark.stats.cells import results_of
from middlemark.stats.one_way import OneWay
from middlemark.stats.rates import rates
from middlemark.stats.trials import TrialSummary, trial_summary
from middlemark.stats.workload import ChainTrial, EdgeTrial, GraphTrial
from middlemark.verdicts.rows import MeasuredRun

MACHINE = Machine(
    host="robot-7", cpu="A processor", processors=2, memory_bytes=1 << 34, kernel="6.1", system="Debian", virtual=False,
    clocksource="tsc", governor=None,
)  # fmt: skip
ADAPTERS = (
    description("udp", transport("udp"), is_raw_transport=True),
    description("shm", transport("shm", carrier="shared-memory"), is_raw_transport=True),
    description("lyra", transport("udp"), transport("shm", carrier="shared-memory")),
    description("vega", transport("udp"), transport("shm", carrier="shared-memory")),
    description("deneb", transport("udp")),
)
NS = 1_000_000_000

ROBOT = Workload(
    name="robot",
    topics=(
        Topic(name="image", source="camera", to=("detector", "recorder"), size=921_600, rate_hz=100.0, deadline_s=0.01),
        Topic(name="found", source="detector", to=("planner",), size=64, after="image", work_s=0.001),
    ),
    shared=(Process("perception", ("camera", "detector")),),
)

Figures = Mapping[Cell, Sequence[float | Failure]]
"""By cell: for each trial its failure or one figure. The figure is the p50 in ns, or messages per second if the row is
judged by its rate. For a workload it is the share of the deadline that the worst edge takes."""


def cell(adapter: str = "lyra", transport: str = "udp", **levels: Any) -> Cell:
    return Cell(adapter=adapter, transport=transport, **({"size": 64} | levels))


def robot(adapter: str = "lyra", over: str = "udp", **levels: Any) -> Cell:
    return carrying(cell(adapter, over, processes=2, **levels), ROBOT, transport(over))


def run_of(
    figures: Figures, *, name: str = "first-run", warnings: Sequence[RunWarning] = (), **file: Any
) -> MeasuredRun:
    """Return a run of these trials, interleaved round by round. Every trial has all of ``warnings``."""
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
    return measured_run(name, RunFile(**(facts | file)), trials)


def imported_run(measured: Sequence[ImportedTrial], *, name: str = "imported") -> MeasuredRun:
    """Return a run with the content of one log."""
    source = Source(file="a.log", bytes=1, sha256="", tool="a tool", format="lines", lines=9, unread=0)
    log = Log(measured=tuple(measured), lines=9, unread=0)
    plan, outcomes = assemble([(source, log)], "2026-03-01T12:00:00Z")
    trials: list[list[TrialSummary]] = [[] for _ in plan.cells]
    for each in outcomes:
        trials[each.cell].append(trial_summary(plan.cells[each.cell], each, lambda _: None, _nothing))
    file = RunFile(
        middlemark="0.1", suites=("imported",), command=("middlemark", "import", "a.log"), seed=0, adapters=(),
        started="2026-03-01T12:00:00Z", machine=MACHINE, plan=plan, imported=(source,),
    )  # fmt: skip
    return measured_run(name, file, trials)


def measured_again(run: MeasuredRun, changed: Callable[[Cell, TrialOutcome], TrialOutcome]) -> MeasuredRun:
    """Return the run with changed outcomes."""
    trials = [
        [msgspec.structs.replace(each, outcome=changed(of, each.outcome)) for each in some]
        for of, some in zip(run.file.plan.cells, run.trials, strict=True)
    ]
    return measured_run(run.folder.name, run.file, trials)


def measured_run(name: str, file: RunFile, trials: Sequence[Sequence[TrialSummary]]) -> MeasuredRun:
    return MeasuredRun(
        folder=Path(f"runs/{name}"),
        file=file,
        outcomes=tuple(
            sorted((each.outcome for cell_trials in trials for each in cell_trials), key=lambda each: each.order)
        ),
        trials=trials,
        results=results_of(file.plan, trials, {each.name: each for each in file.adapters}),
        samples=lambda _: None,
        kept=_nothing,
    )


def document_of(*runs: MeasuredRun) -> Document:
    document = plain_document(runs, generated="2026-11-21T11:00:00.000+00:00", middlemark="0.2")
    return with_verdicts(document, runs)


class Plain(dict[str, Any]):
    """An object of the page's data, in which absent fields are None."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)


def data_of(*runs: MeasuredRun) -> Plain:
    """Return the data that the page of the report would contain, decoded."""
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
        actual_transport={"udp": "udp", "shm": "shared-memory"}.get(cell.transport),
        clock=Clock(source="tsc", ticks_per_second=1e9, cost_ns=9.0, resolution_ns=0.4),
        warnings=tuple(warnings),
    )
    if isinstance(figure, Failure):
        return TrialSummary(outcome=outcome)
    if cell.workload is not None:
        return _graph(cell.workload.under(cell.scale, cell.copies), outcome, figure)
    if cell.pattern == "stream":
        outcome = msgspec.structs.replace(outcome, counts=None, **_stream(figure))
        times = Times(one_way_ns=_times(50_000.0))
        return TrialSummary(outcome=outcome, times=times, samples=1000, rates=rates(outcome))
    return TrialSummary(outcome=outcome, times=Times(round_trip_ns=_times(figure)), samples=1000)


def _times(p50: float) -> Summary:
    return Summary(min=p50 / 2, mean=p50, stdev=1.0, p50=p50, p90=p50 * 1.2, p99=p50 * 2, max=p50 * 9)


def _stream(hertz: float) -> dict[str, Any]:
    """Return ten seconds of a publisher and a subscriber at this rate."""
    number = round(hertz * 10)
    return {"publishers": (_sent(0, number),), "subscribers": (_arrived(0, 0, number),)}


def _sent(topic: int, number: int) -> Sent:
    return Sent(
        index=topic, topic=topic, scheduled=None, sent=number, timed_out=0, publish_failed=0, late_sends=None,
        unsent=None, blocked_ns=None, pacing_ns=0, writing_ns=None, first_sent_ns=NS, last_sent_ns=11 * NS,
    )  # fmt: skip


def _arrived(index: int, topic: int, number: int) -> Arrived:
    return Arrived(
        index=index, topic=topic, expected=number, received=number, lost=0, duplicated=0, reordered=0, damaged=0,
        first_received_ns=NS, last_received_ns=11 * NS,
    )  # fmt: skip


def _graph(graph: Workload, outcome: TrialOutcome, share: float) -> TrialSummary:
    """Return ten seconds of a graph: the first edge takes this share of its deadline, every other edge half of it."""
    numbers = [round(hz * 10) for hz in graph.rates_hz]
    shares = [share, *[share / 2] * (len(graph.edges) - 1)]
    by_subscriber, edges = {}, []
    for index, ((topic, _), part) in enumerate(zip(graph.edges, shares, strict=True)):
        deadline_s = graph.topics[topic].deadline_s
        by_subscriber[index] = _times(part * (deadline_s or 0.01) * NS / 2)
        edges.append(
            EdgeTrial(
                sent=numbers[topic], received=numbers[topic], lost=0, late=20 if deadline_s and part > 1 else 0,
                unsent=0, received_hz=graph.rates_hz[topic], worst=part if deadline_s else None,
            )
        )  # fmt: skip
    found = OneWay(
        all=by_subscriber[0], by_subscriber=by_subscriber, from_sent=None, absent=None, write=None,
        samples=sum(each.received for each in edges), in_histogram=0,
    )  # fmt: skip
    outcome = msgspec.structs.replace(
        outcome,
        counts=None,
        discovery_ns=40_000_000,
        publishers=tuple(_sent(topic, number) for topic, number in enumerate(numbers)),
        subscribers=tuple(_arrived(at, topic, numbers[topic]) for at, (topic, _) in enumerate(graph.edges)),
        costs=tuple(_cost(each.name, share) for each in graph.processes),
    )
    return TrialSummary(
        outcome=outcome,
        times=Times(one_way_ns=found.all),
        samples=found.samples,
        rates=rates(outcome),
        one_way=found,
        graph=GraphTrial(edges=tuple(edges), chains=(ChainTrial(_times(3e6 * share)),) * len(graph.chains)),
    )


def _cost(who: str, share: float) -> WorkerCost:
    thread = ThreadCost(name="publisher 0", threads=1, cpu_ns=round(share * NS))
    return WorkerCost(
        who=who, pid=7, seconds=10.0, rss_bytes=20_000_000, peak_rss_bytes=21_000_000, user_ns=round(share * NS),
        system_ns=round(share * NS), voluntary_switches=0, involuntary_switches=0, minor_faults=0, major_faults=0,
        threads=(thread,),
    )  # fmt: skip


def spread(middle: float, trials: int = 10, by: float = 0.01) -> list[float | Failure]:
    """Return figures that vary by the share ``by`` around a middle value. No two figures are equal."""
    return [middle * (1 + by * (at - (trials - 1) / 2) / trials) for at in range(trials)]
