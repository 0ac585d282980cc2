"""What a race came to: who is best or who tie, by how much, how sure, who left and why, and what would settle it."""

import math
import shlex
import statistics
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

import msgspec

from middlemark.document.document import Document, MeasuredRun, Row
from middlemark.document.heats import attempts_of, heats_of
from middlemark.document.judged import JudgedDocument
from middlemark.document.outcome import apart, is_open
from middlemark.document.rows import latency_of, per_message_ns
from middlemark.document.runs import command_of
from middlemark.model.cell import Cell
from middlemark.model.outcome import RunWarning
from middlemark.model.plan import Race
from middlemark.model.times import Summary
from middlemark.model.units import format_seconds, typed_size
from middlemark.stats.candidates import Attempt, Attempts, Heat, Left, holds, raced_by
from middlemark.stats.comparisons import Comparison
from middlemark.stats.noise import DISTURBED
from middlemark.stats.quantiles import samples_needed
from middlemark.stats.race import FINALISTS, equal_allocation
from middlemark.stats.result import EdgeResult, WorkloadResult
from middlemark.stats.signed_rank import Shift, signed_rank
from middlemark.stats.verdict import MARGIN, Verdict
from middlemark.stats.warnings.cells import SERIOUS
from middlemark.stats.workload import worst_edge

_P99 = Fraction(99, 100)
_MOST_BUDGET_S = 1200.0
_MORE = 1.5
"""Of what is reckoned to settle it: rounds scatter."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One that raced. ``rounds``: in how many it was measured; ``within``: messages within the deadline, 0..1."""

    row: Row
    rounds: int
    left: Left | None
    within: float | None

    @property
    def graph(self) -> WorkloadResult | None:
        """What its workload came to."""
        return self.row.result.workload

    @property
    def worst_edge(self) -> EdgeResult | None:
        """Of a workload, the edge that takes the greatest part of its deadline."""
        return worst_edge(self.graph.topics) if self.graph else None

    @property
    def figure(self) -> float | None:
        """What the race is decided by: p50 in ns; of a workload, the part of its deadline that the worst edge takes."""
        return self.p50_ns if self.row.result.cell.workload is None else _figure(self.row)

    @property
    def p50_ns(self) -> float | None:
        """The median of its trials' p50s; of a workload, those of its worst edge."""
        latency = self._latency
        return latency.p50 if latency else None

    @property
    def p90_ns(self) -> float | None:
        """The median of its trials' p90s; None where trials are too short for one."""
        latency = self._latency
        return latency.p90 if latency else None

    @property
    def p99_ns(self) -> float | None:
        """The same of their p99s."""
        latency = self._latency
        return latency.p99 if latency else None

    @property
    def p99_absent(self) -> str | None:
        """Why there is no p99; None: there is one."""
        measured = [each.outcome for each in self.row.trials if each.outcome.failed is None]
        messages = [each.samples for each in measured]
        if measured and (edge := self.worst_edge) is not None:
            messages = [edge.received // len(measured)]
        if self.p99_ns is not None or not messages:
            return None
        return f"trials of {min(messages):,} messages; p99 takes {samples_needed(_P99):,}"

    @property
    def _latency(self) -> Summary | None:
        if self.row.result.cell.workload is None:
            return latency_of(self.row.result)
        return self.worst_edge.one_way_ns if self.worst_edge else None


class Raced(msgspec.Struct, frozen=True, kw_only=True):
    """How a race ended. ``answer``: the best, those that tie, or all that may be the best; the first leads."""

    cell: Cell
    """One of the candidates': what all of them were asked for."""
    race: Race
    verdict: Literal["best", "tie", "undecided", "none holds"]
    answer: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]
    """By what the race is decided by, those without one last."""
    machine_alone: Row | None
    """The fastest floor of the same experiment."""
    behind: tuple[Candidate, Shift] | None
    """The nearest that is surely slower than the one that leads, and the logarithm of how much."""
    warnings: tuple[RunWarning, ...]
    """Of the answer's rows, one a kind."""
    rounds: int
    trials: int
    seconds: float
    equal_trials: int
    """What as many rounds of everybody, or those that a verdict then takes, would have been."""
    settles: str | None
    """The command for what is open."""
    serious: tuple[str, ...]
    """Codes of warnings that the median of an answer may be of something else than its name says, or of two things."""
    within: float
    """Those that tie surely differ by less than this part."""
    why_open: str
    """Why it could not be decided, where it is not."""

    def times_machine(self, candidate: Candidate) -> float | None:
        """Return how many times the machine alone a candidate takes."""
        base = _figure(self.machine_alone) if self.machine_alone else None
        return candidate.figure / base if base and candidate.figure else None


def raced(document: Document, run: MeasuredRun, judged: JudgedDocument | None = None) -> Raced:
    """Return what the first race of the run came to. ValueError of a run without one."""
    return races(document, run, judged)[0]


