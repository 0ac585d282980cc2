"""`middlemark about`, which a fault report includes, and the shell's completion."""

import sys

import pytest
from product import Bench

from middlemark import __version__
from middlemark.workers.find import executables


@pytest.mark.brief
def test_about_prints_versions_libraries_limits_and_relevant_environment_variables(bench: Bench) -> None:
    ended = bench.run("about", environment={"CYCLONEDDS_URI": "file:///nowhere.xml", "HOME": "/not-shown"})
    assert ended.code == 0, ended.err
    facts = dict(line.split(maxsplit=1) for line in ended.out.splitlines())
    assert facts["Middlemark"].startswith(__version__)
    assert "CYCLONEDDS_URI=file:///nowhere.xml" in facts["environment"]
    assert "/not-shown" not in ended.out
    assert {*executables()} <= facts.keys()


@pytest.mark.parametrize(
    ("typed", "word"),
    [("middlemark r", "reproduce"), ("middlemark run --adapter ", "all"), ("middlemark run first", "first-look")],
)
def test_the_shell_completes_verbs_adapters_and_suites(bench: Bench, typed: str, word: str) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
    asked = {**words, "_MIDDLEMARK_COMPLETE": "bash_complete"}
    ended = bench.run("about", command=(sys.executable, "-m", "middlemark"), environment=asked)
    assert f"plain,{word}" in ended.out.splitlines()
