"""A figure declared in a copy of the package appears everywhere without further changes."""

from pathlib import Path

from declaring import seen_in_copy

BEFORE = '    "spread": _latency('
DECLARED = """
    "wobble": Metric(
        means="how much it wobbles",
        figure=lambda _, trial: 5000.0 + trial.outcome.number,
        unit="ns",
        words=_NARROWER,
    ),
"""
SCRIPT = """
import csv, io

from planning import plan_of
from report_runs import cell, document_of, run_of

from middlemark.document.columns import of_metric
from middlemark.runs.sides import ComparisonRequest
from middlemark.show import View, csv as table
from middlemark.show.json.cell import cell_document
from middlemark.stats.metrics import named_metrics

document = document_of(run_of({cell(): [1000.0] * 6}))
[row] = document.rows
see("named", "wobble" in named_metrics())
see("JSON", cell_document(row.result)["metrics"]["wobble"]["median"] == 5003.5)
[line] = csv.DictReader(io.StringIO(table.render(document, View())))
see("CSV", line["wobble"] == "5003.5")
long = {each["metric"]: each for each in csv.DictReader(io.StringIO(table.render_long(document, View())))}
see("long CSV", (long["wobble"]["value"], long["wobble"]["unit"]) == ("5003.5", "ns"))
see("column", of_metric("wobble").text(row) == "5.00 µs")
asked = ComparisonRequest(["runs/a", "runs/b"], None, None, "wobble", "5%", ("wobble wider than 5%",), "table")
see("compare", asked.metrics == ("wobble",))
plan_of('''
[[sweep]]
adapter = 'cyclonedds'
transport = 'udp'
[[expect]]
of = { transport = 'udp' }
metric = 'wobble'
at_most = '5us'
''')
see("expectation", True)
"""
EVERYWHERE = ["CSV", "JSON", "column", "compare", "expectation", "long CSV", "manual", "named"]


def test_a_declared_figure_is_available_everywhere(tmp_path: Path) -> None:
    manual = ("docs/reference/commands.md", "| `wobble` | how much it wobbles | ns | any | wider |")
    assert seen_in_copy(tmp_path, {"stats/metrics.py": (BEFORE, DECLARED)}, SCRIPT, manual) == EVERYWHERE
