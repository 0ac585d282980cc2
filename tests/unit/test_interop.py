"""The table of pairs: the latency of adapters that exchange messages, and the reason why others do not."""

import json

import msgspec
from report_runs import cell, document_of, run_of

from middlemark import exits
from middlemark.document import interop
from middlemark.document.screen import broken
from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, TrialOutcome
from middlemark.model.plan import Limits, Trial
from middlemark.runs.conduct import _status
from middlemark.show import View, render
from middlemark.show.html.data import data_of
from middlemark.trial.interop import Tries
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.interop import interop_tables

SIX = 6
APART = Failure("no-interop", "no match within the deadline: ping found 0 of 1 subscribers")


def pair(senders: str, receivers: str, **levels: object) -> Cell:
    both = "same" if senders == receivers else f"{senders}:{receivers}"
    return cell(senders, pair=both, **levels)


def figures(times: dict[tuple[str, str], float | None], **levels: object) -> dict[Cell, list[float | Failure]]:
    return {pair(*ends, **levels): [APART if ns is None else ns] * SIX for ends, ns in times.items()}


EVERY = {
    ("lyra", "lyra"): 10_000.0,
    ("lyra", "vega"): 20_000.0,
    ("vega", "lyra"): 40_000.0,
    ("vega", "vega"): 30_000.0,
}
PARTLY = EVERY | {("vega", "lyra"): None}


def test_the_table_has_a_line_for_senders_and_a_column_for_receivers() -> None:
    [table] = document_of(run_of(figures(EVERY))).interop
    shown = interop.table_of(table)
    assert [each.title for each in shown.columns] == ["lyra", "vega"]
    texts = [[each.name, *(of.on_one_line for of in each.cells)] for each in shown.lines]
    assert texts == [["lyra", "10.0 ✓", "20.0"], ["vega", "40.0", "30.0"]]
    assert "unmarked: significantly slower" in shown.legend
    assert interop.headline([table]) == "2 of 2 pairs of different adapters exchange messages under every load."


def test_a_pair_that_does_not_interoperate_has_no_figure_but_a_reason() -> None:
    document = document_of(run_of(figures(PARTLY)))
    [table] = document.interop
    apart = next(each for each in table.rows if not each.interoperates)
    assert (apart.senders, apart.receivers, apart.standing) == ("vega", "lyra", Standing.FAILED)
    assert interop.table_of(table).lines[1].cells[0].text == "no"
    assert interop.sentences([table]) == (f"vega to lyra: {APART.text} (64 B, reliable, ping-pong)",)
    assert "vega:lyra never" in interop.headline([table])
    assert not broken(document).texts, "the pair is in the table, not among what is broken"


def test_the_reason_names_the_loads_under_which_the_pair_works() -> None:
    run = run_of(
        figures(EVERY, size=64)
        | figures(PARTLY, size=200_000)
        | figures(EVERY, size=64, reliability="best-effort")
        | figures(EVERY, size=200_000, reliability="best-effort")
    )
    reasons = [each.why for table in document_of(run).interop for each in table.rows if each.why]
    assert reasons == [f"only best effort; only up to 64 B; {APART.text}"]


def test_the_standing_of_a_pair_is_by_its_headline_figure() -> None:
    document = document_of(run_of(figures(EVERY)))
    undecided = [
        msgspec.structs.replace(
            of,
            metric="p99",
            rows=tuple(msgspec.structs.replace(each, standing=Standing.UNDECIDED) for each in of.rows),
        )
        for of in document.experiments
    ]
    [table] = interop_tables(document.rows, (*document.experiments, *undecided))
    assert table == document.interop[0]
    assert {each.standing for each in table.rows} == {Standing.BEST, Standing.SLOWER}


def test_rows_without_a_pair_have_no_table() -> None:
    assert not document_of(run_of({cell("lyra"): [1e4] * SIX, cell("vega"): [2e4] * SIX})).interop
    paired = figures({("lyra", "vega"): 1e4, ("lyra", "lyra"): 2e4}) | {cell("deneb"): [3e4] * SIX}
    [table] = document_of(run_of(paired)).interop
    assert "deneb" not in table.adapters, "it takes part in no pair"


