"""One trial of any pattern: the order in which workers start, their commands, and failures."""

import asyncio
import os
import subprocess
import time
from pathlib import Path

import pytest
from launching import Launching

from middlemark.sites import channel, memory
from middlemark.sites.descendants import MARK
from middlemark.trial import measurement


@pytest.fixture
def launching(tmp_path: Path) -> Launching:
    return Launching(tmp_path)


def test_receivers_run_before_any_sender_starts(launching: Launching) -> None:
    assert launching.trial(publishers=2, subscribers=3).failed is None
    started = [who.split()[0] for who, command in launching.commands() if command["command"] == "start"]
    assert started == ["subscriber"] * 3 + ["publisher"] * 2


def test_receivers_are_stopped_after_all_senders_with_their_topics_count(
    launching: Launching,
) -> None:
    outcome = launching.trial({"capacity": "1e9"}, publishers=3, subscribers=3, topics=2, rate=100.0)
    assert outcome.failed is None
    stops = {who: command["expected"] for who, command in launching.commands() if command["command"] == "stop"}
    assert stops == {"subscriber 0": 200, "subscriber 1": 100, "subscriber 2": 200}
    assert [each.expected for each in outcome.subscribers] == [200, 100, 200]


def test_a_stream_is_counted_by_publisher_and_subscriber(launching: Launching) -> None:
    outcome = launching.trial({"capacity": "80"}, subscribers=2, rate=100.0)
    assert outcome.counts is not None
    assert (outcome.counts.sent, outcome.counts.received, outcome.counts.lost) == (100, 160, 40)
    assert [(each.received, each.lost) for each in outcome.subscribers] == [(80, 20), (80, 20)]
    assert outcome.publishers[0].scheduled == 100
    [loss] = [warning for warning in outcome.warnings if warning.code == "loss"]
    assert "subscriber 0 lost 20 of 100 messages (20 %); subscriber 1 lost 20" in loss.text


def test_samples_files_have_the_name_of_their_role_except_a_pings(launching: Launching) -> None:
    outcome = launching.trial(publishers=2)
    named = ["00007-publisher-0.npy", "00007-publisher-1.npy", "00007-subscriber-0.npy"]
    assert launching.kept() == named
    assert [each.path for each in outcome.files] == [f"samples/{name}" for name in named]
    assert outcome.samples_file is None
    assert launching.trial(pattern="ping-pong").samples_file == "samples/00007.npy"


def test_pongs_that_do_not_echo_receive_the_expected_count(launching: Launching) -> None:
    outcome = launching.trial(pattern="ping-pong", subscribers=3, echo="first", rate=50.0)
    assert outcome.failed is None
    stops = {who: command.get("expected") for who, command in launching.commands() if command["command"] == "stop"}
    assert stops == {"pong 0": 0, "pong 1": 50, "pong 2": 50}


def test_clients_start_after_their_server_and_the_use_of_two_topics_is_noted(launching: Launching) -> None:
    outcome = launching.trial(pattern="request-reply", publishers=2, rate=50.0)
    assert outcome.failed is None
    started = [who for who, command in launching.commands() if command["command"] == "start"]
    assert started[0] == "server 0"
    assert outcome.counts is not None
    assert outcome.counts.sent == 100
    assert outcome.native_request_reply is False
    assert outcome.notes == (
        "request and reply use two topics, because this adapter does not use the middleware's services",
    )
    assert [each.path for each in outcome.files] == ["samples/00007-client-0.npy", "samples/00007-client-1.npy"]


def test_all_roles_in_one_process_need_no_stop(launching: Launching) -> None:
    outcome = launching.trial({"rss": "4096"}, processes=1, subscribers=2, rate=100.0)
    assert outcome.failed is None
    assert [command["command"] for _, command in launching.commands()] == ["start"]
    assert [each.received for each in outcome.subscribers] == [100, 100]
    assert [each.who for each in outcome.costs] == ["publisher 0 and subscriber 0 and subscriber 1"]


def test_a_subscriber_that_dies_in_a_fan_out_fails_its_trial_and_is_named(launching: Launching) -> None:
    failed = launching.trial({"at": "subscriber 2", "does": "die"}, subscribers=4).failed
    assert failed is not None
    assert failed.code == "crashed"
    assert failed.text.startswith("subscriber 2 (pid ")
    assert "SIGABRT" in failed.text


def test_an_error_of_a_publisher_names_the_publisher(launching: Launching) -> None:
    failed = launching.trial({"at": "publisher 1", "does": "fail"}, publishers=2).failed
    assert failed is not None
    assert (failed.code, failed.text) == ("refused", "publisher 1: no")


