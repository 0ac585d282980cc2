"""The product accepts every command that it prints: in the golden files, and in five kinds of runs."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest
from report_runs import cell, document_of, run_of, spread
from test_which_workload import FIELD
from test_which_workload import race as graphs

from middlemark.commands import group
from middlemark.document.choices import choices
from middlemark.document.next_steps import next_of
from middlemark.model.imported import Source
from middlemark.model.plan import Race
from middlemark.model.run import NotTried
from middlemark.show import View, render
from middlemark.show.which import render_table
from middlemark.suite.overrides import read_only
from middlemark.verdicts.race import races
from middlemark.verdicts.rows import MeasuredRun

GOLDEN = Path(__file__).parents[1] / "golden" / "__snapshots__"
BEGIN = re.compile(r"(?:\./)?middlemark (?=[a-z-]+ )")
NAMES = frozenset(group.list_commands(click.Context(group)))


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the commands in a text. A line may continue after a backslash, and a sentence may name several options."""
    whole = re.sub(r" \\\n\s*", " ", text)
    for line in whole.splitlines():
        for begin in BEGIN.finditer(line):
            command = re.split(r"[)`;]|, or\b|\s{2,}|, then ", line[begin.end() :])[0]
            try:
                words = shlex.split(command)
            except ValueError:
                continue
            if words[0] in NAMES:
                yield words


def check(words: list[str]) -> None:
    """Parse the words with the verb's own parser, including the selection of --only."""
    context = click.Context(group)
    verb = group.get_command(context, words[0])
    assert verb is not None
    with verb.make_context(words[0], list(words[1:]), parent=context) as parsed:
        _, problems = read_only(parsed.params.get("only") or ())
        assert not problems, words


def test_the_commands_in_the_golden_files_are_accepted() -> None:
    found = {
        tuple(words)
        for path in GOLDEN.rglob("*")
        if path.is_file()
        for words in commands_in(path.read_text(encoding="utf-8"))
    }
    assert {words[0] for words in found} >= {"run", "report", "compare", "show", "which"}
    for words in found:
        check([*words])


def near(name: str, command: tuple[str, ...], **levels: object) -> MeasuredRun:
    middles = {"lyra": 2e4, "vega": 2.1e4, "deneb": 2.2e4}
    figures = {cell(each, **levels): spread(middle, 8, by=0.5) for each, middle in middles.items()}
    figures |= {cell("udp", **levels): spread(1.5e4, 8)}
    left_out = (NotTried("zenoh", "not built", "./middlemark build zenoh"),)
    return run_of(figures, name=name, command=command, not_tried=left_out)


def question() -> MeasuredRun:
    run = near("which", ("/x/middlemark", "which", "--size", "64"), rate=1000.0)
    race = Race(experiments=((0, 1, 2),), budget_s=60.0, question=True)
    plan = msgspec.structs.replace(run.file.plan, race=race)
    return msgspec.structs.replace(run, file=msgspec.structs.replace(run.file, plan=plan))


def imported() -> MeasuredRun:
    run = near("imported", ("/x/middlemark", "import", "log.txt"))
    source = Source(
        file="log.txt", format="ddsperf", tool="ddsperf", unit="line", lines=3, unread=0, bytes=9, sha256="0"
    )
    return msgspec.structs.replace(run, file=msgspec.structs.replace(run.file, imported=(source,)))


def secured() -> MeasuredRun:
    levels = ("none", "encrypted")
    figures = {cell(name, security=each): spread(2e4, 3) for name in ("lyra", "vega") for each in levels}
    return run_of(figures, command=("/x/middlemark", "run", "first-look", "--security", "none,encrypted"))


def interrupted() -> MeasuredRun:
    run = near("suite", ("/x/middlemark", "run", "first-look"))
    return msgspec.structs.replace(run, outcomes=run.outcomes[:9])


RUNS = {
    "which": question,
    "suite": lambda: near("suite", ("/x/middlemark", "run", "first-look", "--trials", "8")),
    "interrupted": interrupted,
    "workload": lambda: graphs(FIELD),
    "import": imported,
    "security": secured,
}


@pytest.mark.parametrize("kind", RUNS)
def test_the_commands_that_a_run_prints_are_accepted(kind: str) -> None:
    run = RUNS[kind]()
    document = document_of(run)
    texts = [render(name, document, View(width=width)) for name in ("summary", "markdown") for width in (60, 100)]
    texts += [*document.commands, *(each.command for each in choices(document) if each.command)]
    texts += [each.command for each in document.not_tried]
    for verdict in races(document.experiments, run):
        if run.file.plan.race and run.file.plan.race.question:
            texts.append(render_table(verdict, str(run.folder), 100, next_of(verdict, run), document.not_tried))
    found = [words for text in texts for words in commands_in(text)]
    assert found, "no command was found"
    for words in found:
        check(words)
