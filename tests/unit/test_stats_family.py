"""Many comparisons at once: a report of pure noise seldom has a false verdict, and real differences are found."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from middlemark.stats.family import family_p
from middlemark.stats.verdict import Judgement, Verdict, judge

pytestmark = pytest.mark.slow

Values = np.ndarray[tuple[int, int], np.dtype[np.float64]]
DIFFERENT = (Verdict.BETTER, Verdict.WORSE)


def noise(draw: np.random.Generator, rounds: int, candidates: int, kind: str) -> Values:
    """Return logarithms of p50s, a row per round. The machine drifts, trials vary by 6 %, ``kind`` adds its effect."""
    values = 0.06 * draw.standard_t(5, (rounds, candidates)) * np.sqrt(3 / 5)
    if kind == "two speeds":
        values += 0.25 * (draw.random((rounds, candidates)) < 0.4)
    if kind == "stalls":
        values += np.where(draw.random((rounds, candidates)) < 0.02, draw.exponential(1.0, (rounds, candidates)), 0.0)
    if kind == "unlike":
        values *= np.exp(draw.normal(0, 0.8, candidates))
    return values + np.cumsum(draw.normal(0, 0.05, rounds))[:, None]


def judged(of_questions: Sequence[Values]) -> dict[tuple[int, int, int], Judgement]:
    """Judge all pairs of candidates of each question together, as a report does."""
    keys = [
        (at, a, b) for at, each in enumerate(of_questions) for a, b in itertools.combinations(range(each.shape[1]), 2)
    ]
    pairs = [
        dict(enumerate(zip(np.exp(of_questions[at][:, a]), np.exp(of_questions[at][:, b]), strict=True)))
        for at, a, b in keys
    ]
    found = judge(pairs, higher_is_better=[False] * len(keys), questions=[at for at, _, _ in keys])
    return dict(zip(keys, found, strict=True))


@pytest.mark.parametrize("kind", ["plain", "two speeds", "stalls", "unlike"])
def test_at_most_one_in_twenty_reports_of_noise_has_a_false_verdict(kind: str) -> None:
    draw = np.random.default_rng(4)
    reports = 150
    false = sum(
        any(each.verdict in DIFFERENT for each in judged([noise(draw, 10, 6, kind) for _ in range(4)]).values())
        for _ in range(reports)
    )
    assert false <= 0.05 * reports + 2 * np.sqrt(0.05 * 0.95 * reports)


def test_candidates_that_tie_behind_a_winner_are_seldom_called_different() -> None:
    draw = np.random.default_rng(5)
    reports, false, found = 150, 0, []
    for _ in range(reports):
        values = noise(draw, 10, 7, "plain")
        values[:, 0] -= 0.25
        verdicts = judged([values])
        false += any(each.verdict in DIFFERENT for (_, a, _), each in verdicts.items() if a > 0)
        found += [each.verdict is Verdict.WORSE for (_, a, _), each in verdicts.items() if a == 0]
    assert false <= 0.05 * reports + 2 * np.sqrt(0.05 * 0.95 * reports)
    assert np.mean(found) >= 0.95


def test_nine_middlewares_at_eight_sizes_are_all_decided_after_eight_rounds() -> None:
    """Holm's correction over these 288 comparisons would need 14 rounds, even for very large differences."""
    draw = np.random.default_rng(6)
    sizes = [noise(draw, 8, 9, "plain") + np.linspace(0, 2.4, 9) for _ in range(8)]
    assert np.mean([each.verdict is Verdict.WORSE for each in judged(sizes).values()]) >= 0.95


def test_the_estimated_number_of_further_trials_decides() -> None:
    draw = np.random.default_rng(7)
    decided = []
    for _ in range(60):
        values = noise(draw, 4000, 6, "plain")
        values[:, 0] -= 0.12
        first = judged([values[:6]])
        for a, b in ((0, 1), (0, 2)):
            needed = first[0, a, b].trials_needed
            if first[0, a, b].verdict is Verdict.UNDECIDED and needed is not None and needed <= len(values):
                decided.append(judged([values[:needed]])[0, a, b].verdict is not Verdict.UNDECIDED)
    assert len(decided) >= 40
    assert np.mean(decided) >= 0.85


def test_a_single_comparison_is_the_paired_randomization_test() -> None:
    values = [0.1, 0.2, 0.3, -0.05, 0.15, 0.25]
    sums = [
        abs(sum(sign * each for sign, each in zip(signs, values, strict=True)))
        for signs in itertools.product((1, -1), repeat=6)
    ]
    exact = np.mean([each >= abs(sum(values)) - 1e-12 for each in sums])
    assert family_p([dict(enumerate(values))], [0]) == pytest.approx([exact])


def test_the_order_of_pairs_changes_no_p_value() -> None:
    draw = np.random.default_rng(8)
    values = noise(draw, 10, 4, "plain")
    differences = [dict(enumerate(values[:, b] - values[:, a])) for a, b in itertools.combinations(range(4), 2)]
    turned = [{number: -value for number, value in each.items()} for each in reversed(differences)]
    assert family_p(turned, [0] * 6) == pytest.approx(family_p(differences, [0] * 6)[::-1])


def test_rounds_that_some_comparisons_lack_count_for_the_others() -> None:
    full = {number: 0.3 + 0.01 * number for number in range(8)}
    short = {number: 0.3 + 0.01 * number for number in (1, 3, 4, 5, 6, 7)}
    assert all(each <= 0.05 for each in family_p([full, short], [0, 0]))
    assert family_p([], []) == []
