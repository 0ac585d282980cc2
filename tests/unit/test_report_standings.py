"""The standings: word, sentence and symbol agree on the verdict. An undecided one has a command that decides it."""

import math
import random
import shlex

import msgspec
import pytest
from report_runs import cell, document_of, run_of, spread

from middlemark.document import Document
from middlemark.document.choices import Choice, choices, usual
from middlemark.document.matrix import matrices
from middlemark.document.screen import headline
from middlemark.model.outcome import Failure, RunWarning
from middlemark.stats.candidates import InRace, RaceState
from middlemark.stats.verdict import Verdict
from middlemark.suite.overrides import read_only
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.judging import judged_experiments
from middlemark.verdicts.rows import latency_of


def drawn(middle: float, trials: int, seed: int) -> list[float | Failure]:
    draw = random.Random(seed)
    return [middle * draw.lognormvariate(0, 0.5) for _ in range(trials)]


RAW_TRANSPORTS = {cell("udp"): spread(16_000), cell("shm", "shm"): spread(8_000)}
LYRA, VEGA, DENEB = cell("lyra"), cell("vega"), cell("deneb")
LYRA_SHM = cell("lyra", "shm")


def first(document: Document) -> Choice:
    found = choices(document)
    return found[usual(found)]


def names(document: Document, standing: Choice) -> list[str]:
    return [document.rows[each.row].name for each in standing.places]


def test_each_middleware_is_ranked_by_its_best_transport_with_one_baseline() -> None:
    document = document_of(
        run_of(RAW_TRANSPORTS | {LYRA: spread(21_000), LYRA_SHM: spread(10_000), VEGA: spread(30_000)})
    )
    standing = first(document)
    assert names(document, standing) == ["lyra shm", "vega udp"]
    assert standing.baseline is not None
    assert document.rows[standing.baseline].name == "shm", (
        "the baseline is the fastest raw transport over any transport"
    )
    assert standing.lead == "lyra shm is lowest, 10.0 µs a round trip, 1.25 × the baseline shm (copying)."
    assert standing.why == "The other is slower."
    assert standing.sentence == "The other is slower. vega udp, the next, takes 3.00 times as long."
    assert standing.mark == "significant"
    assert (standing.verdict, standing.sure, standing.command) == ("best", True, None)
    assert [each.standing for each in standing.places] == ["best", "slower"]


def test_a_difference_within_the_margin_is_a_tie_with_names() -> None:
    standing = first(document_of(run_of({LYRA: spread(21_000), VEGA: spread(21_200), DENEB: spread(40_000)})))
    assert (standing.verdict, standing.sure) == ("tie", True)
    assert standing.why == "A tie with vega udp, within 5 %; the other is slower."


def test_undecided_candidates_with_a_bounded_difference_tie() -> None:
    figures = {LYRA: even(21_000, 1), VEGA: even(21_700, 2), DENEB: spread(40_000)}
    document = document_of(run_of(figures))
    standing = first(document)
    pair = Comparisons(document.rows, document.runs).find(0, 1, "p50")
    assert pair is not None
    assert pair.judged.verdict is Verdict.UNDECIDED
    bound = pair.judged.high
    assert bound is not None
    assert 0.05 < bound <= 1 / 3
    assert (standing.verdict, standing.sure) == ("tie", True)
    assert standing.command is not None
    assert f" --trials {pair.judged.trials_needed} " in f"{standing.command} ", "more trials could narrow a wide tie"
    assert standing.why == f"A tie with vega udp, within {math.ceil(100 * bound)} %; the other is slower."
    assert [each.standing for each in standing.places] == ["equivalent", "equivalent", "slower"]
    assert "tie, within" in headline(matrices(document.experiments)[0])


def even(middle: float, seed: int) -> list[float | Failure]:
    draw = random.Random(seed)
    return [middle * draw.lognormvariate(0, 0.03) for _ in range(12)]


def test_a_candidate_eliminated_from_a_race_is_still_listed() -> None:
    raced = {LYRA: spread(21_000), VEGA: spread(90_000)[:2], DENEB: spread(95_000)[:2]}
    within = {cell("lyra", processes=1): spread(5_000), cell("vega", processes=1): spread(6_000)}
    document = document_of(run_of(within | raced))
    state = RaceState(running=(2,), eliminated={3: "slower", 4: "slower"}, ended="best", rounds=9)
    rows = [
        msgspec.structs.replace(each, in_race=InRace(1, state.eliminated.get(each.index), state=state))
        if each.index > 1
        else each
        for each in document.rows
    ]
    found = judged_experiments(rows, Comparisons(rows, document.runs))
    assert [row.row.name for row in found[0].ranked] == ["lyra udp", "vega udp", "deneb udp"]
    assert [row.standing for row in found[0].ranked] == ["best", "eliminated", "eliminated"]


