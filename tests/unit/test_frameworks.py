"""The table of frameworks: every fact has a source, and every measured middleware is in it."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from middlemark.commands.list import command
from middlemark.model.version import adapter_of
from middlemark.suite.frameworks import FACTS, Fact, frameworks
from middlemark.workers.find import find_workers

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ROWS = [re.findall(r"\[`([\w-]+)`\]", line.split("|")[1]) for line in README.splitlines() if line.startswith("| [`")]
FIRST_OF_ROW = {name: row[0] for row in ROWS for name in row}
"""By adapter: the first adapter in its row of the README. A client in Python is in another adapter's row."""
DOCUMENTED_ONLY = {"aseba", "urbi", "mira"}


def test_every_fact_has_a_source_that_is_written_out() -> None:
    table = frameworks()
    facts = [fact for each in table.framework.values() for fact in each.facts.values() if fact is not None]
    assert facts
    for fact in facts:
        assert fact.text.strip()
        assert fact.source in table.sources or fact.source.startswith(("http", "crate ")), fact
    assert {fact.source for fact in facts} >= {*table.sources}, "every listed source is used"


def test_frameworks_without_an_adapter_are_documented_only() -> None:
    table = frameworks().framework
    assert {name for name, each in table.items() if each.adapter is None} == DOCUMENTED_ONLY


def test_every_measured_middleware_is_in_the_table_with_its_own_licence() -> None:
    by_adapter = {each.adapter: each for each in frameworks().framework.values() if each.adapter}
    for worker in find_workers()[0]:
        about = worker.description
        if about.is_raw_transport or about.bench_only or about.name in ("ros2-wire", "ros2-zenoh", "rcl", "rclpy"):
            continue  # ROS 2 without rclcpp
        name = adapter_of(about.name)
        assert FIRST_OF_ROW[name] in by_adapter
        if FIRST_OF_ROW[name] == name:  # a client in Python has a licence of its own
            assert by_adapter[name].licence == Fact(about.licence, "adapter")


def test_the_list_shows_a_dash_for_an_unknown_fact() -> None:
    text = CliRunner().invoke(command, ["frameworks"], standalone_mode=False).stdout
    assert "ASEBA (documented only)" in text
    assert "Eclipse Cyclone DDS (adapter cyclonedds)" in text
    aseba = text[text.index("ASEBA") : text.index("URBI")].splitlines()
    assert [line for line in aseba if line.split() == ["licence", "–"]]


@pytest.mark.parametrize("name", sorted(DOCUMENTED_ONLY))
def test_json_has_null_for_an_unknown_fact(name: str) -> None:
    table = json.loads(CliRunner().invoke(command, ["frameworks", "--format", "json"], standalone_mode=False).stdout)
    row = table["framework"][name]
    assert {*FACTS} <= row.keys()
    assert row["adapter"] is None
    assert row["security"] is None
    assert all(fact is None or len(fact) == 2 for fact in (row[each] for each in FACTS))
