"""A row with a failed proof is marked, has a warning and gets no verdict; proofs are shown with the protection."""

import csv
import io
from typing import Any

import msgspec
from report_runs import cell, document_of, run_of, spread
from test_report_answers import answers_of

from middlemark.model.outcome import ProtectionProof
from middlemark.show import View, markdown, table
from middlemark.show import csv as rows
from middlemark.show import json as document
from middlemark.show.html.data import data_of
from middlemark.show.html.page import page_of
from middlemark.stats.cells import results_of
from middlemark.verdicts.rows import MeasuredRun
from outputs import read_output

HOLDS = ProtectionProof(
    payload_not_seen=True, stranger_refused=True, absent={"unauthorised-refused": "there are no permissions"}
)
FAILS = ProtectionProof(payload_not_seen=False, stranger_refused=True, unauthorised_refused=False)
SAFE, LEAKING = cell("lyra", security="encrypted"), cell("vega", security="encrypted")


def proven(proofs: dict[str, ProtectionProof], **given: Any) -> MeasuredRun:
    """Return a run of two protected rows, the first trial of each with its proof."""
    run = run_of({SAFE: spread(21_000), LEAKING: spread(28_000)}, **given)
    for trials in run.trials:
        first, adapter = trials[0], run.file.plan.cells[trials[0].outcome.cell].adapter
        outcome = msgspec.structs.replace(
            first.outcome, proof=proofs.get(adapter), protected_by=f"the cipher of {adapter}"
        )
        trials[0] = msgspec.structs.replace(first, outcome=outcome)
    results = results_of(run.file.plan, run.trials, {each.name: each for each in run.file.adapters})
    return msgspec.structs.replace(run, results=results)


def test_a_row_with_a_failed_proof_is_marked_and_not_compared() -> None:
    run = proven({"lyra": HOLDS, "vega": FAILS})
    safe, leaking = run.results
    assert [each.code for each in safe.warnings] == []
    [warning] = leaking.warnings
    assert warning.code == "protection-contradicted"
    assert warning.text == (
        "asked for security encrypted, but its payload was seen in a capture and a "
        "participant without permission was let in"
    )
    judged = document_of(run)
    marked = [
        line for line in table.render(judged, View()).splitlines() if line.startswith(("  lyra udp", "  vega udp"))
    ]
    assert ["(!)" in line for line in marked] == [False, True]
    assert judged.comparisons == ()
    [answer] = answers_of(run)
    assert "Left out, because they are not protected as their names say: vega udp" in answer
    assert "(not encrypted)" in answer


def test_rows_with_successful_proofs_are_compared() -> None:
    assert document_of(proven({"lyra": HOLDS, "vega": HOLDS})).comparisons != ()


def test_every_output_contains_the_proof_of_protection() -> None:
    judged = document_of(proven({"lyra": HOLDS, "vega": FAILS}))
    first, second = read_output("run", document.render(judged, View()))["cells"]
    assert first["protection_proof"] == {
        "payload-not-seen": True,
        "stranger-refused": True,
        "unauthorised-refused": None,
        "absent": {"unauthorised-refused": "there are no permissions"},
    }
    assert second["protection_proof"]["payload-not-seen"] is False
    sheet = list(csv.DictReader(io.StringIO(rows.render(judged, View()))))
    columns = ("payload_not_seen", "stranger_refused", "unauthorised_refused")
    assert [[row[each] for each in columns] for row in sheet] == [["true", "true", ""], ["false", "true", "false"]]
    wide = table.render(judged, View(width=300))
    assert "payload not seen, stranger refused" in wide
    assert "PAYLOAD SEEN, stranger refused, UNAUTHORISED LET IN" in wide
    text = markdown.render(judged, View())
    assert "payload not seen, stranger refused; permissions: there are no permissions" in text
    page = page_of(data_of(judged))
    assert "The protection of the rows, and its proofs" in page
    assert "the cipher of vega. PAYLOAD SEEN" in page


def test_a_protected_row_without_a_proof_is_marked_not_proven() -> None:
    judged = document_of(proven({}))
    assert "not proven" in table.render(judged, View(width=300))
    assert read_output("run", document.render(judged, View()))["cells"][0]["protection_proof"] is None