def races(document: Document, run: MeasuredRun, judged: JudgedDocument | None = None) -> tuple[Raced, ...]:
    """Return what each race of the run came to; ``judged``: the document's verdicts. ValueError without a race."""
    race = run.file.plan.race
    if race is None:
        raise ValueError("the run is no race")
    attempts = attempts_of(run, race, dict(enumerate(run.trials)), run.samples, run.kept)
    judged = judged or JudgedDocument(document)
    stand = heats_of(run, race, attempts)
    return tuple(
        _raced(document, judged, run, race, attempts, cells, heat)
        for cells, heat in zip(race.heats, stand, strict=True)
    )


def _raced(
    document: Document,
    judged: JudgedDocument,
    run: MeasuredRun,
    race: Race,
    attempts: Attempts,
    cells: Sequence[int],
    heat: Heat,
) -> Raced:
    rows = {index: document.rows[index] for index in cells}
    cut_short = len(run.outcomes) < run.planned_trials
    heat, open_to = (heat, []) if cut_short else _as_judged(heat, judged, attempts, rows)
    candidates = {index: _candidate(row, attempts.get(index, {}), heat) for index, row in rows.items()}
    verdict = "undecided" if open_to else heat.ended or "undecided"
    within = MARGIN
    if verdict == "undecided" and not cut_short and not open_to and 2 <= len(heat.running) <= FINALISTS:
        far = apart(_compared(judged, rows, heat.running[0], each) for each in heat.running[1:])
        if far < math.inf and all(holds([*attempts[each].values()]) for each in heat.running):
            verdict, within = "tie", far
    answer = [candidates[index] for index in (*heat.running, *open_to) if candidates[index].figure is not None]
    if verdict == "undecided":
        answer.sort(key=lambda each: each.figure or math.inf)
    warnings = _warnings(answer)
    others = len(run.outcomes) - sum(len(attempts[index]) for index in rows)
    told = Raced(
        cell=rows[cells[0]].result.cell,
        race=race,
        verdict=verdict,
        answer=tuple(answer if verdict in ("tie", "undecided") else answer[:1]),
        candidates=tuple(sorted(candidates.values(), key=lambda each: each.figure or math.inf)),
        machine_alone=_machine_alone(document.rows, rows.values()),
        behind=_behind(heat, candidates, attempts, set(open_to)),
        warnings=warnings,
        rounds=heat.rounds,
        trials=len(run.outcomes),
        seconds=run.file.reached.seconds if run.file.reached else sum(each.seconds for each in run.outcomes),
        equal_trials=equal_allocation(len(rows), heat.rounds) + others,
        settles=None,
        serious=tuple(dict.fromkeys(code for each in answer for code in _serious(each.row))),
        within=within,
        why_open=_why_open(run, race, heat, warnings),
    )
    return msgspec.structs.replace(told, settles=_settles(told, run, judged))


def _figure(row: Row) -> float | None:
    """Return what races are decided by: of a workload the part of its deadline that the worst edge takes."""
    if row.result.cell.workload is None:
        return per_message_ns(row.result)
    return row.result.workload.worst_share if row.result.workload else None


def _compared(judged: JudgedDocument, rows: Mapping[int, Row], best: int, other: int) -> Comparison | None:
    return judged.find(rows[best].index, rows[other].index, raced_by(rows[best].result.cell))


def _ratios(own: Mapping[int, Attempt], leader: Mapping[int, Attempt]) -> list[float]:
    """Return the logarithms of how much longer it took, by the rounds that both have."""
    return [
        math.log(theirs / ours)
        for number in sorted(own.keys() & leader.keys())
        if (theirs := own[number].figure) and (ours := leader[number].figure)
    ]


def _why_open(run: MeasuredRun, race: Race, heat: Heat, warnings: Sequence[RunWarning]) -> str:
    if len(run.outcomes) < run.planned_trials:
        return "the run was cut short"
    if heat.ended is not None:
        return "the verdict takes more rounds"
    disturbed = any(each.code == DISTURBED for each in warnings)
    where = " on a disturbed machine" if disturbed else ""
    if not race.question:
        return f"{heat.had} rounds do not tell{where}"
    return f"{format_seconds(race.budget_s).removesuffix(' 00 s')} spent{where}"


def _candidate(row: Row, attempts: Mapping[int, Attempt], heat: Heat) -> Candidate:
    within = [each.within for each in attempts.values() if each.within is not None]
    return Candidate(
        row=row,
        rounds=len(attempts),
        left=heat.left.get(row.index),
        within=statistics.median(within) if within else None,
    )


