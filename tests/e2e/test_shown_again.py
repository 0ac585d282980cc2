"""`show --format json` prints the same as the verb that made the run, also for races and interrupted runs."""

import signal
from collections.abc import Sequence

import pytest
from product import Bench, Ended, until

pytestmark = pytest.mark.usefixtures("null_worker")

NULL = ("--adapter", "null", "--transport", "memory")
SHORT = ("--warmup", "5ms", "--duration", "20ms", "--no-baseline", "--seed", "1")
MADE = {
    "suite": ("run", *NULL, *SHORT, "--size", "64,1k", "--trials", "2"),
    "expectations": ("run", *NULL, *SHORT, "--expect", 'metric = "p50", of = { adapter = "null" }, at_most = "1s"'),
    "stream": ("run", *NULL, *SHORT, "--pattern", "stream", "--rate", "1k"),
    "race": ("run", *NULL, *SHORT, "--receive", "block,poll", "--race", "--budget", "3s"),
    "which": ("which", *NULL, "--rate", "200", "--budget", "10s", "--seed", "1"),
}


def made(bench: Bench, words: Sequence[str], name: str) -> Ended:
    where = () if words[0] == "run" else ("--out", str(bench.folder / "runs-0"))
    return bench.run(*words, *where, "--format", name, "--quiet")


def shown(bench: Bench, made: Ended, name: str) -> str:
    ended = bench.run("show", str(made.folder), "--format", name)
    assert ended.code == 0, ended.err
    return ended.out


@pytest.mark.parametrize("kind", MADE)
def test_a_shown_run_is_printed_as_after_measuring(bench: Bench, kind: str) -> None:
    ended = made(bench, MADE[kind], "json")
    assert ended.code == 0, ended.err
    assert ended.out == shown(bench, ended, "json")


@pytest.mark.parametrize("name", ["text", "csv"])
def test_a_shown_run_is_printed_in_other_formats_as_after_measuring(bench: Bench, name: str) -> None:
    ended = made(bench, MADE["suite"], name)
    assert ended.code == 0, ended.err
    assert ended.out == shown(bench, ended, name)


def test_a_shown_interrupted_run_is_printed_as_after_the_interrupt(bench: Bench) -> None:
    run = bench.start("run", *NULL, *SHORT, "--trials", "500", "--format", "json", "--quiet")
    until(lambda: run.trials() >= 2)
    run.signal(signal.SIGINT)
    ended = run.ended()
    assert ended.code == 130
    assert ended.document["run"]["interrupted"]
    assert ended.out == shown(bench, ended, "json")
