"""A race of graphs: a candidate's result, the edge that eliminates it, and the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
import report_runs
from descriptions import transport
from report_runs import ROBOT, cell, document_of, robot, run_of, spread

from middlemark.document.next_steps import next_of
from middlemark.model.cell import carrying
from middlemark.model.outcome import Failure, RunWarning
from middlemark.model.plan import Limits, Race, Wanted
from middlemark.model.times import Summary
from middlemark.plan.rounds import racing
from middlemark.problems import RequestError
from middlemark.show.dry_run import render as dry_run
from middlemark.show.html.data import graphs
from middlemark.show.json.which import render_json
from middlemark.show.which import render_table
from middlemark.stats.candidates import Attempt, attempt, holds
from middlemark.stats.noise import DISTURBED
from middlemark.stats.trials import TrialSummary
from middlemark.stats.workload import EdgeTrial, too_short
from middlemark.verdicts.race import RaceVerdict, elimination, races, rounds_of
from middlemark.verdicts.rows import MeasuredRun
from outputs import read_output

BROKEN = Failure("crashed", "it crashed", "")
FIELD: dict[tuple[str, str], list[float | Failure]] = {
    ("shm", "shm"): [0.49, 0.49],
    ("udp", "udp"): [0.6, 0.6],
    ("lyra", "shm"): spread(0.98, trials=6),
    ("lyra", "udp"): spread(3.0, trials=3),
    ("vega", "udp"): spread(1.02, trials=6),
    ("deneb", "udp"): [BROKEN, BROKEN],
}
COMMAND = ("middlemark", "which", "--workload", "my robot.toml", "--adapter=all", "--budget", "20m", "--quiet")


def race(
    figures: Mapping[tuple[str, str], Sequence[float | Failure]], wanted: Wanted | None = None, **levels: Any
) -> MeasuredRun:
    run = run_of({robot(*each, **levels): figure for each, figure in figures.items()}, command=COMMAND)
    raced = tuple(at for at, (adapter, _) in enumerate(figures) if adapter not in ("shm", "udp"))
    asked = Race(experiments=(raced,), budget_s=1200.0, wanted=wanted or Wanted(), question=True)
    plan = msgspec.structs.replace(run.file.plan, race=asked)
    return msgspec.structs.replace(run, file=msgspec.structs.replace(run.file, plan=plan))


def answer(run: MeasuredRun) -> RaceVerdict:
    return races(document_of(run).experiments, run)[0]


def attempt_of(trial: TrialSummary, wanted: Wanted | None = None) -> Attempt:
    def nothing(_: object) -> Any:
        raise AssertionError("a graph's trial has been read")

    return attempt(robot(), trial, Race(experiments=(), budget_s=1.0, wanted=wanted or Wanted()), nothing, nothing, {})


def one(share: float = 0.2) -> TrialSummary:
    return run_of({robot(): [share]}).trials[0][0]


def with_edge(trial: TrialSummary, number: int, **changed: Any) -> TrialSummary:
    assert trial.graph is not None
    edges: list[EdgeTrial] = [*trial.graph.edges]
    edges[number] = msgspec.structs.replace(edges[number], **changed)
    graph = msgspec.structs.replace(trial.graph, edges=tuple(edges))
    return msgspec.structs.replace(trial, graph=graph)


def test_a_trials_figure_is_its_worst_edges_share_of_the_deadline() -> None:
    assert attempt_of(one(0.2)) == Attempt(0.2)
    assert attempt_of(with_edge(one(0.2), 1, late=1)) == Attempt(0.2), "one late message in a thousand is allowed"
    assert attempt_of(with_edge(one(0.2), 1, late=2)) == Attempt(0.2, "misses the deadline")


def test_a_trial_fails_for_the_most_frequent_fault_of_its_worst_edge() -> None:
    late = with_edge(one(), 0, late=5)
    assert attempt_of(late).misses == "misses the deadline"
    assert attempt_of(with_edge(late, 1, lost=4)).misses == "misses the deadline"
    assert attempt_of(with_edge(late, 1, lost=6)).misses == "loses"
    assert attempt_of(with_edge(late, 0, late=5, unsent=9)).misses == "cannot keep the rate"
    assert attempt_of(with_edge(late, 2, lost=900)).misses == "misses the deadline", (
        "the other edge's topic has no deadline"
    )


def test_processor_use_is_summed_over_all_processes() -> None:
    assert attempt_of(one(0.5), Wanted(max_cpu=0.31)) == Attempt(0.5), "three processes use a tenth of a processor each"
    assert attempt_of(one(0.5), Wanted(max_cpu=0.29)) == Attempt(0.5, "takes too much processor time")


def test_too_few_messages_neither_eliminate_a_candidate_nor_let_it_win() -> None:
    few = attempt_of(with_edge(one(), 1, sent=900, received=900))
    assert few == Attempt(0.2, None, conclusive=False)
    assert not holds([few, few])
    assert holds([Attempt(0.2), few])


@pytest.mark.parametrize(
    ("limits", "short"),
    [
        (Limits(duration_s=10.0), ()),
        (Limits(duration_s=9.0), ("image",)),
        (Limits(samples=999), ("image",)),
        (Limits(samples=1000), ()),
    ],
)
def test_a_trial_is_long_enough_for_a_thousand_messages_or_ten_seconds_of_them(
    limits: Limits, short: tuple[str, ...]
) -> None:
    assert too_short(ROBOT, limits) == short
    assert too_short(ROBOT.under(2.0, 1), Limits(duration_s=6.0)) == ()


def test_a_race_of_graphs_without_deadlines_is_refused() -> None:
    topics = tuple(msgspec.structs.replace(each, deadline_s=None) for each in ROBOT.topics)
    bare = carrying(cell(processes=2), msgspec.structs.replace(ROBOT, topics=topics), transport("udp"))
    with pytest.raises(RequestError, match="workload robot: no topic has a deadline"):
        racing(run_of({bare: [0.2]}).file.plan, ("shm", "udp"), 600.0, question=True)


def test_most_slack_before_the_deadlines_wins_and_the_others_have_their_reasons() -> None:
    found = answer(race(FIELD))
    assert (found.verdict, [each.row.name for each in found.answer]) == ("best", ["lyra shm"])
    assert {each.row.name: (elimination(each), rounds_of(each)) for each in found.candidates} == {
        "lyra shm": (None, 6),
        "lyra udp": ("slower", 3),
        "vega udp": ("misses the deadline", 6),
        "deneb udp": ("failed", 2),
    }
    assert found.answer[0].ratio == pytest.approx(2.0, rel=0.01)
    assert next_of(found, race(FIELD)) is None


def test_the_screen_names_the_edges() -> None:
    lines = render_table(answer(race(FIELD)), "runs/it", 100, None).splitlines()
    text = " ".join(" ".join(lines).split())
    assert text.startswith(
        "lyra shm is best for robot, a process each: the worst edge's p99 takes 0.98 times its deadline "
        "(image → detector), 2.00 × the baseline. Sure"
    )
    assert "of deadline p99 µs CPU × baseline rounds" in text
    assert "lyra shm ✓ 0.98 9,800 0.59 2.00 6 best" in text
    assert "vega udp ✗ 1.02 10,200 0.61 2.08 6 misses the deadline" in text
    assert "baseline shm (copying) ✓ 0.49" in text
    assert "lyra shm meets every deadline (worst edge: image → detector); image → detector fails first over" in text
    assert "no result over deneb udp." in text
    [table] = graphs(document_of(race(FIELD)))
    assert table["conclusion"].startswith(
        "robot: meets its deadlines over lyra shm (worst edge: image → detector), not over"
    )
    assert table["conclusion"].endswith("not over vega udp and lyra udp (image → detector fails first).")
    assert "eliminated: 1 misses the deadline (vega udp); 1 significantly slower; 1 failed (deneb udp)" in text
    assert max(map(len, lines)) <= 100


def test_an_edge_without_a_p99_is_judged_by_its_longest_latency_and_the_answer_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(report_runs, "_times", lambda p50: Summary(p50=p50, p90=p50 * 1.2, max=p50 * 2))
    text = " ".join(render_table(answer(race(FIELD)), "runs/it", 100, None).split())
    assert "the worst edge's longest latency takes 0.98 times its deadline (image → detector)" in text
    assert "lyra shm ✓ 0.98 max 9,8" in text
    assert "no p99: its trials have 1,000 messages" in text


def test_a_disturbed_machine_is_named_even_if_no_candidate_holds() -> None:
    warning = RunWarning(DISTURBED, "in trial 1: other processes had 40 %", "end the other processes")
    run = run_of({robot("lyra", "udp"): spread(1.5, 6)}, command=COMMAND, warnings=(warning,))
    plan = msgspec.structs.replace(run.file.plan, race=Race(experiments=((0,),), budget_s=1200.0, question=True))
    run = msgspec.structs.replace(run, file=msgspec.structs.replace(run.file, plan=plan))
    assert "warnings: machine disturbed: end the other processes" in render_table(answer(run), "runs/it", 100, None)


def test_the_budget_that_a_refusal_proposes_is_enough_for_the_exact_test() -> None:
    plan = run_of({robot("shm", "shm"): [0.2] * 2, robot(): [0.2] * 2, robot("vega"): [0.2] * 2}).file.plan
    longer = [msgspec.structs.replace(each, limits=Limits(duration_s=10.0)) for each in plan.trials]
    plan = msgspec.structs.replace(plan, trials=tuple(longer), baselines=(0,))
    with pytest.raises(RequestError, match=r"a verdict needs about 8 rounds of the last candidates: give --budget 5m"):
        racing(plan, ("shm", "udp"), 30.0, question=True)


def test_the_json_answer_has_the_workload_and_the_worst_edge() -> None:
    found = read_output("which", render_json(answer(race(FIELD, Wanted(max_cpu=2.0), scale=2.0)), None))
    assert found["question"] == {
        "size": None, "rate_hz": None, "workload": "robot", "scale": 2, "copies": 1, "processes": 2, "metric": "p50",
        "subscribers": None, "participants": None, "deadline_ns": None, "loss": None, "cpu": 2.0, "budget_s": 1200,
    }  # fmt: skip
    [best] = found["answer"]
    edge = {"name": "image", "from": "camera", "to": "detector", "deadline_ns": 10_000_000, "holds": True}
    assert best["worst_edge"].pop("share") == pytest.approx(0.98, rel=0.01)
    assert best["worst_edge"] == edge
    assert best["p99_ns"] == pytest.approx(9.8e6, rel=0.01)
    assert best["levels"] == {"receive": "block", "loan": False, "native": {}}
    assert best["interval"] is None
    left = {(each["adapter"], each["transport"]): each for each in found["candidates"]}
    assert left["vega", "udp"]["first_failing"] == "image → detector"
    assert (left["lyra", "shm"]["first_failing"], left["lyra", "shm"]["eliminated"]) == (None, None)
    assert left["deneb", "udp"]["worst_share"] is None


def test_a_race_in_which_no_graph_holds_ends_with_none() -> None:
    found = answer(race({each: spread(1.5, trials=6) for each in (("lyra", "udp"), ("vega", "udp"))}))
    assert (found.verdict, found.answer) == ("none holds", ())
    text = " ".join(render_table(found, "runs/it", 100, None).split())
    assert text.startswith(
        "No candidate meets the requirements for robot, a process each: 2 miss the deadline (lyra udp, vega udp)."
    )
    assert "No candidate meets every deadline; image → detector fails first over lyra udp and vega udp." in text
    assert "The baseline" not in text, "there is none"


@pytest.mark.parametrize(("share", "said"), [(0.5, False), (1.2, True)])
def test_a_baseline_that_misses_a_deadline_too_says_that_the_middlewares_are_not_the_reason(
    share: float, said: bool
) -> None:
    found = answer(race({("shm", "shm"): [share, share], ("lyra", "udp"): spread(1.5, trials=6)}))
    text = " ".join(render_table(found, "runs/it", 100, None).split())
    assert ("The baseline misses a deadline too (shm), so this run says nothing against" in text) is said


def test_an_undecided_race_repeats_only_the_undecided_candidates() -> None:
    scattered = {
        ("lyra", "udp"): [0.2, 0.4, 0.3, 0.5, 0.2, 0.4],
        ("vega", "udp"): [0.4, 0.2, 0.5, 0.3, 0.3, 0.3],
    }
    run = race(scattered)
    assert answer(run).verdict == "undecided"
    command = next_of(answer(run), run)
    assert command is not None
    assert command.startswith("middlemark which --workload 'my robot.toml' --quiet --adapter ")
    assert command.endswith(" --transport udp --budget 60m")


def test_the_report_of_the_same_run_has_the_same_verdicts() -> None:
    run = race(FIELD)
    verdicts = {
        (document.rows[each.a].name, document.rows[each.b].name): each.comparison.word
        for document in [document_of(run)]
        for each in document.comparisons
        if each.comparison.metric == "deadline"
    }
    assert verdicts["lyra shm", "lyra udp"] == "eliminated"


def test_a_workload_is_named_where_other_configurations_have_a_size() -> None:
    run = race(FIELD)
    assert "configurations of  robot  trials" in dry_run(run.file.plan, 100)
    assert all("· robot" in row.label and "KiB" not in row.label for row in document_of(run).rows)
