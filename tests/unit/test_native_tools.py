"""docs/reference/native-tools.md has every command that bench/native.py runs, and names each tool's source."""

import dataclasses
import importlib
import re
import socket
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/native-tools.md").read_text()


def options(command: str) -> set[str]:
    """Return the options of a command, each with its value."""
    return set(re.findall(r"--[a-z]+(?: (?!--)\S+)?", command))


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("native")


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("native_tools")


def test_every_command_of_the_bench_is_documented(native: ModuleType) -> None:
    documented = [options(each) for each in re.findall(r"`run (--adapter [^`]+)`", PAGE)]
    for pair in native.PAIRS:
        same = [each for each in documented if {o for o in each if not o.startswith("--size")} == options(pair.ours)]
        assert len(same) == 1, f"{pair.tool}, {pair.what}: {pair.ours}"


def test_a_missing_tool_is_named_with_its_package(
    native: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    native.main(1, [])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(native.ABSENT)
    assert "ddsperf: skipped, not installed (apt-get install cyclonedds-tools)" in lines
    assert all(tool in PAGE.partition("## How to get them")[2] for tool in native.ABSENT)


def test_a_ratio_far_from_one_is_printed_with_its_reason(native: ModuleType) -> None:
    pair = native.Pair("tool", "way", (64,), native.ddsperf_ping, "--size 64", why="it copies")
    alike = native.line_of(pair, 64, [(100.0, 99.0), (107.0, 100.0), (105.0, 100.0)])
    assert alike.endswith(" 64 B: 0.1 µs and 0.1 µs: ratio median 1.05, from 1.01 to 1.07 over 3 pairs")
    assert native.line_of(pair, 64, [(108.0, 100.0)]).splitlines()[1].strip() == "it copies"
    assert native.line_of(pair, 64, [(92.0, 100.0)]).splitlines()[1].strip() == "it copies"
    unknown = dataclasses.replace(pair, why="")
    assert native.line_of(unknown, 64, [(92.0, 100.0)]).splitlines()[1].strip() == "the reason is not known"


def test_a_tool_that_never_ends_is_stopped_after_its_time(tools: ModuleType, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    behind = [
        "python3",
        "-c",
        "import os, socket, time; time.sleep(0.3); s = socket.create_server(('127.0.0.1', "
        f"{port})); open('pid', 'w').write(str(os.getpid())); time.sleep(60)",
    ]
    assert tools.alongside(behind, ["echo", "12 msg/s"], tmp_path, port=port) == b"12 msg/s\n"
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()


def test_the_output_of_a_tool_is_read_as_import_reads_it(tools: ModuleType) -> None:
    logs = ROOT / "tests" / "fixtures" / "imports"
    whole = tools.figure_of((logs / "latencytest" / "one-process.log").read_bytes())
    assert whole > 0
    assert tools.figure_of((logs / "throughputtest" / "both.log").read_bytes(), rate=True) == 4920.091
    with pytest.raises(SystemExit, match="no figures in"):
        tools.figure_of(b"Segmentation fault\n")
