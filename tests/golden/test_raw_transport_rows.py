"""Raw transports, including memcpy, are the first rows of their group, and the heading names the fastest."""

import re

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from conftest import PINNED, described, made, render
from middlemark.model.cell import Cell
from middlemark.show import View
from middlemark.stats.result import CellResult
from middlemark.verdicts.rows import MeasuredRun


class TextFile(SingleFileSnapshotExtension):
    """One plain text file for each report."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


def cell(adapter: str, transport: str, size: int = 1024, **levels: object) -> Cell:
    return Cell(**{"adapter": adapter, "transport": transport, "size": size, "pin": PINNED, **levels})  # type: ignore[arg-type]


def copying(size: int = 1024, **levels: object) -> Cell:
    factors = {"receive": "poll", "processes": 1, "subscribers": 0, "pin": PINNED[:1]}
    return cell("memcpy", "memcpy", size, **{**factors, **levels})


@pytest.fixture
def with_memcpy(facts: MeasuredRun) -> MeasuredRun:
    """The machine of the other reports, with one more raw transport."""
    memcpy = described("memcpy", "Copying", "glibc 2.36", "Apache-2.0", is_raw_transport=True)
    file = msgspec.structs.replace(facts.file, adapters=(memcpy, *facts.file.adapters))
    return msgspec.structs.replace(facts, file=file)


@pytest.fixture
def rows() -> tuple[CellResult, ...]:
    return (
        made(cell("cyclonedds", "shm"), 38_900.0, times_raw_transport=3.1, raw_transport="shm"),
        made(cell("cyclonedds", "udp"), 39_000.0, times_raw_transport=2.1, raw_transport="udp"),
        made(cell("udp", "udp"), 18_200.0, times_raw_transport=1.0, raw_transport="udp"),
        made(cell("shm", "shm"), 12_300.0, times_raw_transport=1.0, raw_transport="shm"),
        made(copying(), 90.0, times_raw_transport=1.0, raw_transport="memcpy", actual_transport="process-memory"),
        made(cell("cyclonedds", "shm", 64), 30_000.0),
        made(
            copying(65536), 2_540.0, times_raw_transport=1.0, raw_transport="memcpy", actual_transport="process-memory"
        ),
    )


def table(facts: MeasuredRun, rows: tuple[CellResult, ...]) -> str:
    return render("table", facts, rows, View(width=100))


def groups(text: str) -> dict[str, list[str]]:
    """Return the names of the rows of each group, by its title."""
    blocks = [block.splitlines() for block in text.split("\n\n")[1:-1]]
    return {block[0]: [re.split("  +", line.strip())[0] for line in block[2:]] for block in blocks}


def test_table_with_raw_transports(
    with_memcpy: MeasuredRun, rows: tuple[CellResult, ...], snapshot: SnapshotAssertion
) -> None:
    assert table(with_memcpy, rows) == snapshot.use_extension(TextFile)


def test_memcpy_is_listed_with_the_raw_transports_of_its_size(
    with_memcpy: MeasuredRun, rows: tuple[CellResult, ...]
) -> None:
    assert groups(table(with_memcpy, rows)) == {
        "64 B": ["cyclonedds shm"],
        "1 KiB; baseline: shm (copying) 12.3 µs": ["memcpy", "shm", "udp", "cyclonedds shm", "cyclonedds udp"],
        "64 KiB, one process": ["memcpy"],
    }


def test_memcpy_does_not_change_the_settings_named_for_other_rows(
    with_memcpy: MeasuredRun, rows: tuple[CellResult, ...]
) -> None:
    text = table(with_memcpy, rows)
    assert "every row  ping-pong, one at a time, block, 2 processes, 1 subscriber, filled, pinned 0,1" in text
    polled = (*rows, made(cell("shm", "shm", receive="poll"), 620.0))
    assert set(groups(table(with_memcpy, polled))) == {
        "64 B, block",
        "1 KiB, block; baseline: shm (copying) 12.3 µs",
        "1 KiB, poll",
        "64 KiB, one process",
    }


def test_memcpy_is_grouped_by_its_payload_and_processor(with_memcpy: MeasuredRun) -> None:
    rows = (
        made(cell("cyclonedds", "udp", payload="filled"), 39_000.0),
        made(cell("cyclonedds", "udp", payload="untouched"), 38_000.0),
        made(copying(payload="untouched"), 80.0),
        made(copying(payload="filled", pin=None), 90.0),
    )
    assert groups(table(with_memcpy, rows)) == {
        "1 KiB, filled": ["cyclonedds udp"],
        "1 KiB, untouched": ["memcpy", "cyclonedds udp"],
        "1 KiB, one process, filled": ["memcpy"],
    }


def test_rows_that_hand_over_and_rows_that_copy_have_separate_baselines(
    with_memcpy: MeasuredRun, rows: tuple[CellResult, ...]
) -> None:
    lent = (made(cell("cyclonedds", "shm", loan=True), 31_200.0), made(cell("shm", "shm", loan=True), 520.0))
    text = table(with_memcpy, (*rows, *lent))
    assert "1 KiB; baseline: shm (copying) 12.3 µs, shm, loan (handing over) 0.52 µs\n" in text
    ratios = {line.split("  ")[1]: line.split()[-2] for line in text.splitlines() if "cyclonedds shm" in line}
    assert ratios["cyclonedds shm, loan"] == "60.0"


def test_a_group_with_only_raw_transports_names_no_baseline(
    with_memcpy: MeasuredRun, rows: tuple[CellResult, ...]
) -> None:
    assert "; baseline: shm" not in table(with_memcpy, rows[2:5])
    assert "; baseline: shm (copying) 12.3 µs" in table(with_memcpy, rows)
