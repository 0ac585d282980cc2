"""Each format has a golden file. Further tests check properties that a golden file cannot show.

Update the files with --snapshot-update.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

import middlemark
from conftest import render
from middlemark.document.runs import clock_of
from middlemark.model.outcome import Failure, RunWarning, TrialCounts, TrialOutcome
from middlemark.model.protocol import Clock
from middlemark.model.times import Summary
from middlemark.show import PRINTED, View
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Samples
from middlemark.verdicts.rows import MeasuredRun

Results = tuple[CellResult, ...]
SamplesOf = Callable[[int], list[Samples]]

ANSI = re.compile(r"\x1b\[[0-9;]*m")


class TextFile(SingleFileSnapshotExtension):
    """One plain text file for each report."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextFile)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_table(golden: SnapshotAssertion, facts: MeasuredRun, results: Results, width: int) -> None:
    assert golden == render("table", facts, results, View(width=width))


def test_table_of_several_experiments(golden: SnapshotAssertion, facts: MeasuredRun, fan_out: Results) -> None:
    assert golden == render("table", facts, fan_out, View(width=120))


@pytest.mark.parametrize("width", [80, 100])
def test_summary(golden: SnapshotAssertion, facts: MeasuredRun, results: Results, width: int) -> None:
    assert golden == render("summary", facts, results, View(width=width))


def test_table_in_colour(golden: SnapshotAssertion, facts: MeasuredRun, results: Results) -> None:
    assert golden == render("table", facts, results, View(colour=True)).replace("\x1b", "ESC")


def test_table_of_an_interrupted_run(golden: SnapshotAssertion, facts: MeasuredRun, results: Results) -> None:
    nothing = msgspec.structs.replace(
        results[0],
        trials=0,
        samples=0,
        counts=TrialCounts(),
        actual_transport=None,
        round_trip_ns=None,
        times_raw_transport=None,
        raw_transport=None,
        failed=Failure("not-measured", "the run ended before it was measured", "run it again"),
    )
    plan = msgspec.structs.replace(facts.file.plan, notes=())
    file = msgspec.structs.replace(facts.file, interrupted=True, plan=plan)
    ended = tuple(msgspec.structs.replace(each, clock=None) for each in facts.outcomes[:2])
    cut = msgspec.structs.replace(facts, file=file, outcomes=ended)
    once = tuple(msgspec.structs.replace(each, trials=1) for each in results[6:8])
    assert golden == render("table", cut, (nothing, *once))


@pytest.mark.parametrize("name", ["csv", "latencytest"])
def test_format(golden: SnapshotAssertion, facts: MeasuredRun, results: Results, fan_out: Results, name: str) -> None:
    assert golden == render(name, facts, (*results, *fan_out[3:5]))


def test_json(golden: SnapshotAssertion, facts: MeasuredRun, results: Results) -> None:
    assert golden == render("json", facts, results[:1])


def test_roundtrip(golden: SnapshotAssertion, facts: MeasuredRun, results: Results, samples_of: SamplesOf) -> None:
    one_trial = msgspec.structs.replace(results[0], trials=1)
    chosen = (one_trial, *results[1:2], *results[4:5])
    assert golden == render(
        "roundtrip", facts, chosen, View(samples_of=lambda index: samples_of(index)[: 1 if index == 0 else 2])
    )


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_of_the_table_is_wider_than_the_terminal(facts: MeasuredRun, results: Results, width: int) -> None:
    table = render("table", facts, results, View(width=width))
    assert max(map(len, table.splitlines())) <= width


@pytest.mark.parametrize("width", [60, 100])
def test_colour_adds_nothing_but_colour(facts: MeasuredRun, results: Results, width: int) -> None:
    plain = render("table", facts, results, View(width=width))
    coloured = render("table", facts, results, View(width=width, colour=True))
    assert "\x1b[" in coloured
    assert "\x1b" not in plain
    assert [line.rstrip() for line in ANSI.sub("", coloured).splitlines()] == plain.splitlines()


def test_no_text_becomes_markup_or_moves_the_cursor(facts: MeasuredRun, results: Results) -> None:
    table = " ".join(render("table", facts, results, View(width=200, colour=True)).split())
    assert "[bold]no memory[/bold] \\x1b[31mleft\\x1b[0m" in table
    assert "<script> [red]1" in table


def test_every_warning_has_its_advice_below_the_table_and_its_text_on_request(
    facts: MeasuredRun, results: Results
) -> None:
    table = " ".join(render("table", facts, results, View(width=80)).split())
    whole = " ".join(render("table", facts, results, View(width=80, warnings=True)).split())
    for result in results:
        for warning in result.warnings:
            assert warning.text in whole
            assert warning.advice in table
            assert warning.advice in whole


