"""Workers that take long to compile are built on demand, and otherwise reported as missing."""

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from middlemark.commands import run
from middlemark.problems import MeasureError, RequestError
from middlemark.runs.conduct import built_workers
from middlemark.workers import find
from middlemark.workers.later import LATER, build_again, build_asked, left_for_later

SCRIPT = """#!/bin/sh
cd "$(dirname "$0")/../.."
echo "$@" >>asked
exit {}
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("adapters/common", "packaging/setup", "built"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("slow", "slower", "quick", "lost"):
        (tmp_path / "adapters" / name).mkdir()
        (tmp_path / "adapters" / name / "CMakeLists.txt").touch()
    for name in ("slow", "slower"):
        (tmp_path / "built" / f"{find.LEFT_OUT}{name}").write_text(f"{LATER}; build it\n")
    (tmp_path / "built" / f"{find.LEFT_OUT}lost").write_text("its library was not found\n")
    builder = tmp_path / "packaging" / "setup" / "setup.sh"
    builder.write_text(SCRIPT.format(0))
    builder.chmod(0o755)
    monkeypatch.setenv(find.BUILDER, str(builder))
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(tmp_path / "built"))
    return tmp_path


def answerer_fields(checkout: Path) -> list[str]:
    words = checkout / "asked"
    return words.read_text().splitlines() if words.exists() else []


def test_a_request_without_names_builds_nothing_and_lists_the_unbuilt_workers(checkout: Path) -> None:
    build_asked([])
    assert answerer_fields(checkout) == []
    assert left_for_later() == ["slow", "slower", "quick"]


def test_an_adapter_without_a_worker_and_without_a_reason_is_not_built_yet(checkout: Path) -> None:
    assert find.left_out()["quick"] == "it is not built yet; `./middlemark build quick` builds it"
    assert find.left_out()["lost"] == "its library was not found"
    assert "common" not in find.left_out()
    worker = checkout / "built" / f"{find.PREFIX}quick"
    worker.touch(0o755)
    assert "quick" not in find.left_out()
    assert left_for_later() == ["slow", "slower"]


@pytest.mark.parametrize(
    ("named", "built"),
    [
        (["slow"], ["worker-slow"]),
        (["tcp", "slower@1.2"], ["worker-slower"]),
        (["quick", "slow"], ["worker-quick worker-slow"]),
        (["lost"], []),
        (["all"], ["worker-quick worker-slow worker-slower"]),
    ],
)
def test_named_workers_are_built_at_once_and_no_others(checkout: Path, named: list[str], built: list[str]) -> None:
    build_asked(named)
    assert answerer_fields(checkout) == built


def test_a_missing_version_is_built_with_the_other_workers(checkout: Path) -> None:
    (checkout / "built" / f"{find.PREFIX}quick").touch(0o755)
    build_asked(["quick@2"])
    assert answerer_fields(checkout) == [], "a version alone needs an installation that the user names"
    build_asked(["slow", "quick@2"])
    assert answerer_fields(checkout) == ["worker-quick worker-slow"]


@pytest.mark.parametrize(("named", "built"), [([], "again all"), (["lost", "slow"], "again worker-lost worker-slow")])
def test_the_verb_build_looks_again_and_builds_all_or_the_named_workers(
    checkout: Path, named: list[str], built: str
) -> None:
    build_again(named)
    assert answerer_fields(checkout) == [built]


def test_the_build_writes_the_note_that_the_launcher_reads() -> None:
    root = Path(__file__).resolve().parents[2]
    assert f'file(WRITE ${{note}} "{LATER};' in (root / "cmake" / "MiddlemarkAdapter.cmake").read_text()
    for script in ("stages.sh", "workers.sh"):
        assert "it is built on request" in (root / "packaging" / "setup" / script).read_text()


def test_the_set_up_lists_every_adapter_that_is_built_on_request() -> None:
    root = Path(__file__).resolve().parents[2]
    script = f'root={root}; source "$root/packaging/setup/stages.sh"; later_adapters; printf "%s\\n" "${{later[@]}}"'
    listed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()
    text = {each.parent.name: each.read_text() for each in (root / "adapters").glob("*/CMakeLists.txt")}
    later = {name for name, words in text.items() if re.search(r"\bLATER\b|middlemark_(rust|python)_adapter\(", words)}
    assert set(listed) == later
    assert later >= {"nng", "zenoh"}


def test_a_failed_build_ends_the_request(checkout: Path) -> None:
    (checkout / "packaging" / "setup" / "setup.sh").write_text(SCRIPT.format(1))
    with pytest.raises(MeasureError, match="set-up failed"):
        build_asked(["slow"])


def test_a_dry_run_builds_nothing_and_names_what_it_could_not_check(checkout: Path) -> None:
    assert built_workers(["slow"], dry_run=True).unchecked == ("slow", "slower", "quick")
    for arguments, words in (
        (["--adapter", "slow"], "none of its adapters is built: slow"),
        (["--adapter", "slow,quick"], "none of its adapters is built: slow and quick"),
        ([], "none of its adapters is built: no adapter is"),
    ):
        error = CliRunner().invoke(run.command, [*arguments, "--dry-run"]).exception
        assert isinstance(error, MeasureError)
        assert f"the plan was not checked, because {words}" in str(error)
    assert answerer_fields(checkout) == []


def test_a_dry_run_without_workers_still_refuses_a_wrong_request(checkout: Path) -> None:
    for wrong in (["--adapter", "nosuch"], ["--size", "huge"]):
        error = CliRunner().invoke(run.command, [*wrong, "--dry-run"]).exception
        assert isinstance(error, RequestError)
    assert answerer_fields(checkout) == []


def test_without_the_set_up_command_nothing_is_built(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(find.BUILDER)
    build_asked(["all"])
    assert answerer_fields(checkout) == []
    assert "quick" not in find.left_out()
