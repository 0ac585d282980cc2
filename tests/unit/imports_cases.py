"""Logs of other tools for the tests: the fixtures, and how one is read without a file."""

from collections.abc import Iterator
from pathlib import Path

from middlemark.imports import Log, assemble, find
from middlemark.imports.log import Measured
from middlemark.launch.imported import Source
from middlemark.report import render
from middlemark.report.run_facts import Machine, RunFacts
from middlemark.stats.cells import cell_results
from middlemark.stats.result import CellResult

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "imports"
READ = sorted(path for path in FIXTURES.glob("*/*.*") if path.name != "pong.log")
"""Every log that has a figure in it."""


def blocks(data: bytes, size: int = 1 << 20) -> Iterator[bytes]:
    yield from (data[begin : begin + size] for begin in range(0, len(data), size))


def fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def read(data: bytes, block: int = 1 << 20) -> Log:
    """Read a log; AssertionError where it is of no format."""
    found = find(data[: 1 << 20])
    assert found is not None
    return found.read(blocks(data, block))


def one(log: Log) -> Measured:
    (measured,) = log.measured
    return measured


def codes(measured: Measured) -> set[str]:
    return {each.code for each in measured.doubts}


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


def facts(*told: str, notes: tuple[str, ...] = ()) -> RunFacts:
    return RunFacts(
        suites=("imported",),
        started="2026-03-01T12:00:00Z",
        seconds=0.0,
        middlemark="0.1.0",
        machine=Machine(processors=None, kernel=None, os=None),
        clock=None,
        adapters=(),
        folder="runs/2026-03-01_12-00-00-imported",
        seed=0,
        interrupted=False,
        planned_trials=1,
        done_trials=1,
        notes=notes,
        imported=told or ("a.log (its lines, all 7 lines)",),
    )


def printed(log: Log, form: str) -> str:
    """Return what `import` prints of a log that has a measurement."""
    return render(form, facts(notes=log.notes), results((source(log), log)))
