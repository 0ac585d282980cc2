"""The output of `which` for races with known true values: on the screen, as JSON, and in the run's report."""

import shutil
from pathlib import Path

import msgspec
import pytest
from race_runs import RAW_TRANSPORT, Truth, race, resume
from syrupy.assertion import SnapshotAssertion

from middlemark.document import Document, document_of, with_experiments, with_verdicts
from middlemark.document.choices import choices
from middlemark.document.matrix import matrices
from middlemark.document.next_steps import next_of
from middlemark.document.screen import headline
from middlemark.document.statements import reason
from middlemark.document.which import how_sure, table_of
from middlemark.model.plan import Wanted
from middlemark.model.protocol import OwnSettings
from middlemark.runs.printing import PrintOptions, text_of
from middlemark.runs.read import read_measured
from middlemark.show.json.which import render_json
from middlemark.show.which import render_races, render_table
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.judging import judged_experiments
from middlemark.verdicts.race import RaceVerdict, elimination, races, rounds_of
from outputs import read_output

FIELD = {
    "lyra": Truth(50.0),
    "vega": Truth(60.0),
    "mira": Truth(80.0, scatter=0.08),
    "deneb": Truth(140.0),
    "rigel": Truth(400.0, scatter=0.2),
}
ALIKE = {**FIELD, "vega": Truth(50.4), "lyra": Truth(50.0)}
NEAR = {**FIELD, "vega": Truth(50.5, scatter=0.4), "lyra": Truth(50.0, scatter=0.4)}
LATE = {**FIELD, "lyra": Truth(50.0, late=0.04), "vega": Truth(60.0)}


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return race(tmp_path_factory.mktemp("field"), FIELD)


def judged(folder: Path) -> Document:
    return with_experiments(document_of([read_measured(folder)]))


def answer(folder: Path) -> RaceVerdict:
    found = judged(folder)
    return races(found.experiments, found.runs[0])[0]


def settles(folder: Path) -> str | None:
    return next_of(answer(folder), read_measured(folder))


def screen(folder: Path) -> str:
    return render_table(answer(folder), "runs/it", 100, settles(folder))


def left_of(found: RaceVerdict) -> dict[str, tuple[str | None, int]]:
    return {each.row.result.cell.adapter: (elimination(each), rounds_of(each)) for each in found.candidates}