@pytest.mark.parametrize("role", ["subscriber 1", "publisher 0"])
def test_a_role_that_falls_silent_is_named(launching: Launching, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    for module in (channel, measurement):
        for name in ("CONTROL_SILENCE_S", "FIRST_TICK_S"):
            monkeypatch.setattr(module, name, 1.0, raising=False)
    failed = launching.trial({"at": role, "does": "fall silent"}, subscribers=2).failed
    assert failed is not None
    assert failed.code == "hung"
    assert failed.text.startswith(f"{role} (pid ")


def test_a_receiver_may_drain_for_a_limited_time(launching: Launching, monkeypatch: pytest.MonkeyPatch) -> None:
    assert launching.trial({"at": "subscriber 1", "does": "linger"}, subscribers=2).failed is None
    monkeypatch.setattr(measurement, "DRAIN_S", 0.2)
    failed = launching.trial({"at": "subscriber 1", "does": "stay"}, subscribers=2).failed
    assert failed is not None
    assert failed.code == "hung"
    assert "subscriber 1 (pid " in failed.text
    assert "did not end: 0.2 s after the stop command" in failed.text


@pytest.mark.parametrize(("source", "ticks"), [("clock_monotonic", 1e9), ("tsc", 2.7e9)])
def test_two_clocks_are_refused_if_their_times_are_compared(launching: Launching, source: str, ticks: float) -> None:
    launching.one_reads(source, ticks)
    failed = launching.trial().failed
    assert failed is not None
    assert failed.code == "clock"
    for words in ("publisher 0", "subscriber 0", "tsc at 2,600.000 MHz", f"{source} at {ticks / 1e6:,.3f} MHz"):
        assert words in failed.text


def test_calibrations_of_one_counter_may_differ_slightly(launching: Launching) -> None:
    launching.one_reads("tsc", 2.6001e9)
    assert launching.trial().failed is None


def test_a_round_trip_needs_only_the_clock_of_the_ping(launching: Launching) -> None:
    launching.one_reads("clock_monotonic", 1e9)
    assert launching.trial(pattern="ping-pong").failed is None


def test_a_trial_that_would_not_fit_into_memory_starts_nothing(
    launching: Launching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 20)
    failed = launching.trial(size=1 << 20, depth=10_000, rate=1e6).failed
    assert failed is not None
    assert failed.code == "memory"
    assert "1 MiB are available" in failed.text
    assert "a --depth below 10000" in failed.advice
    assert not launching.log.exists()


def test_costs_and_series_contain_every_worker(launching: Launching) -> None:
    outcome = launching.trial({"rss": "4096", "tick_s": "60"}, subscribers=2, rate=100.0)
    assert [each.who for each in outcome.costs] == ["publisher 0", "subscriber 0", "subscriber 1"]
    assert {each.rss_bytes for each in outcome.costs} == {4096}
    assert [(each.seconds, each.user_ns, each.threads[0].cpu_ns) for each in outcome.costs] == [(1.0, 1000, 1000)] * 3
    assert [each.who for each in outcome.series] == ["publisher 0", "subscriber 0", "subscriber 1"]
    assert [each.network is not None for each in outcome.series] == [True, False, False]
    assert [(each.sent, each.received) for each in outcome.series] == [(100, None), (None, 100), (None, 100)]
    assert outcome.network is not None


def test_an_interrupt_leaves_no_worker_behind(launching: Launching) -> None:
    async def interrupted() -> None:
        cell = launching.cell({"at": "publisher 0", "does": "fall silent"}, subscribers=2)
        measuring = asyncio.create_task(launching.measure(cell))
        deadline = time.monotonic() + 30
        while not (launching.log.exists() and "publisher" in launching.log.read_text()):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        measuring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await measuring

    asyncio.run(interrupted())
    ours = [path for path in Path("/proc").glob("[0-9]*/cmdline") if launching.worker.path in _text(path)]
    assert ours == []


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize("leaves", ["sleep 300", "env -i sleep 300"])  # env -i removes the trial's mark
@pytest.mark.parametrize(("does", "code"), [("", None), ("die", "crashed")])
def test_processes_that_a_worker_started_in_another_session_end_with_the_trial(
    launching: Launching, does: str, code: str | None, leaves: str
) -> None:
    outcome = launching.trial({"at": "subscriber 0", "leaves": leaves, "does": does}, subscribers=2)
    assert (outcome.failed.code if outcome.failed else None) == code
    pid = int((launching.folder / "left").read_text())
    assert channel.process_state(pid) in ("", "Z")
    if code is None:
        [warning] = [each for each in outcome.warnings if each.code == "unclean-exit"]
        assert warning.text == f"sleep (pid {pid}) outlived its worker and was killed"


@pytest.mark.parametrize("environment", [{MARK: "mm_another_7"}, {}])
def test_processes_of_no_trial_are_not_killed(launching: Launching, environment: dict[str, str]) -> None:
    other = subprocess.Popen(["sleep", "300"], start_new_session=True, env={**os.environ, **environment})
    try:
        assert launching.trial().failed is None
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