def test_an_undecided_standing_has_a_command_that_decides_it() -> None:
    figures = {LYRA: drawn(21_000, 10, 1), VEGA: drawn(22_000, 10, 2), DENEB: spread(90_000)}
    elsewhere = {cell("lyra", "shm"): spread(95_000), cell("lyra", size=16): spread(95_000)}
    command = ("/x/middlemark", "run", "first-look", "--trials", "3")
    standing = first(document_of(run_of(figures | elsewhere, command=command)))
    assert (standing.verdict, standing.sure) == ("undecided", False)
    assert standing.why.startswith("1 of 2 is slower; undecided against vega udp: about ")
    assert standing.command is not None
    words = shlex.split(standing.command)
    assert words[:3] == ["middlemark", "run", "first-look"]
    assert words.count("--trials") == 1
    trials = int(words[words.index("--trials") + 1])
    assert f"about {trials:,} trials would decide" in standing.why
    assert standing.seconds == pytest.approx(2 * trials), "two configurations with trials of one second"
    only, problems = read_only([words[at + 1] for at, word in enumerate(words) if word == "--only"])
    assert not problems
    assert {each.factor: each.values for each in only} == {
        "adapter": ("lyra", "vega"),
        "transport": ("udp",),
        "size": (64,),
    }


def test_the_command_for_an_undecided_standing_includes_the_baseline() -> None:
    standing = first(document_of(run_of(RAW_TRANSPORTS | {LYRA: spread(21_000, 2), VEGA: spread(28_000, 2)})))
    assert standing.command is not None
    assert "--only adapter=lyra,vega,shm --trials 10" in standing.command, (
        "only the fastest raw transport is the baseline"
    )


def test_too_few_trials_are_undecided_and_ten_would_decide() -> None:
    standing = first(document_of(run_of(RAW_TRANSPORTS | {LYRA: spread(21_000, 2), VEGA: spread(28_000, 2)})))
    assert standing.why == "lyra udp has 2 trials; 6 are the fewest for a verdict."
    assert standing.command is not None
    assert standing.command.endswith("--trials 10")
    assert [each.why for each in standing.places] == ["2 trials", "2 trials"]


def test_a_row_with_too_few_trials_is_named_at_any_rank() -> None:
    standing = first(document_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000, 3)})))
    assert standing.why == "vega udp has 3 trials; 6 are the fewest for a verdict."


def test_a_lower_median_of_too_few_trials_is_first_and_undecided() -> None:
    document = document_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000), DENEB: spread(20_000, 2)}))
    standing = first(document)
    assert names(document, standing) == ["deneb udp", "lyra udp", "vega udp"]
    assert (standing.verdict, standing.sure) == ("undecided", False)
    assert standing.lead.startswith("deneb udp is lowest, 20.0 µs")


def test_candidates_with_too_few_trials_and_a_higher_median_are_counted() -> None:
    standing = first(document_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000), DENEB: spread(50_000, 2)})))
    assert (standing.verdict, standing.sure) == ("best", True)
    assert standing.why == "The other is slower; 1 has too few trials for a verdict."


def test_a_middlewares_faster_transport_with_too_few_trials_makes_it_undecided() -> None:
    document = document_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000), LYRA_SHM: spread(10_000, 2)}))
    standing = first(document)
    assert names(document, standing) == ["lyra shm", "vega udp"]
    assert (standing.verdict, standing.sure) == ("undecided", False)
    assert "lyra shm: too few trials (2 trials), 10.0 µs" in document.answers[0].text


def test_a_factor_level_that_only_one_middleware_has_is_no_choice() -> None:
    listening = cell("lyra", receive="listen")
    document = document_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000), listening: spread(5_000)}))
    assert [document.rows[at.row].name for each in choices(document) for at in each.places if each.by == "p50"] == [
        "lyra udp",
        "vega udp",
    ]


