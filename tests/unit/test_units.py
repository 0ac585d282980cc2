"""Units: accepted and refused texts, and the messages. A printed value is read back as the same value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.model.units import (
    UnitError,
    format_confidence,
    format_percent,
    format_rate,
    format_seconds,
    format_size,
    format_us,
    parse_percent,
    parse_rate,
    parse_seconds,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("16", 16),
        ("16 B", 16),
        ("1k", 1024),
        ("64K", 65536),
        ("64 KiB", 65536),
        ("1m", 1 << 20),
        ("1.5m", 3 << 19),
        ("64MiB", 64 << 20),
        ("2g", 2 << 30),
        (" 8k ", 8192),
    ],
)
def test_sizes_are_read_in_bytes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("64KB", "write '64k' for 65536 bytes, or '64000' for 64000 bytes"),
        ("1.5MB", "or '1500000'"),
        ("1x", "'x' is not a unit of size"),
        ("0.3k", "not a whole number of bytes"),
        ("-1", "is not a size"),
        ("", "is not a size"),
        ("k", "is not a size"),
        ("1e3", "is not a size"),
        ("1,5k", "is not a size"),
        ("0x10", "is not a size"),
        ("1_000", "is not a size"),
        ("9" * 5000, "is not a size"),
    ],
)
def test_ambiguous_sizes_are_refused_with_a_correct_example(text: str, hint: str) -> None:
    with pytest.raises(UnitError) as refused:
        parse_size(text)
    assert hint in str(refused.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0.5s", 0.5),
        ("90ms", 0.09),
        ("10m", 600.0),
        ("10min", 600.0),
        ("5us", 5e-6),
        ("5µs", 5e-6),
        ("7ns", 7e-9),
        ("1h", 3600.0),
        ("0s", 0.0),
    ],
)
def test_times_are_read_in_seconds(text: str, seconds: float) -> None:
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("5", "write 5s or 5ms"),
        ("0.5", "has no unit"),
        ("5 parsecs", "'parsecs' is not a unit of time"),
        ("-5s", "not a time"),
        ("1k", "not a unit of time"),
    ],
)
def test_times_without_a_unit_are_refused(text: str, hint: str) -> None:
    with pytest.raises(UnitError) as refused:
        parse_seconds(text)
    assert hint in str(refused.value)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("100", 100.0),
        ("1k", 1000.0),
        ("2.5k", 2500.0),
        ("2.5 K", 2500.0),
        ("1M", 1e6),
        ("10 kHz", 1e4),
        ("60Hz", 60.0),
        ("60hz", 60.0),
        ("0.1", 0.1),
    ],
)
def test_rates_are_read_in_messages_a_second(text: str, rate: float) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0", "leave the rate out to send as fast as possible"),
        ("1m", "write '1M' for 1000000 a second"),
        ("2.5mHz", "write '2.5M'"),
        ("1x", "'x' is not a unit of rate"),
        ("1ms", "'ms' is not a unit of rate"),
        ("1G", "'G' is not a unit of rate"),
        ("2000M", "from one a day to 1000M a second"),
        ("0.000001", "from one a day"),
        ("-5", "is not a rate"),
        ("1,000", "is not a rate"),
        ("1e3", "is not a rate"),
        ("", "is not a rate"),
    ],
)
def test_ambiguous_rates_are_refused_with_a_correct_example(text: str, hint: str) -> None:
    with pytest.raises(UnitError) as refused:
        parse_rate(text)
    assert hint in str(refused.value)


@given(st.integers(min_value=1, max_value=10**9))
def test_a_printed_rate_reads_back_as_the_same(rate: int) -> None:
    assert parse_rate(format_rate(rate)) == rate


@pytest.mark.parametrize(
    ("hertz", "text"),
    [(0.1, "0.1 Hz"), (1, "1 Hz"), (999.5, "999.5 Hz"), (1000, "1 kHz"), (2500, "2.5 kHz"), (1e6, "1 MHz")],
)
def test_rates_are_printed_in_the_unit_that_keeps_them_short(hertz: float, text: str) -> None:
    assert format_rate(hertz) == text


def test_percentages_have_a_sign() -> None:
    assert parse_percent("5%") == 0.05
    assert parse_percent("0.4 %") == 0.004
    with pytest.raises(UnitError, match="as in 5%"):
        parse_percent("0.05")


@given(st.integers(min_value=0, max_value=1 << 50))
def test_a_printed_size_reads_back_as_the_same(size: int) -> None:
    assert parse_size(format_size(size)) == size


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_size, parse_seconds, parse_percent, parse_rate):
        try:
            assert parse(text) >= 0
        except UnitError as refused:
            assert f"'{text}'" in str(refused)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (16, "16 B"),
        (1000, "1000 B"),
        (1024, "1 KiB"),
        (64512, "63 KiB"),
        (65536, "64 KiB"),
        (65537, "65537 B"),
        (1 << 20, "1 MiB"),
        (3 << 30, "3 GiB"),
    ],
)
def test_sizes_are_printed_exactly(size: int, text: str) -> None:
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0.00"),
        (520, "0.52"),
        (9_994, "9.99"),
        (9_996, "10.0"),
        (12_345, "12.3"),
        (99_960, "100"),
        (389_000, "389"),
        (10_240_000, "10,240"),
    ],
)
def test_nanoseconds_are_printed_as_microseconds(nanoseconds: float, text: str) -> None:
    assert format_us(nanoseconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (5e-6, "5 µs"),
        (0.0123, "12.3 ms"),
        (0.5, "0.5 s"),
        (12, "12 s"),
        (59.6, "1 min 00 s"),
        (125, "2 min 05 s"),
        (3599.7, "1 h 00 min"),
        (3720, "1 h 02 min"),
    ],
)
def test_durations_are_printed_for_people(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_ratios_are_printed_as_percentages() -> None:
    assert [format_percent(ratio) for ratio in (0.05, 0.004, 1.0, 0.1234, 12.0)] == [
        "5 %",
        "0.4 %",
        "100 %",
        "12.3 %",
        "1,200 %",
    ]


@pytest.mark.parametrize(("share", "shown"), [(0.95, "95 %"), (0.975, "97.5 %"), (0.99972, "99.97 %")])
def test_no_interval_is_printed_as_certain(share: float, shown: str) -> None:
    assert format_confidence(share) == shown
