"""`middlemark selftest` with real workers: its output, its stored run, the delays found, refusals, and interrupts."""

import json
import signal

import pytest
from product import Bench, until


@pytest.mark.slow
def test_planted_delays_are_found_and_make_nothing_faster_in_an_ordinary_run(bench: Bench) -> None:
    asked = ("selftest", "--trials", "7", "--plant", "100%,1000%", "--duration", "100ms", "--format", "json", "--quiet")
    out = bench.folder / "kept"
    ended = bench.run(*asked, "--out", str(out))
    document = ended.document
    assert ended.code == (0 if document["false_verdicts"]["holds"] else 4), ended.err
    (folder,) = (bench.folder / "kept").iterdir()
    assert bench.run("show", str(folder), "--format", "json").out == ended.out
    assert document["trials"] == 7
    assert document["run"]["done_trials"] == 2 * 8 * 7
    assert [each["adapter"] for each in document["settings"]] == ["shm", "null"]
    for setting in document["settings"]:
        p50, (once, tenfold) = setting["same"][0], setting["planted"]
        assert p50["metric"] == "p50"
        assert (once["part"], tenfold["part"]) == (1.0, 10.0)
        assert once["delay_ns"] == pytest.approx(setting["pilot_p50_ns"], abs=1)
        assert (once["faster"], tenfold["faster"]) == (0, 0)
        # One disturbed trial of seven may make every verdict undecided, but the measured shift still shows the delay.
        assert tenfold["measured"] > 1
        assert tenfold["found"] or tenfold["measured"] > tenfold["part_in_run"] / 3, setting
        assert once["found"] or once["measured"] > once["part_in_run"] / 3 or p50["scatter"] > 1, setting
    (folder,) = out.iterdir()
    assert folder.name.endswith("-selftest")
    plan = json.loads((folder / "run.json").read_text())["plan"]
    labels = [cell["label"] for cell in plan["cells"]]
    assert labels == ["A1", "A2", "A3", "A4", "A5", "A6", "A+100%", "A+1000%"] * 2
    compared = bench.run("compare", str(folder), "--by", "label", "--reference", "A1", "--format", "json")
    rows = compared.document["comparisons"]
    assert [row["b"] for row in rows] == [f"label={label}" for label in (*labels[1:8], *labels[9:])]


def test_all_problems_of_the_options_are_reported_at_once(bench: Bench) -> None:
    ended = bench.run("selftest", "--trials", "5", "--duration", "7", "--plant", "7")
    assert ended.code == 2
    for wrong in ("--duration: '7' has no unit", "--plant: '7' is not a percentage"):
        assert wrong in ended.err
    few = bench.run("selftest", "--trials", "5")
    assert few.code == 2
    assert "--trials: 5 give no verdict; a verdict needs at least 6" in few.err


@pytest.mark.brief
def test_an_interrupt_reports_the_measured_trials_and_leaves_nothing_behind(bench: Bench) -> None:
    out = bench.folder / "kept"
    run = bench.start("selftest", "--duration", "100ms", "--quiet", "--out", str(out), out=out)
    until(lambda: run.trials() >= 3)
    run.signal(signal.SIGINT)
    ended = run.ended()
    assert ended.code == 130
    assert "No result: a verdict needs 6 trials" in ended.out
    assert "interrupted" in ended.out
    assert len(ended.kept) >= 3
    assert bench.leftovers() == []


def test_an_interrupt_in_the_pilot_keeps_nothing(bench: Bench) -> None:
    out = bench.folder / "kept"
    run = bench.start("selftest", "--duration", "5s", "--quiet", "--out", str(out), out=out)
    until(lambda: run.workers("shm") or run.workers("null"))
    run.signal(signal.SIGINT)
    code, err = run.interrupted()
    assert (code, err) == (130, "middlemark: interrupted in the pilot; nothing is kept\n")
    assert not out.exists()
    assert bench.leftovers() == []


def test_a_killed_pilot_is_removed_by_the_next_run(bench: Bench) -> None:
    run = bench.start("selftest", "--trials", "6", "--duration", "1s", "--out", str(bench.folder / "killed"))
    until(lambda: run.workers("shm"))
    run.signal(signal.SIGKILL)
    run.ended()
    until(lambda: run.children() == [])
    assert bench.leftovers(), "without the pilot's folder this test could not fail"
    bench.run("run", "--adapter", "null", "--size", "64", "--trials", "1", "--duration", "50ms", "--no-baseline")
    assert bench.leftovers() == []