def test_a_bimodal_row_makes_the_standing_uncertain_and_is_named() -> None:
    figures = {LYRA: spread(21_000), VEGA: spread(28_000, by=0.05)}
    standing = first(document_of(run_of(figures, warnings=[RunWarning("bimodal", "two values")])))
    assert (standing.verdict, standing.sure) == ("best", False)
    assert standing.why == "The other is slower; bimodal in lyra udp."


@pytest.mark.parametrize(
    ("middle", "code", "sure"),
    [
        (42_000, "bimodal", True),
        (21_500, "bimodal", False),  # some trials of vega are faster than some of lyra
        (42_000, "transport-contradicted", False),
    ],
)
def test_scatter_of_a_row_that_is_slower_in_every_trial_does_not_make_the_answer_uncertain(
    middle: float, code: str, sure: bool
) -> None:
    run = run_of({LYRA: spread(21_000), VEGA: spread(middle, by=0.05)})
    odd = next(at for at, each in enumerate(run.results) if each.cell.adapter == "vega")
    warned = msgspec.structs.replace(run.results[odd], warnings=(RunWarning(code, "two"),))
    results = [warned if at == odd else each for at, each in enumerate(run.results)]
    assert first(document_of(msgspec.structs.replace(run, results=results))).sure is sure


def test_the_first_size_is_the_one_nearest_to_1_kib() -> None:
    figures = {cell(name, size=size): spread(21_000) for name in ("lyra", "vega") for size in (16, 2048, 1 << 20)}
    assert first(document_of(run_of(figures))).size == 2048


def test_experiments_are_named_by_as_few_levels_as_distinguish_them() -> None:
    figures = {
        cell(name, processes=processes, pin=(0,) * processes): spread(21_000)
        for name in ("lyra", "vega")
        for processes in (1, 2)
    }
    document = document_of(run_of(figures))
    assert [each.levels for each in choices(document) if each.by == "p50"] == [
        {"processes": "1 process"},
        {"processes": "2 processes"},
    ]


def test_each_of_several_actual_transports_has_its_own_standings() -> None:
    figures = {each: spread(21_000) for each in (LYRA, LYRA_SHM, VEGA, cell("vega", "shm"))}
    document = document_of(run_of(figures))
    assert {each.levels["carrier"] for each in choices(document)} == {"any", "over UDP", "over shared memory"}


def test_the_order_by_p99_has_its_own_verdicts() -> None:
    document = document_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000)}))
    by_p50, by_p99 = choices(document)
    assert (by_p50.by, by_p99.by) == ("p50", "p99")
    assert by_p99.lead == "lyra udp is lowest, p99 of 42.0 µs."
    verdicts = {(each.comparison.metric, each.comparison.word) for each in document.comparisons}
    assert ("p99", "slower") in verdicts
    assert by_p99.sure


def test_the_ratio_of_the_order_by_p99_is_to_the_baselines_p99() -> None:
    document = document_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000), cell("udp"): spread(10_000)}))
    [experiment] = [each for each in document.experiments if each.metric == "p99"]
    assert experiment.copying is not None
    base = latency_of(experiment.copying.result)
    for row in experiment.ranked:
        latency = latency_of(row.row.result)
        assert latency is not None
        assert base is not None
        assert latency.p99 is not None
        assert row.ratio == pytest.approx(latency.p99 / (base.p99 or 0.0))


def test_a_failed_row_is_not_ranked() -> None:
    crashed = Failure("crashed", "the pong was killed by SIGSEGV", "run it alone")
    document = document_of(run_of({LYRA: spread(21_000), VEGA: spread(28_000), DENEB: [crashed] * 10}))
    assert names(document, first(document)) == ["lyra udp", "vega udp"]
    assert [document.rows[at].name for at in first(document).failed] == ["deneb udp"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sentences_and_standings_have_the_same_certainty(seed: int) -> None:
    draw = random.Random(seed)
    figures = {
        cell(name, transport, size=size): drawn(20_000 * draw.lognormvariate(0, 0.5), 10, draw.randrange(1 << 30))
        for name, transport in (("lyra", "udp"), ("lyra", "shm"), ("vega", "udp"), ("vega", "shm"))
        for size in (64, 1024)
    }
    document = document_of(run_of(figures))
    is_certain = {each.cells: each.sure == "sure" for each in document.answers if each.size}
    stand = {tuple(at.row for at in each.places): each.sure for each in choices(document) if each.by == "p50"}
    assert is_certain == stand
