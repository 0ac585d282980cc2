"""Every warning: when it is raised, when it is not, and its text."""

import msgspec
import pytest
from stats_cases import DESCRIPTIONS, cell, outcome, plan

from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, Placed, RunWarning, SharedSegment, TrialCounts, TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.times import Summary
from middlemark.stats.warnings.cells import cell_warnings, faster_than_raw_transport, merged
from middlemark.stats.warnings.trials import trial_warnings

TRIALS = plan(cell()).trials


def _outcomes(*given: dict[str, object]) -> list[TrialOutcome]:
    return [outcome(trial, **figures) for trial, figures in zip(TRIALS, given, strict=False)]


def _of_trial(asked: Cell, limits: Limits, **given: object) -> dict[str, RunWarning]:
    return {each.code: each for each in trial_warnings(asked, limits, outcome(TRIALS[0], **given), DESCRIPTIONS)}


def _of_cell(asked: Cell, outcomes: list[TrialOutcome], *p50s: float | None) -> dict[str, RunWarning]:
    summaries = [Summary(p50=p50) for p50 in p50s or (1.0,) * len(outcomes)]
    return {each.code: each for each in cell_warnings(asked, outcomes, summaries)}


def test_a_clean_trial_and_a_clean_cell_raise_no_warning() -> None:
    assert _of_trial(cell(), Limits(samples=1000), actual_transport="udp") == {}
    assert _of_cell(cell(), _outcomes({}, {})) == {}


def test_a_contradicted_transport_is_named_with_the_actual_one() -> None:
    warnings = _of_trial(cell(transport="shm"), Limits(samples=1000), actual_transport="udp")
    assert (
        warnings["transport-contradicted"].text == "asked for shm (which is shared-memory); the actual transport is udp"
    )
    assert _of_trial(cell(), Limits(samples=1000), actual_transport="tcp")["transport-contradicted"].text == (
        "asked for udp; the actual transport is tcp"
    )
    noted = _of_trial(cell(), Limits(samples=1000), actual_transport="tcp", notes=("the segment is too small",))
    assert noted["transport-contradicted"].text.endswith(
        "the actual transport is tcp; its adapter reports: the segment is too small"
    )


@pytest.mark.parametrize(
    ("actual", "effect"),
    [
        ("udp", "the actual transport is udp"),
        ("shared-memory", "its parts wait for room in the segment, or are dropped and sent again"),
    ],
)
def test_a_message_larger_than_the_segment_is_named_with_the_setting(actual: str, effect: str) -> None:
    segment = SharedSegment(512 << 10, "segment_size in the profile")
    limits = Limits(samples=1000)
    warning = _of_trial(cell(size=1 << 20), limits, actual_transport=actual, segment=segment)["message-exceeds-segment"]
    assert warning.text == f"a message of 1 MiB does not fit into the shared-memory segment of 512 KiB: {effect}"
    assert warning.advice == "make the segment several messages large: segment_size in the profile"
    fits = _of_trial(cell(size=(512 << 10) - 1), limits, actual_transport=actual, segment=segment)
    unknown = _of_trial(cell(size=1 << 20), limits, actual_transport=actual)
    assert not {"message-exceeds-segment"} & {*fits, *unknown}


def test_a_row_with_a_users_file_lists_what_the_trial_set_instead() -> None:
    limits, notes = Limits(samples=1000), ("config: left out: Interfaces (line 3)", "Cyclone DDS reports: moved")
    own = msgspec.structs.replace(cell(), native=(("config", "/my.xml"),))
    warning = _of_trial(own, limits, notes=notes)["own-configuration"]
    assert warning.text == "config: left out: Interfaces (line 3); Cyclone DDS reports: moved"
    assert "own-configuration" not in {**_of_trial(cell(), limits, notes=notes), **_of_trial(own, limits)}


def test_without_evidence_no_transport_is_contradicted() -> None:
    assert _of_trial(cell(transport="shm"), Limits(samples=1000), actual_transport=None) == {}
    assert _of_trial(cell("gone", "shm"), Limits(samples=1000), actual_transport="udp") == {}


