"""JUnit XML for continuous integration: a test case for each comparison or, without comparisons, for each cell.

JUnit has no schema; this module writes what Ant's task writes and the reporters of Jenkins and GitLab read:
``testsuites/testsuite/testcase`` with ``failure``, ``error``, ``skipped`` and ``system-out``.
"""

import xml.etree.ElementTree as ET
from collections.abc import Collection, Sequence

from middlemark.document.compare import interval_of
from middlemark.document.document import Document
from middlemark.document.numbers import part
from middlemark.document.statements import standing_in_full
from middlemark.show import View
from middlemark.show.naming import cell_name
from middlemark.stats.comparisons import Comparison
from middlemark.stats.expectations import ClaimVerdict
from middlemark.stats.metrics import METRICS
from middlemark.stats.warnings.cells import NOT_MEASURED
from middlemark.verdicts.names import distinguishing_factors, plain, what
from middlemark.verdicts.rows import Row


def render(document: Document, _view: View) -> str:
    """Return a test case for each expectation and each cell.

    A failed cell is an error. ``system-out`` has the warnings.
    """
    suite = _suite(document)
    for each in document.expectations:
        case = ET.SubElement(suite, "testcase", classname="middlemark.expect", name=_text(f"{each.id}: {each.say}"))
        if each.verdict is ClaimVerdict.DOES_NOT_HOLD:
            ET.SubElement(case, "failure", type=each.verdict, message=_text(each.why))
        elif each.verdict is not ClaimVerdict.HOLDS:
            ET.SubElement(case, "skipped", message=_text(each.why))
        ET.SubElement(case, "system-out").text = _text(each.sentence)
    standings: dict[int, list[str]] = {}
    for experiment in document.experiments:
        for judged in experiment.rows if not experiment.restricted else ():
            standings.setdefault(judged.row.index, []).append(
                f"{experiment.metric}: {standing_in_full(experiment, judged)}"
            )
    for row in document.rows:
        case, failed = _case(suite, row), row.result.failed
        if failed is not None and failed.code == NOT_MEASURED:
            ET.SubElement(case, "skipped", message=_text(failed.text))
        elif failed is not None:
            ET.SubElement(case, "error", type=failed.code, message=_text(failed.text)).text = _text(failed.advice)
        lines = standings.get(row.index, [])
        lines += [f"{each.code}: {each.text} → {each.advice}" for each in row.result.warnings]
        if lines:
            ET.SubElement(case, "system-out").text = "\n".join(map(_text, lines))
    return _written(suite)


def of_comparisons(
    document: Document, comparisons: Sequence[Comparison], missed: Collection[int] | None, margin: float
) -> str:
    """Return JUnit XML with a test case for each comparison and for each failed cell.

    A comparison in ``missed`` is a failure; another undecided comparison is skipped. ``missed``: the indices of the
    comparisons that fail a condition of --fail-if. None: no condition is set, and a comparison is a failure if B is
    significantly worse.
    """
    suite = _suite(document)
    apart = distinguishing_factors(each.pairing for each in comparisons)
    for place, each in enumerate(comparisons):
        a, b = each.pairing.names
        name = f"{what(each.pairing, apart)}: {b} compared with {a}"
        case = ET.SubElement(suite, "testcase", classname=f"middlemark.{each.metric}", name=_text(name))
        sentence = _sentence(each, margin)
        worse = each.is_worse if missed is None else place in missed
        if worse:
            ET.SubElement(case, "failure", type=METRICS[each.metric].worse, message=_text(sentence))
        elif each.is_undecided:
            ET.SubElement(case, "skipped", message=_text(sentence))
        ET.SubElement(case, "system-out").text = "\n".join(map(_text, (sentence, *each.pairing.marks)))
    for row in document.rows:
        failed = row.result.failed
        if failed is not None and failed.code != NOT_MEASURED:
            ET.SubElement(_case(suite, row), "error", type=failed.code, message=_text(failed.text))
    return _written(suite)


def _case(suite: ET.Element, row: Row) -> ET.Element:
    about, name = _text(f"middlemark.{row.result.name}"), _text(cell_name(row.result.cell))
    return ET.SubElement(suite, "testcase", classname=about, name=name)


def _sentence(each: Comparison, margin: float) -> str:
    judged, unit = each.judged, METRICS[each.metric].unit
    a, b = each.medians
    fewer = "no interval: fewer than six pairs"
    interval = fewer if judged.low is None else f"95 % interval {interval_of(judged)}"
    needed = f"; about {judged.trials_needed} trials of each would decide" if judged.trials_needed else ""
    shift = f"{part(judged.shift)} ({interval}, {judged.pairs} pairs, margin {100 * margin:g} %)"
    return f"{each.metric} {each.word}: {shift}; {a:.4g} → {b:.4g} {unit}{needed}"


def _suite(document: Document) -> ET.Element:
    run = document.runs[0]
    suite = ET.Element("testsuite", name=_text(f"middlemark {', '.join(run.file.suites)}"), tests="0")
    suite.set("timestamp", run.file.started[:19])
    suite.set("hostname", _text(run.machine.host if run.machine else "unknown"))
    suite.set("time", f"{document.took:.3f}")
    return suite


def _written(suite: ET.Element) -> str:
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _text(text: str) -> str:
    """Return the text without characters that XML 1.0 forbids. The output of a crashed program may contain them."""
    return plain(text).encode("utf-8", "backslashreplace").decode()
