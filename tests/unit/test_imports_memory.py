"""A log may be larger than the memory: an import's memory grows with the number of different figures, not of lines."""

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imports_cases import fixture

from middlemark.imports import find, values
from middlemark.imports.values import Values
from middlemark.stats.quantiles import summarise

LINES = 20_000
RAW = b"Sample,Payload [Bytes],Latency [us]\n1,16,1.768\n"


def repeated(content: bytes, line: bytes, times: int) -> Iterator[bytes]:
    """Yield the content up to the first line that begins with ``line``, and then this line repeatedly.

    A number after ``seq=`` ascends.
    """
    head, _, rest = content.partition(line)
    before, seq, after = (line + rest.partition(b"\n")[0] + b"\n").partition(b"seq=0")
    yield head
    for number in range(times):
        yield before + (b"seq=%d" % number if seq else b"") + after


def peak_bytes(content: bytes, line: bytes, times: int) -> int:
    """Return the largest number of additional bytes in use while the content is read."""
    found = find(content)
    assert found is not None
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        log = found.read(repeated(content, line, times))
        assert log.lines >= times
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (fixture("pasted/roundtripping-2018-whole.log"), b"        2    "),
        (fixture("pasted/ddsperf-lone-ping-line.log"), b"["),
        (fixture("pasted/ddsperf-sublat.log"), b"[4410] 3."),
        (fixture("pasted/cyclonedds-throughput-subscriber.log"), b"=== [Subscriber]"),
        (fixture("pasted/performance_test-columns-are-rates.csv"), b"5.177238"),
        (fixture("pasted/performance_test-2-first-row-since-boot.csv"), b"2.000418"),
        (fixture("pasted/rtiperftest-3.1-latency.csv"), b"           128,"),
        (fixture("pasted/rtiperftest-legacy-latency.log"), b"One way Latency:"),
        (fixture("pasted/z_ping.log"), b"2048 bytes: seq="),
        (RAW, b"1,16"),
    ],
)
def test_reading_more_lines_takes_no_more_memory(content: bytes, line: bytes) -> None:
    assert line in content
    few, many = (peak_bytes(content, line, times) for times in (LINES // 10, LINES))
    assert many - few < LINES, "less than a byte for each line"


@given(st.lists(st.floats(0.001, 1e6).map(lambda value: round(value, 3)), min_size=1, max_size=300))
def test_values_have_the_summary_of_samples(drawn: list[float]) -> None:
    kept = Values()
    for each in drawn:
        kept.add(each)
    wanted = summarise(1e3 * np.array(drawn))
    found = kept.summary(1e3)
    for field in wanted.__struct_fields__:
        value = getattr(wanted, field)
        assert getattr(found, field) == (None if value is None else pytest.approx(value, rel=1e-9, abs=1e-6))
    assert kept.median == pytest.approx(np.median(drawn))
    assert (kept.least, kept.most, Values().median) == (min(drawn), max(drawn), None)


def test_very_many_different_values_are_kept_to_fewer_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MOST", 1_000)
    kept = Values()
    for number in range(20_000):
        kept.add(100 + number / 997)
    assert kept.number == 20_000
    assert kept.median == pytest.approx(100 + 10_000 / 997, rel=1e-2)
    assert len({kept.summary(1.0).p90, kept.summary(1.0).p99}) == 2
