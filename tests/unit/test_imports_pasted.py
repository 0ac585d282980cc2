"""Logs as they are pasted into bug reports. Simulations of the tools made the figures, so the true values are known."""

import math

import pytest
from imports_cases import codes, fixture, one, read, results, source

from middlemark.imports import find
from middlemark.imports.log import ImportedTrial, Log
from middlemark.model.outcome import TrialCounts
from middlemark.model.times import Summary


def log_of(name: str) -> Log:
    return read(fixture(f"pasted/{name}"))


def us(summary: Summary | None) -> dict[str, float]:
    """Return the figures of a summary in µs, without absent figures."""
    assert summary is not None
    figures = {field: getattr(summary, field) for field in summary.__struct_fields__}
    return {field: value / 1e3 for field, value in figures.items() if value is not None}


def near(**figures: float) -> object:
    return pytest.approx(figures, rel=1e-9, abs=1e-9)


def counts(measured: ImportedTrial) -> TrialCounts:
    assert measured.counts is not None
    return measured.counts


def warning(measured: ImportedTrial, code: str) -> str:
    return next(each.text for each in measured.warnings if each.code == code)


def test_whole_round_trips_of_2018_are_not_doubled() -> None:
    log = log_of("roundtripping-2018-whole.log")
    ping = one(log)
    assert (ping.cell.size, ping.samples) == (32, 55_303)
    assert us(ping.times.round_trip_ns) == near(p50=87, min=79, p99=111, max=879)
    assert us(ping.times.write_ns) == near(p50=12, min=11)
    assert us(ping.times.take_ns) == near(p50=2, min=1)
    assert "median-of-seconds" in codes(ping)
    assert not {"half-round-trip", "contradiction"} & codes(ping)
    assert log.unread == 1
    assert log.first_unread is not None
    assert "$ ./RoundtripPing" in log.first_unread[1]


def test_halves_below_the_heading_of_whole_round_trips_are_doubled_with_the_contradiction() -> None:
    log = log_of("roundtripping-2018-half.log")
    ping = one(log)
    assert (ping.cell.size, ping.samples, log.unread) == (200, 102_539, 1)
    assert us(ping.times.round_trip_ns) == near(p50=48, min=42, p99=60, max=398)
    assert us(ping.times.write_ns) == near(p50=8, min=7)
    assert us(ping.times.take_ns) == near(p50=1, min=1)
    assert {"half-round-trip", "contradiction"} <= codes(ping)
    assert "0.49 s" in warning(ping, "contradiction")


def test_roundtripping_without_a_maximum_is_read() -> None:
    log = log_of("roundtripping-2018-nine-columns.log")
    ping = one(log)
    assert (ping.failed, ping.cell.size, ping.samples, log.unread) == (None, 1024, 28_093, 0)
    assert us(ping.times.round_trip_ns) == near(p50=104, min=94)
    assert us(ping.times.write_ns) == near(p50=15, min=12)
    assert us(ping.times.take_ns) == near(p50=3, min=2)
    assert "half-round-trip" not in codes(ping)


def test_two_runs_with_a_prompt_between_them_are_two_rows() -> None:
    log = log_of("roundtripping-two-runs-and-prompt.log")
    first, second = log.measured
    assert (first.cell.size, first.samples, second.cell.size, second.samples) == (512, 22_085, 4096, 40_969)
    assert us(first.times.round_trip_ns) == near(p50=130, min=110, p99=192, max=1_336)
    assert us(second.times.round_trip_ns) == near(p50=94, min=78, p99=135, max=554)
    assert us(second.times.write_ns) == near(p50=25, min=21)
    assert log.unread == 3
    for each in (first, second):
        assert {"half-round-trip", "median-of-seconds"} <= codes(each)
        assert not {"interleaved", "no-result", "contradiction"} & codes(each)


def test_a_lone_overall_has_an_unknown_size() -> None:
    ping = one(log_of("roundtripping-lone-overall.log"))
    assert "size" in ping.cell.unknown
    assert ping.samples == 2_914_406
    assert us(ping.times.round_trip_ns) == near(p50=122, min=114, p99=148, max=1_822)
    assert "first-samples-only" in codes(ping)


