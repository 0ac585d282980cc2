"""The version is declared once, the change log has three parts, and the script prepares a release."""

import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
TODAY = "2026-12-01"


def released(script: str = "scripts/release") -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("release", str(ROOT / script))
    spec = importlib.util.spec_from_loader("release", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


release = released()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the files that contain the version."""
    for path in [*release.PLACES, "CHANGELOG.md", "pyproject.toml", "CMakeLists.txt"]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def test_every_file_has_the_declared_version() -> None:
    done = subprocess.run([ROOT / "scripts/release", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout == f"every file has the version {release.declared(ROOT)}\n"


@pytest.mark.parametrize("path", release.PLACES)
def test_a_file_with_another_version_is_named(path: str, copy: Path) -> None:
    match = release.found(copy, path, release.PLACES[path])
    (copy / path).write_text(f"{match.string[: match.start(1)]}9.9.9{match.string[match.end(1) :]}")
    assert [*release.differing(copy, release.declared(ROOT))] == [
        f"{path} has the version 9.9.9 instead of {release.declared(ROOT)}"
    ]


def test_a_release_sets_the_version_and_the_date_everywhere(copy: Path) -> None:
    release.set_version(copy, "4.5.6", TODAY)
    assert [*release.differing(copy, "4.5.6")] == []
    assert (copy / "CITATION.cff").read_text().count(f"date-released: {TODAY}\n") == 1
    assert re.search(rf"^## 4\.5\.6 \({TODAY}\)$", (copy / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert "maintainers@example.com" in (copy / "package.xml").read_text()
    with pytest.raises(release.Problem, match="CHANGELOG"):
        release.set_version(copy, "4.5.7", TODAY)  # there is no unreleased version any more
    assert release.notes(copy).startswith("### New\n")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_cmake_reads_the_declared_version(copy: Path) -> None:
    release.set_version(copy, "4.5.6", TODAY)
    lists = copy / "CMakeLists.txt"
    head, project = lists.read_text().split("project(", 1)
    lists.write_text(f'{head}message(STATUS "found ${{version}}")\nreturn()\n#{project.splitlines()[0]}\n')
    done = subprocess.run(["cmake", "-S", copy, "-B", copy / "b"], capture_output=True, text=True, check=False)
    assert "found 4.5.6\n" in done.stdout
    assert project.startswith("middlemark VERSION ${version} ")


def test_placeholders_are_named_until_somebody_fills_them_in(copy: Path) -> None:
    file = copy / "pyproject.toml"
    text = file.read_text()
    named = [*release.placeholders(copy)]
    assert len(named) == text.count("example.com")
    file.write_text(text.replace("example.com", "middlemark.test"))
    assert [*release.placeholders(copy)] == []


def test_the_newest_changes_are_new_changed_and_fixed_in_at_most_60_lines() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    newest = text.split("\n## ", 2)[1]
    assert re.findall(r"^### (.+)$", newest, re.MULTILINE) == ["New", "Changed", "Fixed"]
    lines = [line for line in newest.splitlines()[1:] if line and not line.startswith("### ")]
    assert all(line.startswith("- ") for line in lines), "an entry is one line"
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 130
