"""What takes long to compile is built when it is asked for, and otherwise said to be missing."""

from pathlib import Path

import pytest

from middlemark.problems import MeasureError
from middlemark.workers import find
from middlemark.workers.later import BUILDER, LATER, build_again, build_asked, left_for_later

SCRIPT = """#!/bin/sh
cd "$(dirname "$0")/../.."
echo "$@" >>asked
exit {}
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("adapters/slow", "adapters/slower", "adapters/quick", "packaging/setup", "built"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "adapters" / "slow" / "Cargo.toml").touch()
    for name in ("slow", "slower"):
        (tmp_path / "built" / f"{find.LEFT_OUT}{name}").write_text(f"{LATER}; build it\n")
    builder = tmp_path / "packaging" / "setup" / "setup.sh"
    builder.write_text(SCRIPT.format(0))
    builder.chmod(0o755)
    monkeypatch.setenv(BUILDER, str(builder))
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(tmp_path / "built"))
    return tmp_path


def asked_of(checkout: Path) -> list[str]:
    told = checkout / "asked"
    return told.read_text().split()[1:] if told.exists() else []


def test_a_request_that_names_none_builds_none_and_can_say_what_is_missing(checkout: Path) -> None:
    build_asked([])
    assert asked_of(checkout) == []
    assert left_for_later() == ["slow", "slower"]


@pytest.mark.parametrize(
    ("named", "built"),
    [
        (["slow"], ["worker-slow"]),
        (["tcp", "slower@1.2"], ["worker-slower"]),
        (["quick"], []),
        (["all"], ["worker-slow", "worker-slower"]),
    ],
)
def test_what_is_named_is_built_and_nothing_else(checkout: Path, named: list[str], built: list[str]) -> None:
    build_asked(named)
    assert asked_of(checkout) == built


def test_a_cargo_that_was_missing_is_looked_for_again_by_the_verb_alone(checkout: Path) -> None:
    (checkout / "built" / f"{find.LEFT_OUT}slow").write_text("there is no cargo\n")
    (checkout / "built" / f"{find.LEFT_OUT}slower").write_text("its library was not found\n")
    assert left_for_later() == []
    build_asked(["all"])
    assert asked_of(checkout) == []
    build_again(["all"])
    assert asked_of(checkout) == ["worker-slow"]


def test_the_note_that_the_build_leaves_is_the_one_that_is_known() -> None:
    cmake = Path(__file__).resolve().parents[2] / "cmake" / "MiddlemarkAdapter.cmake"
    assert f'file(WRITE ${{note}} "{LATER};' in cmake.read_text()


def test_a_build_that_fails_ends_the_request(checkout: Path) -> None:
    (checkout / "packaging" / "setup" / "setup.sh").write_text(SCRIPT.format(1))
    with pytest.raises(MeasureError, match="set-up failed"):
        build_asked(["slow"])


def test_nothing_is_built_where_the_set_up_is_not_the_commands(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BUILDER)
    build_asked(["all"])
    assert asked_of(checkout) == []
