"""The manual page follows from the declarations of the commands, and man accepts it."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from middlemark.commands import group

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/middlemark.1"


def commands(parent: click.Group) -> Iterator[click.Command]:
    for name in parent.list_commands(click.Context(parent)):
        command = parent.get_command(click.Context(parent), name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from commands(command)


def test_the_manual_page_matches_the_declarations() -> None:
    argv = [sys.executable, ROOT / "scripts/man", "--check"]
    done = subprocess.run(argv, env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_verb_and_option_is_in_the_page_that_man_prints() -> None:
    if shutil.which("man") is None:
        pytest.skip("there is no man")
    argv = ["man", "--warnings", "--local-file", str(PAGE)]
    environment = {"MANWIDTH": "200", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    shown = " ".join(done.stdout.split())
    verbs = [*commands(group)]
    assert len(verbs) > 15
    for command in verbs:
        for each in command.params:
            assert not isinstance(each, click.Option) or each.opts[0] in shown, f"{command.name} {each.name}"
    assert "Exit codes: 0 everything measured" in shown
