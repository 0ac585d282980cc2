"""The section with the breakdown of latencies below the table."""

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion
from test_reports import TextFile

from conftest import render
from middlemark.show import View
from middlemark.stats.result import CellResult, Part
from middlemark.verdicts.rows import MeasuredRun

ONE_WAY = ("write", "transport and wake-up", "take", "copy")
BACK = ("reply write", "reply transport and wake-up", "reply take")
LISTENING = ("write", "in between", "copy", "reply write", "reply in between")
TYPED = ("serialize", "write", "transport", "wake-up", "take", "deserialize")
WITHIN = "serialize and deserialize: cyclonedds does both within its own calls, which no stamp divides"
STAMPED = ("write", "transport", "wake-up", "take", "copy", "reply write", "reply transport", "reply wake-up")


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextFile)


def with_parts(result: CellResult, *names: str) -> CellResult:
    """Return the result with a breakdown in which each part takes twice as long as the one before."""
    whole = 2 ** len(names) - 1
    parts = tuple(Part(part=name, ns=120.0 * 2**at, share=2**at / whole) for at, name in enumerate(names))
    return msgspec.structs.replace(result, breakdown=parts)


@pytest.fixture
def broken_down(results: tuple[CellResult, ...]) -> tuple[CellResult, ...]:
    """Rows with several kinds of parts, and two rows without parts: a failed one, and one with the reason."""
    few = "3 messages were stamped at both ends, and a breakdown needs 20"
    return (
        with_parts(results[0], *ONE_WAY, *BACK),
        with_parts(results[1], *LISTENING),
        msgspec.structs.replace(results[2], breakdown_absent=few),
        *results[3:5],
        msgspec.structs.replace(with_parts(results[5], *ONE_WAY), coding_absent=WITHIN),
        *results[6:-2],
        with_parts(results[-2], *TYPED),
        with_parts(results[-1], *STAMPED),
    )


@pytest.mark.parametrize("width", [60, 80, 100])
def test_table(golden: SnapshotAssertion, facts: MeasuredRun, broken_down: tuple[CellResult, ...], width: int) -> None:
    table = render("table", facts, broken_down, View(width=width, breakdown=True))
    assert max(map(len, table.splitlines())) <= width
    assert golden == table.split("\nWarnings")[0].split("Where the time goes")[1]


def test_the_breakdown_is_shown_only_on_request(facts: MeasuredRun, broken_down: tuple[CellResult, ...]) -> None:
    assert "Where the time goes" not in render("table", facts, broken_down)
    assert "Where the time goes" in render("table", facts, broken_down, View(breakdown=True))