def _as_judged(
    heat: Heat, judged: JudgedDocument, attempts: Attempts, rows: Mapping[int, Row]
) -> tuple[Heat, list[int]]:
    """Return the heat as the run's own verdicts have it, and who left though they do not bear it.

    Who is still running when the time is spent, and surely is slower by them, has left.
    """
    if heat.ended == "best":
        best = heat.running[0]
        slower = [each for each, why in heat.left.items() if why == "slower"]
        return heat, [each for each in slower if _verdict(judged, rows, best, each) not in (None, Verdict.WORSE)]
    holding = {
        each: figure
        for each in heat.running
        if holds([*attempts[each].values()]) and (figure := _figure(rows[each])) is not None
    }
    if heat.ended is not None or not holding:
        return heat, []
    leader = min(holding, key=lambda each: holding[each])
    slower = [each for each in heat.running if each != leader and _verdict(judged, rows, leader, each) is Verdict.WORSE]
    if not slower:
        return heat, []
    running = tuple(each for each in heat.running if each not in slower)
    return msgspec.structs.replace(
        heat,
        running=running,
        left={**heat.left, **dict.fromkeys(slower, "slower")},
        ended="best" if running == (leader,) else None,
    ), []


def _verdict(judged: JudgedDocument, rows: Mapping[int, Row], best: int, other: int) -> Verdict | None:
    """Return the run's verdict on the other beside the best; None: there can be none."""
    found = _compared(judged, rows, best, other)
    return None if found is None or found.judged.low is None else found.judged.verdict


def _machine_alone(rows: Sequence[Row], candidates: Iterable[Row]) -> Row | None:
    floors = [rows[each.alone_row] for each in candidates if each.alone_row is not None]
    return min(floors, key=lambda each: _figure(each) or math.inf, default=None)


def _behind(
    heat: Heat, candidates: Mapping[int, Candidate], attempts: Attempts, but: set[int]
) -> tuple[Candidate, Shift] | None:
    if not heat.running:
        return None
    leader = attempts[heat.running[0]]
    found = []
    for index, why in heat.left.items():
        ratios = _ratios(attempts[index], leader)
        if why == "slower" and index not in but and ratios:
            found.append((candidates[index], signed_rank(ratios)))
    return min(found, key=lambda each: each[1].shift, default=None)


def _serious(row: Row) -> list[str]:
    return [each.code for each in row.result.warnings if each.code in SERIOUS]


def _warnings(answer: Sequence[Candidate]) -> tuple[RunWarning, ...]:
    """Return a warning of each kind, a disturbed machine first; what is said of a p99 is not, where none is told."""
    found: dict[str, RunWarning] = {}
    for each in answer:
        for warning in each.row.result.warnings:
            if each.p99_ns is not None or not warning.code.startswith("p99"):
                found.setdefault(warning.code, warning)
    return tuple(sorted(found.values(), key=lambda each: (each.code != DISTURBED, each.code not in SERIOUS)))


def _settles(told: Raced, run: MeasuredRun, judged: JudgedDocument) -> str | None:
    """Return the command that goes on with what is open: of those it is open between, with the time they need."""
    if not is_open(told.verdict, told.within):
        return None
    if len(run.outcomes) < run.planned_trials:
        return shlex.join(["middlemark", "run", "--resume", str(run.folder)])
    leader, *others = told.answer
    rows = {each.row.index: each.row for each in told.answer}
    needed = [
        found.judged.trials_needed
        for each in others
        if (found := _compared(judged, rows, leader.row.index, each.row.index))
    ]
    a_round = len(told.answer) * told.seconds / max(1, told.trials)
    reckoned = max([each for each in needed if each], default=0) * a_round * _MORE
    budget_s = min(max(reckoned, 2 * told.race.budget_s), max(_MOST_BUDGET_S, 2 * told.race.budget_s))
    few = len(told.answer) <= FINALISTS and told.race.question
    # Of so many, the time was short or the machine restless for any verdict.
    asked = _of(told, run) if few else _again(run)
    return shlex.join([*asked, "--budget", f"{math.ceil(budget_s / 60)}m"])


def _again(run: MeasuredRun, *without: str) -> list[str]:
    """Return the question as it was asked, without its budget and those options."""
    words = [*command_of(run)]
    for option in ("--budget", *without):
        words = [each for each in words if not each.startswith(f"{option}=")]
        while option in words:
            at = words.index(option)
            del words[at : at + 2]
    return words


def _of(told: Raced, run: MeasuredRun) -> list[str]:
    """Return the question as a command, of those it is open between."""
    names = {
        factor: ",".join(dict.fromkeys(str(getattr(each.row.result.cell, factor)) for each in told.answer))
        for factor in ("adapter", "transport")
    }
    between = [word for factor, of in names.items() for word in (f"--{factor}", of)]
    if told.cell.workload is not None:  # its file is in the command alone
        return [*_again(run, "--adapter", "--transport"), *between]
    cell, wanted = told.cell, told.race.wanted
    words = ["middlemark", "which", "--size", typed_size(cell.size), "--rate", f"{cell.rate:.12g}"]
    words += ["--processes", str(cell.processes)] if cell.processes != 2 else []
    words += ["--subscribers", str(cell.subscribers)] if cell.subscribers != 1 else []
    words += ["--deadline", f"{wanted.deadline_s * 1e3:.12g}ms"] if wanted.deadline_s is not None else []
    words += ["--loss", f"{wanted.max_loss:.12g}"] if wanted.max_loss else []
    words += ["--cpu", f"{wanted.max_cpu:.12g}"] if wanted.max_cpu is not None else []
    return [*words, *between]
