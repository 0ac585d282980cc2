"""Streams, and request and reply, in each format: golden files, and checks that a golden file cannot express."""

import csv
import io
import json
import re

import golden_streams as streams
import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion
from test_reports import SUMMARY_KEYS, Results, SamplesOf, TextFile

from conftest import render
from middlemark.document.numbers import brief, share
from middlemark.model.outcome import TrialCounts
from middlemark.show import View
from middlemark.stats.result import CellResult
from middlemark.verdicts.rows import MeasuredRun

# Regular expressions of scripts that read ddsperf's output. The format strings are in Cyclone DDS 0.10's ddsperf.c and
# cputime.c.
RATE = re.compile(
    r"^\[(\d+)\] (\d+\.\d{3})  size (\d+) total (\d+) lost (\d+) delta (\d+) lost (\d+) "
    r"rate ([\d.]+) kS/s ([\d.]+) Mb/s \(([\d.]+) kS/s ([\d.]+) Mb/s\)$"
)
COST = re.compile(r"^\[\d+\] \d+\.\d{3} ( rss:[\d.]+(MB|kB))? vcsw:(\d+) ivcsw:(\d+)( [^ :]+:\d+%\+\d+%)*$")
LATENCY = re.compile(
    r"^\[\d+\] \d+\.\d{3}  [^ ]+ size \d+ mean [\d.-]+us min [\d.-]+us 50% [\d.-]+us 90% [\d.-]+us 99% [\d.-]+us "
    r"max [\d.-]+us cnt \d+$"
)


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextFile)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_table_of_floods(golden: SnapshotAssertion, facts: MeasuredRun, width: int) -> None:
    assert golden == render("table", facts, streams.floods(), View(width=width))


def test_table_of_every_load(golden: SnapshotAssertion, facts: MeasuredRun) -> None:
    assert golden == render("table", facts, streams.loads())


def test_table_of_calls(golden: SnapshotAssertion, facts: MeasuredRun) -> None:
    assert golden == render("table", facts, streams.calls())


def test_table_of_several_patterns(golden: SnapshotAssertion, facts: MeasuredRun, results: Results) -> None:
    assert golden == render("table", facts, (*results[:1], *streams.floods()[:1], *streams.calls()[:1]))


@pytest.mark.parametrize("name", ["csv", "ddsperf"])
def test_format(golden: SnapshotAssertion, facts: MeasuredRun, name: str) -> None:
    assert golden == render(name, facts, (*streams.floods()[:2], *streams.loads()[2:], *streams.calls()[1:]))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal(facts: MeasuredRun, results: Results, width: int) -> None:
    every = (*results, *streams.floods(), *streams.loads(), *streams.calls())
    for some in (every, streams.floods(), streams.loads(), streams.calls()):
        table = render("table", facts, some, View(width=width))
        assert max(map(len, table.splitlines())) <= width


@pytest.mark.parametrize("width", [80, 100, 140])
def test_loss_processor_and_memory_are_columns_at_every_rate(facts: MeasuredRun, width: int) -> None:
    header = next(
        line for line in render("table", facts, streams.floods(), View(width=width)).splitlines() if "µs" in line
    )
    assert [each for each in ("msgs/s", "lost", "cpu", "rss MB") if each in header] == [
        "msgs/s",
        "lost",
        "cpu",
        "rss MB",
    ]


def test_streams_are_sorted_by_rate_below_the_raw_transport(facts: MeasuredRun) -> None:
    table = render("table", facts, streams.floods(), View(width=110))
    rows = [
        line.split("  ")[1]
        for line in table.split("1 KiB; baseline", 1)[1].split("\n", 1)[1].split("\n\n")[0].splitlines()
    ]
    assert rows[1:] == ["udp", "cyclonedds udp", "fastdds udp, best-effort"]


def test_a_small_loss_is_never_rounded_to_zero(facts: MeasuredRun) -> None:
    one = msgspec.structs.replace(
        streams.floods()[0], counts=TrialCounts(sent=10**9, received=10**9 - 1, lost=1), warnings=()
    )
    assert "1 (<0.001 %)" in render("table", facts, (one,))
    assert [share(each) for each in (0.0, 1e-9, 0.00123, 0.5, 0.9999, 1.0)] == [
        "0 %",
        "<0.001 %",
        "0.12 %",
        "50 %",
        ">99.5 %",
        "100 %",
    ]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((0.123, "0.123"), (987.4, "987"), (9_870, "9,870"), (9_999.4, "9,999"), (10_004.0, "10k"), (98_712, "98.7k")),
        *((999_400, "999k"), (999_600, "1M"), (1_234_567, "1.23M"), (123_456_789, "123M"), (1_234_567_890, "1,230M")),
    ],
)
def test_a_rate_keeps_three_digits_and_its_order_of_magnitude(number: float, text: str) -> None:
    assert brief(number) == text


def test_a_curve_is_under_its_row_and_its_knee_is_marked_once(facts: MeasuredRun) -> None:
    table = render("table", facts, streams.loads())
    marked = [line for line in table.splitlines() if "← knee" in line]
    assert len(marked) == 1
    assert marked[0].split()[:2] == ["320k", "320k"]


