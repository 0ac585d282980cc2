"""Exponents of crowds: their verdicts, where the crowds break, and that every output has the same verdicts."""

import json
import random
import re
from collections.abc import Sequence

import msgspec
import pytest
from crowd_runs import Law, crowd_cell, crowds, outcome_of, planned
from report_runs import document_of
from rich.text import Text

from middlemark.document.crowds import (
    break_text,
    conclusions,
    difference_text,
    scaling_tables,
    start_curve,
    verdict_text,
)
from middlemark.document.which import answer, reasons, table_of
from middlemark.model.outcome import Failure, TrialOutcome
from middlemark.model.plan import Plan, Raced
from middlemark.plan import estimate_seconds
from middlemark.plan.breaking import FurtherSize, until_it_breaks, with_further_sizes
from middlemark.problems import RequestError
from middlemark.runs.breaking import search_breaks
from middlemark.show import View
from middlemark.show import json as json_output
from middlemark.show.html.data import data_of
from middlemark.show.markdown import render as markdown
from middlemark.show.table import render as table
from middlemark.verdicts.breaking import Break, broken, find_break
from middlemark.verdicts.race import races
from middlemark.verdicts.scaling import Scaling, scalings


def law_of(found: Sequence[Scaling], adapter: str, figure: str) -> Scaling:
    [scaling] = [each for each in found if (each.adapter, each.figure) == (adapter, figure)]
    return scaling


STEEP = {"lyra": Law(bytes=1.0), "vega": Law(bytes=1.9), "deneb": Law(bytes=1.02)}


def test_a_steeper_figure_grows_significantly_faster_than_the_others() -> None:
    found = document_of(crowds(STEEP)).scalings
    steep, gentle, alike = (law_of(found, each, "idle_bytes") for each in ("vega", "lyra", "deneb"))
    assert steep.standing == "slower"
    assert steep.reference == gentle.line
    assert steep.difference == pytest.approx(0.9, abs=0.05)
    assert steep.difference is not None
    assert steep.difference_low is not None
    assert steep.difference_high is not None
    assert steep.difference_low <= steep.difference <= steep.difference_high
    assert (gentle.standing, alike.standing, steep.rounds) == ("equivalent", "equivalent", 6)
    assert gentle.reference is None


def test_the_smallest_exponent_is_best_if_all_others_are_significantly_larger() -> None:
    found = document_of(crowds({"lyra": Law(), "vega": Law(cpu=1.5), "deneb": Law(cpu=2.0)})).scalings
    assert [law_of(found, each, "idle_cpu").standing for each in ("lyra", "vega", "deneb")] == [
        "best",
        "slower",
        "slower",
    ]


def test_three_trials_give_exponents_and_no_verdict() -> None:
    document = document_of(crowds(STEEP, rounds=3))
    steep = law_of(document.scalings, "vega", "idle_bytes")
    assert steep.exponent == pytest.approx(1.9, abs=0.05)
    assert (steep.standing, steep.difference_low) == ("too_few_trials", None)
    assert "use --trials 6" in " ".join(each.text for each in conclusions(document.scalings))


def test_much_scatter_leaves_a_difference_undecided() -> None:
    laws = {"lyra": Law(bytes=1.0, scatter=0.8), "vega": Law(bytes=1.15, scatter=0.8)}
    found = document_of(crowds(laws)).scalings
    assert {law_of(found, each, "idle_bytes").standing for each in laws} == {"undecided"}


def test_a_difference_below_the_margin_is_no_verdict_for_faster_growth() -> None:
    laws = {"lyra": Law(bytes=1.0, scatter=0.001), "vega": Law(bytes=1.06, scatter=0.001)}
    found = document_of(crowds(laws)).scalings
    assert law_of(found, "vega", "idle_bytes").standing == "equivalent"


def test_the_same_law_is_rarely_called_different() -> None:
    """All seven figures of three adapters with one law: no verdict of a difference."""
    found = document_of(crowds({each: Law(scatter=0.1) for each in ("lyra", "vega", "deneb")})).scalings
    assert "slower" not in {each.standing for each in found}


def test_a_raw_transport_has_an_exponent_and_no_standing() -> None:
    found = document_of(crowds({"udp": Law(), "lyra": Law(bytes=1.9)})).scalings
    assert (law_of(found, "udp", "idle_bytes").standing, verdict_text(law_of(found, "udp", "idle_bytes"))) == (
        None,
        "raw transport",
    )
    assert law_of(found, "lyra", "idle_bytes").standing == "only"


