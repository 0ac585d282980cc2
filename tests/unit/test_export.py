"""``middlemark export``: exported files can be read back, and by the other tools if these are installed."""

import csv
import io
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from report_runs import ROBOT
from stream_cases import arrival, arrived, sending, sent
from test_compare import SAMPLES, cell, write

from middlemark.commands.export import command
from middlemark.model.outcome import Failure, SamplesFile, TrialOutcome
from middlemark.problems import MeasureError, RequestError
from middlemark.show import EXPORTED, hdr
from middlemark.show.naming import cell_name
from middlemark.store import read_run


def asked(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


def text(*arguments: object) -> str:
    done = asked(*arguments, "--out", "-")
    assert done.exception is None, done.exception
    return done.stdout


def refused(*arguments: object) -> MeasureError | RequestError:
    error = asked(*arguments).exception
    assert isinstance(error, RequestError | MeasureError), error
    return error


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path, {cell(): 50_000, cell(transport="shm"): 25_000, cell(size=64): 5_000})


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A run with a cell whose trials all failed, a cell that was never measured, and hostile texts."""
    folder = write(tmp_path, {cell(): 50_000, cell(transport="shm"): 25_000, cell(size=64): 5_000})
    path = folder / "trials.jsonl"
    lines = [msgspec.json.decode(line, type=TrialOutcome) for line in path.read_bytes().splitlines()]
    kept = []
    for each in lines:
        if each.cell == 1:
            words = Failure(code="crashed", text='said "<]]>&\x00\x1b', advice="look <there>")
            kept.append(msgspec.structs.replace(each, failed=words, samples_file=None, samples=0))
        elif each.cell == 0:
            kept.append(each)
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in kept))
    return folder


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """A run of a stream at a rate with one subscriber: one trial of three messages, the second late."""
    asked_for = cell(pattern="stream", rate=1000.0, depth=None)
    folder = write(tmp_path, {asked_for: 1.0}, trials=1)
    receiver = arrival([1_000, 3_000, 2_000])
    sender = sending([0, 500, 0])
    files = []
    for kept in (sender, receiver):
        name = f"samples/{kept.role}.npy"
        np.save(folder / name, kept.raw)
        files.append(SamplesFile(role=kept.role, index=0, path=name, samples=3))
    outcome = TrialOutcome(
        cell=0, number=1, order=0, started="2026-11-21T12:00:01.500+00:00", seconds=2.0, samples=3, measured_s=1.0,
        files=tuple(files), publishers=(sent(sent=3),), subscribers=(arrived(expected=3, received=3),),
    )  # fmt: skip
    (folder / "trials.jsonl").write_bytes(msgspec.json.encode(outcome) + b"\n")
    return folder


def test_google_benchmark_gets_a_repetition_per_trial_and_the_aggregates(run: Path) -> None:
    document = json.loads(text(run, "--to", "google-benchmark"))
    assert set(document) == {"context", "benchmarks"}
    for key in ("date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "caches", "library_build_type"):
        assert key in document["context"]
    entries = document["benchmarks"]
    first = entries[0]["run_name"]
    assert first == "ping-pong/adapter:lyra/transport:udp/size:1024/receive:block"
    own = [each for each in entries if each["run_name"] == first]
    iterations = [each for each in own if each["run_type"] == "iteration"]
    assert [each["repetition_index"] for each in iterations] == list(range(8))
    assert {each["repetitions"] for each in own} == {8}
    assert [each["real_time"] for each in iterations] == [50_000 + 10 * number for number in range(1, 9)]
    assert {each["iterations"] for each in iterations} == {SAMPLES}
    assert {each["time_unit"] for each in own} == {"ns"}
    aggregates = {each["aggregate_name"]: each for each in own if each["run_type"] == "aggregate"}
    assert list(aggregates) == ["mean", "median", "stddev", "cv"]
    assert aggregates["median"]["name"] == f"{first}_median"
    assert aggregates["median"]["real_time"] == 50_045
    assert aggregates["cv"]["aggregate_unit"] == "percentage"
    for each in entries:
        assert isinstance(each["real_time"], float)
        assert isinstance(each["cpu_time"], float)


def test_a_failed_cell_is_exported_as_an_error_and_an_unmeasured_cell_is_absent(bad: Path) -> None:
    entries = json.loads(text(bad, "--to", "google-benchmark"))["benchmarks"]
    wrong = [each for each in entries if each.get("error_occurred")]
    assert [each["run_name"] for each in wrong] == ["ping-pong/adapter:lyra/transport:shm/size:1024/receive:block"]
    assert wrong[0]["error_message"].startswith("said")
    measured = {each["run_name"] for each in entries if not each.get("error_occurred")}
    assert measured == {"ping-pong/adapter:lyra/transport:udp/size:1024/receive:block"}


def test_names_of_cells_are_distinct_and_independent_of_other_cells() -> None:
    cells = [
        cell(),
        cell(loan=True),
        cell(depth=None),
        cell(pin=(0, 1)),
        cell(native=(("key", "a b/c"),)),
        cell(rate=1e3),
    ]
    names = [cell_name(each) for each in cells]
    assert len(set(names)) == len(names)
    assert names[4].endswith("native:key=a_b_c")
    assert names[5].endswith("rate:1000")
    assert not any(char.isspace() for name in names for char in name)


def test_the_name_of_a_workload_cell_has_the_workload_and_its_non_default_factors() -> None:
    robot = cell(workload=ROBOT, pattern="stream", rate=100.0, scale=2.0)
    assert cell_name(robot) == "stream/adapter:lyra/transport:udp/receive:block/scale:2/workload:robot"


def test_hdr_logs_are_readable_by_their_own_reader_with_every_sample(run: Path) -> None:
    done = asked(run, "--to", "hdr")
    assert done.exception is None, done.exception
    files = sorted((run / "hdr").iterdir())
    assert [path.suffix for path in files] == [".hlog"] * 3
    reader = HistogramLogReader(str(files[0]), HdrHistogram(1, 10_000_000, 3))
    intervals = []
    while (found := reader.get_next_interval_histogram()) is not None:
        intervals.append(found)
    assert [each.get_total_count() for each in intervals] == [SAMPLES] * 8
    assert [each.get_value_at_percentile(50) for each in intervals] == pytest.approx(
        [50_000 + 10 * number for number in range(1, 9)], rel=1e-3
    )
    assert reader.get_start_time_sec() > 1.7e9
    reader.close()


@given(arrays(np.uint64, st.integers(1, 200), elements=st.integers(1, 1 << 40)))
def test_counting_by_buckets_equals_recording_each_value(values: np.ndarray) -> None:
    one_by_one = HdrHistogram(1, 2 * int(values.max()) + 2, 3)
    for value in values.tolist():
        one_by_one.record_value(value)
    ours = HdrHistogram(1, 2 * int(values.max()) + 2, 3)
    for value, count in hdr._counted(hdr.Interval(0.0, 1.0, [values])).items():
        ours.record_value(value, count)
    assert ours.get_total_count() == len(values)
    for percentile in (0, 25, 50, 90, 99, 100):
        assert ours.get_value_at_percentile(percentile) == one_by_one.get_value_at_percentile(percentile)


def test_parquet_has_every_sample_with_its_cell_and_null_for_unmeasured_fields(run: Path) -> None:
    assert asked(run, "--to", "parquet", "--out", run / "tables").exception is None
    cells = pq.read_table(run / "tables" / "cells.parquet").to_pylist()
    assert [each["size"] for each in cells] == [1024, 1024, 64]
    assert cells[0]["id"] == "ping-pong/adapter:lyra/transport:udp/size:1024/receive:block"
    assert cells[0]["round_trip_p50_ns"] == 50_045
    trips = pq.read_table(run / "tables" / "round_trips.parquet")
    assert trips.num_rows == 3 * 8 * SAMPLES
    first = trips.filter((np.asarray(trips["cell"]) == 0) & (np.asarray(trips["trial"]) == 3))
    assert set(first["round_trip_ns"].to_pylist()) == {50_030}


def test_parquet_of_a_stream_has_sends_and_arrivals(stream: Path) -> None:
    assert asked(stream, "--to", "parquet").exception is None
    folder = stream / "parquet"
    assert sorted(path.name for path in folder.iterdir()) == ["arrivals.parquet", "cells.parquet", "sends.parquet"]
    sends = pq.read_table(folder / "sends.parquet")
    assert sends["sequence"].to_pylist() == [1, 2, 3]
    assert sends["late_ns"].to_pylist() == [0, 500, 0]
    assert pq.read_table(folder / "arrivals.parquet")["one_way_ns"].to_pylist() == [1_000, 3_000, 2_000]


def test_csv_has_a_row_per_figure_and_none_for_absent_figures(run: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(text(run, "--to", "csv-long"))))
    own = {each["metric"]: each for each in rows if each["cell"] == "0"}
    assert own["round_trip_p50"]["value"] == "50045"
    assert own["round_trip_p50"]["unit"] == "ns"
    assert float(own["round_trip_p50"]["low"]) < 50_045 < float(own["round_trip_p50"]["high"])
    assert own["round_trip_mean"]["low"] == ""
    assert own["sent"]["value"] == str(8 * SAMPLES)
    assert "one_way_p50" not in own
    assert {each["size"] for each in rows} == {"1024", "64"}
    assert own["loss"]["value"] == "0"


def test_junit_without_comparisons_has_a_case_per_cell(bad: Path) -> None:
    suite = ET.fromstring(text(bad, "--to", "junit")).find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    assert len(cases) == 3
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "0", "errors": "1", "skipped": "1"}
    error = cases[1].find("error")
    assert error is not None
    assert error.get("type") == "crashed"
    assert 'said "<]]>&' in (error.get("message") or "")
    for each in cases:
        assert each.get("name")
        assert each.get("classname")


def test_junit_reports_slower_comparisons_as_failures_and_undecided_ones_as_skipped(run: Path, tmp_path: Path) -> None:
    suite = ET.fromstring(text(run, "--to", "junit", "--by", "transport", "--reference", "shm")).find("testsuite")
    assert suite is not None
    (case,) = suite.findall("testcase")
    failure = case.find("failure")
    assert failure is not None
    assert "p50 slower: +99.8 %" in (failure.get("message") or "")
    better = ET.fromstring(text(run, "--to", "junit", "--by", "transport", "--reference", "udp")).find("testsuite")
    assert better is not None
    assert (better.get("failures"), better.get("skipped")) == ("0", "0")
    few = write(tmp_path / "few", {cell(): 50_000, cell(transport="shm"): 25_000}, trials=3)
    suite = ET.fromstring(text(few, "--to", "junit", "--by", "transport")).find("testsuite")
    assert suite is not None
    skipped = suite.findall("testcase/skipped")
    assert len(skipped) == 1
    assert "fewer than six pairs" in (skipped[0].get("message") or "")


def test_only_a_missed_gate_is_a_failure(run: Path) -> None:
    def failures(gate: str) -> str | None:
        words = ("--to", "junit", "--by", "transport", "--reference", "shm", "--fail-if", gate)
        suite = ET.fromstring(text(run, *words)).find("testsuite")
        assert suite is not None
        return suite.get("failures")

    assert failures("p50 slower than 50%") == "1"
    assert failures("p50 slower than 150%") == "0"
    assert failures("p99 slower than 5%") == "0"


def test_junit_compares_a_run_with_another_run(run: Path, tmp_path: Path) -> None:
    slower = write(tmp_path / "after", {cell(): 60_000, cell(transport="shm"): 25_000})
    suite = ET.fromstring(text(slower, "--to", "junit", "--reference", run)).find("testsuite")
    assert suite is not None
    worse = [each.get("name") for each in suite.findall("testcase") if each.find("failure") is not None]
    assert len(worse) == 1


@pytest.mark.parametrize("to", ["latencytest", "roundtrip", "ddsperf"])
def test_formats_of_other_tools_are_exported_as_run_prints_them(run: Path, to: str) -> None:
    assert "udp" in text(run, "--to", to)


@pytest.mark.parametrize("to", EXPORTED)
def test_a_run_with_failed_partial_and_no_cells_is_exported(bad: Path, to: str) -> None:
    assert asked(bad, "--to", to).exception is None
    (bad / "trials.jsonl").write_bytes(b"")
    again = asked(bad, "--to", to, "--out", bad / "again")
    assert again.exception is None, again.exception


def test_exported_files_go_into_the_runs_folder_and_replace_earlier_ones(run: Path) -> None:
    for _ in range(2):
        done = asked(run, "--to", "csv")
        assert done.exception is None
    assert done.stdout.strip() == str(run / f"{run.name}.csv")
    assert not [path for path in run.iterdir() if path.name.startswith(".")]
    assert read_run(run).outcomes


def test_an_existing_folder_is_not_touched(run: Path) -> None:
    (run / "hdr").mkdir()
    (run / "hdr" / "mine").write_text("keep")
    error = refused(run, "--to", "hdr")
    assert f"{run / 'hdr'}: is there already" in str(error)
    assert [path.name for path in (run / "hdr").iterdir()] == ["mine"]


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_a_path_that_cannot_be_written_is_named_and_nothing_remains(run: Path, tmp_path: Path, to: str) -> None:
    (tmp_path / "file").write_text("")
    error = refused(run, "--to", to, "--out", tmp_path / "file" / "below")
    assert str(tmp_path / "file" / "below") in str(error)
    assert "Not a directory" in str(error) or "File exists" in str(error)


def test_a_missing_extra_is_named_with_its_installation(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    error = refused(run, "--to", "parquet")
    assert isinstance(error, MeasureError)
    assert str(error) == "--to parquet needs the Python package pyarrow, which is not installed"
    assert error.advice == "pip install 'middlemark[parquet]', or .venv/bin/pip install pyarrow in a checkout"
    assert not (run / "parquet").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--to", "xml"), "there is no format xml; there are csv, csv-long, google-benchmark"),
        (("--to", "csv", "--by", "transport"), "are for verdicts, and only junit has verdicts"),
        (("--to", "hdr", "--out", "-"), "writes a folder of files, not one file; name a folder"),
        (("--to", "junit", "--fail-if", "p50 slower than 5%"), "needs something to compare"),
        (("--to", "junit", "--by", "colour"), "there is no factor colour"),
    ],
)
def test_an_export_that_is_impossible_is_refused(run: Path, words: tuple[str, ...], problem: str) -> None:
    assert problem in str(refused(run, *words))


def test_damaged_samples_discard_only_their_trial(run: Path) -> None:
    (run / "samples" / "00000.npy").write_bytes(b"no")
    assert asked(run, "--to", "parquet").exception is None
    trips = pq.read_table(run / "parquet" / "round_trips.parquet")
    assert trips.num_rows == (3 * 8 - 1) * SAMPLES
