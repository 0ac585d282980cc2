"""Who is asked to stamp what it answers, and what is made of the roles' words about it."""

from pathlib import Path

import pytest
from launching import Launching

from middlemark.launch import stamps
from middlemark.launch.outcome import Started
from middlemark.launch.patterns import pattern_of
from middlemark.launch.request import Asked, Role
from middlemark.plan.cell import Cell, Limits


def receivers(limits: Limits | None = None, **factors: object) -> tuple[Role, ...]:
    cell = Cell(adapter="shm", transport="shm", size=64, **factors)  # type: ignore[arg-type]
    asked = Asked(
        cell=cell,
        limits=limits or Limits(duration_s=2.0),
        cpus=(None,) * (cell.publishers + cell.subscribers),
        samples_stem="/runs/samples/00007",
        seed=1,
        kept=(0, 0),
    )
    return pattern_of(cell).roles(asked).receivers


def test_the_only_pong_that_echoes_stamps() -> None:
    [pong] = receivers()
    assert pong["samples_path"] == "/runs/samples/00007-pong-0.npy"
    assert (pong["samples"], pong["duration_s"]) == (None, 2.0)
    first, other = receivers(subscribers=2, echo="first")
    assert "samples_path" in first
    assert "samples_path" not in other


def test_of_several_pongs_that_echo_none_stamps() -> None:
    assert [each for each in receivers(subscribers=3, echo="all") if "samples_path" in each] == []


def test_a_server_expects_what_all_clients_send() -> None:
    [server] = receivers(Limits(samples=100), pattern="request-reply", publishers=3)
    assert server["samples_path"] == "/runs/samples/00007-server-0.npy"
    assert server["samples"] == 300


def test_stamps_and_origins_are_those_the_roles_told() -> None:
    caller = {"role": "client", "index": 1, "start_ticks": 70, "ticks_per_second": 2e9}
    found = stamps.facts("samples/00007", [caller], [{"role": "server", "index": 0, "stamped": 12}])
    assert found["starts"] == (Started(index=1, ticks=70, ticks_per_second=2e9),)
    [file] = found["stamps"]
    assert (file.role, file.path, file.samples) == ("server", "samples/00007-server-0.npy", 12)


def test_a_worker_of_an_earlier_build_has_none() -> None:
    assert stamps.facts("s", [{"role": "ping", "index": 0}], [{"role": "pong", "index": 0}]) == {
        "stamps": (),
        "starts": (),
    }


@pytest.mark.parametrize("odd", [True, False])
def test_two_clocks_cost_a_round_trip_its_breakdown_alone(tmp_path: Path, odd: bool) -> None:
    launching = Launching(tmp_path)
    if odd:
        launching.one_reads("clock_monotonic", 1e9)
    outcome = launching.trial(pattern="ping-pong")
    assert outcome.failed is None
    if odd:
        assert outcome.stamps_absent is not None
        for words in ("ping reads", "pong 0", "clock_monotonic at 1,000.000 MHz", "cannot be told"):
            assert words in outcome.stamps_absent
    else:
        assert outcome.stamps_absent is None
