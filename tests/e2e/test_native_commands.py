"""Every command in docs/native-tools.md can be run here."""

import re
import shlex
from pathlib import Path

import pytest
from product import Bench, descriptions

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "native-tools.md").read_text()
COMMANDS = re.findall(r"`run (--adapter [^`]+)`", PAGE)
ADAPTERS = set(descriptions())


@pytest.mark.parametrize("command", COMMANDS)
def test_the_documented_command_for_each_native_tool_can_be_planned(bench: Bench, command: str) -> None:
    adapter = command.split()[1]
    if adapter not in ADAPTERS:
        pytest.skip(f"{adapter} was not built here")
    ended = bench.run("run", *shlex.split(command), "--dry-run")
    assert ended.code == 0, ended.err
    assert "Nothing was measured." in ended.out + ended.err
