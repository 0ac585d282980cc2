"""JUnit XML, as continuous integration reads it: a test case a comparison, or without comparisons one a cell.

There is no schema by JUnit itself; this keeps to what the Ant task writes and the reporters of Jenkins and GitLab read:
``testsuites/testsuite/testcase`` with ``failure``, ``error``, ``skipped`` and ``system-out``.
"""

import xml.etree.ElementTree as ET
from collections.abc import Collection, Sequence

from middlemark.exports.naming import cell_names
from middlemark.report.comparisons import what
from middlemark.report.factors import plain
from middlemark.report.run_facts import RunFacts
from middlemark.stats.comparisons import METRICS, Comparison
from middlemark.stats.doubts import NOT_MEASURED
from middlemark.stats.result import CellResult
from middlemark.stats.verdict import Verdict


def of_cells(facts: RunFacts, results: Sequence[CellResult]) -> str:
    """Return a case a cell: an error where it failed, its doubts in the output."""
    suite = _suite(facts, len(results))
    for name, result in zip(cell_names([each.cell for each in results]), results, strict=True):
        case = ET.SubElement(suite, "testcase", classname=_text(f"middlemark.{result.name}"), name=_text(name))
        if result.failed is not None and result.failed.code == NOT_MEASURED:
            ET.SubElement(case, "skipped", message=_text(result.failed.text))
        elif result.failed is not None:
            error = ET.SubElement(case, "error", type=result.failed.code, message=_text(result.failed.text))
            error.text = _text(result.failed.advice)
        told = [f"{each.code}: {each.text} → {each.advice}" for each in result.warnings]
        if told:
            ET.SubElement(case, "system-out").text = "\n".join(map(_text, told))
    return _document(suite)


def of_comparisons(
    facts: RunFacts,
    results: Sequence[CellResult],
    comparisons: Sequence[Comparison],
    missed: Collection[int] | None,
    margin: float,
) -> str:
    """Return a case a comparison: a failure where B is worse, skipped where that cannot be told; and failed cells.

    ``missed``: the comparisons (by place) that miss a gate of their own; None: there is no gate, worse is a failure.
    """
    suite = _suite(facts, len(comparisons))
    for place, each in enumerate(comparisons):
        judged = each.judged
        a, b = each.pairing.names
        name = f"{what(each.pairing)}: {b} beside {a}"
        case = ET.SubElement(suite, "testcase", classname=f"middlemark.{each.metric}", name=_text(name))
        told = _told(each, margin)
        worse = judged.verdict is Verdict.WORSE if missed is None else place in missed
        if worse:
            ET.SubElement(case, "failure", type=METRICS[each.metric].worse, message=_text(told))
        elif judged.verdict is Verdict.CANNOT_TELL:
            ET.SubElement(case, "skipped", message=_text(told))
        ET.SubElement(case, "system-out").text = "\n".join(map(_text, (told, *each.pairing.marks)))
    for name, result in zip(cell_names([each.cell for each in results]), results, strict=True):
        if result.failed is not None and result.failed.code != NOT_MEASURED:
            case = ET.SubElement(suite, "testcase", classname=_text(f"middlemark.{result.name}"), name=_text(name))
            ET.SubElement(case, "error", type=result.failed.code, message=_text(result.failed.text))
    return _document(suite)


def _told(each: Comparison, margin: float) -> str:
    judged, unit = each.judged, METRICS[each.metric].unit
    a, b = each.medians
    interval = (
        f"95 % interval {100 * judged.low:+.1f} to {100 * judged.high:+.1f} %"
        if judged.low is not None and judged.high is not None
        else "no interval: fewer than six pairs"
    )
    needed = f"; about {judged.trials_needed} trials of each would tell" if judged.trials_needed else ""
    shift = f"{100 * judged.shift:+.1f} % ({interval}, {judged.pairs} pairs, margin {100 * margin:g} %)"
    return f"{each.metric} {each.word}: {shift}; {a:.4g} → {b:.4g} {unit}{needed}"


def _suite(facts: RunFacts, tests: int) -> ET.Element:
    suite = ET.Element("testsuite", name=_text(f"middlemark {', '.join(facts.suites)}"), tests=str(tests))
    suite.set("timestamp", facts.started[:19])
    suite.set("hostname", _text(facts.machine.hostname or "unknown"))
    suite.set("time", f"{facts.seconds:.3f}")
    return suite


def _document(suite: ET.Element) -> str:
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _text(text: str) -> str:
    """Return what XML 1.0 can hold of a text: a crashed program's last words may be anything."""
    return plain(text).encode("utf-8", "backslashreplace").decode()
