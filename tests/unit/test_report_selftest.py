"""The output of `selftest`: the counts, and sentences that claim no more than was measured."""

from typing import Any

import msgspec
import pytest
from report_runs import run_of
from test_stats_selftest import HALF, SETTING, TENTH, A, sides

from middlemark.document import document_of
from middlemark.show.json.comparisons import render_selftest
from middlemark.show.selftest import conclusions, render_table
from middlemark.stats.selftest import SelfTest, reckon
from outputs import read_output

DOCUMENT = document_of([run_of({}, name="selftest")])


def outcome_of(noise: float, **more: Any) -> SelfTest:
    return reckon(sides(noise, **more), [SETTING])


def text_of(test: SelfTest) -> str:
    return " ".join(conclusions(test))


def false(test: SelfTest, number: int, chance: float, total: int = 60) -> SelfTest:
    tally = msgspec.structs.replace(test.same[0].tally, slower=number, equivalent=total - number, undecided=0)
    same = (msgspec.structs.replace(test.same[0], tally=tally), test.same[1])
    return msgspec.structs.replace(test, same=same, chance=chance, worth=15)


def test_a_quiet_machine_gets_the_smallest_difference_to_expect() -> None:
    text = text_of(outcome_of(0.005))
    assert "With 10 trials each, 0 of 6 comparisons of a setting with itself were called different, judged as" in text
    assert "about 4 independent comparisons, so the true rate is at most 53 % (95 %)" in text
    assert "shm, 1 KiB, block: expect to find differences of" in text
    assert "(found in 4 of 4)" in text
    assert "measure about" not in text


def test_a_missed_difference_states_how_many_trials_it_needs() -> None:
    test = outcome_of(0.15)
    needed = test.power[0].tally.trials_needed
    assert f"was found in {test.power[0].tally.slower} of 4; to find it, measure about {needed} trials" in text_of(test)


def test_the_reported_difference_is_that_of_the_run_and_not_of_the_pilot() -> None:
    test = outcome_of(0.005)
    halved = msgspec.structs.replace(test.power[0], part=0.0512)
    text = text_of(msgspec.structs.replace(test, power=(halved, test.power[1])))
    assert "expect to find differences of 5.1 % and more" in text


def test_without_a_found_delay_no_difference_can_be_expected() -> None:
    text = text_of(outcome_of(0.005, **{"A+50%": 1.0}))
    assert "do not expect to find a difference at p50: even " in text
    assert "was found in only 0 of 4" in text


@pytest.mark.parametrize(
    ("number", "chance", "words"),
    [
        (0, 1.0, "about 15 independent comparisons, so the true rate is at most 18 %"),
        (3, 0.3, "about 15 independent comparisons, so the true rate is at most 28 %"),
        (4, 0.234, "23 % of such runs would have as many: this may be chance"),
        (14, 0.01, "1 % of such runs would have as many: this is more than chance. Do not trust verdicts"),
    ],
)
def test_the_rate_of_false_verdicts_is_compared_with_five_percent(number: int, chance: float, words: str) -> None:
    assert words in text_of(false(outcome_of(0.005), number, chance))


def test_a_delay_called_faster_or_equivalent_is_reported_as_false() -> None:
    wrong = text_of(outcome_of(0.005, **{"A+50%": 0.5, "A+10%": 1.0}))
    assert "4 times A with a delay was called faster than A" in wrong
    assert "4 times a delay beyond the margin of 5 % was called equivalent" in wrong
    assert "as well" not in text_of(outcome_of(0.005))


def test_too_few_trials_give_no_statement_and_are_not_counted() -> None:
    test = outcome_of(0.005, trials=4)
    text = text_of(test)
    assert "No result: a verdict needs 6 trials of both sides, and no pair has more than 4" in text
    assert "false" not in text
    row = next(line for line in render_table(test, DOCUMENT, 100).splitlines() if " p50 " in line)
    assert row.split()[-4:] == ["–"] * 4


def test_a_quantile_with_too_few_samples_states_how_many_it_needs() -> None:
    assert "p99 is not compared for shm, 1 KiB, block: a trial needs 1,000 samples for it" in text_of(outcome_of(0.005))


def test_a_quantile_in_too_few_trials_is_also_reported() -> None:
    some = [
        msgspec.structs.replace(each, figures={**each.figures, "p99": dict(list(each.figures["p50"].items())[:4])})
        for each in sides(0.005)
    ]
    test = reckon(some, [SETTING])
    assert test.same[1].typical is not None
    assert "p99 is not compared for shm" in text_of(test)
    assert "No p50" not in text_of(test)


def test_the_table_has_a_row_for_each_metric_and_each_delay() -> None:
    lines = render_table(outcome_of(0.005), DOCUMENT, 100).splitlines()
    same = next(line for line in lines if "p50" in line and "block" in line)
    assert same.split()[-6:] == ["0", "of", "6", "0", "6", "0"]
    half = next(line for line in lines if " 50 % " in line)
    assert "5.00 µs, +" in half
    assert "4 of 4" in half
    assert max(map(len, lines)) <= 100


def test_json_is_one_object_with_the_same_figures() -> None:
    test = outcome_of(0.005)
    document = read_output("selftest", render_selftest(test, DOCUMENT))
    assert (document["schema"], document["trials"], document["run"]["seed"]) == (2, 10, 7)
    assert document["false_verdicts"] == {
        "false": 0, "together": 0, "comparisons": 6, "rate": 0.0, "allowed": pytest.approx(0.05),
        "at_most": test.at_most, "worth": 4, "chance": 1.0, "holds": True,
    }  # fmt: skip
    (setting,) = document["settings"]
    assert (setting["adapter"], setting["size"], setting["smallest_found"]) == (A.adapter, A.size, TENTH.part)
    assert [each["label"] for each in setting["planted"]] == [TENTH.label, HALF.label]
    assert setting["planted"][1]["slower"] == setting["planted"][1]["comparisons"] == 4
    assert len(document["comparisons"]) == 14
    assert {each["a"] for each in document["comparisons"]} == {"A1", "A2", "A3", "A4"}
