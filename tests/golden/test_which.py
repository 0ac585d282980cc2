"""What `which` says of races whose truth is known: on the screen, as JSON, and beside the report of the same run."""

import shutil
from pathlib import Path

import pytest
from race_runs import FLOOR, Truth, race, resume
from syrupy.assertion import SnapshotAssertion

from middlemark.document import document_of, with_verdicts
from middlemark.document.contests import every_contest
from middlemark.document.headline import headline
from middlemark.document.matrix import Mark
from middlemark.document.race import Raced, raced
from middlemark.model.plan import Wanted
from middlemark.runs.read import read_measured
from middlemark.show.json.which import render_json
from middlemark.show.which import render_races, render_table
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


def answer(folder: Path) -> Raced:
    run = read_measured(folder)
    return raced(document_of([run]), run)


def screen(folder: Path) -> str:
    return render_table(answer(folder), "runs/it", 100)


def test_a_winner_a_tie_and_what_is_open_are_told_in_the_first_lines(
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
        assert len(text.split()) <= 120, text
        assert max(map(len, text.splitlines())) <= 100
    assert shown == snapshot


def test_the_best_is_found_and_those_that_are_slower_leave_early(field: Path) -> None:
    found = answer(field)
    assert (found.verdict, [each.row.result.cell.adapter for each in found.answer]) == ("best", ["lyra"])
    rounds = {each.row.result.cell.adapter: each.rounds for each in found.candidates}
    assert rounds["deneb"] <= 3
    assert rounds["lyra"] == max(rounds.values())
    assert {each.left for each in found.candidates} == {None, "slower"}
    assert found.machine_alone is not None
    assert found.machine_alone.result.cell.adapter == FLOOR
    assert found.machine_alone.result.trials == 8, "the machine alone is measured no more than needed"
    times = found.times_machine(found.answer[0])
    assert times == pytest.approx(50 / 40, rel=0.1)


def test_alike_ones_tie_by_name(tmp_path: Path) -> None:
    found = answer(race(tmp_path, ALIKE))
    assert found.verdict == "tie"
    assert {each.row.result.cell.adapter for each in found.answer} == {"lyra", "vega"}
    assert found.settles is None


def test_those_that_surely_differ_by_little_tie_when_the_time_is_spent(tmp_path: Path) -> None:
    close = {**FIELD, "lyra": Truth(50.0, scatter=0.06), "vega": Truth(51.0, scatter=0.06)}
    folder = race(tmp_path, close, budget_s=30.0)
    found = answer(folder)
    assert (found.verdict, len(found.answer)) == ("tie", 2)
    assert 0.05 < found.within <= 1 / 3
    assert found.settles is not None
    assert found.settles.startswith("middlemark which --size 1k --rate 1000 --adapter lyra,vega"), "more can be told"
    assert f"they differ by less than {found.within:.0%}.".replace("%", " %") in screen(folder)


def test_who_does_not_do_what_is_asked_leaves_with_the_reason_even_if_it_leads(tmp_path: Path) -> None:
    truths = {
        **FIELD,
        "lyra": Truth(50.0, late=0.04),
        "loser": Truth(40.0, lost=3),
        "lame": Truth(45.0, unsent=30),
        "dead": Truth(30.0, fails=True),
    }
    found = answer(race(tmp_path, truths, wanted=Wanted(deadline_s=0.0005, max_loss=0.01)))
    left = {each.row.result.cell.adapter: (each.left, each.rounds) for each in found.candidates}
    assert left["lyra"] == ("misses the deadline", 6)
    assert left["loser"] == ("loses", 6)
    assert left["lame"] == ("cannot keep the rate", 6)
    assert left["dead"] == ("failed", 2) or left["dead"][0] == "failed"
    assert (found.verdict, found.answer[0].row.result.cell.adapter) == ("best", "vega")
    assert found.answer[0].within == 1.0


def test_a_budget_that_is_spent_leaves_it_open_and_names_the_command(tmp_path: Path) -> None:
    found = answer(race(tmp_path, NEAR, budget_s=30.0))
    assert found.verdict == "undecided"
    assert found.settles is not None
    assert found.settles.startswith("middlemark which --size 1k --rate 1000 --adapter ")
    assert "--budget" in found.settles


def test_the_command_that_settles_a_race_of_a_run_measures_as_often_what_is_open(tmp_path: Path) -> None:
    command = ("middlemark", "run", "mine.toml", "--race", "--budget", "30s")
    run = read_measured(race(tmp_path, NEAR, budget_s=30.0, rate="max", command=command))
    [standing] = [each for each in with_verdicts(document_of([run]), [run]).standings if each.by == "p50"]
    assert standing.verdict == "undecided"
    assert standing.command is not None
    assert standing.command.startswith("middlemark run mine.toml --only adapter=lyra,vega")
    assert "--trials" in standing.command


def test_what_time_is_left_is_used_by_the_races_that_it_is_enough_for(tmp_path: Path) -> None:
    """A trial takes 0.5 s, so a round of both races takes 3 s and that of one 1.5 s."""
    alike = dict.fromkeys(("lyra", "vega", "mira"), Truth(50.0, scatter=0.15))
    run = read_measured(race(tmp_path, alike, budget_s=40.0, rate="max", size="64,1k"))
    assert run.file.plan.race is not None
    rounds = [len(run.trials[heat[0]]) for heat in run.file.plan.race.heats]
    assert sorted(rounds) == [10, 11]
    assert run.file.reached is not None
    assert run.file.reached.seconds == 39.5


def test_what_is_not_asked_at_a_rate_goes_on_by_its_own_command(tmp_path: Path) -> None:
    found = answer(race(tmp_path, NEAR, budget_s=30.0, rate="max"))
    assert found.verdict == "undecided"
    assert found.settles is not None
    assert found.settles.startswith("middlemark which --quiet --budget ")
    assert render_races([found], 100).startswith("Undecided for 1 KiB one at a time, 2 processes: lyra shm and vega")


def test_an_interrupted_race_goes_on_as_it_would_have(field: Path, tmp_path: Path) -> None:
    cut = Path(shutil.copytree(field, tmp_path / "cut"))
    lines = (cut / "trials.jsonl").read_text().splitlines(keepends=True)
    (cut / "trials.jsonl").write_text("".join(lines[: len(lines) - 5]))
    resumed = answer(resume(cut, FIELD))
    expected = answer(field)
    assert [(each.row.label, each.rounds, each.left, each.p50_ns) for each in resumed.candidates] == [
        (each.row.label, each.rounds, each.left, each.p50_ns) for each in expected.candidates
    ]
    assert resumed.verdict == expected.verdict


def test_the_object_for_programs_has_what_was_promised(field: Path) -> None:
    found = read_output("which", render_json(answer(field)))
    assert [*found] == [
        *("schema", "question", "verdict", "answer", "candidates", "trials", "seconds"),
        *("equal_allocation_trials", "machine", "next"),
    ]
    assert found["schema"] == 1
    assert found["verdict"] == "best"
    assert found["next"] is None
    assert found["trials"] < found["equal_allocation_trials"]
    [best] = found["answer"]
    assert [*best] == [
        *("adapter", "transport", "settings", "p50_ns", "p90_ns", "p99_ns", "p99_absent", "times_machine", "interval"),
        "worst_edge",
    ]
    assert best["p90_ns"] >= best["p50_ns"]
    assert (best["p99_ns"], best["p99_absent"]) == (None, "trials of 200 messages; p99 takes 1,000")
    assert (best["adapter"], best["transport"], best["settings"]["loan"]) == ("lyra", "shm", False)
    assert best["interval"][0] <= best["p50_ns"] <= best["interval"][1]
    assert [each["adapter"] for each in found["candidates"]] == ["lyra", "vega", "mira", "deneb", "rigel"]
    assert {"adapter", "transport", "p50_ns", "rounds", "left"} <= found["candidates"][0].keys()


def test_in_the_report_who_left_the_race_is_slower_and_not_short_of_trials(field: Path) -> None:
    run = read_measured(field)
    document = with_verdicts(document_of([run]), [run])
    [standing] = [each for each in document.standings if each.by == "p50"]
    assert (standing.verdict, standing.winner) == ("best", "lyra")
    assert standing.why == "The other 4 are slower."
    told = {document.rows[each.row].result.cell.adapter: (each.state, each.why) for each in standing.places}
    assert told["vega"] == ("slower", "surely slower")
    assert told["deneb"] == ("slower", "left the race after 2 trials")
    [column] = document.matrices[0].columns
    assert column.few is None
    places = [each.place for line in document.matrices[0].lines for each in line.entries if each]
    assert places == [Mark.FASTEST, *[Mark.BEHIND] * 4]
    assert "left the race as slower" in document.answers[0].text
    assert headline(document.matrices[0]).startswith("lyra shm is the fastest")


def test_who_left_a_race_is_not_slower_than_another_who_left(field: Path) -> None:
    run = read_measured(field)
    document = document_of([run])
    losers = [each for each in document.rows if each.left]
    assert len(losers) == 4
    [[contest]] = [each for each in every_contest(losers) if each[0].context[0] is None]
    assert contest.gone == ()
    assert not contest.tellable


@pytest.mark.parametrize("seed", range(3))
def test_the_report_of_the_same_run_never_says_otherwise(tmp_path: Path, seed: int) -> None:
    folder = race(tmp_path, {**FIELD, "vega": Truth(57.0, scatter=0.08), "lyra": Truth(50.0, scatter=0.08)}, seed=seed)
    found = answer(folder)
    run = read_measured(folder)
    document = with_verdicts(document_of([run]), [run])
    best = found.answer[0].row.index
    for each in document.comparisons:
        judged = each.comparison.judged
        told = found.verdict == "best" and each.comparison.metric == "p50" and judged.pairs >= 6
        if told and best in (each.a, each.b):
            assert each.comparison.word == ("slower" if each.a == best else "faster")
