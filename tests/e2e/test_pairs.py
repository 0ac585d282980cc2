"""Pairs of different middlewares, as a user runs them: a side that dies, and two runs of pairs at once."""

import contextlib
import os
import signal
from pathlib import Path

import pytest
from product import Bench, Run, descriptions, tasks, until

WORDS = (
    *("run", "--pair", "same,cyclonedds:fastdds", "--transport", "udp", "--size", "64", "--warmup", "10ms"),
    *("--trials", "1", "--no-baseline", "--quiet", "--format", "json"),
)


@pytest.fixture(autouse=True)
def built() -> None:
    if not {"cyclonedds", "fastdds"} <= set(descriptions()):
        pytest.skip("cyclonedds or fastdds was not built here")


def sides(run: Run) -> list[int]:
    """Return the pids of the senders and the receivers of the pair once both have their roles; empty before that."""
    pids = [*run.workers("cyclonedds")[:1], *run.workers("fastdds")[:1]]
    if len(pids) < 2:
        return []
    sending, receiving = ({name_of(task) for task in tasks(pid)} for pid in pids)
    return pids if "ping" in sending and "pong 0" in receiving else []


def name_of(task: Path) -> str:
    with contextlib.suppress(OSError):
        return (task / "comm").read_text().strip()
    return ""


@pytest.mark.parametrize(("dies", "says"), [(0, "ping"), (1, "pong 0")])
def test_a_side_that_dies_is_named_and_the_other_rows_are_measured(bench: Bench, dies: int, says: str) -> None:
    before = set(os.listdir("/dev/shm"))
    run = bench.start(*WORDS, "--duration", "2s")
    pids = until(lambda: sides(run), 120.0)
    os.kill(pids[dies], signal.SIGKILL)
    ended = run.ended()
    assert ended.code == 1, ended.err
    assert bench.leftovers() == []
    failed = {cell["pair"]: cell["failed"] for cell in ended.document["cells"]}
    crashed = failed.pop("cyclonedds:fastdds")
    assert crashed["code"] == "crashed"
    assert crashed["text"].startswith(f"{says} (pid {pids[dies]}) was ended by SIGKILL (signal 9)")
    assert set(failed.values()) == {None}, "the adapters with themselves are measured"
    [pair] = [each for each in ended.document["interop"] if each["senders"] != each["receivers"]]
    assert (pair["interoperates"], pair["standing"], pair["p50_ns"]) == (False, "failed", None)
    shown = bench.run("show", str(ended.folder))
    assert "cyclonedds:fastdds not decided, as trials were lost" in " ".join(shown.out.split())
    assert {name for name in os.listdir("/dev/shm") if "fast_datasharing" in name} <= before


def test_two_runs_of_the_same_pair_do_not_hear_each_other(bench: Bench, tmp_path: Path) -> None:
    other = Bench(tmp_path / "other")
    running = [each.start(*WORDS, "--samples", "200") for each in (bench, other)]
    for run in running:
        ended = run.ended()
        assert ended.code == 0, ended.err
        assert {(cell["failed"], cell["lost"], cell["duplicated"]) for cell in ended.document["cells"]} == {
            (None, 0, 0)
        }
