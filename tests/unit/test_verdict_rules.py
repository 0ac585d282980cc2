"""The documents state the rules of a verdict as they are in the code."""

import re
from pathlib import Path

from middlemark.document.matrix import MARKS, MEANS
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import MARGIN
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.judging import NEAR, WIDEST

DOCS = Path(__file__).parents[2] / "docs"
REPORT = (DOCS / "how-to/read-a-report.md").read_text()
RULES = (DOCS / "reference/verdicts.md").read_text()


def test_each_standing_has_a_line_in_the_rules() -> None:
    assert re.findall(r"^\| `(\w+)` \|", RULES, re.MULTILINE) == [str(each) for each in Standing]


def test_the_numbers_in_the_documents_match_the_code() -> None:
    assert (FEWEST, MARGIN, NEAR, WIDEST) == (6, 0.05, 0.1, 1 / 3)
    assert "fewer than six rounds in common have no verdict" in RULES
    assert "within 5 % of the best" in RULES
    assert "within a tenth" in REPORT
    assert "(a third where" in REPORT


def test_each_mark_of_a_matrix_has_a_line_in_the_rules() -> None:
    matrix = (DOCS / "reference/commands.md").read_text().partition("- **The matrix**")[2].partition("\n- **")[0]
    marks = dict(re.findall(r"^\| (\S) \| (.+) \|$", matrix, re.MULTILINE))
    assert marks.keys() == MEANS.keys()
    for mark in "✓~×#":
        assert marks[mark].startswith(MEANS[mark]), mark


def test_each_standing_with_a_mark_has_its_own_mark() -> None:
    words = {
        Standing.BEST: "fastest",
        Standing.EQUIVALENT: "equivalent",
        Standing.UNDECIDED: "undecided",
        Standing.NO_COMMON_ROUNDS: "rounds in common",
        Standing.TOO_FEW_TRIALS: "too few trials",
        Standing.ELIMINATED: "eliminated",
    }
    assert MARKS.keys() == words.keys()
    assert all(words[standing] in MEANS[mark] for standing, mark in MARKS.items())