def test_a_99_percent_of_too_few_round_trips_is_absent_not_zero() -> None:
    log = log_of("roundtripping-99pct-printed-as-zero.log")
    ping = one(log)
    assert (ping.cell.size, ping.samples, log.unread) == (6 << 20, 212, 1)
    assert us(ping.times.round_trip_ns) == near(p50=18_700, min=17_902, max=23_748)
    assert us(ping.times.write_ns) == near(p50=6_924, min=6_100)
    assert us(ping.times.take_ns) == near(p50=810, min=809)


def test_one_line_of_ddsperf_is_a_row() -> None:
    ping = one(log_of("ddsperf-lone-ping-line.log"))
    assert (ping.cell.size, ping.samples) == (40, 12_816)
    assert us(ping.times.round_trip_ns) == near(
        p50=76.882, p90=80.414, p99=91.860, min=72.236, mean=77.804, max=1_405.310
    )


def test_one_way_times_of_a_ddsperf_subscriber_are_not_doubled() -> None:
    log = log_of("ddsperf-sublat.log")
    stream = one(log)
    assert (stream.cell.pattern, stream.cell.size, log.unread) == ("stream", 128, 0)
    assert (counts(stream).received, counts(stream).lost) == (40_051, 0)
    assert stream.rate_hz == pytest.approx(10_005.5, abs=0.5)
    times = us(stream.times.one_way_from_sent_ns)
    assert times.pop("mean") == pytest.approx(20.190, abs=5e-4)
    assert times == near(p50=19.190, p90=24.026, p99=31.4915, min=14.557, max=709.210)
    of_seconds = warning(stream, "median-of-seconds")
    assert "its rate is the median of the rates in 4" in of_seconds
    assert "each of its quantiles is the median" in of_seconds
    assert "half-round-trip" not in codes(stream)


def test_totals_of_throughput_subscriber_are_cumulative() -> None:
    log = log_of("cyclonedds-throughput-subscriber.log")
    stream = one(log)
    assert (stream.cell.adapter, stream.cell.size, log.unread) == ("cyclonedds (ThroughputSubscriber)", 480, 0)
    assert counts(stream).received == 154_636
    assert stream.counted == ("received",), "out of order is not lost"
    assert stream.rate_hz == 24_901.73


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "latencytest-overhead-us.log",
            {
                32: (3.860, 4.192, 4.646, 3.536, 4.050, 3.508, 140.870),
                4096: (6.418, 6.902, 7.566, 5.892, 6.618, 3.874, 207.712),
                262_144: (70.386, 75.668, 83.174, 64.476, 71.214, 7.528, 468.952),
            },
        ),
        (
            "latencytest-overhead-ns.log",
            {
                64: (2.620, 3.034, 3.588, 2.174, 2.690, 0.898, 44.010),
                524_288: (47.222, 51.336, 57.482, 42.992, 48.462, 16.320, 781.324),
            },
        ),
    ],
)
def test_latencytest_is_read_in_both_units_of_its_overhead(name: str, rows: dict[int, tuple[float, ...]]) -> None:
    log = log_of(name)
    assert log.unread == 0
    fields = ("p50", "p90", "p99", "min", "mean", "stdev", "max")
    assert {each.cell.size: us(each.times.round_trip_ns) for each in log.measured} == {
        size: near(**dict(zip(fields, figures, strict=True))) for size, figures in rows.items()
    }
    for each in log.measured:
        assert (each.samples, each.cell.processes, each.cell.adapter) == (5_000, 1, "fastdds (LatencyTest)")
        assert "half-round-trip" in codes(each)


def test_a_table_with_two_decimals_is_refused_with_the_reason() -> None:
    from middlemark.imports import NotRead

    with pytest.raises(NotRead, match=r"two decimals.*before 1\.9\.4.*\[\[figures\]\]"):
        log_of("latencytest-two-decimals.log")


def test_a_table_of_another_program_is_neither_doubled_nor_of_fast_dds() -> None:
    small, large = log_of("latencytest-lookalike-three-decimals.log").measured
    assert small.cell.adapter == "middleware unknown (LatencyTest's table)"
    for each, p50, low, high in ((small, 371.673, 360.077, 405.035), (large, 380.898, 364.088, 427.121)):
        times = us(each.times.round_trip_ns)
        assert (times["p50"], times["min"], times["max"], each.samples) == (p50, low, high, 400)
        assert "another-program" in codes(each)
        assert "half-round-trip" not in codes(each)


