"""Crowds, as a user measures them: the figures of each size, the power laws, and crowds that are killed."""

import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
from product import Bench, descriptions, until

ADAPTERS = ("udp", "fastdds")
WORDS = ("--pattern", "crowd", "--size", "64", "--duration", "3s", "--no-baseline", "--quiet", "--format", "json")


@pytest.fixture(autouse=True)
def built() -> None:
    if not {*ADAPTERS} <= set(descriptions()):
        pytest.skip(f"one of {', '.join(ADAPTERS)} was not built here")


def test_crowds_of_two_adapters_are_measured_at_three_sizes(bench: Bench) -> None:
    ended = bench.run(
        *("run", "--adapter", ",".join(ADAPTERS), "--transport", "udp", "--topics", "2", "--trials", "1"),
        *("--participants", "1,4,10", *WORDS),
    )
    assert ended.code == 0, ended.err
    cells = {(cell["adapter"], cell["participants"]): cell for cell in ended.document["cells"]}
    assert set(cells) == {(adapter, number) for adapter in ADAPTERS for number in (1, 4, 10)}
    for (adapter, number), cell in cells.items():
        assert cell["failed"] is None
        check(cell, alone=number == 1)
        assert (cell["crowd"]["discovery_by"] == "") == (adapter == "fastdds")
    laws = {(each["adapter"], each["figure"]): each for each in ended.document["scaling"]}
    for adapter in ADAPTERS:
        memory = laws[adapter, "idle_memory"]
        assert (memory["along"], memory["levels"], memory["breaks_at"]) == ("participants", [1, 4, 10], None)
        assert memory["low"] <= memory["exponent"] <= memory["high"]
        assert 0.5 < memory["exponent"] < 1.5  # each participant is a process
    shown = bench.run("show", str(ended.folder), "--rows").out
    assert "crowd of 4 participants × 2 topics to the next one" in shown
    assert "Scaling of crowds" in shown


def check(cell: Any, *, alone: bool) -> None:
    crowd = cell["crowd"]
    assert (crowd["topics"], crowd["subscribe"], crowd["processes"]) == (2, "next", cell["participants"])
    assert crowd["idle"]["rss_bytes_per_participant"] > 1 << 20
    assert crowd["idle"]["threads_per_participant"] >= 1
    assert 0 < crowd["join_ns"] < 30e9
    assert set(crowd["join"]) == {"cpu_s", "packets", "bytes"}
    assert crowd["storm_ns"] is crowd["storm"] is None
    assert "--storm" in crowd["absent"]["storm_ns"]
    if alone:
        assert crowd["complete_ns"] == {"p50": None, "max": None}
        assert (crowd["never_matched"], crowd["talk"]) == (None, None)
        start = {"complete_ns.p50", "complete_ns.max", "never_matched", "talk"}
        assert set(crowd["absent"]) == start | {"leave_ns", "left", "storm_ns", "storm"}
        return
    if cell["adapter"] == "fastdds":
        assert 1e9 < crowd["leave_ns"] < 30e9  # the lease of a participant
    else:
        assert crowd["leave_ns"] is None
        assert "did not notice" in crowd["absent"]["leave_ns"]
    assert crowd["left"]["paths"] >= 0
    assert 0 < crowd["complete_ns"]["p50"] <= crowd["complete_ns"]["max"]
    assert (crowd["never_matched"], cell["lost"]) == (0, 0)
    assert cell["received"] == cell["sent"] == 2 * 3 * cell["participants"]
    assert crowd["talk"]["one_way_ns"]["p50"] == cell["one_way_ns"]["p50"]


def test_a_killed_crowd_leaves_nothing_behind(bench: Bench) -> None:
    run = bench.start("run", "--adapter", "fastdds", "--transport", "shm", "--participants", "6", *WORDS)
    workers = until(lambda: found if len(found := run.workers("fastdds")) == 6 else None)
    mapped = {path for pid in workers for path in segments(pid)}
    run.signal(signal.SIGKILL)
    run.ended()
    until(lambda: run.children() == [])
    assert bench.run("run", "--adapter", "udp", "--participants", "2", "--trials", "1", *WORDS).code == 0
    assert [path for path in mapped if Path(path).exists()] == []


def test_a_crowd_whose_launcher_is_killed_in_a_later_phase_leaves_nothing_behind(bench: Bench) -> None:
    words = ("--transport", "shm", "--participants", "4", "--storm", "5s", *WORDS)
    run = bench.start("run", "--adapter", "fastdds", *words)
    workers = until(lambda: found if len(found := run.workers("fastdds")) == 5 else None)  # the newcomer has come
    mapped = {path for pid in workers for path in segments(pid)}
    run.signal(signal.SIGKILL)
    run.ended()
    until(lambda: run.children() == [])
    assert bench.run("run", "--adapter", "udp", "--participants", "2", "--trials", "1", *WORDS).code == 0
    assert [path for path in mapped if Path(path).exists()] == []
    assert bench.leftovers() == []


