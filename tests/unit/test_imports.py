"""Imports of each tool's log: figures (checked by hand), units and warnings."""

import json
import re

import numpy as np
import pytest
from imports_cases import READ, codes, fixture, one, read, results, source

from middlemark.imports import FORMATS, NotRead, find, is_ours
from middlemark.imports.latencytest import RAW
from middlemark.model.times import Summary

FORMAT_OF = {
    "ddsperf": "ddsperf's lines",
    "roundtripping": "RoundtripPing's lines",
    "throughputtest": "ThroughputTest's table or --export_csv",
    "google-benchmark": "Google Benchmark's JSON",
    "rtiperftest": "rtiperftest's JSON",
}


@pytest.mark.parametrize("path", READ, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_fixture_is_recognised_and_read_to_its_last_line(path):
    data = path.read_bytes()
    found = find(data)
    assert found is not None
    assert found.name == FORMAT_OF.get(path.parent.name, found.name)
    assert found.tool.lower().replace(" ", "-") == path.parent.name
    log = read(data)
    assert log.measured
    assert log.unread == 0, log.first_unread


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_format_declares_what_its_versions_print(form):
    assert form.forms or form.tool == "document"
    for each in form.forms:
        assert each.tool
        assert each.versions
        assert each.source
        assert len({(column.name, column.becomes) for column in each.columns}) == len(each.columns)


@pytest.mark.parametrize("path", READ, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_log_is_recognised_by_two_formats(path):
    assert sum(bool(each.known.search(path.read_bytes())) for each in FORMATS) == 1


@pytest.mark.parametrize("path", READ, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_row_is_marked_as_imported_and_lists_its_unknown_factors(path):
    for measured in read(path.read_bytes()).measured:
        if measured.failed is None:
            warning = next(each for each in measured.warnings if each.code == "imported")
            assert "the machine" in warning.text
            assert "receive" in warning.text
        assert {"transport", "receive", "pin"} <= set(measured.cell.unknown)


def test_half_round_trips_of_ddsperf_are_doubled_with_a_warning():
    log = one(read(fixture("ddsperf/ping.log")))
    # the medians of five seconds, as printed: 8.863 10.741 9.113 10.791 10.155
    assert log.times.round_trip_ns.p50 == pytest.approx(2 * 10_155)
    assert log.times.round_trip_ns.p99 == pytest.approx(2 * 22_738)
    assert log.times.round_trip_ns.min == pytest.approx(2 * 8_392)
    assert log.times.round_trip_ns.max == pytest.approx(2 * 2_777_855)
    counts = [37_513, 31_743, 32_459, 35_392, 37_041]
    means = [13.265, 15.679, 15.345, 14.077, 13.405]
    assert log.times.round_trip_ns.mean == pytest.approx(2_000 * np.average(means, weights=counts))
    assert log.samples == sum(counts)
    assert {"half-round-trip", "median-of-seconds", "first-samples-only"} <= codes(log)


def test_seconds_with_few_samples_raise_no_warning_about_ddsperfs_percentiles():
    log = one(read(fixture("ddsperf/ping.log").replace(b"cnt 3", b"cnt 1")))
    assert "first-samples-only" not in codes(log)
    assert log.times.round_trip_ns.p99 is not None


def test_percentiles_of_too_few_round_trips_a_second_are_absent():
    times = one(read(fixture("ddsperf/two-pongs.log"))).times.round_trip_ns
    assert times.p50 is not None
    assert times.p99 is None, "of 100 round trips in a second, the 99 % quantile is the maximum"


def test_a_ping_with_two_pongs_is_one_trial_with_figures_of_each_reply():
    log = one(read(fixture("ddsperf/two-pongs.log")))
    assert log.cell.subscribers == 2
    assert "each-reply" in codes(log)
    assert "each-reply" not in codes(one(read(fixture("ddsperf/ping.log"))))


def test_two_ddsperf_in_one_file_are_separated_by_their_process():
    ping, stream = read(fixture("ddsperf/pub-and-sub.log")).measured
    assert (ping.cell.pattern, stream.cell.pattern) == ("ping-pong", "stream")
    assert ping.samples == 104 + 104 + 103 + 108 + 101
    assert stream.counts is not None
    assert (stream.counts.received, stream.counts.lost) == (5_001, 0)
    assert stream.rate_hz == pytest.approx(1_000, rel=0.01)


def test_pings_among_data_get_a_warning_and_pings_alone_get_none():
    among, _ = read(fixture("ddsperf/one-process.log")).measured
    assert "among-data" in codes(among)
    assert "among-data" not in codes(one(read(fixture("ddsperf/ping.log"))))


def test_timed_out_pings_of_ddsperf_are_lost_replies():
    log = fixture("ddsperf/ping.log") + b"[20704] ping timed out (total 3 times) ... sending new ping\n"
    assert read(log).unread == 0
    lossy, whole = one(read(log)), one(read(fixture("ddsperf/ping.log")))
    assert lossy.counts is not None
    assert (lossy.counts.lost, lossy.counted) == (3, ("received", "lost"))
    assert whole.counted == ("received",), "a count without a line is not zero"


@pytest.mark.parametrize(
    "line",
    [
        b"[7] 1.000  eth0: xmit 12% recv 3% [1200 340]",
        b"[7] 1.000  eth0: xmit 12.11 Mb/s recv 3.02 Mb/s [1200 340]",
        b"[7] participant vm:8: failed to match in 5.000s",
        b"[7] error: 12 samples lost",
        b"[7] note: RSS init 7.1MB final 7.3MB",
    ],
)
def test_lines_of_ddsperf_that_are_not_imported_are_recognised(line):
    log = read(fixture("ddsperf/ping.log") + line + b"\n")
    assert log.unread == 0
    assert read(fixture("ddsperf/ping.log") + line + b"[8] 2.0\n").unread == 1


def test_the_costs_printed_by_ddsperf_are_in_its_row():
    [ping] = results((source(log := read(fixture("ddsperf/ping.log"))), log))
    cost = ping.resources
    assert cost is not None
    assert cost.rss_bytes == pytest.approx(7.8 * 2**20, rel=1e-6)
    assert cost.voluntary_hz == pytest.approx(np.mean([19442, 17005, 16309, 17841, 18719]))
    assert cost.involuntary_hz == pytest.approx(np.mean([18193, 14804, 16181, 17633, 18274]))
    assert (cost.user, cost.system) == (pytest.approx(0.116), pytest.approx(0.258))
    assert [(each.name, each.cpu) for each in cost.workers[0].threads] == [
        ("recvUC", pytest.approx(0.372)),
        ("ddsperf", pytest.approx(0.002)),
    ]
    assert (cost.minor_faults, cost.workers[0].major_faults) == (None, None), "the log does not contain faults"
    assert {"cost-in-per-cents", "cost-of-one-process"} <= {each.code for each in ping.warnings}


def test_the_costs_of_ddsperfs_peer_are_also_in_the_row():
    stream = one(read(fixture("ddsperf/flood-sub.log")))
    assert [(each.who, round(each.rss_bytes / 2**20, 1)) for each in stream.costs] == [
        ("process 20879", 9.2),
        ("process 20880", 7.5),
    ]
    assert "cost-of-one-process" not in codes(stream)


def test_a_process_with_its_own_lines_in_the_log_counts_once():
    both = fixture("ddsperf/flood-sub.log") + b"[20880] 2.000  rss:7.5MB vcsw:65 ivcsw:30273 pub:7%+40%\n"
    assert [each.who for each in one(read(both)).costs] == ["process 20879", "process 20880"]
    assert one(read(both)).costs[1].seconds == 1.0


def test_pings_among_data_have_no_cost_because_the_printed_cost_is_that_of_the_data():
    pings, stream = read(fixture("ddsperf/one-process.log")).measured
    assert pings.costs == ()
    assert len(stream.costs) == 1


def test_unanswered_pings_of_ddsperf_are_a_run_without_a_result():
    log = read(fixture("ddsperf/ping.log") + b"[7] ping timed out (total 3 times) ... sending new ping\n")
    _, hung = log.measured
    assert hung.failed is not None
    assert "3 pings that timed out but no result" in hung.failed.text


def test_ddsperf_within_one_process_is_recognised():
    ping, stream = read(fixture("ddsperf/one-process.log")).measured
    assert ping.cell.processes == 1
    assert "processes" not in ping.cell.unknown
    assert "processes" in stream.cell.unknown


def test_the_rate_of_a_ddsperf_subscriber_is_the_median_of_its_seconds_with_its_loss():
    log = one(read(fixture("ddsperf/flood-sub.log")))
    assert log.counts is not None
    assert log.counts.lost == 30_089
    assert log.counts.received == 36_583
    # 8878 in the first second (8.87 kS/s printed), then calculated from the instants: 10017/0.999, 8166, 9475, 47
    assert log.rate_hz == pytest.approx(8_870)


def test_silent_seconds_between_messages_count():
    line = b"[7] %d.000  size 16 total 1 lost 0 delta %d lost 0 rate 0.00 kS/s 0.00 Mb/s (0.00 kS/s 0.00 Mb/s)\n"
    deltas = (0, 0, 100, 0, 0, 0, 100, 0)
    log = one(read(b"".join(line % (at, delta) for at, delta in enumerate(deltas, start=1))))
    assert log.rate_hz == 0, "three of five seconds had no messages"


def test_roundtripping_keeps_its_own_overall_figures_doubled():
    log = one(read(fixture("roundtripping/ping.log")))
    assert log.times.round_trip_ns == Summary(p50=48_000, min=22_000, p99=84_000, max=32_078_000)
    assert log.times.write_ns == Summary(p50=11_000, min=4_000)
    assert log.times.take_ns == Summary(p50=5_000, min=0)
    assert log.cell.size == 1024
    assert log.samples == 69_569
    truncated = next(each for each in log.warnings if each.code == "first-samples-only")
    assert "50,000 of 69,569" in truncated.text
    assert "46 µs" in truncated.text, "the warning also contains the figure of its seconds"


def test_a_complete_short_roundtripping_has_no_p99_of_300_round_trips():
    log = one(read(fixture("roundtripping/short.log")))
    assert "first-samples-only" not in codes(log)
    assert log.times.round_trip_ns.p50 == 40_000
    assert log.times.round_trip_ns.p99 is None


def test_a_killed_roundtripping_gives_the_medians_of_its_seconds():
    data = fixture("roundtripping/ping.log")
    log = one(read(data[: data.index(b"# Overall")]))
    assert log.times.round_trip_ns.p50 == 2_000 * 23
    assert "median-of-seconds" in codes(log)


def test_two_consecutive_roundtrippings_are_two_trials():
    log = read(fixture("roundtripping/ping.log") + fixture("roundtripping/short.log"))
    assert [each.cell.size for each in log.measured] == [1024, 64]
    assert not any("interleaved" in codes(each) for each in log.measured)


def test_two_concurrent_roundtrippings_of_one_size_are_marked():
    lines = fixture("roundtripping/ping.log").splitlines(keepends=True)
    log = read(b"".join(line + line for line in lines))
    assert "interleaved" in codes(log.measured[0])
    assert log.unread == 1, "the second # Overall cannot be attributed"


def test_two_concurrent_roundtrippings_of_two_sizes_cannot_be_separated_and_are_unread():
    lines = fixture("roundtripping/ping.log").splitlines(keepends=True)
    log = read(b"".join(line + line.replace(b"payloadSize: 1024", b"payloadSize: 64") for line in lines))
    assert log.measured == ()
    assert log.unread == 10


def test_a_roundtripping_without_a_figure_is_a_run_without_a_result():
    whole = fixture("roundtripping/short.log")
    hung = whole[: whole.index(b"\n# Overall")].replace(b"payloadSize: 64 ", b"payloadSize: 65536 ")
    for data, sizes in (
        (whole + hung, [64, 65536]),
        (hung + whole, [65536, 64]),
        (hung[: hung.index(b"# Warm")] + whole, [65536, 64]),
        (hung, [65536]),
    ):
        log = read(data)
        assert [each.cell.size for each in log.measured] == sizes
        for each in log.measured:
            assert (each.failed is None) == (each.cell.size == 64)
            assert each.failed is None or "65,536 bytes but no result" in each.failed.text


def test_latencies_of_latencytest_are_half_round_trips_despite_its_heading():
    data = fixture("latencytest/one-process.log")
    assert b"round-trip times" in data
    first = read(data).measured[0]
    assert first.times.round_trip_ns.p50 == pytest.approx(2 * 1_857)
    assert first.times.round_trip_ns.p99 == pytest.approx(2 * 41_541)
    assert first.times.round_trip_ns.stdev == pytest.approx(2 * 11_901)
    assert first.times.round_trip_ns.p99_99 is None, "p99.99 of 2,000 samples would be the second largest"
    assert {"half-round-trip", "samples-dropped"} <= codes(first)


def test_the_raw_samples_of_latencytest_give_exact_quantiles():
    data = fixture("latencytest/raw.csv")
    rows = [line.split(b",") for line in data.splitlines()[1:]]
    values = np.array([float(row[2]) for row in rows if row[1] == b"16"])
    assert find(data) is RAW
    log = next(each for each in read(data).measured if each.cell.size == 16)
    assert log.samples == len(values)
    assert log.times.round_trip_ns.p50 == pytest.approx(2_000 * np.quantile(values, 0.5, method="inverted_cdf"))
    assert log.times.round_trip_ns.mean == pytest.approx(2_000 * values.mean())
    assert log.times.round_trip_ns.max == pytest.approx(2_000 * values.max())


def test_throughputtest_keeps_burst_recovery_and_received_rate():
    table, export = (read(fixture(f"throughputtest/{name}")).measured for name in ("both.log", "export.csv"))
    assert [each.cell for each in table] == [each.cell for each in export]
    last = table[2]
    assert (last.cell.size, last.cell.burst, last.cell.recovery_s) == (1024, 100, 0.02)
    assert last.rate_hz == 4920.091, "the received rate, not the sent rate (5012.884)"
    assert last.sent_hz == 5012.884
    assert last.counts is not None
    assert (last.counts.sent, last.counts.received, last.counts.lost) == (5_100, 5_100, 0)
    assert {"rest-included", "subscribers-added"} <= codes(last)


def test_throughputtests_loss_is_everything_sent_that_did_not_arrive():
    table = fixture("throughputtest/both.log").replace(
        b"5012.884,     41.066,        5100,           0,", b"5012.884,     41.066,         510,        2912,"
    )
    last = read(table).measured[2]
    assert last.counts is not None
    assert (last.counts.sent, last.counts.received, last.counts.lost) == (5_100, 510, 4_590)
    (why,) = [each for each in last.warnings if each.code == "gaps-only"]
    assert "2,912" in why.text
    assert "4,590" in why.text


def test_throughputtest_without_a_loss_has_no_warning_about_losses():
    assert not any("gaps-only" in codes(each) for each in read(fixture("throughputtest/both.log")).measured)


def test_performance_test_has_only_moments_and_a_variance_in_another_unit_than_stated():
    log = one(read(fixture("performance_test/log.csv")))
    counts, means, variances = [998, 1000, 1001], [0.1183, 0.1207, 0.1179], [2.41e-6, 3.1e-6, 2.2e-6]
    times = log.times.one_way_from_sent_ns
    mean = np.average(means, weights=counts)
    assert times.mean == pytest.approx(1e6 * mean)
    # performance_test prints the variance in s², times 1,000
    squares = [v / 1e3 * 1e18 + (m * 1e6) ** 2 for v, m in zip(variances, means, strict=True)]
    assert times.stdev == pytest.approx(np.sqrt(np.average(squares, weights=counts) - (1e6 * mean) ** 2))
    assert (times.min, times.max) == (pytest.approx(59_800), pytest.approx(1_204_000))
    assert times.p50 is None
    assert log.cell.size == 1024, "the time and the number of a message are not in the name of its type"
    assert log.cell.rate == 1000.0
    assert log.cell.reliability == "reliable"
    assert log.counts is not None
    assert log.counts.lost == 3, "2 a second, cut off, in more than a second"
    assert {"no-quantiles", "size-of-type"} <= codes(log)


def test_performance_test_in_json_is_in_seconds_with_the_rate_of_one_subscriber():
    log = one(read(fixture("performance_test/log.json")))
    times = log.times.one_way_from_sent_ns
    assert (times.min, times.max) == (pytest.approx(100_000), pytest.approx(900_000)), (
        "a second without samples has no min and max"
    )
    assert log.cell.subscribers == 2
    assert log.rate_total_hz == pytest.approx((198 + 200) / 2.0002), "messages began within the first second"
    assert log.rate_hz == pytest.approx((198 + 200) / 2.0002 / 2)
    assert log.cell.adapter == "RCLCPP_SINGLE_THREADED_EXECUTOR rmw_cyclonedds_cpp (performance_test)"


def test_performance_test_rows_without_a_length_are_spaced_by_their_times():
    text = fixture("performance_test/log.json").decode().replace('"loop_start":1000100000', '"loop_start":0')
    assert one(read(text.encode())).rate_total_hz == pytest.approx((198 + 200) / 2.0002)


def test_round_trips_of_performance_test_are_not_doubled_and_its_relay_is_refused():
    main = one(read(fixture("performance_test/log.csv").replace(b"Mode: NONE", b"Mode: MAIN")))
    assert main.times.round_trip_ns.mean == pytest.approx(118_966, rel=1e-3), "not doubled"
    assert "half-round-trip" not in codes(main)
    relay = one(read(fixture("performance_test/log.csv").replace(b"Mode: NONE", b"Mode: RELAY")))
    assert relay.failed is not None
    assert "Main" in relay.failed.advice


def test_negative_one_way_latencies_raise_a_warning():
    data = fixture("performance_test/log.csv")
    assert "clocks-differ" not in codes(one(read(data)))
    assert "clocks-differ" in codes(one(read(data.replace(b"0.0598", b"-0.598"))))


def test_one_way_times_of_rtiperftest_are_half_round_trips():
    first = read(fixture("rtiperftest/latency.json")).measured[0]
    assert first.times.round_trip_ns.p50 == 56_000
    assert first.times.round_trip_ns.p99_99 == 620_000
    assert {"half-round-trip", "samples-unknown", "load-unknown"} <= codes(first)


def test_rtiperftest_reports_received_and_lost_messages():
    log = one(read(fixture("rtiperftest/throughput.json")))
    assert (log.rate_hz, log.counts.lost if log.counts else None) == (201_500, 12)
    assert log.cell.pattern == "stream"


def test_a_killed_rtiperftest_gives_its_complete_intervals():
    data = fixture("rtiperftest/throughput.json")
    log = read(data[: data.index(b'"packets/s": 199000')])
    assert one(log).rate_hz == 202_500
    assert "no-summary" in codes(one(log))
    assert log.unread == 1


def test_rtiperftest_without_a_figure_counts_as_unread():
    document = json.loads(fixture("rtiperftest/latency.json"))
    document["perftest"][0] |= {"summary": {}, "intervals": []}
    log = read(json.dumps(document).encode())
    assert (len(log.measured), log.unread) == (len(document["perftest"]) - 1, 1)


def test_a_repetition_of_google_benchmark_is_a_trial_and_a_failed_one_has_its_reason():
    log = read(fixture("google-benchmark/repeated.json"))
    named = [dict(each.cell.native)["benchmark"] for each in log.measured]
    assert named.count("memcpy/1024") == 3, "the mean and median of the three repetitions are not trials"
    first = log.measured[0]
    document = json.loads(fixture("google-benchmark/repeated.json"))["benchmarks"][0]
    assert first.times.round_trip_ns == Summary(mean=document["real_time"])
    assert first.cell.size == 1024, "calculated from its bytes per second, which are per processor time"
    assert {"iteration-not-round-trip", "no-quantiles"} <= codes(first)
    failed = next(each for each in log.measured if each.failed)
    assert "no such transport" in (failed.failed.text if failed.failed else "")
    assert "debugging" in log.notes[0]


def test_means_are_used_if_google_benchmark_printed_only_aggregates():
    document = json.loads(fixture("google-benchmark/repeated.json"))
    document["benchmarks"] = [each for each in document["benchmarks"] if each["run_type"] == "aggregate"]
    log = read(json.dumps(document).encode())
    assert [dict(each.cell.native)["benchmark"] for each in log.measured] == ["memcpy/1024", "memcpy/65536"]


def test_a_size_guessed_from_a_name_gets_a_warning():
    text = fixture("google-benchmark/single.json").decode()
    guessed = read(re.sub(r',\s+"bytes_per_second": [\d.e+]+', "", text).encode()).measured[0]
    assert guessed.cell.size == 1024
    assert "size-guessed" in codes(guessed)
    nameless = re.sub(r',\s+"bytes_per_second": [\d.e+]+', "", text).replace("memcpy/1024", "memcpy")
    unknown = read(nameless.encode()).measured[0]
    assert "size" in unknown.cell.unknown
    assert "size-guessed" not in codes(unknown)


@pytest.mark.parametrize(
    "text",
    [
        b"# first-look, 2026-03-01T12:00:00Z\n# As ddsperf 0.10 prints them; the differences, all of them:\n",
        "# x\n# Half round trips: the first median, min, 99% and max are halves of round trips, as in R…\n".encode(),
        b"# x\n# Half round trips in us: every time is half of a round trip, as in LatencyTest.\n",
    ],
)
def test_output_that_middlemark_printed_in_another_tools_format_is_recognised(text):
    assert is_ours(text)
    assert not is_ours(fixture("ddsperf/ping.log"))


FIGURES = """
document = "a page"
tool = "RoundtripPing"
unit = "us"
halves = true
[[figures]]
adapter = "cyclonedds"
transport = "shm"
pin = [0]
priority = "fifo:80"
samples = 10_000
size = [0, 65536]
p50 = [12, "the run gave no result"]
"p99.99" = [270, "the run gave no result"]
write_p50 = [3, "the run gave no result"]
"""


def test_figures_of_a_document_become_rows_without_samples():
    measured, hung = read(FIGURES.encode()).measured
    assert (measured.cell.adapter, measured.cell.transport, measured.cell.size) == (
        "cyclonedds (RoundtripPing)",
        "shm",
        0,
    )
    assert (measured.cell.pin, measured.cell.priority) == ((0,), "fifo:80")
    assert not {"size", "pin", "priority", "transport"} & set(measured.cell.unknown)
    assert {"receive", "reliability"} <= set(measured.cell.unknown)
    assert measured.times.round_trip_ns.p50 == 24_000, "half round trips are doubled"
    assert measured.times.write_ns.p50 == 3_000, "a write time is not doubled"
    assert measured.times.round_trip_ns.p99_99 is None, "only one of 10,000 samples is above the 99.99 % quantile"
    assert {"imported", "half-round-trip", "few-samples"} == codes(measured)
    assert hung.failed.text == "the run gave no result"


@pytest.mark.parametrize(
    ("was", "becomes", "problem"),
    [
        ('unit = "us"', 'unit = "hours"', "unit: write one of ns, us, ms, s"),
        ("halves = true", "", "halves: write true if"),
        ("samples = 10_000", 'colour = "red"', "figures 1: colour: no such key"),
        ("size = [0, 65536]", "size = [0]", "figures 1: the columns have 1, 2 values"),
        ("p50 = [12", "p50 = [-12", "p50: -12 is not a figure"),
        ('adapter = "cyclonedds"', "", "figures 1: adapter: missing"),
        ("halves = true", "halves =", "not TOML"),
    ],
)
def test_wrong_figures_are_refused_with_their_place(was, becomes, problem):
    with pytest.raises(NotRead, match=re.escape(problem)):
        read(FIGURES.replace(was, becomes, 1).encode())


FORMS = [form for log_format in FORMATS for form in log_format.forms if form.versions != "another program"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.tool} {form.versions}")
def test_each_form_names_the_file_and_the_version_of_the_source_that_was_read(form):
    for part in form.source.split(", "):
        files, at, version = part.rpartition(" at ")
        assert at
        assert re.match(r"\S+/\w+\.(?:c|cc|cpp|cxx|hpp|py|rs)\b", files), part
        assert re.match(r"(?:[vV]?\d+\.\d|release-|[0-9a-f]{7,8}$)", version), part