def test_one_burst_has_no_rest() -> None:
    log = log_of("throughputtest-one-burst-rows-cut.log")
    assert [each.cell.size for each in log.measured] == [48, 48, 48, 200, 200]
    assert log.unread == 1
    assert sorted(each.rate_hz or 0 for each in log.measured[:3])[1] == 35_069.127
    assert sorted(each.sent_hz or 0 for each in log.measured[:3])[1] == 35_080.399
    assert [counts(each).lost for each in log.measured] == [0, 0, 0, 0, 3]
    assert not any("rest-included" in codes(each) for each in log.measured)


def test_the_rate_of_an_rtiperftest_summary_has_two_names() -> None:
    stream = one(log_of("rtiperftest-packets_s_ave.json"))
    assert (stream.cell.pattern, stream.cell.size, stream.rate_hz) == ("stream", 256, 803_034)
    assert (counts(stream).received, counts(stream).lost) == (2_650_013, 1_204)


def test_a_latency_csv_of_rtiperftest_counts_its_round_trips() -> None:
    log = log_of("rtiperftest-3.1-latency.csv")
    ping = one(log)
    assert (ping.cell.size, ping.samples, log.unread) == (128, 13, 0)
    assert us(ping.times.round_trip_ns) == near(mean=188, stdev=85.2, min=134, max=466)
    assert "half-round-trip" in codes(ping)
    assert "0.287 µs" in warning(ping, "serialization")
    assert "0.301 µs" in warning(ping, "serialization")
    assert "24.26 % of one processor" in warning(ping, "cost-of-one-process")


def test_a_throughput_csv_of_rtiperftest_gives_its_summary() -> None:
    log = log_of("rtiperftest-3.1-throughput.csv")
    stream = one(log)
    assert (stream.cell.pattern, stream.cell.size, stream.rate_hz, log.unread) == ("stream", 64, 1_396_120, 0)
    assert (counts(stream).received, counts(stream).lost) == (2_310_044, 640)
    assert "19.02 % of one processor" in warning(stream, "cost-of-one-process")


def test_a_latency_scan_of_rtiperftest_without_intervals_has_unknown_samples() -> None:
    log = log_of("rtiperftest-4-latency-scan.csv")
    small, large = log.measured
    assert (small.cell.size, large.cell.size, log.unread) == (32, 1024, 0)
    assert us(small.times.round_trip_ns) == near(mean=78, stdev=13.6, min=62, max=582, p50=74, p90=92, p99=116)
    assert us(large.times.round_trip_ns) == near(mean=88, stdev=16.4, min=68, max=548, p50=84, p90=106, p99=140)
    assert "samples-unknown" in codes(small)
    shown = {each.code for row in results((source(log), log)) for each in row.warnings}
    assert "p99-few-samples" not in shown, "the number of samples is unknown, not 0"


def test_a_quantile_below_a_lower_one_is_absent_and_named() -> None:
    ping = one(log_of("rtiperftest-java-p99.99-is-minimum.csv"))
    assert us(ping.times.round_trip_ns) == near(mean=118, stdev=22.2, min=90, max=804, p50=112, p90=142, p99=192)
    assert "p99.99" in warning(ping, "contradiction")
    assert "90 µs" in warning(ping, "contradiction")


def test_legacy_text_of_rtiperftest_is_half_round_trips() -> None:
    log = log_of("rtiperftest-legacy-latency.log")
    ping = one(log)
    assert (ping.cell.pattern, ping.cell.size, ping.samples, log.unread) == ("ping-pong", 2048, 9, 0)
    assert us(ping.times.round_trip_ns) == near(mean=154, stdev=78.4, min=112, max=374)


def test_legacy_text_of_a_subscriber_is_a_row_for_each_length() -> None:
    log = log_of("rtiperftest-legacy-throughput.log")
    assert [(each.cell.size, counts(each).received, counts(each).lost, each.rate_hz) for each in log.measured] == [
        (32, 3_058_771, 0, 1_019_590),
        (1024, 955_318, 97, 318_439),
    ]
    assert log.unread == 0