def test_the_first_lines_state_a_winner_a_tie_or_what_is_undecided(
    field: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    shown = {
        "best": screen(field),
        "tie": screen(race(tmp_path / "tie", ALIKE)),
        "undecided": screen(race(tmp_path / "open", NEAR, budget_s=30.0)),
        "deadline": screen(race(tmp_path / "late", LATE, wanted=Wanted(deadline_s=0.0005, max_loss=0.0))),
        "none": screen(race(tmp_path / "none", FIELD, wanted=Wanted(deadline_s=0.00002, max_loss=0.0))),
    }
    for text in shown.values():
        assert len(text.splitlines()) <= 40
        assert len(text.split()) <= 140, text
        assert max(map(len, text.splitlines())) <= 100
    assert shown == snapshot


def test_the_best_is_found_and_slower_candidates_are_eliminated_early(field: Path) -> None:
    found = answer(field)
    assert (found.verdict, [each.row.result.cell.adapter for each in found.answer]) == ("best", ["lyra"])
    rounds = {name: number for name, (_, number) in left_of(found).items()}
    assert rounds["deneb"] <= 3
    assert rounds["lyra"] == max(rounds.values())
    assert {why for why, _ in left_of(found).values()} == {None, "slower"}
    baseline = found.experiment.copying
    assert baseline is not None
    assert baseline.result.cell.adapter == RAW_TRANSPORT
    assert baseline.result.trials == 8, "the baseline is measured no more than needed"
    assert found.answer[0].ratio == pytest.approx(50 / 40, rel=0.1)


def test_equal_candidates_tie_by_name(tmp_path: Path) -> None:
    folder = race(tmp_path, ALIKE)
    found = answer(folder)
    assert found.verdict == "tie"
    assert {each.row.result.cell.adapter for each in found.answer} == {"lyra", "vega"}
    assert settles(folder) is None


def test_candidates_with_a_small_significant_difference_tie_when_the_budget_is_spent(tmp_path: Path) -> None:
    close = {**FIELD, "lyra": Truth(50.0, scatter=0.06), "vega": Truth(51.0, scatter=0.06)}
    folder = race(tmp_path, close, budget_s=30.0)
    found = answer(folder)
    assert (found.verdict, len(found.answer)) == ("tie", 2)
    assert 0.05 < found.experiment.within <= 1 / 3
    command = settles(folder)
    assert command is not None
    assert "--adapter lyra,vega --transport shm --budget" in command, "more rounds can decide"
    assert f"the candidates differ by less than {found.experiment.within:.0%}.".replace("%", " %") in screen(folder)


def test_a_candidate_that_misses_the_requirements_is_eliminated_even_if_fastest(tmp_path: Path) -> None:
    truths = {
        **FIELD,
        "lyra": Truth(50.0, late=0.04),
        "loser": Truth(40.0, lost=3),
        "lame": Truth(45.0, unsent=30),
        "dead": Truth(30.0, fails=True),
    }
    found = answer(race(tmp_path, truths, wanted=Wanted(deadline_s=0.0005, max_loss=0.01)))
    left = left_of(found)
    assert left["lyra"] == ("misses the deadline", 6)
    assert left["loser"] == ("loses", 6)
    assert left["lame"] == ("cannot keep the rate", 6)
    assert left["dead"] == ("failed", 2) or left["dead"][0] == "failed"
    assert (found.verdict, found.answer[0].row.result.cell.adapter) == ("best", "vega")
    assert found.answer[0].row.in_race is not None
    assert found.answer[0].row.in_race.within == 1.0


def test_a_spent_budget_leaves_the_verdict_undecided_and_names_the_command(tmp_path: Path) -> None:
    folder = race(tmp_path, NEAR, budget_s=30.0)
    found = answer(folder)
    assert found.verdict == "undecided"
    command = settles(folder)
    assert command is not None
    assert command.startswith("middlemark which --quiet --adapter ")
    assert "--budget" in command


def test_the_command_that_decides_a_race_measures_only_the_undecided_candidates(tmp_path: Path) -> None:
    command = ("middlemark", "run", "mine.toml", "--race", "--budget", "30s")
    run = read_measured(race(tmp_path, NEAR, budget_s=30.0, rate="max", command=command))
    [standing] = [each for each in choices(with_verdicts(document_of([run]), [run])) if each.by == "p50"]
    assert standing.verdict == "undecided"
    assert standing.command is not None
    assert standing.command.startswith("middlemark run mine.toml --only adapter=lyra,vega")
    assert "--trials" in standing.command


def test_remaining_time_goes_to_the_races_that_still_fit(tmp_path: Path) -> None:
    """A trial takes 0.5 s, so a round of both races takes 3 s and a round of one race 1.5 s."""
    alike = dict.fromkeys(("lyra", "vega", "mira"), Truth(50.0, scatter=0.15))
    run = read_measured(race(tmp_path, alike, budget_s=40.0, rate="max", size="64,1k"))
    assert run.file.plan.race is not None
    rounds = [len(run.trials[heat[0]]) for heat in run.file.plan.race.experiments]
    assert sorted(rounds) == [10, 11]
    assert run.file.reached is not None
    assert run.file.reached.seconds == 39.5


def test_the_figures_of_an_undecided_race_are_those_of_all_its_candidates(tmp_path: Path) -> None:
    folder = race(tmp_path, {f"c{at}": Truth(50.0 + at, scatter=0.4) for at in range(9)}, budget_s=20.0)
    found = answer(folder)
    figures = [each.figure or 0.0 for each in found.answer]
    assert len(figures) > 4
    assert f"more, {figures[0] / 1000:.1f} to {figures[-1] / 1000:.1f} µs" in " ".join(screen(folder).split())


def test_an_undecided_race_without_a_rate_suggests_its_own_command(tmp_path: Path) -> None:
    folder = race(tmp_path, NEAR, budget_s=30.0, rate="max")
    found = answer(folder)
    assert found.verdict == "undecided"
    command = settles(folder)
    assert command is not None
    assert command.startswith("middlemark which --quiet --budget ")
    assert render_races([found], 100).startswith("Undecided for 1 KiB one at a time, 2 processes: lyra shm and vega")


def test_an_interrupted_race_ends_as_it_would_have_without_the_interrupt(field: Path, tmp_path: Path) -> None:
    cut = Path(shutil.copytree(field, tmp_path / "cut"))
    lines = (cut / "trials.jsonl").read_text().splitlines(keepends=True)
    (cut / "trials.jsonl").write_text("".join(lines[: len(lines) - 5]))
    resumed = answer(resume(cut, FIELD))
    expected = answer(field)
    assert left_of(resumed) == left_of(expected)
    assert [each.figure for each in resumed.candidates] == [each.figure for each in expected.candidates]
    assert resumed.verdict == expected.verdict


@pytest.mark.parametrize("seed", range(4))
def test_the_next_candidate_is_the_next_row_of_the_table(tmp_path: Path, seed: int) -> None:
    behind = {name: Truth(us, scatter=0.12) for name, us in (("vega", 80.0), ("mira", 81.0), ("deneb", 82.0))}
    verdict = answer(race(tmp_path, {"lyra": Truth(50.0), **behind, "loser": Truth(60.0, lost=3)}, seed=seed))
    rows = [
        each.name for each in table_of(verdict).lines if each.cells[-1].text in ("significantly slower", "eliminated")
    ]
    assert f"Sure: {rows[0]}, the next, " in how_sure(verdict)


def test_a_race_by_memory_is_won_by_the_smallest_and_not_by_the_fastest(tmp_path: Path) -> None:
    small = {**FIELD, "lyra": Truth(50.0, memory_mb=30.0), "rigel": Truth(400.0, memory_mb=5.0)}
    folder = race(tmp_path, small, metric="memory")
    found = answer(folder)
    assert (found.verdict, found.answer[0].row.result.cell.adapter) == ("best", "rigel")
    assert "2 processes: 4.99 MB of memory.\nSure: mira shm, the next, takes 99 % more (" in screen(folder)
    assert "eliminated: 4 significantly more" in screen(folder)
    output = read_output("which", render_json(found, settles(folder)))
    assert output["question"]["metric"] == "memory"
    assert output["candidates"][0]["figure"] == pytest.approx(5e6, rel=0.05)
    assert output["answer"][0]["times_baseline"] is None, "raw transports do not bound memory"
    assert {each.metric: each.verdict for each in judged(folder).experiments}["memory"] == "best"


def test_the_json_answer_has_the_documented_keys(field: Path) -> None:
    found = read_output("which", render_json(answer(field), settles(field)))
    assert [*found] == [
        *("schema", "question", "verdict", "sure", "answer", "candidates", "not_tried", "trials", "seconds"),
        *("equal_allocation_trials", "machine", "next"),
    ]
    assert found["schema"] == 3
    assert found["verdict"] == "best"
    assert found["next"] is None
    assert found["trials"] < found["equal_allocation_trials"]
    [best] = found["answer"]
    assert [*best] == [
        *("adapter", "transport", "levels", "settings", "settings_absent"),
        *("p50_ns", "p90_ns", "p99_ns", "p99_absent"),
        *("cpu_ns_per_message", "processors", "memory_bytes", "times_baseline", "interval", "worst_edge"),
    ]
    assert best["p90_ns"] >= best["p50_ns"]
    assert (best["p99_ns"], best["p99_absent"]) == (None, "its trials have 200 messages; a p99 needs 1,000")
    assert (best["adapter"], best["transport"], best["levels"]["loan"]) == ("lyra", "shm", False)
    assert (best["settings"], best["settings_absent"]) == (None, "its adapter does not report them")
    assert best["interval"][0] <= best["p50_ns"] <= best["interval"][1]
    assert [each["adapter"] for each in found["candidates"]] == ["lyra", "vega", "mira", "deneb", "rigel"]
    assert {"adapter", "transport", "p50_ns", "rounds", "eliminated"} <= found["candidates"][0].keys()
    assert [each["standing"] for each in found["candidates"]] == ["best", "slower", *["eliminated"] * 3]


SHORT = OwnSettings(language="toml", text="[pool]\nsize = 4096\n")
LONG = OwnSettings(language="toml", text="".join(f"key_{number} = 1\n" for number in range(11)))


@pytest.fixture(scope="module")
def with_settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    truths = {**FIELD, "lyra": Truth(50.0, settings=SHORT), "vega": Truth(60.0, settings=LONG)}
    return race(tmp_path_factory.mktemp("settings"), truths)


def test_the_settings_of_the_winner_are_printed_below_the_answer(with_settings: Path) -> None:
    assert "\nto copy, for lyra (toml):\n  [pool]\n  size = 4096\n" in screen(with_settings)
    [best] = read_output("which", render_json(answer(with_settings), None))["answer"]
    assert best["settings"] == {"language": "toml", "text": SHORT.text}
    assert best["settings_absent"] is None


def test_long_settings_are_printed_by_a_command(tmp_path: Path) -> None:
    folder = race(tmp_path / "long", {**FIELD, "lyra": Truth(50.0, settings=LONG)})
    assert "\nto copy (11 lines of toml): middlemark show runs/it --settings\n" in screen(folder)
    assert "key_1" not in screen(folder)


def test_show_prints_the_settings_of_the_winner_below_its_version_and_levels(with_settings: Path, field: Path) -> None:
    begin = "lyra 3: transport shm, block, reliable, depth 1, no loan"
    printed = text_of(read_measured(with_settings), PrintOptions(parts=("settings",)))
    assert printed == f"# {begin}\n{SHORT.text}"
    absent = text_of(read_measured(field), PrintOptions(parts=("settings",)))
    assert absent == f"{begin}\n  no settings in the middleware's own form: its adapter does not report them\n"


def test_the_summary_names_the_option_that_prints_settings_if_there_are_any(with_settings: Path, field: Path) -> None:
    with_them, without = (
        text_of(read_measured(each), PrintOptions(parts=("summary",))) for each in (with_settings, field)
    )
    assert "--settings prints settings to" in with_them
    assert "--settings" not in without


def test_the_report_copies_the_settings_below_version_and_levels(with_settings: Path) -> None:
    run = read_measured(with_settings)
    [standing] = [each for each in choices(with_verdicts(document_of([run]), [run])) if each.by == "p50"]
    assert standing.settings == text_of(run, PrintOptions(parts=("settings",)))


def test_the_report_names_the_winner_and_the_eliminated_with_their_rounds(field: Path) -> None:
    run = read_measured(field)
    document = with_verdicts(document_of([run]), [run])
    [standing] = [each for each in choices(document) if each.by == "p50"]
    assert (standing.verdict, standing.winner) == ("best", "lyra")
    assert standing.why == "The other is slower, 3 were eliminated."
    assert standing.sentence == "Sure: vega shm, the next, takes 22 % longer (8 rounds)."
    experiment = document.experiments[0]
    reasons = {each.row.result.cell.adapter: reason(experiment, each) for each in experiment.ranked}
    assert reasons["vega"] == "significantly slower"
    assert reasons["deneb"] == "eliminated after 2 rounds"
    assert [each.standing for each in standing.places] == ["best", "slower", *["eliminated"] * 3]
    assert "deneb shm: eliminated after 2 rounds, " in document.answers[0].text
    assert headline(matrices(document.experiments)[0]).startswith("lyra shm is the fastest")


def test_a_race_that_ends_with_one_candidate_has_that_winner_in_the_report(tmp_path: Path) -> None:
    apart = {"lyra": Truth(50.0), "vega": Truth(200.0), "mira": Truth(300.0), "deneb": Truth(400.0)}
    run = read_measured(race(tmp_path, apart))
    document = with_verdicts(document_of([run]), [run])
    verdict = races(document.experiments, run)[0]
    assert verdict.answer[0].row.name == "lyra shm"
    assert {each.winner for each in choices(document)} == {"lyra"}


def test_eliminated_candidates_have_no_verdict_among_themselves(field: Path) -> None:
    document = document_of([read_measured(field)])
    losers = [each for each in document.rows if each.is_eliminated]
    assert len(losers) == 4
    found = judged_experiments(document.rows, Comparisons(document.rows, document.runs), losers)
    assert [each.verdict for each in found if each.by == "p50"] == ["none holds"]


@pytest.mark.parametrize("seed", range(3))
def test_the_report_agrees_with_the_answer_of_the_same_run(tmp_path: Path, seed: int) -> None:
    folder = race(tmp_path, {**FIELD, "vega": Truth(57.0, scatter=0.08), "lyra": Truth(50.0, scatter=0.08)}, seed=seed)
    found = answer(folder)
    run = read_measured(folder)
    document = with_verdicts(document_of([run]), [run])
    best = found.answer[0].row.index
    for each in document.comparisons:
        judged = each.comparison.judged
        is_judged = found.verdict == "best" and each.comparison.metric == "p50" and judged.pairs >= 6
        if is_judged and best in (each.a, each.b):
            assert each.comparison.word in (("slower", "eliminated") if each.a == best else ("faster", "A eliminated"))


def test_a_configuration_of_the_winner_with_too_few_trials_is_named_as_possibly_as_fast(field: Path) -> None:
    found = answer(field)
    best, other, *rest = found.experiment.rows
    unsettled = msgspec.structs.replace(other, standing=Standing.TOO_FEW_TRIALS)
    experiment = msgspec.structs.replace(found.experiment, rows=(best, unsettled, *rest))
    text = how_sure(msgspec.structs.replace(found, experiment=experiment))
    assert f"{other.row.name} is equivalent to the best, or the difference is undecided." in text
