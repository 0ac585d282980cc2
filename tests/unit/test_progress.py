"""The progress display: the last result and its baseline, the noise and the time left, at any width."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from stats_cases import DESCRIPTIONS, cell, outcome, plan, samples

from middlemark.model.outcome import Failure, TrialOutcome, Underway, WorkerCost
from middlemark.model.plan import Plan
from middlemark.show import progress as display
from middlemark.show.progress import State, _waited_us, progress

RAW_TRANSPORT, CYCLONE = cell("udp"), cell("dds")


class Time:
    """A fake clock and the time that tasks have waited; the tests set both."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waited: int | None = 0

    def seconds(self) -> float:
        return self.now

    def waited_us(self) -> int | None:
        return self.waited


@pytest.fixture
def time() -> Time:
    return Time()


def state_of(planned: Plan, folder: Path, time: Time) -> State:
    return State(planned, folder, tuple(DESCRIPTIONS.values()), clock=time.seconds, waited_us=time.waited_us)


def measured(planned: Plan, order: int, folder: Path, p50: int) -> TrialOutcome:
    """Return a trial with three round trips around this median."""
    (folder / "samples").mkdir(exist_ok=True)
    np.save(folder / f"samples/{order:05}.npy", samples([p50 - 10, p50, p50 + 10]))
    return outcome(planned.trials[order], samples=3)


def trial(state: State, planned: Plan, ended: TrialOutcome, time: Time, seconds: float = 1.0) -> None:
    asked = planned.cells[ended.cell]
    state.begins(asked)
    time.now += seconds
    state.ended(asked, ended)


def test_a_result_is_compared_with_its_raw_transport_once_both_are_measured(tmp_path: Path, time: Time) -> None:
    planned = plan(RAW_TRANSPORT, CYCLONE)
    state = state_of(planned, tmp_path, time)
    trial(state, planned, measured(planned, 1, tmp_path, 30_000), time)
    assert state.lines(200)[-1] == "last: p50 30.0 µs (dds udp, 1 KiB, block)"
    trial(state, planned, measured(planned, 0, tmp_path, 20_000), time)
    assert state.lines(200)[-1] == "last: p50 20.0 µs (udp, 1 KiB, block)", "a raw transport has no baseline"
    trial(state, planned, measured(planned, 3, tmp_path, 30_000), time)
    assert state.lines(200)[-1] == "last: p50 30.0 µs, 1.50 × udp (dds udp, 1 KiB, block)"


def test_the_fastest_middleware_so_far_is_shown_in_a_run_of_one_experiment(tmp_path: Path, time: Time) -> None:
    planned = plan(RAW_TRANSPORT, CYCLONE, cell("dds", transport="shm"))
    state = state_of(planned, tmp_path, time)
    for order, p50 in enumerate((10_000, 30_000, 20_000)):
        trial(state, planned, measured(planned, order, tmp_path, p50), time)
    leader = "fastest so far: dds shm, 1 KiB, block, p50 20.0 µs in 1 of 1 round"
    assert leader in state.lines(200)
    assert leader in state.line()
    assert all(cell_len(each) <= 40 for each in state.lines(40))


def test_a_failed_trial_and_one_with_missing_samples_do_not_change_the_shown_result(tmp_path: Path, time: Time) -> None:
    planned = plan(RAW_TRANSPORT, CYCLONE)
    state = state_of(planned, tmp_path, time)
    trial(state, planned, measured(planned, 0, tmp_path, 20_000), time)
    trial(state, planned, outcome(planned.trials[1], failed=Failure("hung", "no end")), time)
    trial(state, planned, outcome(planned.trials[3]), time)
    assert state.lines(200)[-1] == "last: p50 20.0 µs (udp, 1 KiB, block)"
    assert state.done == 3


def test_the_remaining_time_is_estimated_from_the_cells_own_trials(tmp_path: Path, time: Time) -> None:
    planned = plan(RAW_TRANSPORT, CYCLONE, trials=3)
    state = state_of(planned, tmp_path, time)
    trial(state, planned, measured(planned, 0, tmp_path, 20_000), time, seconds=2.0)
    trial(state, planned, measured(planned, 1, tmp_path, 20_000), time, seconds=10.0)
    assert state.left_s() == pytest.approx(2 * (2.0 + 10.0))
    assert "2 of 6 trials, 24 s left" in state.lines(80)[0]


def test_cells_not_measured_yet_are_estimated_by_the_accuracy_of_the_estimate_so_far(
    tmp_path: Path, time: Time
) -> None:
    planned = plan(RAW_TRANSPORT, cell("udp", size=2048), trials=1)
    state = state_of(planned, tmp_path, time)
    before = state.left_s()
    trial(state, planned, measured(planned, 0, tmp_path, 20_000), time, seconds=before)
    assert state.left_s() == pytest.approx(before, rel=0.02), (
        "the first cell took twice its estimate, so the second is expected to do so too"
    )


def test_a_further_round_is_counted(tmp_path: Path, time: Time) -> None:
    planned = plan(RAW_TRANSPORT, trials=1)
    state = state_of(planned, tmp_path, time)
    trial(state, planned, measured(planned, 0, tmp_path, 20_000), time)
    assert state.left_s() == 0
    state.more(planned)
    assert (state.total, state.left_s()) == (2, 1.0)


