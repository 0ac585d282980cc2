"""Every command in docs/reference/native-tools.md can be run here."""

import functools
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from product import descriptions

from middlemark.commands import run
from middlemark.runs import conduct
from middlemark.workers.find import find_workers

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/native-tools.md").read_text()
COMMANDS = re.findall(r"`run (--adapter [^`]+)`", PAGE)
ADAPTERS = set(descriptions())
find_workers_once = functools.cache(find_workers)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_documented_command_for_each_native_tool_can_be_planned(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = command.split()[1]
    if adapter not in ADAPTERS:
        pytest.skip(f"{adapter} was not built here")
    monkeypatch.setattr(conduct, "find_workers", find_workers_once)
    ended = CliRunner().invoke(run.command, [*shlex.split(command), "--dry-run"])
    assert ended.exit_code == 0, f"{ended.output} {ended.exception}"
    assert "Nothing was measured." in ended.output
