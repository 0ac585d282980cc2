"""Sums of the roles' counts: no message's damage counts twice."""

from typing import Any

import msgspec
import pytest
import worker_words

from middlemark.model.cell import Cell
from middlemark.model.outcome import RunWarning
from middlemark.model.plan import Limits
from middlemark.model.protocol import PingResult, PongResult
from middlemark.trial.round_trips import counted
from middlemark.trial.warnings import ping_pong_warnings, with_last_words

SENT = 100
LIMITS = Limits(samples=SENT)


def ping(**given: Any) -> PingResult:
    return worker_words.ping(SENT, **given)


def pong(index: int = 0, **given: Any) -> PongResult:
    return worker_words.pong(SENT, index, **given)


SHARED = (
    "the ping found {} damaged messages and the pongs {}; {} of these may be counted twice, as pongs echo damaged"
    " messages unchanged"
)


@pytest.mark.parametrize(
    ("at_ping", "pongs", "damaged", "says"),
    [
        pytest.param(0, [pong(), pong(1)], 0, None, id="nothing"),
        pytest.param(2, [pong(), pong(1)], 2, None, id="on the way back, found by the ping"),
        pytest.param(1, [pong(damaged=1), pong(1)], 1, (1, 1, 1), id="on the way to one pong, which replied last"),
        pytest.param(0, [pong(damaged=1), pong(1)], 1, None, id="on the way to one pong, which did not reply last"),
        pytest.param(1, [pong(damaged=1), pong(1, damaged=1)], 2, (1, 2, 1), id="on the way to both"),
        pytest.param(3, [pong(damaged=1), pong(1)], 3, (3, 1, 1), id="more damaged replies than damaged messages"),
        pytest.param(
            1,
            [pong(damaged=1), pong(1, damaged=1, echoed=0), pong(2, damaged=1, echoed=0)],
            3,
            (1, 3, 1),
            id="pongs that do not echo return no damaged message",
        ),
        pytest.param(
            1, [pong(damaged=2, echoed=0)], 3, None, id="two too short to be echoed, and one damaged on the way back"
        ),
    ],
)
def test_a_message_damaged_on_its_way_to_one_pong_counts_once(
    at_ping: int, pongs: list[PongResult], damaged: int, says: tuple[int, int, int] | None
) -> None:
    cell = Cell(adapter="null", transport="memory", size=64, subscribers=len(pongs))
    assert counted([ping(damaged=at_ping)], pongs).damaged == damaged
    texts = [
        each.text for each in ping_pong_warnings(cell, LIMITS, ping(damaged=at_ping), pongs) if each.code == "damaged"
    ]
    assert texts == ([SHARED.format(*says)] if says else []), "a lower bound is marked as one"


@pytest.mark.parametrize(
    ("given", "so_far", "says"),
    [
        pytest.param({"lost": 1}, [], ["the last errors were: pong: the link was closed"], id="lost"),
        pytest.param(
            {"lost": 1},
            ["pongs missed 1"],
            ["pongs missed 1; the last errors were: pong: the link was closed"],
            id="added to the text about the loss",
        ),
        pytest.param({}, [], [], id="nothing lost"),
        pytest.param(
            {"lost": 1, "publish_failed": 1}, ["1"], ["1"], id="a failed publish is quoted in its own warning"
        ),
    ],
)
def test_a_warning_about_a_loss_quotes_the_middleware(
    given: dict[str, int], so_far: list[str], says: list[str]
) -> None:
    counts = msgspec.structs.replace(counted([ping()], [pong()]), **given)
    earlier = tuple(RunWarning("loss", each, "--depth all") for each in so_far)
    warnings = with_last_words(earlier, counts, (ping(), pong(last_error="the link was closed")))
    assert [each.text for each in warnings] == says
    quotes = [each for each in warnings if "own words" in each.text]
    assert all("README" in each.advice for each in quotes), (
        "a deeper history does not help against the middleware's own error"
    )
