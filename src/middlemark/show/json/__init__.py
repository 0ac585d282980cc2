"""Outputs for programs: one JSON document each. A figure that was not measured is null.

Each output is a struct, from which ``scripts/schema`` makes the JSON Schema in docs/reference/schema/.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from middlemark.document.document import Document
from middlemark.show import View
from middlemark.show.json.comparisons import CompareOutput, SelfTestOutput
from middlemark.show.json.history import HistoryOutput
from middlemark.show.json.listing import AboutOutput, AdaptersOutput, RunsOutput, SuitesOutput
from middlemark.show.json.machine import (
    DiagnoseOutput,
    DoctorOutput,
    HostsOutput,
    TriedLimitOutput,
    TuneOutput,
    TunePlanOutput,
)
from middlemark.show.json.output import builtins, printed
from middlemark.show.json.published import Published
from middlemark.show.json.run import ResultOutput, StudyOutput, expectations_output, result_output
from middlemark.show.json.which import WhichOutput
from middlemark.suite.frameworks import Frameworks

OUTPUTS: Mapping[str, type[msgspec.Struct]] = {
    "run": ResultOutput,
    "which": WhichOutput,
    "compare": CompareOutput,
    "history": HistoryOutput,
    "selftest": SelfTestOutput,
    "reproduce": StudyOutput,
    "doctor": DoctorOutput,
    "diagnose": DiagnoseOutput,
    "diagnose-try": TriedLimitOutput,
    "hosts": HostsOutput,
    "tune": TuneOutput,
    "tune-plan": TunePlanOutput,
    "list-adapters": AdaptersOutput,
    "list-suites": SuitesOutput,
    "list-frameworks": Frameworks,
    "list-runs": RunsOutput,
    "about": AboutOutput,
    "published": Published,
}
"""Name of the schema → output."""


def render(document: Document, _view: View) -> str:
    """Return the document as JSON, indented by two. The order of keys is fixed, and the text ends in a newline."""
    return printed(result_output(document))


def expectations_document(document: Document) -> Any:
    """Return the expectations with their verdicts. Expectations that do not hold come first."""
    return builtins(expectations_output(document.expectations))
