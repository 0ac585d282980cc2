"""The answer of ``which`` for programs."""

from typing import Literal

from msgspec import UNSET, UnsetType

from middlemark.document.numbers import exact
from middlemark.document.race import Candidate, Raced
from middlemark.model.cell import FACTORS, OF_WORKLOAD, Cell
from middlemark.model.protocol import Reception, Reliability
from middlemark.show.json.cell import written
from middlemark.show.json.output import Number, Output, printed
from middlemark.stats.candidates import Left
from middlemark.stats.race import FINALISTS

SCHEMA = 1


class Question(Output, frozen=True, kw_only=True):
    """What was asked: messages of a size at a rate, or a workload."""

    size: int | None
    rate_hz: Number | None
    workload: str | None
    scale: float | None
    copies: int | None
    processes: int
    subscribers: int | None
    deadline_ns: Number | None
    loss: float | None
    """The share of messages that may be lost."""
    cpu: float | None
    """Processors that all workers of a trial may use together."""
    budget_s: Number


class Settings(Output, frozen=True, kw_only=True):
    """What one configures. Of a workload its topics say reliability and depth."""

    receive: Reception
    reliability: Reliability | UnsetType = UNSET
    depth: int | Literal["all"] | UnsetType = UNSET
    loan: bool
    native: dict[str, str]
    """The middleware's own settings."""


class Edge(Output, frozen=True, kw_only=True, rename={"source": "from"}):
    """Of a workload, the edge that takes the greatest part of its deadline."""

    name: str
    source: str
    to: str
    deadline_ns: Number
    share: Number | None
    holds: bool | None


class Answer(Output, frozen=True, kw_only=True):
    """One candidate that is the best, ties with the best, or may be the best."""

    adapter: str
    transport: str
    settings: Settings
    p50_ns: Number | None
    p90_ns: Number | None
    p99_ns: Number | None
    p99_absent: str | None
    """Why there is no p99."""
    times_machine: Number | None
    """How many times the fastest raw transport it takes."""
    interval: tuple[Number, Number] | None
    """Of the p50, 95 %."""
    worst_edge: Edge | None


class CandidateOutput(Output, frozen=True, kw_only=True):
    """One that raced."""

    adapter: str
    transport: str
    loan: bool
    p50_ns: Number | None
    rounds: int
    left: Left | None
    """Why it left the race; null: it did not."""
    worst_share: Number | None
    """The greatest share of its deadline that an edge takes."""
    first_failing: str | None


class WhichOutput(Output, frozen=True, kw_only=True):
    """Which middleware is best for what was asked."""

    schema: int = SCHEMA
    question: Question
    verdict: Literal["best", "tie", "undecided", "none holds"]
    answer: tuple[Answer, ...]
    """The first leads."""
    candidates: tuple[CandidateOutput, ...]
    """By what the race is decided by."""
    trials: int
    seconds: Number
    equal_allocation_trials: int
    """What as many rounds of every candidate would have been."""
    machine: tuple[str, ...]
    """What to do about the machine's disturbances."""
    next: str | None
    """The command for what is open."""


def render_json(raced: Raced) -> str:
    """Return one object; times are in ns, what was not measured is null."""
    output = WhichOutput(
        question=_question(raced),
        verdict=raced.verdict,
        answer=tuple(_answer(raced, each) for each in raced.answer[:FINALISTS]),
        candidates=tuple(map(_candidate, raced.candidates)),
        trials=raced.trials,
        seconds=exact(raced.seconds) or 0,
        equal_allocation_trials=raced.equal_trials,
        machine=tuple(dict.fromkeys(each.advice for each in raced.warnings if each.advice)),
        next=raced.settles,
    )
    return printed(output)


def _question(raced: Raced) -> Question:
    cell, wanted = raced.cell, raced.race.wanted
    graph = cell.workload
    return Question(
        size=cell.size if graph is None else None,
        rate_hz=exact(float(cell.rate)) if graph is None else None,
        workload=graph.name if graph else None,
        scale=cell.scale if graph else None,
        copies=cell.copies if graph else None,
        processes=cell.processes,
        subscribers=cell.subscribers if graph is None else None,
        deadline_ns=None if wanted.deadline_s is None else exact(wanted.deadline_s * 1e9),
        loss=wanted.max_loss,
        cpu=wanted.max_cpu,
        budget_s=exact(raced.race.budget_s) or 0,
    )


def _candidate(each: Candidate) -> CandidateOutput:
    cell = each.row.result.cell
    return CandidateOutput(
        adapter=cell.adapter,
        transport=cell.transport,
        loan=cell.loan,
        p50_ns=exact(each.p50_ns),
        rounds=each.rounds,
        left=each.left,
        worst_share=exact(each.graph.worst_share) if each.graph else None,
        first_failing=each.graph.first_failing if each.graph else None,
    )


def _answer(raced: Raced, each: Candidate) -> Answer:
    cell, interval = each.row.result.cell, each.row.result.interval
    return Answer(
        adapter=cell.adapter,
        transport=cell.transport,
        settings=_settings(cell),
        p50_ns=exact(each.p50_ns),
        p90_ns=exact(each.p90_ns),
        p99_ns=exact(each.p99_ns),
        p99_absent=each.p99_absent,
        times_machine=exact(raced.times_machine(each)),
        interval=None if interval is None or cell.workload else (exact(interval[0]) or 0, exact(interval[1]) or 0),
        worst_edge=_edge(each),
    )


def _settings(cell: Cell) -> Settings:
    """Return what one configures; of a workload its topics say the rest."""
    asked = [FACTORS[name] for name in Settings.__struct_fields__ if name in FACTORS]
    told = [each for each in asked if cell.workload is None or each.name not in OF_WORKLOAD]
    return Settings(native=dict(cell.native), **{each.name: written(cell, each) for each in told})  # type: ignore[arg-type]


def _edge(each: Candidate) -> Edge | None:
    edge = each.worst_edge
    if edge is None or each.graph is None:
        return None
    return Edge(
        name=edge.name,
        source=edge.source,
        to=edge.to,
        deadline_ns=exact((edge.deadline_s or 0.0) * 1e9) or 0,
        share=exact(each.graph.worst_share),
        holds=each.graph.holds,
    )