def test_columns_of_performance_test_are_rates() -> None:
    log = log_of("performance_test-columns-are-rates.csv")
    stream = one(log)
    cell = stream.cell
    assert (cell.adapter, cell.reliability, cell.subscribers, cell.size) == (
        "ROS2 rmw_fastrtps_cpp (performance_test)", "reliable", 1, 1 << 20,
    )  # fmt: skip
    assert {"rate", "publishers"} <= set(cell.unknown), "the rate is that of the subscriber's own settings"
    assert counts(stream).received == 64
    assert stream.rate_hz == pytest.approx(11.4, abs=0.05)
    times = us(stream.times.one_way_from_sent_ns)
    assert (times["min"], times["max"]) == (pytest.approx(22_810), pytest.approx(34_790))
    assert times["mean"] == pytest.approx(24_000, abs=5)
    assert times["stdev"] == pytest.approx(1_720, abs=5)
    assert counts(stream).lost == 3
    assert "sent" not in stream.counted
    assert "lost 3 to 9" in warning(stream, "rates-cut-off")
    assert log.unread == 0


def test_three_subscribers_of_performance_test_in_a_cut_file() -> None:
    log = log_of("performance_test-three-subscribers-cut.csv")
    stream = one(log)
    cell = stream.cell
    assert (cell.adapter, cell.reliability, cell.subscribers, cell.size, cell.rate) == (
        "ROS2 rmw_cyclonedds_cpp (performance_test)", "best-effort", 3, 256 << 10, 500,
    )  # fmt: skip
    assert (counts(stream).received, counts(stream).sent) == (7_507, 2_505)
    assert stream.rate_total_hz == pytest.approx(1_498, abs=0.5)
    assert stream.rate_hz == pytest.approx(499.4, abs=0.05)
    assert "lost 4 to 18" in warning(stream, "rates-cut-off")
    times = us(stream.times.one_way_from_sent_ns)
    assert (times["min"], times["max"]) == (pytest.approx(239.1), pytest.approx(2_025))
    assert times["mean"] == pytest.approx(351.1, abs=0.05)
    assert times["stdev"] == pytest.approx(61.5, abs=0.05)
    assert log.unread == 1
    assert log.first_unread is not None
    assert log.first_unread[0] == 27, "CR LF is one line end"


def test_the_first_row_of_performance_test_2_lasts_since_the_boot() -> None:
    stream = one(log_of("performance_test-2-first-row-since-boot.csv"))
    cell = stream.cell
    assert (cell.adapter, cell.reliability, cell.size, cell.rate) == (
        "CycloneDDS (performance_test)", "reliable", 1024, "max",
    )  # fmt: skip
    assert counts(stream).received == 240_787
    assert "received 240,787 to 240,805" in warning(stream, "rates-cut-off")
    assert stream.rate_hz == pytest.approx(48_131, abs=0.5)
    assert counts(stream).lost == 3
    times = us(stream.times.one_way_from_sent_ns)
    assert (times["min"], times["max"]) == (pytest.approx(5.446), pytest.approx(423.1))
    assert times["mean"] == pytest.approx(9.224, abs=5e-4)
    assert times["stdev"] == pytest.approx(4.35, abs=0.005)


def test_round_trips_of_z_ping_are_whole() -> None:
    log = log_of("z_ping.log")
    ping = one(log)
    assert (ping.cell.adapter, ping.cell.size, ping.samples, log.unread) == ("zenoh (z_ping)", 2048, 23, 1)
    assert us(ping.times.round_trip_ns) == {
        "p50": 227, "min": 195, "max": 356, "mean": pytest.approx(234.7, abs=0.05), "stdev": pytest.approx(44, abs=5),
    }  # fmt: skip
    assert "half-round-trip" not in codes(ping)


def test_every_row_of_irobots_results_is_a_stream() -> None:
    log = log_of("irobot-latency_all.txt")
    assert log.unread == 0
    rows = {dict(each.cell.native)["topic"]: each for each in log.measured}
    assert list(rows) == ["oslo wheel", "oslo gyro", "bergen scan", "bergen wheel", "narvik plan", "narvik gyro"]
    received = [counts(each).received for each in log.measured]
    assert sum(received) == 24_722
    assert sum(counts(each).late for each in log.measured) == 76
    assert sum(counts(each).lost for each in log.measured) == 4
    means = [us(each.times.one_way_from_sent_ns)["mean"] for each in log.measured]
    assert sum(map(math.prod, zip(means, received, strict=True))) / 24_722 == pytest.approx(630.5, abs=0.05)
    scan = rows["bergen scan"]
    assert us(scan.times.one_way_from_sent_ns) == near(mean=902, stdev=1_204, min=402, max=31_877)
    assert (scan.cell.size, scan.cell.rate) == (5_000, 10)
    assert "longer than 50 ms or than a period: 3 messages" in warning(scan, "maximum-cut")
    assert "maximum-cut" not in codes(rows["oslo wheel"])


