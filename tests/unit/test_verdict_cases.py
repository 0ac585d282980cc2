"""Contradictions that two outputs of one run once had. Each test checks the rule that prevents one."""

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
from report_runs import ADAPTERS, answers_of, cell, document_of, run_of, spread
from test_compare import asked, write

from middlemark.document.choices import choices
from middlemark.document.matrix import matrices, table_of
from middlemark.document.screen import headline, not_tried_text
from middlemark.document.statements import why
from middlemark.model.cell import Cell
from middlemark.model.description import Description, Worker
from middlemark.model.outcome import Failure
from middlemark.model.plan import Note, Plan
from middlemark.model.run import NotTried
from middlemark.runs.conduct import Built, not_tried
from middlemark.show import View, render
from middlemark.show.html.data import data_of
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.rows import MeasuredRun
from middlemark.workers.later import LATER

LYRA, VEGA = cell("lyra"), cell("vega")
CRASHED = Failure("crashed", "killed", "run it alone")
Trials = list[float | Failure]


def disjoint() -> MeasuredRun:
    """Return a run in which LYRA and VEGA have seven good trials each, but no common round."""
    even: Trials = [2e4 + at if at % 2 else CRASHED for at in range(14)]
    odd: Trials = [CRASHED if at % 2 else 3e4 + at for at in range(14)]
    return run_of({LYRA: even, VEGA: odd})


def test_every_screen_states_that_rows_share_no_rounds() -> None:
    document = document_of(disjoint())
    experiment = document.experiments[0]
    standings = {each.row.name: each.standing for each in experiment.rows}
    assert standings == {"lyra udp": Standing.UNDECIDED, "vega udp": Standing.NO_COMMON_ROUNDS}
    shared = "vega udp shares no rounds of trials with lyra udp; 6 are the fewest for a verdict"
    assert why(experiment) == f"{shared}."
    assert shared in answers_of(disjoint())[0]
    legend = table_of(matrices(document.experiments)[0]).legend
    assert legend[0] == "# fewer than six rounds in common with the best"
    screen = " ".join(render("summary", document, View(width=100)).split())
    assert shared in screen
    assert "too few trials" not in screen
    assert "--trials 10" not in screen, "more trials in the same way would also share no rounds"
    assert choices(document)[0].command is None


def test_names_of_a_middleware_with_and_without_loans_are_unique(tmp_path: Path) -> None:
    figures = {
        cell("ring", "ring"): 40_000.0,
        cell("lyra", loan=False): 45_000.0,
        cell("lyra", loan=True): 30_000.0,
        cell("loaner", "pool", loan=True): 20_000.0,
    }
    lines = asked(write(tmp_path, figures), "--by", "adapter").stdout.splitlines()
    names = [line[: line.index(" µs")].rsplit(maxsplit=1)[0].strip() for line in lines if " µs" in line]
    assert len(names) == len({*names}), names
    assert {"lyra udp", "lyra udp, loan"} <= {*names}, names


def handing(description: Description, transport: str, *levels: bool) -> Description:
    ways = [
        msgspec.structs.replace(e, hands_over=levels if e.name == transport else ()) for e in description.transports
    ]
    return msgspec.structs.replace(description, transports=tuple(ways))


def within(adapters: Sequence[Description]) -> MeasuredRun:
    levels = {"processes": 1, "size": 1 << 20}
    figures: dict[Cell, Trials] = {
        cell("shm", "shm", **levels): spread(300_000),
        cell("lyra", "shm", **levels): spread(198_000),
        cell("vega", "udp", **levels): spread(600_000),
    }
    return run_of(figures, adapters=tuple(adapters))


def test_a_row_that_hands_over_is_not_compared_with_a_copying_baseline() -> None:
    described = [handing(each, "shm", *([False] if each.name == "lyra" else [])) for each in ADAPTERS]
    first, *_ = document_of(within(described)).experiments[0].ranked
    assert (first.row.name, first.ratio, first.row.hands_over) == ("lyra shm", None, True)
    assert not {"faster-than-baseline"} & {each.code for each in first.row.result.warnings}


