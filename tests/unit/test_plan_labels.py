"""One cell under several labels: each label is planned and interleaved as a separate cell."""

from collections import Counter

import msgspec
import pytest
from planning import plan_of

from middlemark.plan.rounds import Variant, first_rounds, labelled

TEXT = '[[sweep]]\nadapter = ["shm", "null"]\nsize = "1k"\ntrials = 7\nduration = "0.2s"\nwarmup = "10ms"\n'
SAME = [Variant("A1"), Variant("A2"), Variant("slow", {"delay": "5"})]


def test_every_label_is_a_separate_cell_with_all_its_trials() -> None:
    plan = plan_of(TEXT)
    assert [cell.label for cell in plan.cells] == [None, None]
    several = labelled(plan, [SAME, SAME])
    assert [(cell.adapter, cell.label) for cell in several.cells] == [
        (adapter, label) for adapter in ("shm", "null") for label in ("A1", "A2", "slow")
    ]
    assert several.names == tuple(f"lan: {label}" for label in ("A1", "A2", "slow")) * 2
    assert Counter(trial.cell for trial in several.trials) == dict.fromkeys(range(6), 7)
    assert {trial.limits for trial in several.trials} == {plan.trials[0].limits}


def test_a_labels_settings_override_the_cells_own() -> None:
    several = labelled(plan_of(TEXT + "[sweep.native.null]\nscript = 'x'\n"), [SAME, SAME])
    assert [cell.native for cell in several.cells[3:]] == [
        (("script", "x"),),
        (("script", "x"),),
        (("delay", "5"), ("script", "x")),
    ]


def test_each_round_has_each_label_once_in_a_new_order() -> None:
    several = labelled(plan_of(TEXT), [SAME, SAME])
    by_round = [[trial.cell for trial in several.trials if trial.number == number] for number in range(1, 8)]
    assert all(sorted(cells) == list(range(6)) for cells in by_round)
    assert len({tuple(cells) for cells in by_round}) > 1
    assert [trial.order for trial in several.trials] == list(range(42))
    assert several == labelled(plan_of(TEXT), [SAME, SAME])


def test_two_variants_with_one_label_are_refused() -> None:
    with pytest.raises(ValueError, match="the same label"):
        labelled(plan_of(TEXT), [[Variant("A1"), Variant("A1")], SAME])


def test_a_plan_with_baselines_cannot_be_labelled() -> None:
    plan = msgspec.structs.replace(plan_of(TEXT), baselines=(1,))
    with pytest.raises(ValueError, match="baselines"):
        labelled(plan, [SAME, SAME])


def test_the_first_rounds_contain_the_same_trials() -> None:
    plan = plan_of(TEXT)
    few = first_rounds(plan, 2)
    assert few.trials == plan.trials[:4]
    assert few.cells == plan.cells
