"""Long trials with short records: planted faults are found, and records survive what ends the launcher."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from product import Bench, Ended, Run, until

from outputs import read_output

pytestmark = pytest.mark.usefixtures("null_worker")

FAULTS = """
leak_bytes = "4000"
drift_ns = "200"
stall_every = "800"
stall_every_ms = "400"
"""
STALL_NS = 400_000_000
on_a_quiet_machine = pytest.mark.full
"""Beside other tests, the machine explains the stalls and hides the drift."""
GATE = ("--fail-if", "rss grows by 1 MiB/h")


def suite(native: str = "", **keys: object) -> str:
    values = {"adapter": "null", "transport": "memory", "size": 64, "rate": 200, "trials": 1, "pin": "off"}
    values |= {"duration": "20s", "record_every": "1s", **keys}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    return f"[[sweep]]\n{lines}" + (f"[sweep.native.null]\n{native}\n" if native else "")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """Two trials with faults, and one without, measured at the same time."""
    texts = {"planted": suite(FAULTS), "stream": suite(FAULTS, pattern="stream"), "clean": suite()}
    benches = {name: Bench(tmp_path_factory.mktemp(name)) for name in texts}
    runs = {
        name: bench.start("run", bench.suite(texts[name]), "--no-baseline", "--format", "json", *GATE)
        for name, bench in benches.items()
    }
    return {name: run.ended() for name, run in runs.items()}


def trends(ended: Ended) -> dict[tuple[str, str], dict[str, Any]]:
    [cell] = ended.document["cells"]
    return {(each["role"], each["resource"]): each for each in cell["trends"]}


def stalls(ended: Ended) -> dict[str, Any]:
    [cell] = ended.document["cells"]
    [found] = cell["stalls"]
    assert isinstance(found, dict)
    return found


@on_a_quiet_machine
@pytest.mark.parametrize(("name", "role"), [("planted", "pong 0"), ("stream", "publisher 0")])
def test_a_planted_leak_is_found_at_its_role_and_fails_the_gate(
    measured: dict[str, Ended], name: str, role: str
) -> None:
    ended = measured[name]
    found = trends(ended)
    rate = 200 * 4000 * 3600
    for resource in ("rss", "private"):
        assert found[role, resource]["verdict"] == "grows"
        assert found[role, resource]["low"] < 1.1 * rate
        assert found[role, resource]["high"] > 0.8 * rate
    assert [who for (who, resource), each in found.items() if resource == "rss" and each["verdict"] == "grows"] == [
        role
    ]
    assert ended.code == 4
    assert f"middlemark: null, {role}: rss grows by " in ended.err


@on_a_quiet_machine
@pytest.mark.parametrize("name", ["planted", "stream"])
def test_a_planted_drift_is_found(measured: dict[str, Ended], name: str) -> None:
    [cell] = measured[name].document["cells"]
    drift = {each["quantile"]: each for each in cell["drift"]}
    assert drift["p50"]["verdict"] == "drifts"
    assert drift["p50"]["low"] > 1, "it more than doubles in an hour"


@on_a_quiet_machine
@pytest.mark.parametrize("name", ["planted", "stream"])
def test_planted_stalls_are_found_and_not_explained_by_the_machine(measured: dict[str, Ended], name: str) -> None:
    found = stalls(measured[name])
    assert found["unexplained"] >= 3, "one in 4 s"
    assert found["longest_ns"] >= STALL_NS
    assert found["low"] < 4 < found["high"]


@on_a_quiet_machine
def test_nothing_is_found_in_a_clean_trial(measured: dict[str, Ended]) -> None:
    ended = measured["clean"]
    assert ended.code == 0
    assert not [key for key, each in trends(ended).items() if each["verdict"] == "grows" and key[0] != "machine"]
    found = stalls(ended)
    assert found["unexplained"] == 0 or found["longest_ns"] < STALL_NS / 2, "a busy machine may have short ones"


@on_a_quiet_machine
def test_the_records_are_a_small_part_of_the_trial(measured: dict[str, Ended]) -> None:
    records = [json.loads(line) for line in (measured["clean"].folder / "records.jsonl").read_text().splitlines()]
    assert {each["who"] for each in records} == {"ping", "pong 0"}
    assert 32 <= len(records) <= 42, "two workers, one a second"
    sent = sum(role["sent"] for each in records for role in each["roles"] if role["role"] == "ping")
    assert 0.9 * 4000 <= sent <= 4000


def recorded(run: Run, lines: int) -> list[bytes]:
    """Wait until the run has this number of records."""

    def found() -> list[bytes]:
        paths = list(run.out.glob("*/records.jsonl"))
        return paths[0].read_bytes().splitlines() if paths else []

    until(lambda: len(found()) >= lines, 120.0)
    return found()


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[tuple[Bench, Run]]:
    bench = Bench(tmp_path)
    run = bench.start("run", bench.suite(suite(duration="100s")), "--no-baseline")
    yield bench, run
    if run.process.poll() is None:
        run.kill()


def shown(bench: Bench, folder: Path, *words: str) -> Ended:
    """Return `show` of a run that another command measures, or has left behind."""
    return bench.start("show", str(folder), *words).ended()


def test_a_running_trial_is_shown_and_its_records_survive_the_death_of_the_launcher(
    endless: tuple[Bench, Run],
) -> None:
    bench, run = endless
    recorded(run, 4)
    folder = run.folder
    document = read_output("run", shown(bench, folder, "--format", "json").out)
    assert len(document["cells"][0]["stalls"]) == 1
    before = recorded(run, 6)
    run.signal(signal.SIGKILL)
    assert run.ended().code == -signal.SIGKILL
    after = (folder / "records.jsonl").read_bytes().splitlines()
    assert after[: len(before)] == before
    assert "not ended" in shown(bench, folder).out


def test_records_survive_an_interrupt(endless: tuple[Bench, Run]) -> None:
    bench, run = endless
    before = recorded(run, 4)
    run.signal(signal.SIGINT)
    ended = run.ended()
    assert ended.code == 130
    assert (ended.folder / "records.jsonl").read_bytes().splitlines()[: len(before)] == before
    assert "not ended" in shown(bench, ended.folder).out
