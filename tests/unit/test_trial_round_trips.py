"""The role that must stamp its answers, and the use of the stamps that it reports."""

from pathlib import Path

import pytest
import worker_words
from launching import Launching

from middlemark.model.cell import Cell
from middlemark.model.outcome import Started
from middlemark.model.plan import Limits
from middlemark.model.protocol import AnyRoleRequest
from middlemark.trial import round_trips
from middlemark.trial.patterns import pattern_of
from middlemark.trial.worker_request import TrialRequest


def receivers(limits: Limits | None = None, **factors: object) -> tuple[AnyRoleRequest, ...]:
    cell = Cell(adapter="shm", transport="shm", size=64, **factors)  # type: ignore[arg-type]
    asked = TrialRequest(
        cell=cell,
        limits=limits or Limits(duration_s=2.0),
        cpus=(None,) * (cell.publishers + cell.subscribers),
        samples_stem="/runs/samples/00007",
        seed=1,
        kept=(0, 0),
    )
    return pattern_of(cell).roles(asked).receivers


def test_the_only_pong_that_echoes_keeps_stamps() -> None:
    [pong] = receivers()
    assert pong.samples_path == "/runs/samples/00007-pong-0.npy"
    assert (pong.samples, pong.duration_s) == (None, 2.0)
    first, other = receivers(subscribers=2, echo="first")
    assert first.samples_path
    assert not other.samples_path


def test_none_of_several_pongs_that_echo_keeps_stamps() -> None:
    assert [each for each in receivers(subscribers=3, echo="all") if each.samples_path] == []


def test_a_server_expects_the_messages_of_all_clients() -> None:
    [server] = receivers(Limits(samples=100), pattern="request-reply", publishers=3)
    assert server.samples_path == "/runs/samples/00007-server-0.npy"
    assert server.samples == 300


def test_stamps_and_start_times_are_those_that_the_roles_report() -> None:
    caller = worker_words.ping(100, start_ticks=70, ticks_per_second=2e9)
    assert round_trips.starts([caller]) == (Started(index=0, ticks=70, ticks_per_second=2e9),)
    [file] = round_trips.files("samples/00007", [worker_words.pong(100, stamped=12), worker_words.pong(100, 1)])
    assert (file.role, file.path, file.samples) == ("pong", "samples/00007-pong-0.npy", 12)


@pytest.mark.parametrize("odd", [True, False])
def test_two_different_clocks_remove_only_the_breakdown(tmp_path: Path, odd: bool) -> None:
    launching = Launching(tmp_path)
    if odd:
        launching.one_reads("clock_monotonic", 1e9)
    outcome = launching.trial(pattern="ping-pong")
    assert outcome.failed is None
    if odd:
        assert outcome.stamps_absent is not None
        for words in ("ping reads", "pong 0", "clock_monotonic at 1,000.000 MHz", "cannot be measured"):
            assert words in outcome.stamps_absent
    else:
        assert outcome.stamps_absent is None
