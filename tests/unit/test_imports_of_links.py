"""Imports of the tools that measure a link or a whole graph: sockperf, iperf3 and ros2_benchmark."""

import json

import pytest
from imports_cases import codes, fixture, one, read
from test_imports_pasted import counts, log_of, near, us

SOCKPERF = "sockperf-ping-pong.log"


def test_latencies_of_sockperf_are_half_round_trips() -> None:
    log = log_of(SOCKPERF)
    ping = one(log)
    assert us(ping.times.round_trip_ns) == near(
        mean=49.310, stdev=6.240, p50=48.202, p90=55.220, p99=72.830, p99_9=123.804, min=39.760, max=620.894
    )
    assert ping.samples == 92_118
    assert (counts(ping).sent, counts(ping).received, counts(ping).lost) == (92_118, 92_118, 0)
    assert "half-round-trip" in codes(ping)
    assert log.unread == 1, "the shell's line"


def test_round_trips_of_sockperf_are_whole() -> None:
    data = fixture(f"pasted/{SOCKPERF}").replace(b"avg-latency", b"avg-rtt").replace(b"Latency is", b"Round trip is")
    ping = one(read(data))
    assert us(ping.times.round_trip_ns)["p50"] == 24.101
    assert "half-round-trip" not in codes(ping)


def test_the_message_rate_of_sockperf_is_what_was_sent() -> None:
    stream = one(read(b"sockperf: Summary: Message Rate is 812345 [msg/sec]\n"))
    assert (stream.cell.pattern, stream.sent_hz, stream.rate_hz) == ("stream", 812_345, None)
    assert "sent-not-received" in codes(stream)


def test_datagrams_of_iperf3_are_counted_without_the_lost_ones() -> None:
    stream = one(log_of("iperf3-udp.json"))
    assert (stream.cell.adapter, stream.cell.size) == ("udp (iperf3)", 1448)
    assert (counts(stream).sent, counts(stream).received, counts(stream).lost) == (86_326, 86_000, 326)
    assert (stream.rate_hz, stream.sent_hz) == (8_600, 8_632.6), "the printed rate is that before the loss"


def test_bytes_of_iperf3_over_tcp_are_writes() -> None:
    stream = one(log_of("iperf3-tcp.json"))
    assert (stream.cell.adapter, stream.cell.size) == ("tcp (iperf3)", 131_072)
    assert stream.rate_hz == pytest.approx(9_397_518_539 / 8 / 131_072)
    assert stream.sent_hz == pytest.approx(9_437_087_743 / 8 / 131_072)
    assert "bytes-not-messages" in codes(stream)
    assert stream.counts is None


def test_a_failed_iperf3_is_a_failed_row() -> None:
    document = json.loads(fixture("pasted/iperf3-tcp.json"))
    document |= {"end": {}, "error": "error - unable to send control message: Broken pipe"}
    failed = one(read(json.dumps(document).encode())).failed
    assert failed is not None
    assert "Broken pipe" in failed.text


def test_each_rate_of_ros2_benchmark_is_a_row() -> None:
    peak, slow = log_of("ros2_benchmark.json").measured
    assert us(peak.times.one_way_from_sent_ns) == near(mean=18_300, min=12_200, max=31_700)
    assert (peak.rate_hz, peak.sent_hz) == (60.84, 61.25)
    assert (counts(peak).sent, counts(peak).received, counts(peak).lost) == (306, 303, 3)
    assert dict(slow.cell.native)["benchmark"] == "Rectify Benchmark 10.0fps"
    assert (slow.cell.rate, slow.rate_hz, slow.times.one_way_from_sent_ns) == (10, 10.21, None)
    assert "graph-included" in codes(peak)


@pytest.mark.parametrize("name", ["iperf3-udp.json", "iperf3-tcp.json", "ros2_benchmark.json"])
def test_a_cut_document_has_no_figure(name: str) -> None:
    data = fixture(f"pasted/{name}")
    log = read(data[: int(len(data) * 0.9)])
    assert (log.measured, log.unread) == ((), 1)


SUB_THR = {
    "0.5.0-beta.1, which prints only rounds, until it is ended": (
        b"New zenoh...\nNew workspace...\n2500000.5 msg/s\n2000000 msg/s\n4000000.25 msg/s\n",
        (2_500_000.5, None),
    ),
    "1.0 and later, after its last round, without a total": (
        b"Press CTRL-C to quit...\n1250000.0625 msg/s\n1000000 msg/s\n",
        (1_125_000.03125, None),
    ),
    "0.6.0-beta.1 and later, ended between two rounds": (
        b"1900000 msg/s\n2100000 msg/s\nReceived 245678 messages over 0.15s: 1637853.3333333333msg/s\n",
        (2_000_000, 245_678),
    ),
    "0.6.0-beta.1 and later, ended in its first round: 45,000 messages in 0.25 s": (
        b"Received 45000 messages over 0.25s: 180123.4msg/s\n",
        (180_000, 45_000),
    ),
}
"""Logs with the lines of z_sub_thr.rs at the named tags, and by hand: the rate, and the number of received messages."""


@pytest.mark.parametrize(("data", "expected"), SUB_THR.values(), ids=SUB_THR)
def test_z_sub_thr_is_read_in_each_of_its_forms(data: bytes, expected: tuple[float, int | None]) -> None:
    log = read(data)
    stream = one(log)
    assert (stream.cell.adapter, stream.cell.pattern, log.unread) == ("zenoh (z_sub_thr)", "stream", 0)
    received = stream.counts.received if stream.counts is not None else None
    assert (stream.rate_hz, received) == expected
    assert "size" in stream.cell.unknown
    assert ("median-of-rounds" in codes(stream)) == (b" msg/s" in data)
    assert "contradiction" not in codes(stream)


def test_two_runs_of_z_sub_thr_without_totals_are_two_trials() -> None:
    run = b"Press CTRL-C to quit...\n%d msg/s\n%d msg/s\n"
    log = read(run % (1_000_000, 1_200_000) + b"me@rig:~$ z_sub_thr -s 2\n" + run % (3_000_000, 3_200_000))
    assert [each.rate_hz for each in log.measured] == [1_100_000, 3_100_000]
    assert (log.unread, log.prompts) == (1, 1)


def test_a_total_of_z_sub_thr_that_its_messages_and_seconds_do_not_give_is_marked() -> None:
    stream = one(read(b"1000000 msg/s\nReceived 245678 messages over 0.25s: 5000000msg/s\n"))
    assert "contradiction" in codes(stream)
