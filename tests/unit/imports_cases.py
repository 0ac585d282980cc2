"""Logs of other tools for the tests: the fixtures, and functions that read one without a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from middlemark.document import document_of
from middlemark.imports import Log, assemble, find
from middlemark.imports.log import ImportedTrial
from middlemark.model.imported import Source
from middlemark.model.run import Machine, RunFile
from middlemark.show import render
from middlemark.stats.cells import cell_results
from middlemark.stats.result import CellResult
from middlemark.verdicts.rows import MeasuredRun

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "imports"
READ = sorted(path for path in FIXTURES.glob("*/*.*") if path.name != "pong.log" and path.parent.name != "pasted")
"""Every log that has figures and is not damaged. test_imports_pasted.py reads the folder ``pasted``."""

PASTED = sorted(
    path
    for path in (FIXTURES / "pasted").iterdir()
    if not path.name.startswith(("irobot-actions", "irobot-number", "irobot-subscribers", "rosbag2", "latencytest-two"))
)
"""The logs that test_imports_pasted.py reads: some are cut off, or have other text between their lines."""


def blocks(data: bytes, size: int = 1 << 20) -> Iterator[bytes]:
    yield from (data[begin : begin + size] for begin in range(0, len(data), size))


def fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def read(data: bytes, block: int = 1 << 20) -> Log:
    """Read a log; raise AssertionError if no format fits."""
    found = find(data[: 1 << 20])
    assert found is not None
    return found.read(blocks(data, block))


def one(log: Log) -> ImportedTrial:
    (measured,) = log.measured
    return measured


def codes(measured: ImportedTrial) -> set[str]:
    return {each.code for each in measured.warnings}


def source(log: Log, name: str = "a.log") -> Source:
    return Source(
        file=name,
        bytes=1,
        sha256="",
        tool="tool",
        format="its lines",
        lines=log.lines,
        unread=log.unread,
        unit=log.unit,
    )


def results(*logs: tuple[Source, Log]) -> tuple[CellResult, ...]:
    plan, outcomes = assemble(logs, "2026-03-01T12:00:00Z")
    return cell_results(plan, outcomes, lambda _: None, {})


def printed(log: Log, form: str) -> str:
    """Return what `import` prints for a log with figures."""
    read = source(log)
    plan, outcomes = assemble([(read, log)], "2026-03-01T12:00:00Z")
    unknown = Machine(
        host="unknown", cpu="unknown", processors=0, memory_bytes=0, kernel="", system="", virtual=None,
        clocksource=None, governor=None,
    )  # fmt: skip
    run = MeasuredRun(
        folder=Path("runs/2026-03-01_12-00-00-imported"),
        file=RunFile(
            middlemark="0.1.0", suites=("imported",), command=(), started="2026-03-01T12:00:00Z", seed=0,
            machine=unknown, adapters=(), plan=plan, imported=(read,),
        ),
        outcomes=tuple(outcomes),
        trials=[()] * len(plan.cells),
        results=cell_results(plan, outcomes, lambda _: None, {}),
        samples=lambda _: None,
        kept=lambda _: pytest.fail("nothing was kept"),
    )  # fmt: skip
    return render(form, document_of([run]))