def test_the_noise_is_the_waiting_for_a_processor_during_the_trial(tmp_path: Path, time: Time) -> None:
    planned = plan(RAW_TRANSPORT)
    state = state_of(planned, tmp_path, time)
    state.begins(RAW_TRANSPORT)
    time.now, time.waited = 2.0, 250_000
    state.ended(RAW_TRANSPORT, measured(planned, 0, tmp_path, 20_000))
    assert state.lines(200)[-1].endswith("; tasks waited for a processor 12.5 % of the time")
    state.begins(RAW_TRANSPORT)
    time.now, time.waited = 4.0, 251_000
    state.ended(RAW_TRANSPORT, measured(planned, 1, tmp_path, 20_000))
    assert "waited" not in state.lines(200)[-1]


def test_without_pressure_counters_the_noise_is_the_workers_involuntary_switches(tmp_path: Path, time: Time) -> None:
    planned = plan(RAW_TRANSPORT)
    time.waited = None
    state = state_of(planned, tmp_path, time)
    cost = WorkerCost(
        who="ping", pid=1, seconds=0.5, rss_bytes=1, peak_rss_bytes=1, user_ns=1, system_ns=1, voluntary_switches=9,
        involuntary_switches=60, minor_faults=0, major_faults=0, threads=(),
    )  # fmt: skip
    state.begins(RAW_TRANSPORT)
    state.ended(RAW_TRANSPORT, outcome(planned.trials[0], costs=(cost,)))
    assert "preempted 120 times/s" in state.line()


def test_pressure_is_read_if_the_kernel_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cpu"
    monkeypatch.setattr(display, "PRESSURE", file)
    assert _waited_us() is None
    file.write_text("some avg10=1.00 avg60=0.50 avg300=0.10 total=123456\nfull avg10=0.00 total=7\n")
    assert _waited_us() == 123_456
    file.write_text("")
    assert _waited_us() is None


@pytest.mark.parametrize("width", [1, 3, 10, 20, 40, 59, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, time: Time, width: int) -> None:
    planned = plan(cell("中間件ミドル" * 9), CYCLONE)
    state = state_of(planned, tmp_path, time)
    time.waited = 0
    trial(state, planned, measured(planned, 0, tmp_path, 20_000), time)
    state.ticked(Underway(phase="measuring", samples=123_456))
    lines = state.lines(width)
    assert 1 <= len(lines) <= 3
    assert max(map(cell_len, lines)) <= width


def test_a_narrow_terminal_omits_the_bar_and_keeps_the_time(tmp_path: Path, time: Time) -> None:
    planned = plan(RAW_TRANSPORT)
    state = state_of(planned, tmp_path, time)
    assert state.lines(24)[0].startswith("0/3, ")
    assert state.lines(24)[0].endswith(" left")
    trial(state, planned, measured(planned, 0, tmp_path, 20_000), time)
    assert state.lines(24)[-1] == "last: p50 20.0 µs (udp,…"
    state = state_of(planned, tmp_path, time)
    assert state.lines(80)[0].startswith("[--------------------] 0 of 3 trials, ")


class Terminal(io.StringIO):
    """A stderr that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def shown_on(terminal: Terminal, folder: Path) -> str:
    planned = plan(RAW_TRANSPORT, CYCLONE)
    # Inside the test, because pytest restores its own stderr between a fixture and the test.
    with (
        contextlib.redirect_stderr(terminal),
        progress(planned, quiet=False, folder=folder, adapters=tuple(DESCRIPTIONS.values())) as watcher,
    ):
        watcher.trial_begins(RAW_TRANSPORT, planned.trials[0])
        watcher.tick(Underway(phase="measuring", samples=1000))
        watcher.trial_ended(RAW_TRANSPORT, measured(planned, 0, folder, 20_000))
        watcher.trial_begins(CYCLONE, planned.trials[1])
        watcher.trial_ended(CYCLONE, outcome(planned.trials[1], failed=Failure("hung", "[bold]no end")))
        watcher.more(planned)
    return terminal.getvalue()


def test_a_terminal_shows_live_progress_and_keeps_failures(terminal: Terminal, tmp_path: Path) -> None:
    text = shown_on(terminal, tmp_path)
    assert "udp, 1 KiB, block: 1,000 samples (measuring)" in text
    assert "last: p50 20.0 µs (udp, 1 KiB, block)" in text
    assert "failed: dds udp, 1 KiB, block: [bold]no end" in text, "the failure's text is escaped"


def test_no_color_disables_colour(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = shown_on(terminal, tmp_path)
    assert "last: p50 20.0 µs" in text
    assert "\x1b[3" not in text
    assert "\x1b[9" not in text


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_without_cursor_movement_gets_lines(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(display, "LINE_EVERY_S", 0.0)
    text = shown_on(terminal, tmp_path)
    assert "\x1b" not in text
    lines = text.splitlines()
    assert lines[0].startswith("0 of 6 trials, ")
    assert "next: dds udp, 1 KiB, block; last: p50 20.0 µs (udp, 1 KiB, block)" in lines[1]
    assert lines[2] == "failed: dds udp, 1 KiB, block: [bold]no end"


def test_quiet_prints_nothing(terminal: Terminal, tmp_path: Path) -> None:
    planned = plan(RAW_TRANSPORT)
    with contextlib.redirect_stderr(terminal), progress(planned, quiet=True, folder=tmp_path) as watcher:
        watcher.trial_begins(RAW_TRANSPORT, planned.trials[0])
        watcher.trial_ended(RAW_TRANSPORT, outcome(planned.trials[0], failed=Failure("hung", "no end")))
    assert terminal.getvalue() == ""