def test_irobots_totals_are_one_row() -> None:
    total = one(log_of("irobot-latency_total.txt"))
    assert us(total.times.one_way_from_sent_ns) == near(mean=630)
    assert (counts(total).received, counts(total).late, counts(total).lost) == (24_722, 76, 4)
    assert "a period: 4 messages" in warning(total, "maximum-cut")


def test_the_time_to_publish_in_irobots_results_is_no_latency() -> None:
    log = log_of("irobot-latency_all-2023-12.txt")
    lidar, odom = log.measured
    assert (lidar.cell.size, odom.cell.size, log.unread) == (10_020, 36, 0)
    assert counts(lidar).received + counts(odom).received == 4_199
    assert counts(lidar).late + counts(odom).late == 10
    assert counts(lidar).lost + counts(odom).lost == 1
    assert us(odom.times.one_way_from_sent_ns)["max"] == 4_005
    assert "maximum-cut" in codes(odom)


def test_figures_without_times_need_no_halves() -> None:
    small, middle, large, stopped = log_of("figures-without-times.toml").measured
    assert [each.cell.size for each in (small, middle, large, stopped)] == [32, 512, 8192, 65_536]
    assert (small.sent_hz, small.rate_hz) == (121_250, 120_765)
    assert (stopped.sent_hz, stopped.rate_hz, stopped.failed) == (2_640, None, None)
    assert "the run was stopped" in warning(stopped, "figures-missing")
    assert "half-round-trip" not in codes(small)
    for each, share in ((small, 0.004), (middle, 0.001), (large, 0)):
        assert each.sent_hz is not None
        assert each.rate_hz is not None
        assert 1 - each.rate_hz / each.sent_hz == pytest.approx(share, abs=1e-5)


@pytest.mark.parametrize("name", ["irobot-actions-only.json", "rosbag2-metadata-only.yaml"])
def test_a_workload_is_no_log(name: str) -> None:
    assert find(fixture(f"pasted/{name}")) is None


@pytest.mark.parametrize(
    ("name", "printed", "wrong", "text"),
    [
        (
            "throughputtest-one-burst-rows-cut.log",
            b"35625.938,     13.680",
            b"35625.938,     1.368 ",
            "Mbit/s is 1.368",
        ),
        ("throughputtest-one-burst-rows-cut.log", b"561389,   35625.938", b"561389,   95625.938", "rate is 95,625.9"),
        ("rtiperftest-3.1-throughput.csv", b"1396120,       714.8", b"2396120,       714.8", "Mbit/s is 714.8"),
        (
            "roundtripping-two-runs-and-prompt.log",
            b"7365       65       55",
            b"7365       65       85",
            "in 2 of 3 lines",
        ),
        ("ddsperf-lone-ping-line.log", b"50% 38.441us", b"50% 58.441us", "116.882 µs"),
        (
            "latencytest-overhead-us.log",
            b"1.768,   1.930,   2.096,   2.323",
            b"1.768,   1.930,   2.096,   0.000",
            "p99 is 0 µs",
        ),
        ("latencytest-overhead-us.log", b"2.025,   1.768", b"0.025,   1.768", "mean round trip, 0.05 µs"),
    ],
)
def test_figures_that_contradict_each_other_are_marked(name: str, printed: bytes, wrong: bytes, text: str) -> None:
    data = fixture(f"pasted/{name}")
    assert not any("contradiction" in codes(each) for each in read(data).measured)
    assert printed in data
    marked = [each for each in read(data.replace(printed, wrong)).measured if "contradiction" in codes(each)]
    assert any(text in each.text for trial in marked for each in trial.warnings if each.code == "contradiction")


def test_a_rate_below_zero_is_left_out_and_marked() -> None:
    data = fixture("pasted/ros2_benchmark.json")
    damaged = data.replace(b'PLAYBACK_FRAME_RATE": 10.2', b'PLAYBACK_FRAME_RATE": -1')
    assert damaged != data
    [row] = [each for each in read(damaged).measured if "contradiction" in codes(each)]
    assert row.sent_hz is None
    assert "below zero" in warning(row, "contradiction")


