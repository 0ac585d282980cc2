"""A test that all workers use the same time base, because the workers of a trial compare each other's stamps."""

from pathlib import Path
from typing import Any

import pytest
from candidate import Candidate, scripted
from conversation import Conversation, one_process
from test_protocol import builtins_of

from middlemark.model.description import Worker

TOLERANCE_NS = 100_000
"""More than the error of two calibrations of 20 ms, and less than the difference to another time base."""


def measured(worker: str, cell: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the result of a ping of some messages."""
    folder.mkdir()
    with Conversation(worker) as talk:
        talk.expect("hello")
        command = one_process(cell, folder, samples=5)
        talk.send(command="configure", **command)
        talk.expect("ready")
        talk.send(command="start")
        results = [talk.expect("result") for _ in command["roles"]]
        talk.send(command="quit")
        assert talk.status() == 0
    return next(each for each in results if each["role"] == "ping")


def test_the_ticks_of_a_worker_are_those_of_the_null_worker(worker: Worker, tmp_path: Path) -> None:
    who = next(
        (
            Candidate(worker, each)
            for each in worker.description.transports
            if 1 in each.processes and not each.companions
        ),
        None,
    )
    if who is None:
        pytest.skip("each transport needs two processes or a daemon")
    null = scripted()
    one = measured(null.worker.path, builtins_of(null.cell(processes=1)), tmp_path / "null")
    other = measured(worker.path, builtins_of(who.cell(processes=1)), tmp_path / "worker")
    ticks_ns = (other["start_ticks"] - one["start_ticks"]) / one["ticks_per_second"] * 1e9
    assert abs(ticks_ns - (other["first_begin_ns"] - one["first_begin_ns"])) < TOLERANCE_NS