def test_raw_transports_come_first_and_failed_rows_last(facts: MeasuredRun, results: Results) -> None:
    table = render("table", facts, results, View(width=100))
    rows = [
        line.split("  ")[1]
        for line in table.split("1 KiB; baseline", 1)[1].split("\n", 1)[1].split("\n\n")[0].splitlines()
    ]
    assert rows[1:4] == ["shm, loan", "shm", "udp"]
    assert rows[4:9] == [
        "fastdds shm, loan",
        "cyclonedds udp",
        "cyclonedds shm (!)",
        "fastdds udp, best-effort",
        "<script> udp",
    ]
    assert rows[9] == "fastdds data-sharing"


def test_polling_and_blocking_are_never_in_one_group(facts: MeasuredRun, fan_out: Results) -> None:
    groups = render("table", facts, fan_out).split("\n\n")
    titles = [group.splitlines()[0].partition("; baseline")[0] for group in groups[1:-1]]
    assert titles == [
        "1 KiB, poll, 1 subscriber, priority other",
        "1 KiB, block, 1 subscriber, priority other",
        "1 KiB, block, 3 subscribers, all of them echo, priority other",
        "1 KiB, block, 3 subscribers, one echoes, priority other",
        "1 KiB, listen, 1 subscriber, priority fifo:80",
    ]


@pytest.mark.parametrize("width", [60, 100, 140])
def test_a_row_that_its_evidence_contradicts_is_marked_at_every_width(
    facts: MeasuredRun, results: Results, width: int
) -> None:
    table = render("table", facts, results, View(width=width))
    assert table.count("cyclonedds shm (!)") == 2, "once in its row and once in the warning"
    assert "(!)" not in render("table", facts, results[:1], View(width=width))


def test_an_empty_table_is_still_a_report(facts: MeasuredRun) -> None:
    for name in {*PRINTED} - {"html"}:  # the report has tests of its own
        assert render(name, facts, ()).endswith("\n")


SUMMARY_KEYS = ["min", "mean", "stdev", "p50", "p90", "p99", "p99.9", "p99.99", "max"]
CELL_TYPES: dict[str, tuple[type, ...]] = {
    "adapter": (str,),
    "version": (str, type(None)),
    "pattern": (str,),
    "size": (int,),
    "transport": (str,),
    "actual_transport": (str, type(None)),
    "receive": (str,),
    "reliability": (str,),
    "processes": (int,),
    "payload": (str,),
    "trials": (int,),
    "samples": (int,),
    "lost": (int,),
    "duplicated": (int,),
    "reordered": (int,),
    "damaged": (int,),
    "round_trip_ns": (dict, type(None)),
    "write_ns": (dict, type(None)),
    "take_ns": (dict, type(None)),
    "discovery_ns": (int, float, type(None)),
    "times_raw_transport": (int, float, type(None)),
    "warnings": (list,),
    "failed": (dict, type(None)),
}
"""The keys and types that schema 1 promises. There may be more keys."""


def test_json_keeps_the_promised_schema(facts: MeasuredRun, results: Results, fan_out: Results) -> None:
    document = json.loads(render("json", facts, (*results, *fan_out)))
    keys = ["schema", "run", "expectations", "not_tried", "experiments", "cells", "growth", "scaling", "scorecards"]
    assert list(document) == [*keys, "interop", "languages", "via", "since_last_run"]
    assert document["schema"] == 2
    assert len(document["cells"]) == len(results) + len(fan_out)
    assert len({tuple(cell) for cell in document["cells"]}) == 1, "every cell has the same keys in the same order"
    for cell in document["cells"]:
        for key, types in CELL_TYPES.items():
            assert isinstance(cell[key], types), (key, cell[key])
        for key in ("round_trip_ns", "write_ns", "take_ns", "first_reply_ns", "loan_ns", "fill_ns", "check_ns"):
            if cell[key] is not None:
                assert list(cell[key]) == SUMMARY_KEYS
        for warning in cell["warnings"]:
            assert list(warning) == ["code", "text", "advice"]
        if cell["failed"]:
            assert {"code", "text"} <= cell["failed"].keys()


def test_csv_and_json_contain_the_same_figures(facts: MeasuredRun, results: Results, fan_out: Results) -> None:
    both = (*results, *fan_out)
    rows = list(csv.DictReader(io.StringIO(render("csv", facts, both))))
    cells = json.loads(render("json", facts, both))["cells"]
    for row, cell in zip(rows, cells, strict=True):
        assert None not in row, "no row is longer than the header"
        assert row["size_bytes"] == str(cell["size"])
        assert row["lost"] == str(cell["lost"])
        assert row["warnings"] == ";".join(each["code"] for each in cell["warnings"])
        for key in SUMMARY_KEYS:
            figure = (cell["round_trip_ns"] or {}).get(key)
            assert row[f"round_trip_{key}_ns"] == ("" if figure is None else str(figure))


