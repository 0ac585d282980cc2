"""Runs are drawn, and every output must agree on each experiment: winner, standings, headline figures and ratios.

``MIDDLEMARK_DRAWS`` draws more of them (``./check all``: 2,000), ``MIDDLEMARK_SEED`` others.
"""

import json
import os
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import msgspec
import pytest
from report_runs import ADAPTERS, cell, document_of, run_of

from middlemark.document import Document
from middlemark.document.choices import choices
from middlemark.document.matrix import mark, matrices, table_of
from middlemark.document.next_steps import next_of
from middlemark.document.numbers import brief, ratio, rounded, us
from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, RunWarning
from middlemark.model.plan import Race
from middlemark.show import View, render
from middlemark.show.html.data import data_of
from middlemark.show.json.which import render_json
from middlemark.show.layout import terminal
from middlemark.stats.verdict import Verdict
from middlemark.verdicts.experiments import JudgedExperiment, JudgedRow, Standing
from middlemark.verdicts.race import races
from middlemark.verdicts.rows import MeasuredRun

DRAWS = int(os.environ.get("MIDDLEMARK_DRAWS", "40"))
SEED = os.environ.get("MIDDLEMARK_SEED", "1")
BATCHES = 8
CRASHED = Failure("crashed", "killed", "run it alone")


def drawn(draw: random.Random) -> MeasuredRun:
    """Draw a run of at most five middlewares: failed trials, disjoint rounds, races, loss, several sizes."""
    names = draw.sample(["lyra", "vega", "deneb"], draw.randint(1, 3))
    floors = draw.sample([("udp", "udp"), ("shm", "shm")], draw.randint(0, 2))
    sizes = draw.sample([64, 1024, 65536], draw.randint(1, 2))
    stream = draw.random() < 0.2
    race = draw.random() < 0.4 and not stream
    levels: dict[str, object] = {"pattern": "stream", "depth": None} if stream else {"rate": 1000.0} if race else {}
    apart = draw.choice([0.0, 0.02, 0.1, 0.5])
    trials = draw.choice([2, 5, 6, 8, 12])
    figures: dict[Cell, list[float | Failure]] = {}
    for name, transport in (*floors, *((n, t) for n in names for t in draw.sample(["udp", "shm"], draw.randint(1, 2)))):
        for loan in (False, True) if draw.random() < 0.3 else (False,):
            middle = (3e5 if stream else 2e4) * draw.lognormvariate(0, apart)
            scatter, missing = draw.choice([0.005, 0.05, 0.3]), draw.choice([0, 0, 0, 1, 2, 9])
            for size in sizes:
                figures[cell(name, transport, size=size, loan=loan, **levels)] = [
                    CRASHED
                    if missing == 9 or (missing and number % 2 == missing - 1)
                    else middle * draw.lognormvariate(0, scatter)
                    for number in range(draw.choice([trials, trials, trials, 3]))
                ]
    run = run_of(figures, warnings=[RunWarning("bimodal", "two")] if draw.random() < 0.1 else ())
    if draw.random() < 0.2:
        odd = draw.randrange(len(run.results))
        warned = msgspec.structs.replace(run.results[odd], warnings=(RunWarning("transport-contradicted", "other"),))
        results = [warned if at == odd else each for at, each in enumerate(run.results)]
        run = msgspec.structs.replace(run, results=results)
    return raced(run, draw) if race else run


def raced(run: MeasuredRun, draw: random.Random) -> MeasuredRun:
    floors = {each.name for each in ADAPTERS if each.floor}
    heats: dict[int, list[int]] = {}
    for at, each in enumerate(run.file.plan.cells):
        if each.adapter not in floors:
            heats.setdefault(each.size, []).append(at)
    race = Race(heats=tuple(map(tuple, heats.values())), budget_s=10.0, question=len(heats) == 1)
    plan = msgspec.structs.replace(run.file.plan, race=race)
    outcomes = run.outcomes[: draw.choice([len(run.outcomes), len(run.outcomes), len(run.outcomes) - 2])]
    return msgspec.structs.replace(run, outcomes=outcomes, file=msgspec.structs.replace(run.file, plan=plan))