def test_every_cell_has_the_same_keys_and_the_documented_ones(facts: MeasuredRun, results: Results) -> None:
    every = (*results, *streams.floods(), *streams.loads(), *streams.calls())
    cells = json.loads(render("json", facts, every))["cells"]
    assert len({tuple(cell) for cell in cells}) == 1
    promised = ("sent", "received", "rate_hz", "bytes_per_s", "one_way_ns", "one_way_from_sent_ns", "blocked_ns")
    for key in (*promised, "resources", "series"):
        assert key in cells[0], key
    for cell in cells:
        for key in ("one_way_ns", "one_way_from_sent_ns", "round_trip_from_intended_ns"):
            assert cell[key] is None or list(cell[key]) == SUMMARY_KEYS


def test_bytes_are_those_of_the_received_messages(facts: MeasuredRun) -> None:
    for cell in json.loads(render("json", facts, streams.floods()))["cells"]:
        assert cell["bytes_per_s"] == pytest.approx(cell["rate_hz"] * cell["size"])
        assert cell["rate_hz"] < cell["sent_hz"], "the sent rate differs from the received rate"


def test_csv_contains_the_same_figures_as_json(facts: MeasuredRun) -> None:
    every = (*streams.floods(), *streams.loads(), *streams.calls())
    rows = list(csv.DictReader(io.StringIO(render("csv", facts, every))))
    cells = json.loads(render("json", facts, every))["cells"]
    for row, cell in zip(rows, cells, strict=True):
        assert None not in row
        assert row["rate_hz"] == ("" if cell["rate_hz"] is None else str(cell["rate_hz"]))
        assert row["rate"] == str(cell["rate"])
        assert row["one_way_p99_ns"] == str((cell["one_way_ns"] or {}).get("p99", ""))
        costs = cell["resources"] or {}
        assert row["cpu"] == str(costs.get("cpu", ""))
        assert row["cpu_user"] == str(costs.get("user", ""))
        assert row["udp_rcvbuf_errors"] == str((costs.get("network") or {}).get("udp_rcvbuf_errors", ""))
        assert row["sustainable_hz"] == str((cell["sustainable"] or {}).get("rate_hz", ""))


def _lines(facts: MeasuredRun, *some: CellResult) -> list[str]:
    return [line for line in render("ddsperf", facts, some).splitlines() if line and not line.startswith("#")]


def test_every_line_in_ddsperfs_format_matches_ddsperfs_own(facts: MeasuredRun) -> None:
    lines = _lines(facts, *streams.floods(), *streams.loads())
    assert lines
    assert [line for line in lines if not RATE.match(line) and not COST.match(line)] == []


def test_ddsperf_lines_count_arrivals_and_end_with_the_loss(facts: MeasuredRun) -> None:
    lossy = streams.floods()[1]
    rates = [found.groups() for line in _lines(facts, lossy) if (found := RATE.match(line))]
    deltas = [int(each[5]) for each in rates]
    assert int(rates[-1][3]) == sum(deltas) == sum(each.received or 0 for each in lossy.series)
    assert [int(each[4]) for each in rates] == [0, 0, lossy.series_subscribers[0].lost]
    for each in rates:
        assert float(each[8]) == pytest.approx(float(each[7]) * 1e3 * lossy.cell.size * 8 / 1e6, rel=1e-3)


def test_ddsperf_lines_count_damaged_messages_in_the_total_but_not_in_the_rate(facts: MeasuredRun) -> None:
    result = streams.floods()[0]
    second = msgspec.structs.replace(result.series[3], received=1_000, damaged=400, seconds=2.0)
    lines = _lines(facts, msgspec.structs.replace(result, series=(second,)))
    (found,) = [found.groups() for line in lines if (found := RATE.match(line))]
    assert (found[5], found[7], found[9]) == ("1000", "0.30", "0.30")


def test_threads_in_ddsperf_lines_are_split_like_their_process_and_small_ones_joined(facts: MeasuredRun) -> None:
    result = streams.floods()[0]
    second = msgspec.structs.replace(
        result.series[0],
        user_ns=100_000_000,
        system_ns=300_000_000,
        threads=tuple(
            msgspec.structs.replace(result.series[0].threads[0], name=name, cpu_ns=cpu_ns)
            for name, cpu_ns in (("recvUC", 400_000_000), ("gc", 4_000_000), ("tev", 5_000_000))
        ),
    )
    (line,) = _lines(facts, msgspec.structs.replace(result, series=(second,)))
    assert line.endswith(" recvUC:10%+30% others:0%+1%")


def test_round_trips_are_printed_per_second_in_ddsperfs_format(
    facts: MeasuredRun, results: Results, samples_of: SamplesOf
) -> None:
    text = render("ddsperf", facts, results[:1], View(samples_of=samples_of))
    found = [line for line in text.splitlines() if LATENCY.match(line)]
    assert sum(int(line.rsplit(" ", 1)[1]) for line in found) == sum(len(each) for each in samples_of(0))
    assert " 50% 12.450us " in found[0], "half of a round trip, as ddsperf prints it"


def test_formats_of_round_trips_refer_a_stream_to_the_table(facts: MeasuredRun) -> None:
    for name in ("latencytest", "roundtrip"):
        lines = render(name, facts, streams.floods()[:1]).splitlines()
        assert not [line for line in lines if line.lstrip().startswith("1024,")]
        assert [line for line in lines if "--format text" in line]