@pytest.mark.parametrize(
    ("limits", "given", "text"),
    [
        (Limits(samples=1000), {"counts": TrialCounts(sent=400, received=400)}, "ended after 400 of 1,000 messages"),
        (Limits(duration_s=2.0), {"measured_s": 0.5}, "ended after 0.5 of 2 s"),
        (Limits(samples=1000), {"counts": TrialCounts(sent=1000, received=990, lost=10)}, None),
        (Limits(duration_s=2.0), {"measured_s": 1.999}, None),
        (Limits(duration_s=2.0), {"measured_s": 2.0001}, None),
    ],
)
def test_a_trial_that_ended_early_reports_its_progress(
    limits: Limits, given: dict[str, object], text: str | None
) -> None:
    warnings = _of_trial(cell(), limits, **given)
    assert (warnings["ended-early"].text if warnings else None) == text


def _placed(role: str, **real: object) -> Placed:
    figures = {"pid": 1, "cpus": (0,), "policy": "other", "priority": 0, "mlocked": False} | real
    return Placed(role=role, **figures)  # type: ignore[arg-type]


def test_a_placement_not_in_force_names_each_role_and_the_remedy() -> None:
    asked = cell(pin=(0, 1), priority="fifo:80", mlock=True)
    placed = (
        _placed("ping", policy="fifo", priority=80, mlocked=True),
        _placed("pong", cpus=(0, 1, 2, 3)),
    )
    warning = _of_trial(asked, Limits(samples=1000), placed=placed)["placement-not-in-force"]
    assert warning.text == (
        "the pong was on processors 0,1,2,3 instead of 0,1; the pong ran under other instead of fifo:80; "
        "the memory of the pong was not locked"
    )
    assert "ulimit -r 80" in warning.advice
    assert "ulimit -l" in warning.advice


def test_a_placement_in_force_or_not_requested_raises_no_warning() -> None:
    asked = cell(pin=(0, 1), priority="fifo:80", mlock=True)
    real = {"policy": "fifo", "priority": 80, "mlocked": True}
    in_force = (_placed("ping", **real), _placed("pong", cpus=(1,), **real))
    assert _of_trial(asked, Limits(samples=1000), placed=in_force) == {}
    assert _of_trial(cell(), Limits(samples=1000), placed=(_placed("ping", cpus=(0, 1, 2)),)) == {}


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("lost", "loss"),
        ("late", "late"),
        ("publish_failed", "publish-failed"),
        ("damaged", "damaged"),
        ("duplicated", "duplicated"),
        ("reordered", "reordered"),
    ],
)
def test_each_count_above_zero_is_a_warning_with_its_share_and_its_trials(field: str, code: str) -> None:
    received = 997 if field == "lost" else 1000
    bad = TrialCounts(**{"sent": 1000, "received": received, field: 3})
    warnings = _of_cell(cell(), _outcomes({"counts": bad}, {}, {"counts": bad}))
    assert list(warnings) == [code]
    assert warnings[code].text.startswith("6 of 3,000 ")
    assert "(0.2 %)" in warnings[code].text
    assert warnings[code].text.endswith("(in 2 of 3 trials)")
    assert warnings[code].advice


def test_a_lossy_best_effort_cell_is_advised_to_be_reliable_and_a_reliable_one_is_not() -> None:
    lossy = _outcomes({"counts": TrialCounts(sent=10, received=9, lost=1)})
    assert "--reliability reliable" in _of_cell(cell(reliability="best-effort"), lossy)["loss"].advice
    assert "--reliability" not in _of_cell(cell(), lossy)["loss"].advice


def test_a_lost_message_in_a_failed_trial_is_not_counted() -> None:
    failed = {"failed": Failure("hung", "the pong hung"), "counts": TrialCounts(sent=10, lost=10)}
    assert list(_of_cell(cell(), _outcomes(failed, {}))) == ["trials-failed"]


def test_only_a_cell_without_any_median_gets_a_warning() -> None:
    outcomes = _outcomes({"samples": 12}, {"samples": 19})
    assert _of_cell(cell(), outcomes, None, None)["few-samples"].text == (
        "a median needs 20 samples and no trial has more than 19"
    )
    assert _of_cell(cell(), outcomes, None, 1.0) == {}