def test_invalid_unicode_and_line_breaks_break_no_format(
    facts: MeasuredRun, results: Results, samples_of: SamplesOf
) -> None:
    nasty = 'two\nlines, \udcff \x00 \x9b31m 日本語 ; "quoted" ' + "long" * 60
    failed = msgspec.structs.replace(results[4], failed=Failure("crashed", nasty, nasty))
    warned = msgspec.structs.replace(results[0], warnings=(RunWarning("odd", nasty, nasty),), version=nasty)
    for name in {*PRINTED} - {"html"}:  # the report has tests of its own
        text = render(name, facts, (failed, warned), View(width=80, samples_of=samples_of))
        text.encode()
        assert "\x00" not in text
        assert "\x9b" not in text or name == "json"
    assert len(render("csv", facts, (failed, warned)).splitlines()) == 3
    cell = json.loads(render("json", facts, (failed, warned)))["cells"][0]
    assert cell["failed"]["text"] == nasty.encode("utf-8", "backslashreplace").decode()


def test_latencytest_prints_half_round_trips_in_the_columns_of_fast_dds(facts: MeasuredRun, results: Results) -> None:
    lines = render("latencytest", facts, results[:1]).splitlines()
    header = lines.index("   Bytes, Samples,   stdev,    mean,     min,     50%,     90%,     99%,  99.99%,     max")
    assert "half round trips" in lines[header - 1]
    row = lines[header + 2]
    assert row == "    1024,   30000,   3.925,  17.270,  12.560,  15.700,  19.625,  31.400,       -, 628.000 "
    assert [len(field) for field in row.rstrip(" ").split(",")] == [8] * 10


def test_roundtrip_counts_every_sample_and_halves_only_the_round_trip(
    facts: MeasuredRun, results: Results, samples_of: SamplesOf
) -> None:
    text = render("roundtrip", facts, results[:1], View(samples_of=samples_of))
    assert "half round trips" in text.lower()
    seconds = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    first, second = (line.split()[2:] for line in text.splitlines() if line.startswith("# Overall"))
    counts = [len(each) for each in samples_of(0)]
    assert [int(first[0]), int(second[0])] == counts, "samples of different trials are not pooled"
    assert sum(int(line[1]) for line in seconds) == sum(counts)
    assert [int(each) for each in first[1:5]] == [12, 10, 15, 15]
    # Writing was measured in both trials (median 4.004 µs), reading only in the first.
    assert first[5:] == [str(counts[0]), "4", "4", str(counts[0]), "2", "2"]
    assert second[5:] == [str(counts[1]), "4", "4", "0", "-", "-"]


def test_roundtrip_prints_the_width_of_its_model(facts: MeasuredRun, results: Results, samples_of: SamplesOf) -> None:
    text = render("roundtrip", facts, results[:1], View(samples_of=samples_of))
    # "%9ld %9lu %8.0f %8ld %8ld %8ld %10lu %8.0f %8ld %10lu %8.0f %8ld" in the example's ping.c
    widths = (9, 9, 8, 8, 8, 8, 10, 8, 8, 10, 8, 8)
    figures = (1, 1000, 12, 10, 15, 15, 1000, 4, 4, 1000, 2, 2)
    model = " ".join(f"{figure:{width}}" for figure, width in zip(figures, widths, strict=True))
    assert model in text.splitlines()


def test_the_clock_of_a_run_is_the_median_of_its_trials(facts: MeasuredRun) -> None:
    assert clock_of(msgspec.structs.replace(facts, outcomes=())) is None

    def with_clock(source: str, cost_ns: float) -> TrialOutcome:
        clock = Clock(source=source, ticks_per_second=1e9, cost_ns=cost_ns, resolution_ns=1.0)
        return TrialOutcome(cell=0, number=1, order=0, started="", seconds=1.0, clock=clock)

    outcomes = (with_clock("tsc", 9.0), with_clock("tsc", 30.0), with_clock("clock_monotonic", 10.0))
    clock = clock_of(msgspec.structs.replace(facts, outcomes=outcomes))
    assert clock is not None
    assert (clock.source, clock.cost_ns) == ("clock_monotonic, tsc", 10.0)


def test_listing_the_formats_imports_neither_numpy_nor_rich() -> None:
    code = "import sys, middlemark.show; sys.exit(bool({'numpy', 'rich', 'csv', 'json'} & sys.modules.keys()))"
    environment = os.environ | {"PYTHONPATH": str(Path(middlemark.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_an_empty_summary_prints_as_absent(facts: MeasuredRun, results: Results) -> None:
    bare = msgspec.structs.replace(results[0], round_trip_ns=Summary(), times_raw_transport=None, raw_transport=None)
    assert re.search(r"^  cyclonedds udp +– +0 +udp$", render("table", facts, (bare,)), re.MULTILINE) is None
    assert re.search(r"^  cyclonedds udp +– ", render("table", facts, (bare,)), re.MULTILINE)
