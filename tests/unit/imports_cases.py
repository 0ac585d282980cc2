"""Logs of other tools for the tests: the fixtures, and how one is read without a file."""

from collections.abc import Iterator
from pathlib import Path

from middlemark.imports import Log, find
from middlemark.imports.log import Measured

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
