"""If a worker's message breaks the protocol, its trial fails with the worker's name, and no other trial fails.

The worker is a fake.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from launching import Launching

from middlemark.model.outcome import TrialOutcome, Underway
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.trial.run import run_plan, storable


@pytest.fixture
def launching(tmp_path: Path) -> Launching:
    return Launching(tmp_path)


def refused(launching: Launching, at: str, event: str, field: str, value: object, **factors: Any) -> str:
    """Return the error of a trial in which the role ``at`` sends this value."""
    failed = launching.trial({"at": at, "says": json.dumps({event: {field: value}})}, **factors).failed
    assert failed is not None
    assert failed.code == "internal"
    assert "rebuild both" in failed.advice
    return failed.text


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("version", 1.5, "hello: Expected `str`, got `float` - at `$.version`"),
        ("protocol", 2, "hello: protocol 2, but this is 1"),
        ("clock.ticks_per_second", 0, "hello: Expected `float` > 0.0 - at `$.clock.ticks_per_second`"),
        ("clock.cost_ns", -1, "hello: Expected `float` >= 0.0 - at `$.clock.cost_ns`"),
        ("pid", "absent", "hello: Object missing required field `pid`"),
    ],
)
def test_a_wrong_hello_is_named_with_its_worker_and_field(
    launching: Launching, field: str, value: object, why: str
) -> None:
    (launching.folder / "says").write_text(json.dumps({"hello": {field: value}}))
    failed = launching.trial(processes=1).failed
    assert failed is not None
    assert failed.text == f"publisher 0 and subscriber 0 broke the protocol: {why}"


@pytest.mark.parametrize(
    ("at", "event", "field", "value", "where"),
    [
        ("publisher 0", "ready", "notes", [None], "$.notes[0]"),
        ("subscriber 0", "ready", "discovery_ns", 0.5, "$.discovery_ns"),
        ("publisher 0", "ready", "placement.priority", 100, "$.placement.priority"),
        ("publisher 0", "tick", "roles", ["x"], "$.roles[0]"),
        ("publisher 0", "measuring", "resources.threads.0.waiting_ns", "", "$.resources.threads[0].waiting_ns"),
        ("publisher 0", "done", "resources.user_ns", 1 << 63, "$.resources.user_ns"),
        ("subscriber 0", "done", "role", "x", "$.role"),
        ("publisher 0", "result", "warmup_samples", "x", "$.warmup_samples"),
        ("publisher 0", "result", "measured_s", -1, "$.measured_s"),
        ("subscriber 0", "result", "received", "absent", "`received`"),
        ("subscriber 0", "result", "by_publisher", [-1], "$.by_publisher[0]"),
    ],
)
def test_a_wrong_message_is_named_with_its_worker_and_field(
    launching: Launching, at: str, event: str, field: str, value: object, where: str
) -> None:
    text = refused(launching, at, event, field, value)
    assert text.startswith(f"{at} broke the protocol: {event}: ")
    assert where in text


@pytest.mark.parametrize(
    ("at", "field", "value", "why"),
    [
        ("subscriber 1", "index", 0, "result: subscriber 0: the worker has no such role"),
        ("subscriber 1", "topic", 7, "result: subscriber 1: its topic is 7, expected 0"),
    ],
)
def test_a_result_of_another_role_is_refused(
    launching: Launching, at: str, field: str, value: object, why: str
) -> None:
    assert why in refused(launching, at, "result", field, value, subscribers=2)


def test_a_second_result_is_wrong(launching: Launching) -> None:
    text = refused(launching, "publisher 0", "result", "index", 0, processes=1, subscribers=2, publishers=2)
    assert "result: publisher 0: a second one" in text


def test_missing_optional_figures_of_a_search_are_accepted(launching: Launching) -> None:
    lacking = json.dumps({"result": {"one_way_p50_ns": "absent", "one_way_max_ns": None}})
    outcome = launching.trial({"at": "subscriber 0", "says": lacking}, rate="sustainable")
    assert outcome.failed is None
    assert outcome.steps[-1].p50_ns is None


def test_a_search_ends_at_once_with_the_wrong_message(launching: Launching) -> None:
    text = refused(launching, "subscriber 0", "result", "one_way_p50_ns", 0.5, rate="sustainable")
    assert "$.one_way_p50_ns" in text


class _Watcher:
    def trial_begins(self, *_: object) -> None: ...
    def tick(self, _: Underway) -> None: ...
    def trial_ended(self, *_: object) -> None: ...
    def more(self, _: Plan) -> None: ...


def test_a_wrong_message_does_not_stop_the_rest_of_the_run(launching: Launching) -> None:
    wrong = {"at": "publisher 0", "says": json.dumps({"ready": {"notes": [None]}})}
    cells = (launching.cell(wrong), launching.cell({}))
    limits = Limits(duration_s=1.0, warmup_s=0.0, match_timeout_s=60.0)
    trials = tuple(Trial(order=at, cell=at, number=1, limits=limits, seed=3) for at in range(2))
    kept: list[TrialOutcome] = []
    plan = Plan(cells=cells, trials=trials, names=("", ""), notes=(), seed=3)
    assert run_plan(plan, {"fake": launching.worker}, launching.shared, kept.append, _Watcher())
    assert [each.failed is None for each in kept] == [False, True]


def test_an_outcome_that_cannot_be_stored_becomes_a_failure_that_names_the_field() -> None:
    begun = TrialOutcome(cell=0, number=1, order=3, started="", seconds=1.0)
    assert storable(begun) is begun
    for wrong in ({"measured_s": float("nan")}, {"samples": 0.5}, {"notes": (None,)}):
        outcome = storable(TrialOutcome(cell=0, number=1, order=3, started="", seconds=1.0, **wrong))
        assert outcome.failed is not None
        assert f"$.{next(iter(wrong))}" in outcome.failed.text
        assert outcome.order == 3


def test_an_endless_line_fails_its_trial_and_takes_bounded_memory(launching: Launching) -> None:
    path = Path(launching.worker.path)
    path.write_text("#!/bin/sh\nexec head -c 200000000 /dev/zero\n")
    failed = launching.trial(processes=1).failed
    assert failed is not None
    assert "broke the protocol: a line of more than 1,048,576 bytes" in failed.text
