"""Scorecards: the weights of a suite, the score, and how certain its order is."""

import math
import random
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from planning import suite_of
from test_compare import cell, write

from middlemark.document import document_of
from middlemark.document.document import Document
from middlemark.runs.read import read_measured
from middlemark.show import render
from middlemark.show.html import render_html
from middlemark.stats.scorecard import scores
from middlemark.suite.scorecard import read_scorecard
from outputs import read_output


def rounds(*figures: float) -> dict[int, float]:
    return dict(enumerate(figures, 1))


def test_a_score_is_the_weighted_geometric_mean_of_the_ratios_to_the_best() -> None:
    found = scores([[rounds(2.0), rounds(10.0)], [rounds(1.0), rounds(40.0)]], [3, 1], [False, False])
    assert [each.parts for each in found] == [(2.0, 1.0), pytest.approx((1.0, 4.0))]
    assert [each.score for each in found] == [pytest.approx(2**0.75), pytest.approx(4**0.25)]
    assert {(each.low, each.first) for each in found} == {(None, None)}, "one round gives no interval"


def test_metrics_where_higher_is_better_are_inverted() -> None:
    slow, fast = scores([[rounds(100.0)], [rounds(400.0)]], [1], [True])
    assert (slow.score, fast.score) == (pytest.approx(4), 1)


def test_the_units_of_metrics_do_not_change_their_weights() -> None:
    in_us = scores([[rounds(2.0), rounds(3.0)], [rounds(3.0), rounds(2.0)]], [1, 1], [False, False])
    in_ns = scores([[rounds(2e3), rounds(3.0)], [rounds(3e3), rounds(2.0)]], [1, 1], [False, False])
    assert [each.score for each in in_us] == [pytest.approx(each.score) for each in in_ns]


def drawn(apart: float, seed: int, pairs: int = 10) -> list[list[dict[int, float]]]:
    """Return two candidates whose figures differ by ``apart``. Trials vary by a tenth; a round shifts both equally."""
    draw = random.Random(seed)
    shared = [draw.lognormvariate(0, 0.5) for _ in range(pairs)]
    return [[rounds(*(level * each * draw.lognormvariate(0, 0.1) for each in shared))] for level in (1.0, 1.0 + apart)]


def test_a_significantly_faster_row_is_first_in_nearly_every_draw() -> None:
    first, second = scores(drawn(0.5, 1), [1], [False])
    assert (first.first or 0) > 0.99
    assert (first.first or 0) + (second.first or 0) == pytest.approx(1)
    assert (second.low or 0) < second.score < (second.high or math.inf)


def test_equal_rows_are_first_equally_often() -> None:
    shares = [scores(drawn(0.0, seed), [1], [False])[0].first or 0 for seed in range(60)]
    assert 0.4 < sum(shares) / len(shares) < 0.6
    assert scores(drawn(0.0, 3), [1], [False]) == scores(drawn(0.0, 3), [1], [False]), "the draws are repeatable"


def test_a_round_that_disturbed_all_rows_does_not_change_their_order() -> None:
    """Without pairing, rounds that vary by a factor of 1.6 would hide a difference of a tenth."""
    calm = [[rounds(*(level * 3.0 ** (each % 2) for each in range(10)))] for level in (1.0, 1.1)]
    assert scores(calm, [1], [False])[0].first == 1


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("[scorecard]", "weights are missing"),
        ("[scorecard]\nweights = { p5 = 3 }", "there is no such metric; did you mean 'p50'?"),
        ("[scorecard]\nweights = { p50 = 0 }", "0 is not a weight"),
        ("[scorecard]\nweights = { p50 = 1 }\nscale = 2", "no such key"),
    ],
)
def test_wrong_weights_are_refused(written: str, wrong: str) -> None:
    weights, problems = read_scorecard(tomllib.loads(written)["scorecard"], "lan.toml: scorecard")
    assert weights == ()
    assert any(wrong in each.text for each in problems), problems


def test_any_metric_can_have_a_weight() -> None:
    suite = suite_of("[scorecard]\nweights = { 'p99.9' = 2.5, 'memory.ping' = 1 }\n[[sweep]]")
    assert suite.scorecard == (("p99.9", 2.5), ("memory.ping", 1.0))


def scored(root: Path, cells: dict[Any, float], weights: tuple[tuple[str, float], ...], **how: Any) -> Document:
    run = read_measured(write(root, cells, **how))
    plan = msgspec.structs.replace(run.file.plan, scorecard=weights)
    return document_of([msgspec.structs.replace(run, file=msgspec.structs.replace(run.file, plan=plan))])


CELLS = {
    cell(adapter=adapter, transport=transport, size=size): ns
    for size in (64, 1024)
    for adapter, transport, ns in (("lyra", "udp", 5e4), ("lyra", "shm", 2e4), ("vega", "x", 4e4))
}
WEIGHTS = (("p50", 3.0), ("round_trips", 1.0), ("memory", 2.0))


def test_a_report_ranks_rows_measured_at_every_size(tmp_path: Path) -> None:
    found = scored(tmp_path, CELLS | {cell(adapter="orion", transport="y"): 1e3}, WEIGHTS, scatter=4)
    [card] = found.scorecards
    assert [each.name for each in card.rows] == ["lyra shm", "vega x", "lyra udp"]
    assert card.weights == WEIGHTS[:2]
    assert any("orion" in each for each in card.left_out)
    assert any(each.startswith("memory: ") for each in card.left_out)
    assert card.rows[0].first == 1
    assert (card.rows[0].parts[0], card.rows[2].parts[0]) == (1, pytest.approx(2.5, rel=0.1))
    scorecards = read_output("run", render("json", found))["scorecards"]
    assert [each["name"] for each in scorecards[0]["rows"]] == ["lyra shm", "vega x", "lyra udp"]
    markdown = render("markdown", found)
    assert "### Scorecard" in markdown
    assert "2,000 draws of the 8 rounds" in markdown


def test_without_weights_there_is_no_scorecard(tmp_path: Path) -> None:
    assert scored(tmp_path, CELLS, ()).scorecards == ()


def test_the_page_has_the_scorecard_and_its_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = scored(tmp_path, CELLS, WEIGHTS, scatter=4)
    monkeypatch.setattr("middlemark.show.html.page.script", lambda: "")
    text = render_html(found)
    before_data = text[: text.index("<script")]
    assert 'aria-label="Table: scorecard 1"' in before_data
    assert "round_trips (1)" in before_data
    assert "2,000 draws of the 8 rounds" in before_data
    assert "Growth along size" in before_data
