"""Convert a stored run to a published result, and back.

Everything that a result states can be computed again from its trials.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from middlemark.document import document_of, with_experiments
from middlemark.document.document import Document
from middlemark.model.cell import ONE_WAY, Cell
from middlemark.model.description import Description, Transport
from middlemark.model.outcome import Failure, TrialOutcome
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.model.run import Machine, RunFile
from middlemark.model.times import Times
from middlemark.model.user_file import user_file
from middlemark.show.json.output import filled
from middlemark.show.json.published import (
    FORMAT,
    PublicExperiment,
    Published,
    PublishedAdapter,
    PublishedCell,
    PublishedFinding,
    PublishedMachine,
    PublishedSuite,
    PublishedTrial,
)
from middlemark.stats.baselines import by_rate
from middlemark.stats.cells import results_of
from middlemark.stats.interval import median_interval
from middlemark.stats.rates import Rates
from middlemark.stats.trials import TrialSummary
from middlemark.verdicts.experiments import HEADLINE, JudgedExperiment
from middlemark.verdicts.names import WORDS
from middlemark.verdicts.rows import MeasuredRun, Row, headline_figure, in_races

STATED = ("name", "metric", "figure", "low", "high", "baseline", "ratio", "standing")
"""The fields of a configuration that are computed from the trials."""
_SIGNIFICANT = 6


def published(run: MeasuredRun, doctor: Sequence[PublishedFinding] | None, doctor_absent: str | None) -> Published:
    """Return the result of a run, without its digest."""
    file = run.file
    blank: dict[str, Any] = dict.fromkeys(STATED)
    cells = tuple(
        PublishedCell(
            sweep=name,
            levels=_levels(cell),
            version=result.version or "",
            trials=tuple(_trial(cell, each) for each in trials),
            warnings=tuple(dict.fromkeys(each.code for each in result.warnings)),
            cpu_ns_per_message=result.resources.ns_per_message if result.resources else None,
            memory_bytes=result.resources.rss_bytes if result.resources else None,
            **blank | {"name": "", "metric": ""},
        )
        for cell, name, result, trials in zip(file.plan.cells, file.plan.names, run.results, run.trials, strict=True)
    )
    found = Published(
        format=FORMAT,
        digest="",
        title=", ".join(file.suites),
        middlemark=file.middlemark,
        started=file.started[:10],
        suites=tuple(PublishedSuite(name=each, sha256=_sha256(file.suite_texts.get(each))) for each in file.suites),
        machine=filled(PublishedMachine, file.machine),
        adapters=tuple(
            filled(
                PublishedAdapter,
                each,
                carriers={transport.name: transport.carrier for transport in each.transports},
                hands_over={transport.name: transport.hands_over for transport in each.transports},
            )
            for each in file.adapters
        ),
        doctor=None if doctor is None else tuple(doctor),
        doctor_absent=doctor_absent,
        baselines=file.plan.baselines,
        together=file.plan.together,
        race=file.plan.race,
        reached=file.reached,
        cells=cells,
        experiments=(),
    )
    return stated(msgspec.convert(msgspec.to_builtins(found), Published))


def stated(result: Published) -> Published:
    """Compute the figures, experiments and verdicts again from the result's trials; return the result with them."""
    document = document_again(result)
    experiments = [each for each in document.experiments if each.metric in HEADLINE and not each.restricted]
    standings = {row.row.index: row.standing.value for each in experiments for row in each.rows}
    return msgspec.structs.replace(
        result,
        cells=tuple(
            msgspec.structs.replace(cell, **_stated(row, standings))
            for cell, row in zip(result.cells, document.rows, strict=True)
        ),
        experiments=tuple(
            PublicExperiment(
                what=_load(each),
                size=each.size,
                metric=each.metric,
                verdict=str(each.verdict),
                ranked=tuple(row.row.index for row in each.ranked),
            )
            for each in experiments
        ),
    )


_ALWAYS = ("pattern", "workload", "rate", "receive")
"""The factors that are part of a question even at their default levels."""


def _load(experiment: JudgedExperiment) -> str:
    """Return the load of an experiment in words: ``_ALWAYS``, and each other level that is not the default."""
    usual = Cell(adapter="", transport="", size=experiment.size, pattern=experiment.cell.pattern)
    return ", ".join(
        word
        for factor, word in experiment.levels.items()
        if word and (factor in _ALWAYS or (factor in WORDS and word != WORDS[factor](usual)))
    )


def document_again(result: Published) -> Document:
    """Return the document of a published result, with its experiments."""
    return with_experiments(document_of([run_again(result)]))


