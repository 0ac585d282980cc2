"""A delay is planted in the null adapter. The breakdown of a real run shows it in the right part."""

from typing import Any

import pytest
from product import Bench

from middlemark.workers.find import executables

pytestmark = pytest.mark.usefixtures("null_worker")

SAMPLES = 60
PLANTED_MS = 5
"""The planted delay sleeps, so a busy machine does not make it longer. It is longer than most delays of the machine."""
MANY = 2_000
"""Enough messages: a fast run may stamp only one message in 61, and a breakdown needs 20."""


def breakdown(
    bench: Bench, *given: str, adapter: str = "null", samples: int = SAMPLES, size: str = "64"
) -> dict[str, float]:
    short = ["--adapter", adapter, "--size", size, "--trials", "1", "--samples", str(samples), "--warmup", "10ms"]
    ended = bench.run("run", *short, *given, "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    cell: dict[str, Any] = ended.document["cells"][0]
    assert cell["breakdown_absent"] is None
    shares = [each["share"] for each in cell["breakdown"]]
    assert sum(shares) == pytest.approx(1)
    assert min(shares) >= 0
    return {each["part"]: each["ns"] for each in cell["breakdown"]}


def of_every_message(value: int) -> str:
    """Return one value for each sequence number, in the format of the null adapter's scripts."""
    return ",".join(f"{sequence}:{value}" for sequence in range(1, SAMPLES + 1))


DELAY = f"delay={of_every_message(PLANTED_MS * 1000)}"
STALL = f"stall={of_every_message(PLANTED_MS)}"


def longest(parts: dict[str, float], count: int) -> set[str]:
    """Return the names of the longest parts, and check that each is at least as long as the planted delay."""
    ordered = sorted(parts, key=lambda part: parts[part])[-count:]
    assert all(parts[part] >= PLANTED_MS * 1e6 for part in ordered), parts
    return set(ordered)


@pytest.mark.parametrize(("at", "part"), [("ping", "write"), ("pong", "reply write")])
def test_a_slow_publish_is_found_at_its_end(bench: Bench, at: str, part: str) -> None:
    found = breakdown(bench, "--transport", "memory", "--native", DELAY, "--native", f"at={at}")
    assert longest(found, 1) == {part}


def test_a_slow_server_is_found_in_the_reply(bench: Bench) -> None:
    factors = ["--transport", "memory", "--pattern", "request-reply"]
    assert longest(breakdown(bench, *factors, "--native", DELAY), 1) == {"reply write"}


def test_stalling_subscribers_are_found_in_the_take(bench: Bench) -> None:
    found = breakdown(bench, "--transport", "memory", "--native", STALL)
    assert longest(found, 2) == {"take", "reply take"}


def test_with_a_callback_the_take_is_part_of_in_between(bench: Bench) -> None:
    found = breakdown(bench, "--transport", "memory", "--receive", "listen", "--native", STALL)
    assert longest(found, 2) == {"in between", "reply in between"}


@pytest.mark.parametrize("raw_transport", ["udp", "tcp"])
def test_arrival_stamps_separate_transport_from_wake_up(bench: Bench, raw_transport: str) -> None:
    if raw_transport not in executables():
        pytest.skip(f"{raw_transport} was not built here")
    plain = breakdown(bench, "--receive", "block", adapter=raw_transport, samples=MANY)
    assert "transport and wake-up" in plain
    stamped = breakdown(bench, "--receive", "block", "--native", "timestamping=on", adapter=raw_transport, samples=MANY)
    assert "transport and wake-up" not in stamped
    for way in ("", "reply "):
        assert stamped[f"{way}wake-up"] > 0
        # On loopback, the kernel delivers a message within the sender's system call.
        assert stamped[f"{way}write"] > stamped[f"{way}transport"]


def test_a_stream_separates_waiting_from_writing(bench: Bench) -> None:
    factors = ["--transport", "memory", "--pattern", "stream", "--rate", "100", "--native", DELAY]
    assert longest(breakdown(bench, *factors), 1) == {"write"}


@pytest.mark.parametrize(("adapter", "transport"), [("fastdds", "udp"), ("zeromq", "ipc")])
def test_serializing_is_a_separate_part_at_each_end(bench: Bench, adapter: str, transport: str) -> None:
    if adapter not in executables():
        pytest.skip(f"{adapter} was not built here")
    typed = ["--transport", transport, "--receive", "block", "--type"]
    found = breakdown(bench, *typed, "image", adapter=adapter, samples=400, size="256k")
    assert list(found)[:2] == ["serialize", "write"]
    assert list(found)[-1] == "reply deserialize"
    assert all(found[f"{way}{part}"] > 0 for way in ("", "reply ") for part in ("serialize", "deserialize"))
    assert not {"serialize", "deserialize"} & set(
        breakdown(bench, *typed, "octets", adapter=adapter, samples=400, size="256k")
    )


def test_serializing_inside_the_middlewares_calls_is_absent_with_the_reason(bench: Bench) -> None:
    if "cyclonedds" not in executables():
        pytest.skip("cyclonedds was not built here")
    asked = ["--adapter", "cyclonedds", "--transport", "udp", "--size", "64k", "--type", "image", "--trials", "1"]
    ended = bench.run(
        "run", *asked, "--samples", "60", "--warmup", "10ms", "--no-baseline", "--format", "json", "--quiet"
    )
    [cell] = ended.document["cells"]
    assert not {"serialize", "deserialize"} & {each["part"] for each in cell["breakdown"]}
    reason = "serialize and deserialize: cyclonedds does both within its own calls, so no stamp separates them"
    assert cell["coding_absent"] == reason


def test_the_table_shows_the_breakdown_only_on_request(bench: Bench) -> None:
    short = ["--size", "64", "--trials", "1", "--samples", str(MANY)]
    asked = ["run", "--adapter", "null", "--transport", "memory", *short]
    assert "Where the time goes" in bench.run(*asked, "--breakdown", "--quiet").out
    assert "Where the time goes" not in bench.run(*asked, "--quiet").out


def test_a_row_without_a_breakdown_has_the_reason(bench: Bench) -> None:
    asked = ["--adapter", "null", "--transport", "memory", "--size", "64", "--trials", "1", "--samples", "60"]
    ended = bench.run("run", *asked, "--subscribers", "2", "--format", "json", "--quiet")
    [cell] = ended.document["cells"]
    assert cell["breakdown"] is None
    assert (
        cell["breakdown_absent"]
        == "the last of 2 replies ends a round trip, and the sender of that reply is not recorded"
    )
