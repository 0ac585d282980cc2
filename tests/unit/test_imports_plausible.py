"""Figures of a log that contradict each other are marked, with the reading that was taken."""

import pytest
from imports_cases import PASTED, READ, codes, fixture, read

SUBSCRIBER = "pasted/cyclonedds-throughput-subscriber.log"
OF_2 = "pasted/performance_test-2-first-row-since-boot.csv"


@pytest.mark.parametrize("path", [*READ, *PASTED], ids=lambda path: path.name)
def test_only_a_log_with_a_wrong_heading_or_quantile_contradicts_itself(path) -> None:
    marked = any("contradiction" in codes(each) for each in read(path.read_bytes()).measured)
    assert marked == path.name.startswith(("roundtripping-2018-half", "rtiperftest-java-p99.99"))


def contradictions(data: bytes) -> str:
    """Return the texts of all warnings about contradictions."""
    return "; ".join(
        each.text for trial in read(data).measured for each in trial.warnings if each.code == "contradiction"
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("ddsperf/sub.log", b"[20721] 3.000  size"),
        ("ddsperf/ping.log", b"[20704] 3.000  vm:"),
        ("pasted/ddsperf-sublat.log", b"[4410] 3.003  sublat"),
        ("pasted/z_ping.log", b"2048 bytes: seq=5 "),
        (SUBSCRIBER, b"=== [Subscriber] 1.031 Payload size: 480 | Total received: 867188"),
        ("roundtripping/ping.log", b"        3     19834"),
        (OF_2, b"2.000418"),
        ("pasted/rtiperftest-3.1-throughput.csv", b"            64,       1399240"),
        ("pasted/rtiperftest-3.1-latency.csv", b"           128,           81,"),
        ("pasted/rtiperftest-legacy-latency.log", b"One way Latency:     58 us"),
        ("pasted/rtiperftest-legacy-throughput.log", b"Packets:  1911004"),
    ],
)
def test_the_same_second_twice_is_marked(name: str, line: bytes) -> None:
    data = fixture(name)
    begin = data.index(line)
    end = data.index(b"\n", begin) + 1
    twice = data[:end] + data[begin:]
    before, after = ({each.code for trial in read(one).measured for each in trial.warnings} for one in (data, twice))
    assert (after - before) & {"contradiction", "interleaved"}


@pytest.mark.parametrize(
    ("name", "printed", "wrong", "text"),
    [
        ("ddsperf/sub.log", b"delta 10028", b"delta 70196", "difference of its totals"),
        ("ddsperf/sub.log", b"rate 10.03 kS/s", b"rate 70.21 kS/s", "in 1 of 6 lines the rate"),
        ("ddsperf/ping.log", b"mean 15.679us", b"mean 0.000us", "in 1 of 5 lines the mean"),
        ("roundtripping/ping.log", b"# Overall     69569", b"# Overall      9569", "its seconds count 69,569"),
        ("roundtripping/ping.log", b"# Overall     69569       24       11       42    16039",
         b"# Overall     69569       24       11       42     2291", "a larger maximum"),
        ("pasted/z_ping.log", b"seq=1 rtt=210", b"seq=1 rtt=510", "`lat` is not half"),
        (SUBSCRIBER, b"24869.31", b"74869.31", "in 1 of 7 lines"),
        (SUBSCRIBER, b"410556840 bytes", b"310556840 bytes", "in 2 of 7 lines"),
        (OF_2, b"0.009241", b"0.909241", "mean latency is not between"),
        ("performance_test/log.csv", b"1040000", b"9040000", "received bytes do not fit"),
        ("pasted/sockperf-ping-pong.log", b"Total 92118 obs", b"Total 12118 obs", "observations is 12,118"),
        ("pasted/sockperf-ping-pong.log", b"SentMessages=92118", b"SentMessages=2118", "but only 2,118 were sent"),
        ("performance_test/log.json", b'200.0,"latency_mean":0.0002', b'700.0,"latency_mean":0.0002', "`latency_n`"),
        ("pasted/irobot-latency_total.txt", b"0.3074", b"3.074", "late is printed as 3.074 %"),
        ("pasted/irobot-latency_total.txt", b"0.01618        4", b"0.11618        4", "too_late is"),
        ("pasted/irobot-latency_total.txt", b"24722 ", b"94722 ", "late is printed as 0.3074 %"),
        ("pasted/iperf3-tcp.json", b"9397518539", b"1397518539", "bit/s is"),
        ("pasted/iperf3-udp.json", b"0.3776", b"3.776", "lost percentage is 3.776"),
        ("pasted/iperf3-udp.json", b'"packets":\t86326', b'"packets":\t16326', "datagrams × size"),
        ("pasted/latencytest-overhead-us.log", b"32,    5000,   1.754", b"32,    5000, 901.754", "standard deviation"),
        ("pasted/latencytest-overhead-us.log", b"32,    5000,", b"32,       0,", "no message arrived"),
    ],
)  # fmt: skip
def test_figures_that_do_not_fit_together_are_marked(name: str, printed: bytes, wrong: bytes, text: str) -> None:
    data = fixture(name)
    assert data.count(printed) == 1
    assert text not in contradictions(data)
    assert text in contradictions(data.replace(printed, wrong))
