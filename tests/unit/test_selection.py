"""Selection of cells by the levels of their factors, as typed and as written in suites."""

from typing import Any

import pytest

from middlemark.model.cell import Cell
from middlemark.model.selection import read_selection, read_typed_selection


def cell(**levels: Any) -> Cell:
    return Cell(**{"adapter": "lyra", "transport": "udp", "size": 1024, **levels})


def chosen(text: str, *cells: Cell) -> list[bool]:
    selection, wrong = read_typed_selection(text)
    assert wrong == []
    return [selection.matches(each) for each in cells]


@pytest.mark.parametrize(
    ("text", "has", "other"),
    [
        ("pin=off", {"pin": None}, {"pin": (0, 1)}),
        ("pin=0,1", {"pin": (0, 1)}, {"pin": (0, 2)}),
        ("pin=auto", {"pin": (0, 2)}, {"pin": None}),
        ("priority=fifo:80", {"priority": "fifo:80"}, {"priority": "other"}),
        ("rate=1k", {"rate": 1000.0}, {"rate": "max"}),
        ("rate=max", {"rate": "max"}, {"rate": 1000.0}),
        ("burst=off", {"burst": None}, {"burst": 100}),
        ("recovery=90ms", {"recovery_s": 0.09}, {"recovery_s": 0.0}),
        ("depth=all", {"depth": None}, {"depth": 1}),
        ("max_p99=1ms", {"max_p99_s": 0.001}, {"max_p99_s": None}),
        ("max_loss=1%", {"max_loss": 0.01}, {"max_loss": 0.0}),
        ("size=0", {"size": 16}, {"size": 64}),
        ("size=64k,1m", {"size": 1 << 20}, {"size": 1 << 10}),
        ("loan=true", {"loan": True}, {"loan": False}),
        ("pin=0,1,priority=fifo:80,size=1k", {"pin": (0, 1), "priority": "fifo:80"}, {"pin": (0, 1)}),
        ("", {}, None),
    ],
)
def test_levels_are_read_as_in_suites(text: str, has: dict[str, Any], other: dict[str, Any] | None) -> None:
    assert chosen(text, cell(**has)) == [True]
    assert other is None or chosen(text, cell(**other)) == [False]


def test_a_table_in_a_suite_selects_the_same_cells() -> None:
    selection, wrong = read_selection({"pin": [0, 1], "size": [64, "1k"], "recovery": "90ms", "priority": "rr:7"})
    assert wrong == []
    levels = {"pin": (0, 1), "recovery_s": 0.09, "priority": "rr:7"}
    assert selection.matches(cell(**levels))
    assert not selection.matches(cell(**levels | {"size": 4096}))


def test_shared_memory_is_selected_by_the_actual_transport() -> None:
    selection, _ = read_typed_selection("shared_memory=on")
    assert selection.matches(cell(), shared_memory=True)
    assert not selection.matches(cell(), shared_memory=False)
    assert not selection.matches(cell()), "an unknown actual transport matches neither"


def test_a_factor_that_another_tool_did_not_report_is_not_selected() -> None:
    assert chosen("pin=off", cell(unknown=("pin",))) == [False]


def test_all_problems_are_reported_at_once() -> None:
    problems_text = "; ".join(read_typed_selection("zeal=1,pin=x,rate=no,udp")[1])
    for wrong in ("'zeal=1' selects nothing", "pin: 'x' names no processors", "rate: 'no,udp'"):
        assert wrong.split("'")[0] in problems_text, problems_text
    _, problems = read_selection({"zeal": 1, "size": True, "label": 3})
    assert [each.split(":")[0] for each in problems] == ["zeal", "size", "label"]
