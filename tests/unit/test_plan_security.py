"""Security as a factor: which transport has which level, refusals with reasons, and the rows that a plan adds."""

import csv
import io

import msgspec
import pytest
from descriptions import TCP, UDP, description, transport
from planning import plan_of, problems_of, suite_of, texts_of
from report_runs import cell, run_of
from stats_cases import DESCRIPTIONS
from stats_cases import cell as cell_of

from middlemark.document import document_of
from middlemark.model.cell import FACTORS, Cell
from middlemark.model.levels import Wrong
from middlemark.model.plan import Limits
from middlemark.plan import make_plan
from middlemark.show import View
from middlemark.show import csv as table
from middlemark.show import json as document
from middlemark.stats.baselines import nearest_raw_transports
from middlemark.trial.tasks import tasks_of
from middlemark.trial.worker_request import settings_of
from middlemark.verdicts.names import WORDS, words
from outputs import read_output

CURVE = ("none", "encrypted")
SAFE = description(
    "safe",
    transport("tcp", carrier="tcp", security=CURVE, security_why="its keys always encrypt"),
    transport("inproc", carrier="process-memory", processes=(1,)),
    credentials=("curve",),
)
OPEN = description("open", transport("udp", security_why="its makers gave it up"))


def cells_of(text: str) -> list[tuple[str, str, str]]:
    return [(each.adapter, each.transport, each.security) for each in plan_of(text, (SAFE, OPEN)).cells]


def test_a_cell_is_unprotected_unless_security_is_requested() -> None:
    assert cells_of("[[sweep]]\nadapter='safe'\ntransport='tcp'") == [("safe", "tcp", "none")]
    asked = "[[sweep]]\nadapter='safe'\ntransport='tcp'\nsecurity=['none','encrypted']"
    assert cells_of(asked) == [("safe", "tcp", "none"), ("safe", "tcp", "encrypted")]


def test_an_unknown_level_is_refused_with_the_closest_level() -> None:
    with pytest.raises(Wrong) as wrong:
        FACTORS["security"].kind.read("encryption")
    assert str(wrong.value) == "'encryption' is not a level of security; did you mean 'encrypted'?"


@pytest.mark.parametrize(
    ("where", "level", "why"),
    [
        ("open", "encrypted", "no transport of open can honour security encrypted: open udp: no security: "
         "its makers gave it up"),
        ("safe", "signed", "no transport of safe can honour security signed: safe tcp: security none and encrypted "
         "only: its keys always encrypt; safe inproc: no security"),
    ],
)  # fmt: skip
def test_an_unsupported_level_is_refused_with_the_adapters_reason(where: str, level: str, why: str) -> None:
    assert problems_of(f"[[sweep]]\nadapter='{where}'\nsecurity='{level}'", (SAFE, OPEN)) == [
        f"sweep 1: security: {why}"
    ]


def test_a_transport_without_a_level_that_another_has_is_left_out_with_a_note() -> None:
    text = "[[sweep]]\nsecurity='encrypted'\nprocesses=2"
    assert cells_of(text) == [("safe", "tcp", "encrypted")]
    notes = texts_of(plan_of(text, (SAFE, OPEN)))
    assert "sweep 1: security: open udp: security encrypted left out (no security: its makers gave it up)" in notes


def test_security_between_hosts_is_refused() -> None:
    text = "[[sweep]]\nadapter='safe'\ntransport='tcp'\nsecurity='encrypted'"
    problems = problems_of(text, (SAFE,), hosts=("base", "robot"))
    assert problems == [
        "sweep 1: security: certificates are not copied to other hosts yet; leave security out, or leave out --hosts"
    ]


def test_a_baseline_without_the_level_is_measured_unprotected() -> None:
    text = "[[sweep]]\nadapter='safe'\ntransport='tcp'\nsecurity=['none','encrypted']"
    plan = make_plan([suite_of(text, baseline=True)], (SAFE, TCP, UDP), cpus=(0, 1), seed=1)
    found = [(each.adapter, each.security) for each in plan.cells if each.adapter != "safe"]
    assert found == [("tcp", "none"), ("udp", "none")]


def test_a_protected_cell_is_compared_with_the_baseline_of_its_level_if_there_is_one() -> None:
    cells = [cell_of(transport="udp", security="encrypted"), cell_of("udp"), cell_of("udp", security="encrypted")]
    found = nearest_raw_transports(cells, [3000.0, 1000.0, 2000.0], DESCRIPTIONS)
    assert [each and (each.cell, each.label) for each in found[:1]] == [(2, "udp")]
    found = nearest_raw_transports(cells[:2], [3000.0, 1000.0], DESCRIPTIONS)
    assert [each and (each.cell, each.label) for each in found] == [(1, "udp, security none"), (1, "udp")]


def test_the_worker_receives_the_level_and_the_path_of_the_certificates() -> None:
    asked = {"domain": 1, "scope": "s", "scratch": "/t", "interface": "lo", "certs": "/t/certs"}
    protected = Cell(adapter="safe", transport="tcp", size=64, security="encrypted")
    settings = settings_of(protected, **asked)  # type: ignore[arg-type]
    assert (settings.security, settings.certs) == ("encrypted", "/t/certs")
    settings = settings_of(Cell(adapter="safe", transport="tcp", size=64), **asked)  # type: ignore[arg-type]
    assert (settings.security, settings.certs) == ("none", "")


@pytest.mark.parametrize(
    ("factors", "identities"),
    [
        ({"pattern": "ping-pong"}, ["sender", "receiver"]),
        ({"pattern": "stream", "publishers": 2, "subscribers": 2}, ["sender", "sender", "receiver", "receiver"]),
        ({"pattern": "request-reply", "publishers": 2}, ["sender", "sender", "receiver"]),
        ({"pattern": "stream", "processes": 1}, ["sender"]),
    ],
)
def test_senders_use_the_senders_key_and_all_others_the_receivers_key(
    factors: dict[str, object], identities: list[str]
) -> None:
    safe = Cell(adapter="safe", transport="tcp", size=64, security="encrypted", **factors)  # type: ignore[arg-type]
    tasks = tasks_of(
        safe, Limits(samples=1), SAFE.transports[0], seed=1, samples_stem="/s", domain=1, scope="s", scratch="/t",
        interface="lo", certs="/t/certs",
    )  # fmt: skip
    assert [tasks.identity_of(each) for each in tasks.workers] == identities
    assert [tasks.command(each).settings.identity for each in tasks.workers] == identities
    strange = msgspec.structs.replace(tasks, receiver="stranger")
    expected = [each.replace("receiver", "stranger") for each in identities]
    assert [strange.command(each).settings.identity for each in tasks.workers] == expected


def test_a_protected_row_is_labelled_even_if_all_rows_are_protected() -> None:
    plain, safe = cell(), cell(security="encrypted")
    assert words(safe, WORDS).count("encrypted") == 1
    assert "security" not in words(plain, WORDS)
    [row] = document_of([run_of({safe: [1000.0] * 6})]).rows
    assert "encrypted" in row.label


def test_the_security_fields_of_an_unprotected_cell_are_null_in_json_and_empty_in_csv() -> None:
    unprotected = document_of([run_of({cell(): [1000.0] * 6})])
    [found] = read_output("run", document.render(unprotected, View()))["cells"]
    assert (found["security"], found["protected_by"], found["protection_proof"]) == ("none", None, None)
    assert found["handshake_ns"] is None
    [row] = csv.DictReader(io.StringIO(table.render(unprotected, View())))
    assert (row["security"], row["protected_by"], row["handshake_ns"]) == ("none", "", "")