def test_a_crowd_finds_itself_again_after_a_pause_of_the_network(bench: Bench) -> None:
    ended = bench.run(
        *("run", "--adapter", "udp", "--participants", "4", "--topics", "2", "--storm", "1s", "--trials", "1", *WORDS)
    )
    assert ended.code == 0, ended.err
    [cell] = ended.document["cells"]
    assert cell["failed"] is None
    if any(each["code"] == "shared-network" for each in cell["warnings"]):
        assert "no network of its own" in cell["crowd"]["absent"]["storm_ns"]
        return
    assert 0 < cell["crowd"]["storm_ns"] < 10e9
    assert cell["crowd"]["storm"]["packets"] >= 8
    assert cell["storm_s"] == 1


def test_a_participant_that_is_killed_fails_the_trial(bench: Bench) -> None:
    run = bench.start("run", "--adapter", "udp", "--participants", "4", "--trials", "1", *WORDS)
    workers = until(lambda: found if len(found := run.workers("udp")) == 4 else None)
    os.kill(workers[2], signal.SIGKILL)
    ended = run.ended()
    assert ended.code == 3
    [cell] = ended.document["cells"]
    assert cell["failed"]["code"] == "crashed"
    assert "participant 2" in cell["failed"]["text"]
    assert bench.leftovers() == []


def segments(pid: int) -> set[str]:
    """Return the files of Fast DDS in /dev/shm that the process has mapped."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[-1].removesuffix(" (deleted)") for line in lines if "/dev/shm/fast" in line}


FEW_FILES = 128
"""A limit of open files that two participants need not reach, and forty exceed."""


@pytest.mark.slow
def test_the_size_at_which_a_crowd_breaks_is_searched_in_fresh_trials(bench: Bench) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    ended = bench.run(
        *("run", "--adapter", "udp", "--transport", "udp", "--participants", "2,40", "--trials", "1"),
        *("--until-it-breaks", "--budget", "5m", *WORDS),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, hard)),
    )
    assert ended.code == 1, ended.err  # some configurations have no result
    law = next(each for each in ended.document["scaling"] if each["figure"] == "idle_memory")
    assert 2 < law["holds_to"] < law["breaks_at"] < 40
    assert law["breaks_at"] <= max(1.1 * law["holds_to"], law["holds_to"] + 1)
    assert "Too many open files" in law["breaks_because"]
    assert law["breaks_absent"] is None
    file = ended.run_file
    assert (file["reached"]["met"], file["plan"]["breaking"]["planned"]) == (True, 2)
    assert len(ended.kept) == len(file["plan"]["trials"]) == len(file["plan"]["cells"])
    assert f"{law['breaks_at']} (holds to {law['holds_to']})" in bench.run("show", str(ended.folder), "--rows").out
    assert bench.leftovers() == []


@pytest.mark.full
def test_a_race_of_crowds_names_the_middleware_that_is_complete_first(bench: Bench) -> None:
    out = bench.folder / "found"
    ended = bench.run(
        *("which", "--participants", "6", "--metric", "discovery", "--adapter", "fastdds,zeromq"),
        *("--transport", "default", "--budget", "4m", "--format", "json", "--quiet", "--out", str(out)),
        out=out,
    )
    assert ended.code == 0, ended.err
    found = ended.document
    question = found["question"]
    assert (question["participants"], question["metric"]) == (6, "complete_max")
    assert {each["adapter"] for each in found["candidates"]} == {"fastdds", "zeromq"}
    figures = [each["figure"] for each in found["candidates"]]
    assert figures == sorted(figures)
    assert all(figure > 1e6 for figure in figures)  # ns; no process of six opens within a millisecond
    shown = bench.run("show", str(ended.folder)).out
    assert "crowd of 6 participants × 10 topics to the next one" in shown
    assert "until all participants have heard all their publishers" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--metric", "discovery"), "--metric: discovery is a figure of a crowd; add --participants N"),
        (("--participants", "6", "--metric", "p99"), "--metric: p99 is no figure of a crowd"),
        (("--participants", "6", "--rate", "10"), "--rate: a crowd has its own load and limits"),
        (("--participants", "1"), "one participant has nobody to find"),
        (("--participants", "2,4"), "give only one value to `which`"),
        (("--participants", "600"), "write a whole number from 1 to 500"),
        (("--participants", "6", "--workload", "amr"), "a workload has processes of its own"),
    ],
)
def test_questions_that_a_race_of_crowds_cannot_answer_are_refused(
    bench: Bench, words: tuple[str, ...], text: str
) -> None:
    ended = bench.run("which", "--adapter", "fastdds", *words)
    assert ended.code == 2
    assert text in ended.err


def test_a_search_without_crowds_is_refused(bench: Bench) -> None:
    ended = bench.run("run", "--adapter", "udp", "--until-it-breaks")
    assert ended.code == 2
    assert "--until-it-breaks: needs crowds of at least two sizes" in ended.err
