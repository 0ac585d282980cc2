"""`reproduce` as a user starts it: every claim gets a verdict with every budget, and the exit code is 0."""

from typing import get_args

import pytest
from product import Bench, descriptions

from middlemark.show.expectations import Word

pytestmark = pytest.mark.slow
ADAPTERS = set(descriptions())


@pytest.mark.brief
@pytest.mark.skipif("cyclonedds" not in ADAPTERS, reason="cyclonedds was not built here")
def test_every_claim_is_judged_when_the_budget_ends(bench: Bench) -> None:
    ended = bench.run("reproduce", "cyclonedds-page", "--budget", "1s", "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    document = ended.document
    found = {each["id"]: each for each in document["expectations"]}
    assert [*found] == ["C1a", "C1b", "C2a", "C2b", "C3a", "C3b", "C4a", "C4b"]
    assert {each["verdict"] for each in found.values()} <= {*get_args(Word)}
    assert found["C1a"]["measured"] > 0, "one round is measured with any budget"
    assert found["C1a"]["verdict"] == "undecided", "one trial gives no verdict"
    assert found["C1a"]["trials_needed"] is None or found["C1a"]["trials_needed"] > 1
    assert found["C3a"]["verdict"] == "untestable"
    for each in ("C2a", "C3b"):
        assert found[each]["measured"] is None or found[each]["measured"] > 0, "null where no link can be emulated"
    assert found["C2a"]["figure"] == "about 90 % of Gigabit Ethernet"