def test_a_ratio_significantly_below_one_is_a_warning_with_a_reason() -> None:
    described = [handing(each, "none") for each in ADAPTERS]
    first, *_ = document_of(within(described)).experiments[0].ranked
    assert first.ratio is not None
    assert first.ratio < 1
    [warning] = [each for each in first.row.result.warnings if each.code == "faster-than-baseline"]
    assert "0.66 of the time" in warning.text
    assert (
        "passes a pointer although its description says that it copies" in warning.advice or "awake" in warning.advice
    )
    assert first.doubt


def built(**absent: str) -> Built:
    return Built({each.name: Worker(f"/x/{each.name}", each) for each in ADAPTERS}, dict(absent))


def test_an_adapter_that_took_no_part_is_named_with_its_reason_and_command() -> None:
    plan = Plan(cells=(LYRA,), trials=(), names=("",), notes=(Note("--size", "deneb udp: at most 64 B in a message"),))
    here = built(
        zenoh=f"{LATER}; build it",
        moos="MOOS 10 with its library (core) was not found (its sources)",
        yarp=f"{LATER}; build it",
        null=f"{LATER}; build it",
    )
    found = not_tried(plan, (), here)
    assert found == (
        NotTried("moos", "MOOS 10 with its library (core) was not found"),
        NotTried("yarp", "not built", "./middlemark build yarp"),
        NotTried("zenoh", "not built", "./middlemark build zenoh"),
        NotTried("vega", "it supports no requested configuration"),
        NotTried("deneb", "deneb udp: at most 64 B in a message"),
    )
    assert not_tried(plan, ("lyra", "zenoh"), here) == found[2:3], "the request named other adapters"
    assert not_tried(plan, ("null",), here) == (NotTried("null", "not built", "./middlemark build null"),)
    version = msgspec.structs.replace(LYRA, adapter="vega@2")
    assert not_tried(msgspec.structs.replace(plan, cells=(version,)), ("vega@2",), here) == (), "a version of vega was"
    assert not_tried_text(found[:3]) == (
        "not tried: moos (MOOS 10 with its library (core) was not found); "
        "yarp, zenoh (not built: ./middlemark build yarp zenoh)"
    )


def test_a_long_list_of_adapters_that_were_not_tried_is_shortened() -> None:
    unbuilt = [
        NotTried(name, "not built", f"./middlemark build {name}") for name in ("dbus", "mqtt", "nng", "yarp", "zenoh")
    ]
    absent = [NotTried("ecal", "eCAL 6 was not found"), NotTried("moos", "MOOS 10 was not found")]
    assert not_tried_text([*absent, *unbuilt]) == (
        "not tried: ecal, moos (not found: ./middlemark list adapters names what each needs); "
        "dbus, mqtt, nng, yarp, zenoh (not built: ./middlemark build)"
    )


def test_every_answer_names_the_adapters_that_were_not_tried() -> None:
    run = run_of(
        {LYRA: spread(2e4), VEGA: spread(3e4)}, not_tried=(NotTried("zenoh", "not built", "./middlemark build zenoh"),)
    )
    document = document_of(run)
    text = "not tried: zenoh (not built: ./middlemark build zenoh)"
    assert text in render("summary", document, View())
    assert text in render("markdown", document)
    assert json.loads(render("json", document))["not_tried"] == [
        {"adapter": "zenoh", "why": "not built", "command": "./middlemark build zenoh"}
    ]
    assert data_of(document)["not_tried_text"] == text


def test_the_only_row_of_a_column_is_not_undecided() -> None:
    figures = {LYRA: spread(2e4), VEGA: spread(3e4), cell("lyra", size=1024): spread(2e4)}
    assert headline(matrices(document_of(run_of(figures)).experiments)[0]) == (
        "lyra udp is the fastest at 64 B; lyra udp has no rival at 1 KiB."
    )


def test_a_winner_also_beats_the_middlewares_whose_best_transport_has_too_few_trials() -> None:
    few: Trials = [1.5e4, 1.5e4]
    run = run_of({VEGA: spread(1e4, 12), LYRA: spread(2e4, 12), cell("lyra", "shm"): few})
    experiment = document_of(run).experiments[0]
    assert why(experiment) == "Slower or eliminated: lyra udp; 1 has too few trials for a verdict."
