"""A quantile declared in a copy of the package appears everywhere without further changes."""

from pathlib import Path

from declaring import seen_in_copy

BEFORE = "    max: float | None = None\n"
DECLARED = "    p99_999: Annotated[float | None, Fraction(99999, 100_000)] = None\n"
SCRIPT = """
import csv, io

import numpy as np
from report_runs import cell, document_of, run_of

from middlemark.document.columns import FIGURES
from middlemark.imports.figures import _TIMES as imported
from middlemark.show import View, csv as table
from middlemark.show.html.data import data_of
from middlemark.show.json.cell import cell_document
from middlemark.stats.quantiles import summarise
from middlemark.verdicts.expectations import LATER_THAN_ANY

see("summary", summarise(np.arange(1_000_000)).p99_999 == 999_989)
see("too few samples", summarise(np.arange(999_999)).p99_999 is None)
see("expectation", abs(LATER_THAN_ANY["p99.999"] - 1e-5) < 1e-12)
document = document_of(run_of({cell(): [1000.0] * 6}))
see("JSON", "p99.999" in cell_document(document.rows[0].result)["round_trip_ns"])
[line] = csv.DictReader(io.StringIO(table.render(document, View())))
see("CSV", "round_trip_p99.999_ns" in line)
see("long CSV", FIGURES["round_trip_p99.999"].unit == "ns")
see("report", data_of(document)["quantiles"][-1] == "p99.999")
see("import", "p99.999" in imported)
"""
EVERYWHERE = ["CSV", "JSON", "expectation", "import", "long CSV", "manual", "report", "summary", "too few samples"]


def test_a_declared_quantile_is_available_everywhere(tmp_path: Path) -> None:
    manual = ("docs/reference/commands.md", "| `p99.999` | 99.999 % of the messages took at most this long | ns |")
    assert seen_in_copy(tmp_path, {"model/times.py": (BEFORE, DECLARED)}, SCRIPT, manual) == EVERYWHERE