def test_more_messages_than_were_sent_are_marked() -> None:
    figures = b'document = "x"\ntool = "y"\nunit = "us"\n[[figures]]\nadapter = "a"\npattern = "stream"\nsize = 32\n'
    assert not codes(one(read(figures + b"sent = 10.0\nreceived = 9.0\n"))) & {"contradiction"}
    assert "contradiction" in codes(one(read(figures + b"sent = 10.0\nreceived = 19.0\n")))


OF_1_3 = """Performance Test Version: 1.3.6
Communication mean: CycloneDDS
QOS: Reliability: RELIABLE
Publishing rate: 1000
Msg name: Array1k
Number of publishers: 1
Number of subscribers: 1
Roundtrip Mode: NONE

---EXPERIMENT-START---
T_experiment,\tT_loop,\treceived,\tsent,\tlost,\trelative_loss,\tdata_received,\t\
latency_min (ms),\tlatency_max (ms),\tlatency_mean (ms),\tlatency_variance (ms)
0.000000,\t\t500.250000,\t\t1,\t\t1,\t\t0,\t\t0.00,\t\t2079,\t\t0.1,\t\t0.4,\t\t0.2,\t\t1e-06
1.000500,\t\t1.000500,\t\t999,\t\t999,\t\t0,\t\t0.00,\t\t1039480,\t\t0.1,\t\t0.4,\t\t0.21,\t\t1e-06
2.001000,\t\t1.000500,\t\t0,\t\t0,\t\t0,\t\t0.00,\t\t1039480,\t\t0.1,\t\t0.4,\t\t0.21,\t\t1e-06
3.001500,\t\t1.000500,\t\t998,\t\t999,\t\t0,\t\t0.00,\t\t1038440,\t\t0.05,\t\t0.9,\t\t0.22,\t\t4e-06
"""


def test_version_1_3_of_performance_test_repeats_bytes_and_accumulates_latencies() -> None:
    stream = one(read(OF_1_3.encode()))
    assert counts(stream).received == 1_000 + 1_000 + 0 + 999
    assert stream.rate_hz == pytest.approx((1_000 + 0 + 999) / 3.0015), "the silent second counts"
    times = us(stream.times.one_way_from_sent_ns)
    assert times["mean"] == pytest.approx(220), "the last row's, as each row includes all seconds so far"
    assert (times["min"], times["max"]) == (pytest.approx(50), pytest.approx(900))
    assert times["stdev"] == pytest.approx(63.2456, rel=1e-4)


def test_messages_of_an_unknown_type_are_a_range() -> None:
    data = fixture("pasted/performance_test-columns-are-rates.csv").replace(
        b"Topic name: Array1m", b"Topic name: Lidar"
    )
    stream = one(read(data))
    assert "size" in stream.cell.unknown
    assert "received 63 to 65" in warning(stream, "rates-cut-off")
    assert "received" not in stream.counted


def roundtripping(heading: str, count: int, median: int, least: int) -> ImportedTrial:
    line = f"{count} {median} {least} {median + 9} {median + 90} {count} 8 7 {count} 1 1"
    seconds = "".join(f"        {second} {line}\n" for second in range(1, 6))
    return one(
        read(f"# payloadSize: 64 | numSamples: 0 | timeOut: 0\n{heading}# Seconds Count median\n{seconds}".encode())
    )


LATENCY = "#             Latency [us]    Write-access time [us]\n"


@pytest.mark.parametrize(
    ("heading", "count", "median", "least", "p50_us", "marked"),
    [
        (LATENCY, 10_000, 48, 45, 96, False),
        (LATENCY, 10_000, 97, 95, 97, True),  # 10,000 round trips of at least 2 × 95 µs do not fit into a second
        (LATENCY, 10_000, 97, 5, 194, True),  # half of the round trips may be short
        ("", 10_000, 48, 45, 96, False),
        ("", 10_000, 97, 45, 97, True),
    ],
)
def test_halves_are_read_as_whole_only_if_they_do_not_fit_into_a_second(
    heading: str, count: int, median: int, least: int, p50_us: int, marked: bool
) -> None:
    ping = roundtripping(heading, count, median, least)
    assert us(ping.times.round_trip_ns)["p50"] == p50_us
    assert ("contradiction" in codes(ping)) == marked
