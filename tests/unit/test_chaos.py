"""A short draw of the chaos driver, and tests that the driver itself finds losses."""

import time

import pytest
from attempts import Ended
from lanes import Draws, Lane, Tried, kinds, namespaces

import chaos
from middlemark.workers.find import executables

pytestmark = pytest.mark.slow

DRAWN = {"suites": 10, "logs": 10, "messages": 4, "faults": 3, "crowds": 2}
"""Numbers of attempts by kind. Stores get three, because they take longer. ./check chaos draws 100 times as many."""


@pytest.fixture
def every_kind(name: str) -> str:
    if name in chaos.STRIKING and not (executables() and namespaces()):
        pytest.skip("faults need workers, and namespaces in which nothing else is hit")
    return name


@pytest.mark.parametrize("name", [name for name in kinds() if not getattr(kinds()[name], "waits", False)])
def test_a_small_draw_has_no_losses(every_kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    count = DRAWN.get(every_kind, 3)
    number = f"--{'faults' if every_kind in chaos.STRIKING else 'mutations'}={count}"
    status = chaos.main(["--kind", every_kind, number, "--seed", "unit", "--lanes", "2"])
    output = capsys.readouterr().out
    assert status == 0, output
    assert f"{every_kind}: {count} of {count} with seed unit, 0 lost something" in output


@pytest.mark.parametrize("name", [*kinds()])
def test_a_seed_repeats_its_attempt(every_kind: str) -> None:
    lane = Lane(isolated=every_kind in chaos.STRIKING)
    try:
        first, second = (lane.attempt(f"{every_kind}-again-3") for _ in range(2))
    finally:
        lane.close()
    assert first.what
    assert first.what == second.what


def test_an_exception_in_the_driver_counts_as_a_loss() -> None:
    lane = Lane(isolated=False)
    [loss] = lane.attempt("nothing-of-the-kind").losses
    lane.close()
    assert loss == "the driver itself ended with status 1"


def test_a_slow_kind_is_drawn_less_often() -> None:
    draws = Draws({"slow": ["slow"] * 9, "fast": ["fast"] * 9}, time.monotonic() + 60)
    seeds = []
    while (chosen := draws.next()) is not None and len(seeds) < 8:
        name, seed = chosen
        seeds.append(seed)
        draws.keep(name, Tried(seed, "what", []), {"slow": 3.0, "fast": 1.0}[name])
    assert (seeds.count("slow"), seeds.count("fast")) == (2, 6)


def test_a_kind_that_needs_namespaces_is_left_out_with_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chaos, "namespaces", lambda: False)
    assert chaos.main(["--kind", "faults", "--faults", "3"]) == 0
    assert "faults: left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("ended", "loss_text"),
    [
        (Ended(("list",), None, "", "Traceback (most recent call last):\nKeyError"), "an exception"),
        (Ended(("list",), 0, "", "Traceback (most recent call last):\nKeyError"), "an exception"),
        (Ended(("list",), 1, "", "x"), "exit 1, not one of [0, 3]"),
        (Ended(("list",), 3, "", ""), "exit 3 without a message"),
    ],
)
def test_each_kind_of_loss_is_reported(ended: Ended, loss_text: str) -> None:
    (loss,) = ended.losses({0, 3})
    assert loss_text in loss


def test_a_documented_exit_code_is_no_loss() -> None:
    assert not [*Ended(("list",), 3, "", "why").losses({0, 3})]
