"""Growth of figures along a factor: paired by round, in the document, Markdown and JSON."""

from pathlib import Path
from typing import Any

import pytest
from test_compare import cell, write

from middlemark.document import document_of
from middlemark.document.document import Document
from middlemark.document.report_tables import growth_tables
from middlemark.runs.read import read_measured
from middlemark.show import render
from middlemark.verdicts.growth import Growth
from outputs import read_output


def document(root: Path, cells: dict[Any, float], **how: Any) -> Document:
    return document_of([read_measured(write(root, cells, **how))])


def growth_by(found: Document, factor: str, metric: str = "p50") -> list[Growth]:
    return [each for each in found.growths if (each.factor, each.metric) == (factor, metric)]


SIZES = {cell(size=size, transport=name): ns for size in (64, 1024, 65536) for name, ns in (("udp", 2e4 + size),)}


def test_each_size_has_its_ratio_to_the_smallest(tmp_path: Path) -> None:
    [line] = growth_by(document(tmp_path, SIZES), "size")
    assert [each.level for each in line.points] == ["64 B", "1 KiB", "64 KiB"]
    assert line.points[0].times == 1
    assert line.points[2].times == pytest.approx((2e4 + 65536) / (2e4 + 64), rel=0.01)
    assert (line.points[2].low or 0) <= line.points[2].times <= (line.points[2].high or 0)


def test_few_rounds_have_no_interval(tmp_path: Path) -> None:
    [line] = growth_by(document(tmp_path, SIZES, trials=3), "size")
    assert [(each.low, each.high) for each in line.points] == [(None, None)] * 3


def test_growth_lines_follow_one_numeric_factor_with_all_others_equal(tmp_path: Path) -> None:
    cells = {cell(depth=depth, loan=loan): 2e4 * (depth or 9) for depth in (1, 2, None) for loan in (False, True)}
    found = document(tmp_path, cells)
    assert [[each.level for each in line.points] for line in growth_by(found, "depth")] == [["1", "2"]] * 2
    assert len({line.line for line in growth_by(found, "depth")}) == 2
    assert growth_by(found, "size") == []


def test_a_table_has_a_column_per_level_and_the_figure_in_the_first(tmp_path: Path) -> None:
    found = document(tmp_path, SIZES | {cell(size=1024, transport="shm"): 2e4, cell(size=65536, transport="shm"): 6e4})
    [(factor, table)] = growth_tables(growth_by(found, "size"))
    assert (factor, [each.title for each in table.columns[1:]]) == ("size", ["64 B", "1 KiB", "64 KiB"])
    [shm] = [line.cells for line in table.lines if "shm" in line.name]
    assert (shm[1].text, shm[2].text) == ("–", "20.0 µs")
    assert shm[3].text.startswith("× 3.00 (")
    assert "### Growth along size" in render("markdown", found)
    growth = read_output("run", render("json", found))["growth"]
    assert growth[0]["points"][1] == {
        **{name: growth[0]["points"][1][name] for name in ("median", "times", "low", "high")},
        "cell": 1,
        "level": "1 KiB",
    }
