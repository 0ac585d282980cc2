"""Rounds are added until the medians are precise enough or the time is over. The result reports which was the case."""

import json
from collections import Counter

import pytest
from product import Bench

ASKED = ("run", "--adapter", "null", "--transport", "memory", "--warmup", "5ms", "--duration", "30ms", "--quiet")


def test_medians_precise_after_the_first_rounds_get_no_further_rounds(bench: Bench) -> None:
    ended = bench.run(*ASKED, "--size", "16,1k", "--until-precise", "99%", "--format", "json")
    assert ended.code == 0, ended.err
    run = ended.document["run"]
    assert run["precision"] == {"part": 0.99, "budget_s": 600.0, "focus": [0, 1]}
    if run["reached"]["rounds"] == 6:  # a busy machine may need more rounds, but at least one
        assert [cell["trials"] for cell in ended.document["cells"]] == [6, 6]
    assert run["reached"]["met"] is True
    assert run["reached"]["undecided"] == []


@pytest.mark.slow
def test_an_unreachable_precision_uses_the_whole_budget(bench: Bench) -> None:
    ended = bench.run(*ASKED, "--size", "16,1k", "--until-precise", "0.0001%", "--budget", "15s", "--focus", "size=16")
    assert ended.code == 0, ended.err
    file = ended.run_file
    reached = file["reached"]
    assert reached["met"] is False
    assert reached["undecided"] == [0]
    assert reached["rounds"] > 6
    rounds = Counter(trial["number"] for trial in file["plan"]["trials"])
    assert rounds == dict.fromkeys(range(1, reached["rounds"] + 1), 2)  # the other cell is measured too
    assert Counter(each["order"] for each in ended.kept) == Counter(range(2 * reached["rounds"]))
    text = " ".join(ended.out.split())
    assert f"the budget of 15 s was spent after {reached['rounds']} rounds; 1 of 1 medians are not known to" in text
    assert "null memory 16 B" in text


def test_an_interrupted_run_is_resumed_to_its_end(bench: Bench) -> None:
    first = bench.run(*ASKED, "--size", "16", "--until-precise", "99%")
    path = first.folder / "run.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"ended": None, "reached": None}))
    trials = first.folder / "trials.jsonl"
    trials.write_text("".join(trials.read_text().splitlines(keepends=True)[:3]))
    ended = bench.run_leaving("run", "--resume", str(first.folder), "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    assert ended.document["run"]["reached"]["met"] is True
    assert ended.document["cells"][0]["trials"] >= 6


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--until-precise", "2%", "--trials", "3"), "--trials: --until-precise chooses the number of trials"),
        (("--budget", "10ms"), "--budget: one round of 1 trial takes about"),
        (
            ("--until-precise", "2%", "--budget", "1s", "--size", "16,32,64,128,256,512"),
            "--budget: one round of 6 trials",
        ),
    ],
)
def test_contradicting_options_are_refused(bench: Bench, words: tuple[str, ...], problem: str) -> None:
    ended = bench.run_leaving(*ASKED, *words)
    assert ended.code == 2
    assert problem in ended.err
