"""The answer of ``which`` for programs."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from middlemark.document.which import p99_absent
from middlemark.model.cell import FACTORS, OF_WORKLOAD, Cell
from middlemark.model.plan import Raced
from middlemark.model.protocol import OwnSettings, Reception, Reliability
from middlemark.model.run import NotTried
from middlemark.show.json.cell import written
from middlemark.show.json.output import Number, Output, filled, printed
from middlemark.stats.candidates import Elimination
from middlemark.verdicts.experiments import JudgedRow, Standing, figure_of
from middlemark.verdicts.race import RaceVerdict, elimination, latency_in, rounds_of, worst_edge_of

SCHEMA = 3


class Question(Output, frozen=True, kw_only=True):
    """The question: messages of a size at a rate, a workload, or a crowd."""

    size: int | None
    rate_hz: Number | None
    workload: str | None
    scale: float | None
    copies: int | None
    processes: int
    subscribers: int | None
    participants: int | None
    """The participants of a crowd; null: the race is not one of crowds."""
    deadline_ns: Number | None
    loss: float | None
    """The largest share of messages that may be lost; null: no limit."""
    metric: Raced
    """The figure that decides the race."""
    cpu: float | None
    """The most processors that all workers of a trial may use together; null: no limit."""
    budget_s: Number


class LevelsOutput(Output, frozen=True, kw_only=True):
    """The levels of the candidate. In a workload, each topic has its own reliability and depth."""

    receive: Reception
    reliability: Reliability | UnsetType = UNSET
    depth: int | Literal["all"] | UnsetType = UNSET
    loan: bool
    native: dict[str, str]
    """The middleware's own settings."""


class Edge(Output, frozen=True, kw_only=True, rename={"source": "from"}):
    """The edge of a workload whose p99 is the largest part of its deadline."""

    name: str
    source: str
    to: str
    deadline_ns: Number
    share: Number | None
    holds: bool | None


class AnswerOutput(Output, frozen=True, kw_only=True):
    """One candidate that is the best, ties with the best, or may be the best."""

    adapter: str
    transport: str
    levels: LevelsOutput
    settings: OwnSettings | None
    """The settings to copy, in the middleware's own form."""
    settings_absent: str | None
    """The reason why ``settings`` is absent."""
    p50_ns: Number | None
    p90_ns: Number | None
    p99_ns: Number | None
    p99_absent: str | None
    """The reason why the p99 is absent."""
    cpu_ns_per_message: Number | None
    """Processor time of all workers for each message received."""
    processors: Number | None
    """Processors that all workers used together."""
    memory_bytes: Number | None
    """Resident memory of all workers at the end."""
    times_baseline: Number | None
    """The candidate's time divided by the time of its baseline: the fastest raw transport that copies, or hands over,
    as the candidate does."""
    interval: tuple[Number, Number] | None
    """The 95 % interval of the p50."""
    worst_edge: Edge | None


class CandidateOutput(Output, frozen=True, kw_only=True):
    """A candidate of the race."""

    adapter: str
    transport: str
    loan: bool
    standing: Standing
    p50_ns: Number | None
    figure: Number | None
    """The figure of the question's metric: in ns, in ns per message, in bytes, or in deadlines for a workload."""
    times_baseline: Number | None
    """The candidate's time divided by the baseline's time."""
    rounds: int
    eliminated: Elimination | None
    """Why the candidate was eliminated; null: it was not eliminated."""
    worst_share: Number | None
    """The p99 of the worst edge divided by the edge's deadline."""
    first_failing: str | None


class WhichOutput(Output, frozen=True, kw_only=True):
    """The answer to the question which middleware is best."""

    schema: int = SCHEMA
    question: Question
    verdict: Literal["best", "tie", "undecided", "none holds"]
    sure: bool
    """True if there is a verdict and no figure in it is doubtful."""
    answer: tuple[AnswerOutput, ...]
    """The best candidate, or the candidates that tie or may be the best, the fastest first."""
    candidates: tuple[CandidateOutput, ...]
    """All candidates, by rising figure."""
    not_tried: tuple[NotTried, ...]
    trials: int
    seconds: Number
    equal_allocation_trials: int
    """The number of trials if no candidate had been eliminated."""
    machine: tuple[str, ...]
    """Advice on disturbances by the machine."""
    next: str | None
    """The command that continues an undecided race; null: the race is decided."""


def render_json(verdict: RaceVerdict, next_command: str | None, left_out: Sequence[NotTried] = ()) -> str:
    """Return the answer as one JSON object. Times are in ns, and a figure that was not measured is null."""
    output = filled(
        WhichOutput,
        *(verdict, verdict.experiment),
        question=_question(verdict),
        answer=tuple(map(_answer, verdict.named)),
        candidates=tuple(map(_candidate, verdict.candidates)),
        not_tried=tuple(left_out),
        equal_allocation_trials=verdict.equal_trials,
        machine=tuple(dict.fromkeys(each.advice for each in verdict.warnings if each.advice)),
        next=next_command,
    )
    return printed(output)


def _question(verdict: RaceVerdict) -> Question:
    cell, wanted = verdict.experiment.rows[0].row.result.cell, verdict.race.wanted
    graph = cell.workload
    of_other = ("size", "subscribers") if graph else ("scale", "copies")
    asked = {"workload": graph and graph.name, "rate_hz": None if graph else float(cell.rate)}
    asked["participants"] = cell.participants if cell.pattern == "crowd" else None
    return filled(
        Question,
        *(cell, verdict.race),
        **asked | dict.fromkeys(of_other),
        deadline_ns=None if wanted.deadline_s is None else wanted.deadline_s * 1e9,
        loss=wanted.max_loss,
        cpu=wanted.max_cpu,
    )


def _candidate(each: JudgedRow) -> CandidateOutput:
    result, latency = each.row.result, latency_in(each.row)
    figures = {
        "p50_ns": latency and latency.p50,
        "times_baseline": each.ratio,
        "rounds": rounds_of(each),
        "eliminated": elimination(each),
    }
    graph = {name: getattr(result.workload, name, None) for name in ("worst_share", "first_failing")}
    return filled(CandidateOutput, each, result.cell, **figures, **graph)


def _answer(each: JudgedRow) -> AnswerOutput:
    result, latency = each.row.result, latency_in(each.row)
    return filled(
        AnswerOutput,
        *(result.cell, result),
        levels=_levels(result.cell),
        **{f"{name}_ns": getattr(latency, name, None) for name in ("p50", "p90", "p99")},
        p99_absent=p99_absent(each.row),
        cpu_ns_per_message=figure_of(each.row, "cpu"),
        processors=figure_of(each.row, "processors"),
        memory_bytes=figure_of(each.row, "memory"),
        times_baseline=each.ratio,
        interval=None if result.cell.workload else result.interval,
        worst_edge=_edge(each),
    )


def _levels(cell: Cell) -> LevelsOutput:
    """Return the levels that the user chooses; for a workload without the levels of its topics."""
    asked = [FACTORS[name] for name in LevelsOutput.__struct_fields__ if name in FACTORS]
    factors = [each for each in asked if cell.workload is None or each.name not in OF_WORKLOAD]
    levels: dict[str, Any] = {each.name: written(cell, each) for each in factors}
    return LevelsOutput(native=dict(cell.native), **levels)


def _edge(each: JudgedRow) -> Edge | None:
    edge, graph = worst_edge_of(each.row), each.row.result.workload
    if edge is None or graph is None:
        return None
    return filled(Edge, edge, deadline_ns=(edge.deadline_s or 0) * 1e9, share=graph.worst_share, holds=graph.holds)
