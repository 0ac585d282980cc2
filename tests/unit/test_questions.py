"""The question of a report, in words."""

import pytest
from report_runs import ROBOT, cell, document_of, run_of, spread

from middlemark.document.questions import question
from middlemark.model.cell import Cell


def asked(*cells: Cell) -> str:
    return question(document_of(run_of({each: spread(20_000, 2) for each in cells})))


LYRA, VEGA = cell("lyra", processes=2), cell("vega", processes=2)


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ((LYRA, VEGA), "Which middleware for 64 B round trips between two processes?"),
        (
            [
                cell(name, size=size, rate=1000.0, processes=2)
                for name in ("lyra", "vega")
                for size in (64, 1024, 65536)
            ],
            "Which middleware for 64 B to 64 KiB messages at 1 kHz between two processes?",
        ),
        (
            [cell(name, rate=rate, processes=1) for name in ("lyra", "vega") for rate in (1000.0, 100.0)],
            "Which middleware for 64 B messages at 100 Hz to 1 kHz within one process?",
        ),
        (
            [cell(name, pattern="stream", subscribers=3, processes=2) for name in ("lyra", "vega")],
            "Which middleware for 64 B messages as fast as possible to 3 subscribers?",
        ),
        (
            [cell(name, pattern="request-reply", processes=2) for name in ("lyra", "vega")],
            "Which middleware for calls of 64 B between two processes?",
        ),
        (
            (LYRA, cell("lyra", "shm", processes=2)),
            "Which transport of lyra for 64 B round trips between two processes?",
        ),
        (
            (LYRA, cell("lyra", loan=True, processes=2)),
            "Which configuration of lyra for 64 B round trips between two processes?",
        ),
        ((LYRA,), "How fast is lyra udp for 64 B round trips between two processes?"),
        ((cell("udp", processes=2),), "How fast is this machine for 64 B round trips between two processes?"),
        (
            [cell(name, link="100mbit", processes=2) for name in ("lyra", "vega")],
            "Which middleware for 64 B round trips between two processes over the link 100mbit?",
        ),
        (
            [cell(name, link=link, processes=2) for name in ("lyra", "vega") for link in ("1gbit", "100mbit", "1mbit")],
            "Which middleware for 64 B round trips between two processes over 3 links?",
        ),
        ((), "first-look, robot-7, 2026-11-21"),
    ],
)
def test_the_question_names_the_candidates_and_the_load(cells: tuple[Cell, ...], text: str) -> None:
    assert asked(*cells) == text


def test_the_question_about_a_workload_is_about_its_deadlines() -> None:
    graph = {
        cell(name, workload=ROBOT, pattern="stream", rate=100.0, processes=2): [0.5] * 6 for name in ("lyra", "vega")
    }
    assert question(document_of(run_of(graph))) == "Which middleware meets the deadlines of the workload robot?"


def test_the_question_about_two_runs_is_what_changed() -> None:
    runs = [run_of({LYRA: spread(20_000), VEGA: spread(30_000)}, name=name) for name in ("monday", "tuesday")]
    assert question(document_of(*runs)) == "What changed from monday to tuesday?"
