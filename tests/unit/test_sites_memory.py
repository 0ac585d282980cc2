"""The memory check before the start: the need, the available memory, and the suggested alternative."""

from pathlib import Path
from typing import Any

import pytest

from middlemark.model.cell import Cell
from middlemark.model.plan import Limits
from middlemark.plan.memory import memory_needed
from middlemark.sites import memory
from middlemark.sites.channel import WorkerFailedError
from middlemark.system.root import Root

LIMITS = Limits(duration_s=1.0)


def cell(**factors: Any) -> Cell:
    return Cell(**{"adapter": "null", "transport": "memory", "pattern": "stream", "size": 64, "depth": 1, **factors})


def refusal(asked: Cell, monkeypatch: pytest.MonkeyPatch, available: int) -> WorkerFailedError:
    monkeypatch.setattr(memory, "available_bytes", lambda: available)
    with pytest.raises(WorkerFailedError) as refused:
        memory.refuse_too_much(asked, LIMITS)
    assert refused.value.code == "memory"
    return refused.value


def test_exactly_the_needed_memory_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = memory_needed(cell(), LIMITS)
    monkeypatch.setattr(memory, "available_bytes", lambda: needed)
    memory.refuse_too_much(cell(), LIMITS)
    refusal(cell(), monkeypatch, needed - 1)


def test_a_refusal_names_the_needed_and_the_available_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = refusal(cell(size=16 << 20, depth=10_000, rate=1e5), monkeypatch, 3 << 30)
    assert "but only 3 GiB are available" in refused.text
    assert "GiB of memory" in refused.text or "MiB of memory" in refused.text


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ({}, "a shorter --duration"),
        ({"size": 16 << 20, "depth": 10_000, "rate": 1e5}, "a --depth below 10000"),
        ({"size": 16 << 20, "depth": 10_000, "rate": 1e5, "subscribers": 8}, "fewer --subscribers"),
    ],
)
def test_the_advice_names_the_factor_that_needs_the_most_memory(
    monkeypatch: pytest.MonkeyPatch, factors: dict[str, Any], words: str
) -> None:
    assert words in refusal(cell(**factors), monkeypatch, 1 << 20).advice


def test_available_memory_is_read_from_the_kernel(tmp_path: Path) -> None:
    meminfo = tmp_path / "proc" / "meminfo"
    meminfo.parent.mkdir()
    meminfo.write_text("MemTotal:       100 kB\nMemAvailable:    50 kB\n")
    assert memory.available_bytes(Root(tmp_path)) == 50 * 1024
    assert (memory.available_bytes() or 0) > 0


@pytest.mark.parametrize("text", ["", "MemTotal: 100 kB\n", "MemAvailable: many\n", "MemAvailable:\n"])
def test_without_the_kernels_figure_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    meminfo = tmp_path / "proc" / "meminfo"
    meminfo.parent.mkdir()
    meminfo.write_text(text)
    assert memory.available_bytes(Root(tmp_path)) is None
    assert memory.available_bytes(Root(tmp_path / "nowhere")) is None
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    memory.refuse_too_much(cell(size=64 << 20, depth=10_000), LIMITS)