def test_json_has_every_pair_as_the_documents_say() -> None:
    document = document_of(run_of(figures(PARTLY)))
    read = json.loads(render("json", document, View()))
    assert [{**each, "cell": 0} for each in read["interop"][1:3]] == [
        {
            "cell": 0, "senders": "lyra", "receivers": "vega", "size": 64, "reliability": "reliable",
            "interoperates": True, "why": None, "p50_ns": 20_000, "standing": "slower",
        },
        {
            "cell": 0, "senders": "vega", "receivers": "lyra", "size": 64, "reliability": "reliable",
            "interoperates": False, "why": APART.text, "p50_ns": None, "standing": "failed",
        },
    ]  # fmt: skip
    cells = {each["pair"]: each for each in read["cells"] if each["pair"] != "same"}
    assert cells["vega:lyra"]["adapter"] == "vega"
    assert cells["vega:lyra"]["failed"]["code"] == "no-interop"
    assert cells["lyra:vega"]["versions"].keys() == {"senders", "receivers"}


def test_a_pair_that_does_not_interoperate_is_a_result() -> None:
    results = run_of(figures(PARTLY)).results
    assert _status(results, True, None) == exits.OK
    crashed = run_of({pair("lyra", "vega"): [Failure("crashed", "pong 0")], pair("lyra", "lyra"): [1e4]}).results
    assert _status(crashed, True, None) == exits.CELL_FAILED


def test_the_page_has_the_tables_and_the_reasons() -> None:
    found = data_of(document_of(run_of(figures(PARTLY))))["interop"]
    assert found["conclusion"].endswith("vega:lyra never.")
    assert found["tables"][0]["rows"] == [["lyra", "10.0 ✓", "20.0"], ["vega", "no", "30.0"]]
    assert found["apart"] == [f"vega to lyra: {APART.text} (64 B, reliable, ping-pong)"]
    assert data_of(document_of(run_of({cell("lyra"): [1e4] * SIX})))["interop"] is None


def test_a_pair_whose_trials_were_lost_is_not_decided() -> None:
    crashed = Failure("crashed", "pong 0 was ended by SIGSEGV")
    document = document_of(run_of({**figures(PARTLY), pair("lyra", "vega"): [crashed] * SIX}))
    [table] = document.interop
    assert interop.table_of(table).lines[0].cells[1].text == "failed"
    assert interop.headline([table]).endswith("vega:lyra never; lyra:vega not decided, as trials were lost.")
    assert broken(document).texts == (f"lyra:vega udp at 64 B failed: {crashed.text}",)


def _trial(number: int, cell: int = 0) -> Trial:
    return Trial(order=number - 1, cell=cell, number=number, limits=Limits(duration_s=1.0))


def _outcome(trial: Trial, failed: Failure | None) -> TrialOutcome:
    return TrialOutcome(
        cell=trial.cell, number=trial.number, order=trial.order, started="2026-01-01", seconds=12.0, failed=failed
    )


def test_a_pair_that_never_interoperates_is_tried_only_twice() -> None:
    tries = Tries()
    for number in (1, 2):
        assert tries.foreseen(_trial(number)) is None
        tries.add(_outcome(_trial(number), APART))
    foreseen = tries.foreseen(_trial(3))
    assert foreseen is not None
    assert (foreseen.code, foreseen.text) == (APART.code, f"not tried again, because 2 trials failed: {APART.text}")
    assert tries.foreseen(_trial(3, cell=1)) is None, "another pair"


def test_a_pair_that_worked_once_or_crashed_is_tried_in_every_round() -> None:
    for other in (None, Failure("crashed", "ping: killed by SIGSEGV")):
        tries = Tries()
        for number, failed in enumerate((APART, other, APART, APART), 1):
            assert tries.foreseen(_trial(number)) is None
            tries.add(_outcome(_trial(number), failed))
        assert tries.foreseen(_trial(5)) is None
