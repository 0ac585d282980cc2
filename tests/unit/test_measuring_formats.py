"""The verbs that measure print each of their formats. The trials are invented, so no worker is needed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from descriptions import EVERYONE
from stats_cases import outcome
from test_command_line import ALL, asked, check

from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.samples import SAMPLE
from middlemark.runs.conduct import Built
from middlemark.runs.measure import Ending
from middlemark.show import PRINTED
from middlemark.store import RunWriter

LYRA = ("--adapter", "cyclonedds", "--transport", "udp", "--budget", "100s", "--quiet")
VERBS = {
    "run": ("run", *LYRA, "--size", "64,1k", "--trials", "2"),
    "which": ("which", *LYRA),
    "reproduce": ("reproduce", "fastdds-latencytest", "--quiet"),
}


@pytest.fixture(autouse=True)
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the verbs measure without workers: each trial has the same round trips."""
    workers = {each.name: Worker("/worker", each) for each in EVERYONE}

    def measure_trials(writer: RunWriter, outcomes: list[TrialOutcome], *_: Any, **__: Any) -> Ending:
        for trial in writer.file.plan.trials:
            raw = np.zeros(200, dtype=SAMPLE)
            raw["round_trip_ns"] = 50_000 + 1_000 * trial.number
            path = f"samples/{trial.order:05d}.npy"
            np.save(writer.folder / path, raw)
            outcomes.append(writer.append(outcome(trial, seconds=0.5, samples=len(raw), samples_file=path)))
        return Ending(True)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("middlemark.store.run.utc_now", lambda: "2026-11-28T12:00:00.000+00:00")
    monkeypatch.setattr("middlemark.show.html.page.script", lambda: "")
    monkeypatch.setattr("middlemark.runs.measure.measure_trials", measure_trials)
    for verb in VERBS:
        monkeypatch.setattr(f"middlemark.commands.{verb}.built_workers", lambda *_, **__: Built(workers, {}))
        monkeypatch.setattr(f"middlemark.commands.{verb}.without_refused", lambda plan, *_: plan)


@pytest.mark.parametrize(
    ("verb", "name"), [(verb, name) for verb in VERBS for name in (PRINTED if verb == "run" else ALL)]
)
def test_a_verb_that_measures_prints_each_of_its_formats_as_show_does(verb: str, name: str) -> None:
    done = asked(*VERBS[verb], "--format", name)
    assert done.exception is None, done.exception
    assert done.return_value == 0
    check(name, done.stdout, 1)
    assert done.stdout == asked("show", "--format", name).stdout
