"""The first screen of a run with several security levels shows their cost, and whether they were in force."""

from collections.abc import Mapping

import msgspec
from report_runs import Figures, cell, document_of, run_of, spread

from middlemark.model.cell import Cell
from middlemark.model.outcome import ProtectionProof
from middlemark.show import View, summary
from middlemark.show.html.data import data_of
from middlemark.stats.cells import results_of
from middlemark.verdicts.rows import MeasuredRun

HOLDS = ProtectionProof(payload_not_seen=True, stranger_refused=True)
LEAKS = ProtectionProof(payload_not_seen=False, stranger_refused=True)
LYRA, VEGA = cell("lyra"), cell("vega")
LOCKED, SEALED, SAFE = (
    cell("lyra", security="signed"),
    cell("lyra", security="encrypted"),
    cell("vega", security="encrypted"),
)
FIGURES = {
    cell("udp"): spread(16_000),
    LYRA: spread(20_000),
    LOCKED: spread(30_000),
    SEALED: spread(40_000),
    VEGA: spread(50_000),
    SAFE: spread(50_500),
}


def proven(figures: Figures, proofs: Mapping[Cell, ProtectionProof]) -> MeasuredRun:
    """Return a run of these cells. The first trial of each cell has the cell's proof."""
    run = run_of(figures)
    for trials in run.trials:
        first = trials[0]
        proof = proofs.get(run.file.plan.cells[first.outcome.cell])
        trials[0] = msgspec.structs.replace(first, outcome=msgspec.structs.replace(first.outcome, proof=proof))
    results = results_of(run.file.plan, run.trials, {each.name: each for each in run.file.adapters})
    return msgspec.structs.replace(run, results=results)


def screen(figures: Figures, proofs: Mapping[Cell, ProtectionProof]) -> list[str]:
    return summary.render(document_of(proven(figures, proofs)), View(width=100)).splitlines()


def test_the_first_lines_state_the_cost_of_each_level_and_that_it_was_in_force() -> None:
    lines = screen(FIGURES, dict.fromkeys((LOCKED, SEALED, SAFE), HOLDS))
    assert lines[0] == ("encrypted takes 1.01 (vega udp at 64 B) to 2.00 times (lyra udp at 64 B) as long as none;")
    assert lines[1] == "signed 1.50."
    assert lines[2] == "Proven: protection was in force in all 3 protected rows."
    assert len(lines) <= summary.MOST_LINES


def test_each_middleware_has_a_line_per_level_with_its_ratio_to_none() -> None:
    lines = screen(FIGURES, dict.fromkeys((LOCKED, SEALED, SAFE), HOLDS))
    [at] = [number for number, line in enumerate(lines) if "time per message ÷ that at none" in line]
    table = [line.split() for line in lines[at + 1 : at + 8]]
    assert table == [
        ["64", "B"],
        ["lyra", "udp", "20.0", "1.00"],
        ["signed", "30.0", "1.50"],
        ["encrypted", "40.0", "2.00"],
        ["vega", "udp", "50.0", "1.00"],
        ["encrypted", "50.5", "1.01", "="],
        ["=", "as", "none", "·", "unmarked:", "significantly", "slower", "than", "none"],
    ]


def test_the_report_has_the_same_sentences_and_tables() -> None:
    document = document_of(proven(FIGURES, dict.fromkeys((LOCKED, SEALED, SAFE), HOLDS)))
    security = data_of(document)["security"]
    assert security["conclusion"].startswith("encrypted takes 1.01 (vega udp at 64 B) to 2.00 times")
    assert security["proven"] == "Proven: protection was in force in all 3 protected rows."
    [table] = security["tables"]
    assert table["rows"] == [
        ["lyra udp", "20.0 1.00"],
        ["  signed", "30.0 1.50"],
        ["  encrypted", "40.0 2.00"],
        ["vega udp", "50.0 1.00"],
        ["  encrypted", "50.5 1.01 ="],
    ]
    assert data_of(document_of(run_of({LYRA: spread(20_000)})))["security"] is None


def test_protection_that_is_not_in_force_is_named_and_marked() -> None:
    lines = screen(FIGURES, {LOCKED: HOLDS, SEALED: HOLDS, SAFE: LEAKS})
    assert "Proven: protection was in force in 2 of 3 protected rows; not in vega udp" in " ".join(lines)
    assert any(line.split()[:1] == ["encrypted"] and line.rstrip().endswith("!") for line in lines)


def test_unproven_protection_does_not_count_as_in_force() -> None:
    assert "in force in 0 of 3 protected rows" in " ".join(screen(FIGURES, {}))


def test_the_first_line_is_short_for_one_protected_row() -> None:
    lines = screen({LYRA: spread(20_000), SEALED: spread(40_000)}, {SEALED: HOLDS})
    assert lines[0] == "encrypted takes 2.00 times as long as none (lyra udp at 64 B)."
    assert lines[1] == "Proven: protection was in force in the protected row."


def test_the_first_line_is_undecided_with_too_few_trials() -> None:
    lines = screen({LYRA: spread(20_000, 2), SEALED: spread(40_000, 2)}, {SEALED: HOLDS})
    assert lines[0] == "Undecided with 2 trials each: encrypted takes 2.00 times as long as none (lyra udp at 64 B)."


def test_a_run_of_one_level_has_the_usual_screen() -> None:
    figures = {SEALED: spread(40_000), SAFE: spread(50_500)}
    assert not any("as long as" in line for line in screen(figures, dict.fromkeys(figures, HOLDS)))


def test_levels_without_none_are_not_compared() -> None:
    lines = screen({LOCKED: spread(30_000), SEALED: spread(40_000)}, {})
    assert not any("as long as" in line for line in lines)
    assert lines[0].strip()