def run_again(result: Published) -> MeasuredRun:
    """Return the run of a published result, without samples. Raises ValueError if the trials contradict each other."""
    cells = tuple(msgspec.convert(each.levels, Cell) for each in result.cells)
    numbered = [(at, each) for at, cell in enumerate(result.cells) for each in cell.trials]
    numbered.sort(key=lambda each: each[1].order)
    plan = Plan(
        cells=cells,
        names=tuple(each.sweep for each in result.cells),
        trials=tuple(
            Trial(order=each.order, cell=at, number=each.round, limits=Limits(duration_s=1.0)) for at, each in numbered
        ),
        together=result.together,
        baselines=result.baselines,
        race=result.race,
    )
    file = RunFile(
        middlemark=result.middlemark,
        suites=tuple(each.name for each in result.suites),
        command=(),
        started=f"{result.started}T00:00:00.000+00:00",
        ended=f"{result.started}T00:00:00.000+00:00",
        seed=0,
        machine=Machine(host="", **msgspec.structs.asdict(result.machine)),
        adapters=tuple(map(_description, result.adapters)),
        plan=plan,
        reached=result.reached,
    )
    trials = [
        [_trial_again(cell, at, each) for each in published_cell.trials]
        for at, (cell, published_cell) in enumerate(zip(cells, result.cells, strict=True))
    ]
    return MeasuredRun(
        folder=Path(result.title or "result"),
        file=file,
        outcomes=tuple(each.outcome for members in trials for each in members),
        trials=trials,
        results=results_of(plan, trials, {each.name: each for each in file.adapters}),
        samples=lambda _: None,
        kept=_no_samples,
    )


def races_need_samples(run: MeasuredRun) -> bool:
    """Say whether the run has a race with a deadline: only samples show how many messages met it."""
    race = run.file.plan.race
    return race is not None and race.wanted.deadline_s is not None and bool(in_races(run, {}, run.samples, run.kept))


def _no_samples(_: object) -> Any:
    raise ValueError("a published result has no samples")


def _stated(row: Row, standings: Mapping[int, str]) -> dict[str, Any]:
    cell, result = row.result.cell, row.result
    values = [each for each in result.trial_values if each]
    interval = median_interval([1e9 / each for each in values] if by_rate(cell) else values)
    return {
        "name": row.name,
        "metric": "deadline" if cell.workload is not None else "throughput" if by_rate(cell) else "p50",
        "figure": short(headline_figure(result)),
        "low": short(interval[0]) if interval and cell.workload is None else None,
        "high": short(interval[1]) if interval and cell.workload is None else None,
        "baseline": row.baseline_row,
        "ratio": short(row.ratio),
        "standing": standings.get(row.index),
    }


def short(figure: float | None) -> float | None:
    """Return a figure to six significant digits."""
    return None if figure is None else float(f"{figure:.{_SIGNIFICANT}g}")


def _levels(cell: Cell) -> dict[str, Any]:
    """Return factor → level for the levels that are not the default. Paths of user files lose their folder."""
    native = tuple((key, _without_folder(value)) for key, value in cell.native)
    levels = msgspec.to_builtins(msgspec.structs.replace(cell, native=native))
    usual = msgspec.to_builtins(Cell(adapter="", transport="", size=0))
    return {key: value for key, value in levels.items() if key not in usual or value != usual[key]}


def _without_folder(value: str) -> str:
    file = user_file(value)
    return value if file is None else msgspec.structs.replace(file, path=PurePosixPath(file.path).name).written


def _trial(cell: Cell, trial: TrialSummary) -> PublishedTrial:
    outcome = trial.outcome
    return PublishedTrial(
        round=outcome.number,
        order=outcome.order,
        failed=outcome.failed.code if outcome.failed else None,
        samples=trial.samples,
        measured_s=outcome.measured_s,
        latency_ns=trial.times.latency_of(cell),
        rate_hz=trial.rates.rate_hz if trial.rates else None,
        sent_hz=trial.rates.sent_hz if trial.rates else None,
        replies_hz=trial.replies_hz,
        counts=outcome.counts,
        actual_transport=outcome.actual_transport,
        discovery_ns=outcome.discovery_ns,
        graph=trial.graph,
    )


def _trial_again(cell: Cell, at: int, trial: PublishedTrial) -> TrialSummary:
    outcome = TrialOutcome(
        cell=at,
        number=trial.round,
        order=trial.order,
        started="",
        seconds=0.0,
        failed=Failure(trial.failed, trial.failed) if trial.failed else None,
        samples=trial.samples,
        measured_s=trial.measured_s,
        counts=trial.counts,
        actual_transport=trial.actual_transport,
        discovery_ns=trial.discovery_ns,
    )
    if trial.failed:
        return TrialSummary(outcome=outcome)
    field = "one_way_ns" if cell.pattern in ONE_WAY else "round_trip_ns"
    is_rated = trial.rate_hz is not None or trial.sent_hz is not None
    return TrialSummary(
        outcome=outcome,
        times=Times(**{field: trial.latency_ns}),
        samples=trial.samples,
        rates=Rates(
            rate_hz=trial.rate_hz, total_hz=None, sent_hz=trial.sent_hz, by_subscriber=(), blocked_ns=None,
            blocked_share=None,
        ) if is_rated else None,
        replies_hz=trial.replies_hz,
        graph=trial.graph,
    )  # fmt: skip


def _description(adapter: PublishedAdapter) -> Description:
    return Description(
        protocol=0,
        name=adapter.name,
        title=adapter.title,
        version=adapter.version,
        library="",
        licence=adapter.licence,
        is_raw_transport=adapter.is_raw_transport,
        bench_only=False,
        transports=tuple(
            Transport(name=name, carrier=carrier, hands_over=adapter.hands_over.get(name))
            for name, carrier in adapter.carriers.items()
        ),
        request_reply=False,
        own_threads=False,
        residue=(),
        native={},
    )


def _sha256(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(text.encode(errors="replace")).hexdigest()
