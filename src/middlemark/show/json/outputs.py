"""Every output for programs, by the name of its schema: a table of contents, which imports all the others."""

from collections.abc import Mapping

import msgspec

from middlemark.show.json.comparisons import CompareOutput, SelfTestOutput
from middlemark.show.json.machine import DiagnoseOutput, DoctorOutput, TriedLimitOutput
from middlemark.show.json.run import ResultOutput
from middlemark.show.json.study import StudyOutput
from middlemark.show.json.which import WhichOutput
from middlemark.suite.frameworks import Frameworks

OUTPUTS: Mapping[str, type[msgspec.Struct]] = {
    "run": ResultOutput,
    "which": WhichOutput,
    "compare": CompareOutput,
    "selftest": SelfTestOutput,
    "reproduce": StudyOutput,
    "doctor": DoctorOutput,
    "diagnose": DiagnoseOutput,
    "diagnose-try": TriedLimitOutput,
    "list-frameworks": Frameworks,
}
