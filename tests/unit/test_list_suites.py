"""``middlemark list suites``: the suite that runs by default, and how long each takes with the workers here."""

import re

import pytest
from click.testing import CliRunner
from descriptions import EVERYONE

from middlemark.commands.list import command
from middlemark.model.description import Worker
from middlemark.suite.request import suite_files


def listed(monkeypatch: pytest.MonkeyPatch, workers: list[Worker]) -> dict[str, str]:
    monkeypatch.setattr("middlemark.commands.list.find_workers", lambda: (workers, []))
    lines = CliRunner().invoke(command, ["suites"]).stdout.splitlines()
    return {found[1]: found[2] for line in lines if (found := re.match(r"(\S+(?: \(default\))?)  +(\S.*?)  ", line))}


def test_each_suite_is_listed_with_its_duration_and_the_default_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = [Worker(path=f"/w/{each.name}", description=each) for each in EVERYONE]
    times = listed(monkeypatch, workers)
    assert times.keys() == {*suite_files()} - {"first-look"} | {"first-look (default)"}
    assert re.fullmatch(r"\d+ (s|min)", times["first-look (default)"])


def test_a_suite_that_cannot_be_planned_here_has_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {*listed(monkeypatch, []).values()} == {"–"}
