"""The records of long trials in a run's folder: each is on disk at once, and a cut-off line loses only itself."""

import os
from pathlib import Path

import msgspec
import pytest
from test_long_trial_verdicts import record
from test_store import FILE, outcome

from middlemark.model.record import Record
from middlemark.runs.read import damaged
from middlemark.store import RunWriter, StoreError, open_run, read_run, reopen_run


@pytest.fixture
def writer(tmp_path: Path) -> RunWriter:
    return open_run(tmp_path, FILE)


def kept(writer: RunWriter, minutes: int) -> list[Record]:
    records = [record("ping", 60.0 * (minute + 1)) for minute in range(minutes)]
    for each in records:
        writer.record(each)
    return records


def test_records_are_read_while_their_trial_still_runs(writer: RunWriter) -> None:
    records = kept(writer, 3)
    run = read_run(writer.folder)
    assert run.running
    assert run.records == tuple(records)
    assert run.outcomes == ()
    writer.close()


def test_each_record_is_synced_to_the_disk(writer: RunWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    sync = os.fsync

    def noted(file: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{file}"))
        sync(file)

    monkeypatch.setattr(os, "fsync", noted)
    kept(writer, 2)
    assert synced == [str(writer.folder / "records.jsonl")] * 2


@pytest.mark.parametrize("cut", [2, 20])
def test_a_power_cut_in_the_middle_of_a_line_loses_that_record_only(writer: RunWriter, cut: int) -> None:
    first, second, _ = kept(writer, 3)
    path = writer.folder / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    run = read_run(writer.folder)
    assert run.records == (first, second)
    assert run.damaged == (), "the record was never complete"
    writer.close()
    again = reopen_run(writer.folder).writer()
    further = record("ping", 240.0)
    again.record(further)
    run = read_run(writer.folder)
    assert run.records == (first, second, further)
    again.close()


def test_a_damaged_line_is_left_out_and_named(writer: RunWriter) -> None:
    first, second = kept(writer, 2)
    path = writer.folder / "records.jsonl"
    wrong = msgspec.json.encode(msgspec.structs.replace(first, order=9))
    path.write_bytes(wrong + b"\n{}\n" + path.read_bytes())
    run = read_run(writer.folder)
    assert run.records == (first, second)
    assert run.damaged[0] == "records.jsonl line 1: order: the plan has no trial 9"
    assert run.damaged[1].startswith("records.jsonl line 2: ")
    start = f"{writer.folder}: 2 damaged lines of records.jsonl left out: records.jsonl line 1: "
    assert damaged(run)[0].startswith(start)


def test_a_full_disk_is_an_error_with_the_path(writer: RunWriter) -> None:
    (writer.folder / "records.jsonl").symlink_to("/dev/full")
    with pytest.raises(StoreError, match=r"records\.jsonl"):
        kept(writer, 1)


def test_outcomes_and_records_have_their_own_files(writer: RunWriter) -> None:
    records = kept(writer, 1)
    writer.append(outcome(0))
    writer.close()
    run = read_run(writer.folder)
    assert (run.records, run.outcomes) == (tuple(records), (outcome(0),))