def figure_text(experiment: JudgedExperiment, row: JudgedRow) -> str:
    assert row.figure is not None
    return brief(1e9 / row.figure) if experiment.by_rate else us(row.figure)


def check_terminal(document: Document) -> None:
    for matrix in matrices(document.experiments):
        table = table_of(matrix)
        shown = [line.plain for line in terminal(table, 1000)]
        few = all(not each.is_judgeable and each.verdict != "only" for each in matrix.columns)
        based = any(each.copying or each.handing_over for each in matrix.columns)
        for column in matrix.columns:
            for row in column.ranked:
                times = ratio(row.ratio if based else row.times_first)
                told = rf"{re.escape(figure_text(column, row))} +{re.escape(times)} {re.escape(mark(row, few))}"
                adapter = row.row.result.cell.adapter
                assert any(line.startswith(adapter) and re.search(told, f"{line} ") for line in shown), (told, shown)


def check_page(document: Document) -> None:
    page = data_of(document)
    for choice, told, experiment in zip(choices(document), page["standings"], document.choices, strict=True):
        assert (told["verdict"], told["sure"]) == (experiment.verdict, experiment.sure) == (choice.verdict, choice.sure)
        assert [each["row"] for each in told["places"]] == [each.row.index for each in experiment.ranked]
        for place, row in zip(told["places"], experiment.ranked, strict=True):
            assert place["standing"] == row.standing
            assert place.get("ratio") == rounded(row.ratio)
            figure = 1e9 / row.figure if experiment.by_rate and row.figure else row.figure
            assert place["figure"] == rounded(figure)
        assert {*told["failed"]} == {each.row.index for each in experiment.failed}


def check_json(document: Document) -> None:
    told = json.loads(render("json", document))["experiments"]
    for each, experiment in zip(told, document.experiments, strict=True):
        winner = experiment.winner
        assert each["winner"] == (None if winner is None else winner.row.index)
        assert (each["verdict"], each["sure"], each["metric"]) == (
            experiment.verdict,
            experiment.sure,
            experiment.metric,
        )
        for row, judged in zip(each["rows"], experiment.rows, strict=True):
            assert (row["cell"], row["standing"]) == (judged.row.index, judged.standing)
            assert row["ratio"] == (None if judged.ratio is None else pytest.approx(judged.ratio, abs=1e-3))


def check_junit(document: Document) -> None:
    cases = list(ET.fromstring(render("junit", document)).iter("testcase"))
    texts = [case.findtext("system-out") or "" for case in cases]
    for experiment in document.experiments:
        for row in experiment.rows if not experiment.restricted else ():
            assert f"{experiment.metric}: {row.standing}" in texts[row.row.index]
            if row.ratio is not None:
                assert f"{ratio(row.ratio)} × " in texts[row.row.index]


def check_markdown(document: Document) -> None:
    text = " ".join(each.text for each in document.answers)
    rows = {row.index: row for row in document.rows}
    for experiment in document.experiments[:1]:
        for row in experiment.ranked[:1] if experiment.verdict != "none holds" else ():
            assert figure_text(experiment, row) in text
    for line in render("markdown", document).splitlines():
        for row in rows.values():
            if line.startswith(f"| {row.series} |") and f" {row.result.trials} " in line and " µs " not in line:
                assert row.ratio is None or "baseline" not in line or ratio(row.ratio) in line


def check_comparisons(document: Document) -> None:
    """What `compare --by` says of a pair is what the standings say."""
    known = {(each.a, each.b, each.comparison.metric): each.comparison for each in document.comparisons}
    for experiment in document.experiments:
        for row in experiment.rows:
            found = known.get((experiment.reference or 0, row.row.index, experiment.metric))
            if found is None or experiment.reference is None or experiment.restricted:
                continue
            word = {Verdict.WORSE: Standing.SLOWER, Verdict.EQUIVALENT: Standing.EQUIVALENT}.get(found.judged.verdict)
            missed = row.row.in_race and row.row.in_race.eliminated not in (None, "slower")
            assert word is None or missed or row.standing == word
            assert row.standing is not Standing.SLOWER or found.word in ("slower", "less", "later")
            assert found.word != "eliminated" or row.standing is Standing.ELIMINATED
            assert found.judged.pairs >= 6 or row.standing is not Standing.SLOWER


