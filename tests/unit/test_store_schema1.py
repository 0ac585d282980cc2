"""A run that was stored with schema 1 is read as a run of schema 2: the same values under new names."""

import json
import shutil
from pathlib import Path

from middlemark.runs.read import read_measured
from middlemark.store import read_run, reopen_run

STORED = Path(__file__).parents[1] / "fixtures" / "run-schema-1"


def test_a_run_of_schema_1_has_its_baselines_and_its_raw_transports() -> None:
    run = read_run(STORED)
    assert run.file.schema == 2
    assert run.file.plan.baselines == (1,)
    assert run.file.plan.race is not None
    assert run.file.plan.race.experiments == ((0,),)
    assert run.file.reached is not None
    assert run.file.reached.undecided == ()
    assert run.file.plan.names == ("two", "two: baseline")
    assert {each.name: each.is_raw_transport for each in run.file.adapters} == {"zeromq": False, "tcp": True}
    assert "--baseline" in run.file.command
    assert "--floors" not in run.file.command


def test_all_trials_of_a_run_of_schema_1_are_read_with_their_figures() -> None:
    measured = read_measured(STORED)
    assert len(measured.outcomes) == measured.planned_trials == 2
    zeromq, tcp = measured.results
    assert zeromq.raw_transport == "tcp"
    assert zeromq.baseline is not None
    assert zeromq.baseline.label == "tcp"
    assert [each.actual_transport for each in measured.results] == ["tcp", "tcp"]
    assert (tcp.times_raw_transport, tcp.failed) == (1.0, None)


def test_a_resumed_run_is_written_with_schema_2(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STORED, tmp_path / "run"))
    reopen_run(folder).writer().close()
    written = json.loads((folder / "run.json").read_text())
    assert written["schema"] == 2
    assert written["plan"]["baselines"] == [1]
    assert read_run(folder).outcomes == read_run(STORED).outcomes
