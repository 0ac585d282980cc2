"""docs/native-tools.md has every command that bench/native.py runs, and says where each tool comes from."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "native-tools.md").read_text()


def options(command: str) -> set[str]:
    """Return the options of a command, each with its value."""
    return set(re.findall(r"--[a-z]+(?: (?!--)\S+)?", command))


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("native")


def test_every_command_of_the_bench_is_documented(native: ModuleType) -> None:
    documented = [options(each) for each in re.findall(r"`run (--adapter [^`]+)`", PAGE)]
    for pair in native.PAIRS:
        same = [each for each in documented if {o for o in each if not o.startswith("--size")} == options(pair.ours)]
        assert len(same) == 1, f"{pair.tool}, {pair.what}: {pair.ours}"


def test_a_tool_that_is_absent_is_named_with_where_it_comes_from(
    native: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    native.main(1, [])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(native.ABSENT)
    assert "ddsperf: not here (apt-get install cyclonedds-tools); left out" in lines
    assert all(tool in PAGE.partition("## How to get them")[2] for tool in native.ABSENT)


def test_what_a_tool_printed_is_read_as_import_reads_it(native: ModuleType) -> None:
    logs = ROOT / "tests" / "fixtures" / "imports"
    whole = native.told((logs / "latencytest" / "one-process.log").read_bytes())
    assert whole > 0
    assert native.told((logs / "throughputtest" / "both.log").read_bytes(), rate=True) == 4920.091
    with pytest.raises(SystemExit, match="no figures in"):
        native.told(b"Segmentation fault\n")