def check_standings(document: Document) -> None:
    for experiment in document.experiments:
        standings = [each.standing for each in experiment.rows]
        assert standings.count(Standing.BEST) == (experiment.verdict == "best")
        assert standings.count(Standing.ONLY) == (experiment.verdict == "only")
        assert (Standing.EQUIVALENT in standings) or experiment.verdict != "tie"
        names = [each.row.name for each in experiment.rows]
        assert len({*names}) == len(names), "names are unique in an experiment"
        for each in experiment.rows:
            baseline = experiment.handing_over if each.row.hands_over else experiment.copying
            assert each.ratio is None or baseline is not None
            if each.standing is Standing.ELIMINATED:
                assert each.row.is_eliminated
            if each.standing is Standing.BEST and experiment.race is None:
                assert each.row.result.trials >= 6


def check_which(document: Document, run: MeasuredRun) -> None:
    for verdict in races(document.experiments, run):
        found = json.loads(render_json(verdict, next_of(verdict, run)))
        assert found["verdict"] == {"only": "best" if verdict.decided else "undecided"}.get(
            verdict.experiment.verdict, verdict.experiment.verdict
        )
        by_name = {
            (each.row.result.cell.adapter, each.row.result.cell.transport, each.row.result.cell.loan): each
            for each in verdict.experiment.rows
        }
        for each in found["candidates"]:
            row = by_name[each["adapter"], each["transport"], each["loan"]]
            assert each["standing"] == row.standing
            assert each["times_machine"] == (None if row.ratio is None else pytest.approx(row.ratio, abs=1e-3))
            if row.figure is not None:
                assert each["p50_ns"] == pytest.approx(row.figure, abs=1e-2)


def seeds(batch: int) -> Iterator[str]:
    yield from (f"{SEED}/{number}" for number in range(batch, DRAWS, BATCHES))


@pytest.mark.drawn
@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_output_of_a_drawn_run_says_the_same(batch: int) -> None:
    for seed in seeds(batch):
        run = drawn(random.Random(seed))
        document = document_of(run)
        try:
            check_standings(document)
            check_terminal(document)
            check_page(document)
            check_json(document)
            check_junit(document)
            check_markdown(document)
            check_comparisons(document)
            check_which(document, run)
            render("summary", document, View(width=80))
        except BaseException:
            print(f"the draw that disagrees: MIDDLEMARK_SEED={seed.partition('/')[0]}, {seed}")
            raise


ALIKE_REPORTS, MOST_FALSE = 100, 9
"""So many of 100 may be false where each is with a chance of 5 %: the binomial bound of 96 %."""


def is_false(document: Document) -> bool:
    """Say whether a report of candidates that are all alike calls one of them significantly better or worse."""
    return any(
        row.standing in (Standing.BEST, Standing.SLOWER)
        for experiment in document.experiments
        if experiment.by == "p50"
        for row in experiment.rows
    )


@pytest.mark.slow
def test_of_a_hundred_reports_of_like_candidates_few_say_that_they_differ() -> None:
    found = 0
    for number in range(ALIKE_REPORTS):
        draw = random.Random(f"{SEED}/alike/{number}")
        drift = [draw.lognormvariate(0, 0.05) for _ in range(8)]
        figures: dict[Cell, list[float | Failure]] = {
            cell(name, transport, size=size, loan=loan): [2e4 * each * draw.lognormvariate(0, 0.06) for each in drift]
            for name in ("lyra", "vega", "deneb")
            for transport, loan in (("udp", False), ("shm", False), ("shm", True))
            for size in (64, 1024)
        }
        found += is_false(document_of(run_of(figures)))
    assert found <= MOST_FALSE, f"{found} of {ALIKE_REPORTS} reports of noise alone (seed {SEED})"
