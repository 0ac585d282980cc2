"""A quantile that nobody knows yet is declared in a copy of the package, and is everywhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEFORE = "    max: float | None = None\n"
DECLARATION = "    p99_999: Annotated[float | None, Fraction(99999, 100_000)] = None\n"
SEEN = r"""
import csv, io, json

import numpy as np
from report_runs import cell, document_of, run_of

from middlemark.document.figures import FIGURES
from middlemark.imports.figures import _TIMES as imported
from middlemark.show import View, csv as table
from middlemark.show.html.data import data_of
from middlemark.show.json.cell import cell_document
from middlemark.stats.expectations import LATER_THAN_ANY
from middlemark.stats.metrics import METRICS
from middlemark.stats.quantiles import summarise

seen = set()
def see(where, what):
    if what:
        seen.add(where)

see("summary", summarise(np.arange(1_000_000)).p99_999 == 999_989)
see("too few samples", summarise(np.arange(999_999)).p99_999 is None)
see("metric", METRICS["p99.999"].means == "99.999 % of them did")
see("expectation", abs(LATER_THAN_ANY["p99.999"] - 1e-5) < 1e-12)
document = document_of(run_of({cell(): [1000.0] * 6}))
[row] = document.rows
see("JSON", "p99.999" in cell_document(row.result)["round_trip_ns"])
[line] = csv.DictReader(io.StringIO(table.render(document, View())))
see("CSV", "round_trip_p99.999_ns" in line)
see("long CSV", FIGURES["round_trip_p99.999"].unit == "ns")
see("report", data_of(document)["quantiles"][-1] == "p99.999")
see("import", "p99.999" in imported)
print(json.dumps(sorted(seen)))
"""


def test_it_is_declared_once_and_is_everywhere(tmp_path: Path) -> None:
    copy = tmp_path / "src" / "middlemark"
    shutil.copytree(ROOT / "src" / "middlemark", copy, ignore=shutil.ignore_patterns("__pycache__"))
    times = copy / "model" / "times.py"
    declared = times.read_text()
    assert declared.count(BEFORE) == 1
    times.write_text(declared.replace(BEFORE, DECLARATION + BEFORE))
    path = os.pathsep.join((str(tmp_path / "src"), str(Path(__file__).parent), str(ROOT / "tests")))
    ended = subprocess.run(
        [sys.executable, "-c", SEEN],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    expected = ["CSV", "JSON", "expectation", "import", "long CSV", "metric", "report", "summary", "too few samples"]
    assert json.loads(ended.stdout) == expected