def test_exponents_are_compared_over_the_levels_that_both_have() -> None:
    """A middleware that breaks early is not called gentle because its steep part is missing."""
    run = crowds({"lyra": Law(start=1.0), "vega": Law(start=1.0, breaks_at=100)})
    found = document_of(run).scalings
    broke = law_of(found, "vega", "complete_max")
    assert broke.levels == (4, 10, 30)
    assert broke.standing == "equivalent"


def test_each_point_has_its_residual() -> None:
    scaling = law_of(document_of(crowds(STEEP)).scalings, "vega", "idle_bytes")
    assert [each.level for each in scaling.points] == [1, 4, 10, 30, 100]
    worst = max(max(each.residual, 1 / each.residual) for each in scaling.points)
    assert scaling.residual == pytest.approx(worst)


def test_every_output_has_the_same_verdict() -> None:
    document = document_of(crowds(STEEP))
    steep = law_of(document.scalings, "vega", "idle_bytes")
    words, difference = verdict_text(steep), difference_text(steep)
    assert words == "grows significantly faster"
    assert difference.startswith(("+0.8", "+0.9"))
    assert difference.endswith(", 6 rounds)")
    assert f"{words} | {difference}" in markdown(document, View(width=100))
    for width in (100, 250):
        shown = Text.from_ansi(table(document, View(width=width))).plain
        assert words in shown
        assert "none up to 100" in shown
    output = json.loads(json_output.render(document, View(width=100)))
    [law] = [each for each in output["scaling"] if (each["adapter"], each["figure"]) == ("vega", "idle_bytes")]
    assert (law["standing"], law["breaks_at"]) == ("slower", None)
    assert law["breaks_absent"] == "nothing broke up to 100 participants, the largest number measured"
    data = data_of(document)
    assert words in [row[-3] for row in data["scaling"][0]["rows"]]
    sentence = r"idle_bytes along participants: \w+ udp has the smallest exponent, 1\.0\d; vega udp \(1\.[89]\d\) grows"
    for texts in (data["laws_in_words"], [each["text"] for each in data["answers"]]):
        assert any(re.match(sentence, each) for each in texts)


def test_the_table_names_the_break_and_its_reason() -> None:
    scaling = law_of(document_of(crowds({"lyra": Law(breaks_at=100)})).scalings, "lyra", "idle_bytes")
    assert (scaling.holds_to, scaling.breaks_at) == (30, 100)
    assert break_text(scaling) == "100 (holds to 30)"
    assert scaling.breaks_because == "260 of 1,000 publishers were never heard"
    assert any("100 (holds to 30)" in each.cells[-1].text for each in scaling_tables([scaling])[0].lines)
    [text] = [each.text for each in conclusions([scaling])]
    assert text.startswith("Broken along participants: lyra udp, 10 topics each, to next at 100 (holds to 30), 260 of")


def test_start_curves_end_at_the_share_that_was_complete() -> None:
    document = document_of(crowds({"lyra": Law(breaks_at=100)}))
    by_participants = {row.result.cell.participants: start_curve(row) for row in document.rows}
    assert by_participants[1] == ()
    assert by_participants[30][-1][1] == 1
    assert by_participants[100][0] == (0.0, 0.0)
    assert by_participants[100][-1][1] == pytest.approx(0.74)
    assert len(by_participants[100]) <= 61
    assert all(a <= b for a, b in zip(by_participants[100], by_participants[100][1:], strict=False))


def test_a_failed_trial_a_publisher_never_heard_and_a_lost_message_are_breaks() -> None:
    plan = planned([crowd_cell("lyra", 4)], 1)
    whole = outcome_of(plan.cells[0], plan.trials[0], Law(), random.Random(1))
    assert broken(whole) is None
    assert broken(msgspec.structs.replace(whole, failed=Failure("memory", "no memory"))) == "no memory"
    assert whole.counts is not None
    lost = msgspec.structs.replace(whole, counts=msgspec.structs.replace(whole.counts, lost=2, received=98))
    assert broken(lost) == "2 of 100 messages were lost"


def test_the_next_level_is_between_the_last_that_held_and_the_first_that_broke() -> None:
    assert Break(holds_to=30, breaks_at=100).next_level == 55
    assert Break(holds_to=95, breaks_at=100).next_level is None
    assert Break(holds_to=3, breaks_at=4).next_level is None
    assert Break(breaks_at=10).next_level == 3
    assert Break(breaks_at=1).next_level is None
    assert Break(holds_to=100).next_level is None
    assert find_break({}, "topics").absent == "no trial ended"


