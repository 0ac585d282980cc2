"""The terminal's tables at each width: columns are dropped by their priority, and no line is too wide.

``pytest tests/unit/test_widths.py --snapshot-update`` accepts a change; read the difference.
"""

from collections.abc import Callable

import msgspec
import pytest
from planning import plan_of
from report_runs import document_of, run_of, spread
from syrupy.assertion import SnapshotAssertion
from test_report_selftest import DOCUMENT, outcome_of
from test_show_doctor import finding
from test_show_levels import FIGURES, HOLDS, LOCKED, SAFE, SEALED, proven
from test_summary import USUAL
from test_which_workload import FIELD, answer, race, robot

from middlemark.document import Document
from middlemark.model.run import NotTried
from middlemark.show import View, render
from middlemark.show.compare import render_table as compared
from middlemark.show.doctor import render_text as diagnosed
from middlemark.show.dry_run import render as planned
from middlemark.show.selftest import render_table as checked
from middlemark.show.which import render_table as answered
from middlemark.system.tried import Tried
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.rows import MeasuredRun

WIDTHS = [60, 80, 100, 160]
LEFT_OUT = (
    NotTried("grpc", "not built", "middlemark build grpc"),
    NotTried("mqtt", "not built", "middlemark build mqtt"),
    NotTried("ecal", "it has no transport within one process", ""),
)
"""Candidates that were not tried."""


def sizes() -> Document:
    return msgspec.structs.replace(document_of(run_of(USUAL)), not_tried=LEFT_OUT)


def robots() -> Document:
    scales = {
        robot(adapter, "udp", scale=scale): spread(share * scale) for adapter, share in GRAPHS for scale in (1.0, 2.0)
    }
    return document_of(run_of(scales))


GRAPHS = (("udp", 0.2), ("lyra", 0.3), ("vega", 0.45), ("deneb", 0.7))


def adapters(run: MeasuredRun, width: int) -> str:
    found = Comparisons(document_of(run).rows, [run]).families
    return compared([*found["adapter", "p50"], *found["adapter", "p99"]], 0.05, width)


SWEEPS = """
[[sweep]]
name = "many"
adapter = "udp"
size = ["64", "1k", "64k"]
receive = ["block", "poll"]
depth = [1, 10, 100]
[[sweep]]
name = "a-sweep-of-a-long-name"
adapter = ["udp", "shm"]
[[expect]]
say = "udp is quick"
of = "adapter=udp"
at_most = "1ms"
"""
FINDINGS = (finding("falsifies"), finding("limits", "rmem_default", ""), finding("note", "turbo"))
TRIED = Tried(line_ns=540.0, loopback_udp_ns=12e3, loopback_tcp_ns=13e3, gaps_hz=471.2, absent=("not built: shm",))

LAYOUTS: dict[str, Callable[[int], str]] = {
    "summary": lambda width: render("summary", sizes(), View(width=width)),
    "rows": lambda width: render("table", sizes(), View(width=width)),
    "which": lambda width: answered(answer(race(FIELD)), "runs/it", width, None, LEFT_OUT),
    "compare": lambda width: adapters(run_of(USUAL), width),
    "security": lambda width: render(
        "summary", document_of(proven(FIGURES, dict.fromkeys((LOCKED, SEALED, SAFE), HOLDS))), View(width=width)
    ),
    "dry run": lambda width: planned(plan_of(SWEEPS), width),
    "doctor": lambda width: diagnosed(FINDINGS, 50, TRIED, View(width=width), None),
    "selftest": lambda width: checked(outcome_of(0.005), DOCUMENT, width),
    "workload": lambda width: render("summary", robots(), View(width=width)),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_table_fits(snapshot: SnapshotAssertion, layout: str, width: int) -> None:
    text = LAYOUTS[layout](width)
    assert [each for each in text.splitlines() if len(each) > width] == []
    assert text == snapshot
