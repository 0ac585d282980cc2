"""A draw of the chaos driver that takes seconds, and the driver itself: it finds what is lost."""

import random

import pytest
from attempts import Ended

from chaos import kinds, tried

pytestmark = pytest.mark.slow

DRAWN = {"suites": 30, "logs": 30, "messages": 2}
"""Of stores six: those take longer. Of messages two, each of which is a trial whose worker may fall silent."""


@pytest.mark.parametrize("name", [*kinds()])
def test_nothing_is_lost_in_a_small_draw(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = [f"{name}-unit-{number}" for number in range(DRAWN.get(name, 6))]
    assert tried(kinds()[name], seeds, float("inf"), quiet=True) == (len(seeds), 0), capsys.readouterr().out


@pytest.mark.parametrize("name", [*kinds()])
def test_a_seed_repeats_its_mutation(name: str) -> None:
    place = kinds()[name]()
    try:
        did = [place.attempt(random.Random(f"{name}-again-3"))[0] for _ in range(2)]
    finally:
        place.close()
    assert did[0] == did[1]


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (Ended(("list",), None, "", "Traceback (most recent call last):\nKeyError"), "an exception"),
        (Ended(("list",), 0, "", "Traceback (most recent call last):\nKeyError"), "an exception"),
        (Ended(("list",), 1, "", "x"), "exit 1, not one of [0, 3]"),
        (Ended(("list",), 3, "", ""), "exit 3 without a word why"),
    ],
)
def test_what_is_lost_is_told(ended: Ended, told: str) -> None:
    (loss,) = ended.losses({0, 3})
    assert told in loss


def test_an_end_as_documented_is_no_loss() -> None:
    assert not [*Ended(("list",), 3, "", "why").losses({0, 3})]