def searched(law: Law, levels: Sequence[int], budget_s: float = 1e6) -> tuple[Plan, list[TrialOutcome], bool]:
    """Search for the break of an invented middleware; return the last plan, all outcomes, and if it was found."""
    draw = random.Random(3)
    plan = until_it_breaks(planned([crowd_cell("lyra", each) for each in levels], 3), budget_s)
    plans = [plan]
    outcomes = [outcome_of(plan.cells[each.cell], each, law, draw) for each in plan.trials]

    def extend(longer: Plan) -> bool:
        further = longer.trials[len(plans[-1].trials) :]
        outcomes.extend(outcome_of(longer.cells[each.cell], each, law, draw) for each in further)
        plans.append(longer)
        return True

    assert plan.breaking is not None
    complete, reached = search_breaks(plan, plan.breaking, outcomes, extend)
    assert complete
    assert reached is not None
    return plans[-1], outcomes, reached.met


@pytest.mark.parametrize("breaks_at", [2, 31, 57, 99, 100])
def test_the_search_finds_the_break_to_a_tenth(breaks_at: int) -> None:
    plan, outcomes, met = searched(Law(breaks_at=breaks_at), (1, 4, 10, 30, 100))
    levels: dict[int, list[TrialOutcome]] = {}
    for each in outcomes:
        levels.setdefault(plan.cells[each.cell].participants, []).append(each)
    found = find_break(levels, "participants")
    assert met
    assert found.breaks_at is not None
    assert found.holds_to is not None
    assert found.holds_to < breaks_at <= found.breaks_at
    assert found.breaks_at <= max(1.1 * found.holds_to, found.holds_to + 1)
    assert len(plan.cells) <= 5 + 6
    assert [each.order for each in plan.trials] == list(range(len(plan.trials)))


def test_nothing_is_searched_if_nothing_breaks() -> None:
    plan, _, met = searched(Law(), (1, 4, 10))
    assert (met, len(plan.cells)) == (True, 3)


def test_a_search_ends_when_its_budget_is_spent() -> None:
    once = planned([crowd_cell("lyra", 100)], 1)
    one_size_s = 3 * estimate_seconds(once)
    plan, _, met = searched(Law(breaks_at=57), (1, 100), budget_s=one_size_s + 1)
    assert not met
    assert len(plan.cells) == 2 + 1


def test_further_sizes_are_measured_like_the_size_that_broke() -> None:
    plan = until_it_breaks(planned([crowd_cell("lyra", 10), crowd_cell("lyra", 100)], 2), 60.0)
    longer = with_further_sizes(plan, [FurtherSize(1, crowd_cell("lyra", 31))], trials=2)
    assert longer.names[-1] == plan.names[1]
    assert [(each.cell, each.number, each.limits) for each in longer.trials[-2:]] == [
        (2, 3, plan.trials[1].limits),
        (2, 4, plan.trials[1].limits),
    ]


def test_a_search_needs_crowds_of_two_sizes() -> None:
    with pytest.raises(RequestError, match="at least two sizes"):
        until_it_breaks(planned([crowd_cell("lyra", 10)], 2), 60.0)


def test_scalings_of_no_crowd_are_empty() -> None:
    assert scalings(()) == ()


@pytest.mark.parametrize(
    ("metric", "figure"),
    [
        ("complete_max", "until all participants have heard all their publishers"),
        ("idle_cpu", "for each participant while nothing is sent"),
    ],
)
def test_a_race_of_crowds_is_decided_by_a_figure_of_crowds(metric: Raced, figure: str) -> None:
    laws = {"lyra": Law(start=0.3, cpu=0.8), "vega": Law(start=0.9, cpu=1.4)}
    run = crowds(laws, levels=(30,), rounds=8, raced_by=metric)
    [verdict] = races(document_of(run).experiments, run)
    assert (verdict.verdict, [each.row.result.cell.adapter for each in verdict.answer]) == ("best", ["lyra"])
    text = answer(verdict)
    assert text.startswith("lyra udp is best for a crowd of 30 participants × 10 topics to the next one: ")
    assert figure in text
    assert [each.title for each in table_of(verdict).columns][:4] == ["all complete", "idle CPU", "packets", "memory"]


def test_a_candidate_that_never_finds_all_participants_is_eliminated() -> None:
    run = crowds({"lyra": Law(), "vega": Law(breaks_at=30)}, levels=(30,), rounds=8, raced_by="idle_cpu")
    [verdict] = races(document_of(run).experiments, run)
    assert "1 does not find all participants (vega udp)" in reasons(verdict)