def test_failed_trials_are_counted_with_the_first_reason() -> None:
    hung = Failure("hung", "the pong did not answer", "see its log")
    warnings = _of_cell(cell(), _outcomes({}, {"failed": hung}, {"failed": Failure("crashed", "SIGSEGV")}))
    assert warnings["trials-failed"] == RunWarning(
        "trials-failed", "2 of 3 trials failed; the first: the pong did not answer", "see its log"
    )


def test_disagreeing_trials_get_a_warning_with_advice_to_pin_unless_pinned() -> None:
    outcomes = _outcomes({}, {}, {})
    assert _of_cell(cell(), outcomes, 1000.0, 1500.0, 1200.0) == {}
    free = _of_cell(cell(), outcomes, 1000.0, 1501.0, 1200.0)["trials-disagree"]
    assert free.text == "the medians of its 3 trials go from 1 to 1.5 µs"
    assert "--pin" in free.advice
    assert "--pin" not in _of_cell(cell(pin=(0, 1)), outcomes, 1000.0, 1501.0, 1200.0)["trials-disagree"].advice


def test_one_outlier_in_eight_trials_is_a_stray_trial() -> None:
    steady = (1000.0, 1100.0, 1050.0, 1200.0, 1020.0, 1080.0)
    eight, seven = _outcomes(*[{}] * 8), _outcomes(*[{}] * 7)
    (stray,) = _of_cell(cell(), eight, *steady, 1100.0, 2000.0).items()
    assert stray[0] == "stray-trial"
    assert stray[1].text == "2 µs in 1 of 8 trials, the others go from 1 to 1.2 µs"
    assert [*_of_cell(cell(), eight, *steady, 2000.0, 2000.0)] == ["trials-disagree"]
    assert [*_of_cell(cell(), seven, *steady, 2000.0)] == ["trials-disagree"], (
        "seven trials are too few to call one a stray"
    )


def test_scattered_trials_do_not_disagree_once_their_median_is_precise() -> None:
    scattered = (800.0, 850.0, 900.0, 920.0, 950.0, 1000.0, 1000.0, 1050.0, 1100.0, 1150.0, 1250.0, 1300.0, 1400.0)
    (few,) = _of_cell(cell(), _outcomes(*[{}] * 7), *scattered[::2]).values()
    assert few.code == "trials-disagree"
    (many,) = _of_cell(cell(), _outcomes(*[{}] * 13), *scattered).values()
    assert many.code == "stray-trial"
    assert many.text == (
        "the medians of its 13 trials go from 0.8 to 1.4 µs; their median lies between 0.9 and 1.25 µs (95 %)"
    )
    two_states = (1000.0,) * 7 + (2000.0,) * 6
    assert [*_of_cell(cell(), _outcomes(*[{}] * 13), *two_states)] == ["trials-disagree"]


def test_one_bimodal_trial_in_eight_is_a_stray_trial() -> None:
    two_speeds = (RunWarning("bimodal", "two speeds", "x"),)
    assert [each.code for each in merged([two_speeds, *[()] * 7])] == ["stray-trial"]
    assert [each.code for each in merged([two_speeds, *[()] * 6])] == ["bimodal"]
    assert [each.code for each in merged([two_speeds, two_speeds, *[()] * 6])] == ["bimodal"]


def test_faster_than_the_raw_transport_means_by_a_tenth() -> None:
    assert faster_than_raw_transport(0.9, "udp") is None
    assert faster_than_raw_transport(None, None) is None
    warning = faster_than_raw_transport(0.5, "udp")
    assert warning is not None
    assert "(udp)" in warning.text


def test_merging_keeps_the_first_text_and_counts_a_code_once_per_trial() -> None:
    a, other, b = RunWarning("a", "first", "do"), RunWarning("a", "second"), RunWarning("b", "b")
    assert merged([(a, other), (b,), (other,)]) == (
        RunWarning("a", "first (in 2 of 3 trials)", "do"),
        RunWarning("b", "b (in 1 of 3 trials)"),
    )
    assert merged([(a,)]) == (a,)
    assert merged([]) == ()
