"""The command line as a whole: help pages, formats, the runs that a verb reads, and what is refused."""

import contextlib
import csv
import io
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import msgspec
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result
from test_compare import MACHINE, cell, write

from middlemark import __version__
from middlemark.cli import _run
from middlemark.commands import GROUPS, HELPERS, VERBS, group
from middlemark.commands.page import OPTION_GROUPS, Argument, Option, Page, explained
from middlemark.model.asked import Lift, Planted, SelfTestCell, TriedLimit
from middlemark.model.run import HostMachine, RunFile
from middlemark.problems import MeasureError, RequestError
from middlemark.show import EXPORTED
from middlemark.sites.check import Checked
from middlemark.sites.host import Facts
from outputs import read_output

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "tests" / "fixtures" / "imports"


def asked(*words: object) -> Result:
    return CliRunner().invoke(group, [*map(str, words)], standalone_mode=False, prog_name="middlemark")


def refused(*words: object) -> str:
    """Run a command that must be refused. Return its problems and its advice."""
    error = asked(*words).exception
    if isinstance(error, click.ClickException):
        return "\n".join(explained(error))
    assert isinstance(error, (RequestError, MeasureError)), error
    return f"{error}\n{getattr(error, 'advice', '')}"


def commands(parent: click.Group = group) -> Iterator[Page]:
    for name in parent.list_commands(click.Context(parent)):
        command = parent.get_command(click.Context(parent), name)
        assert isinstance(command, Page)
        yield command
        if isinstance(command, click.Group):
            yield from commands(command)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder ``runs`` of the working folder, with two runs of one suite: the second is 20 % slower."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("middlemark.show.html.page.script", lambda: "")
    folder = tmp_path / "runs"
    for number, p50 in enumerate((50_000, 60_000)):
        run = write(folder, {cell(): p50, cell(transport="shm"): p50 // 2}, trials=8)
        os.utime(run, (number, number))
    return folder


# Help pages


@pytest.mark.parametrize("width", [80, 120])
def test_the_verbs_are_in_their_groups_and_each_has_one_line_at_80_columns(width: int) -> None:
    lines = page_at(width, group)
    for title, verbs in GROUPS.items():
        at = lines.index(f"{title}:")
        shown = lines[at + 1 : lines.index("", at)]
        assert [line.split()[0] for line in shown] == [*verbs]
        assert [line.split(None, 1)[1] for line in shown] == [*verbs.values()]


def page_at(width: int, command: click.Command) -> list[str]:
    return command.get_help(click.Context(command, info_name=command.name, terminal_width=width)).splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_no_page_is_wider_than_the_terminal_or_leaves_one_word_on_a_line(width: int) -> None:
    for command in commands():
        for before, line in pairwise(page_at(width, command)):
            is_one_word = " " not in line.strip() and len(line) - len(line.lstrip()) > 4
            assert len(line) <= width or line.startswith("  middlemark "), line
            assert not is_one_word or len(before.split()) < 4, (command.name, before, line)


def test_every_page_has_a_sentence_and_two_or_three_examples_that_are_parsed() -> None:
    for command in commands():
        assert command.help, command.name
        assert command.help.count(". ") <= 1
        examples = command.examples
        assert 1 <= len(examples) <= 3, command.name
        assert len(examples) >= 2 or command.name not in VERBS, command.name
        for each in examples:
            verb, *words = shlex.split(each.command)
            parse(group, [verb, *words])


def parse(parent: click.Group, words: list[str]) -> None:
    command = parent.get_command(click.Context(parent), words[0])
    assert command is not None, words
    context = command.make_context(words[0], words[1:])
    if isinstance(command, click.Group) and context._protected_args:
        parse(command, [*context._protected_args, *context.args])


def test_every_option_is_in_a_group_and_shows_its_default() -> None:
    for command in commands():
        for each in command.params:
            assert isinstance(each, Option | Argument), (command.name, each.name)
            if isinstance(each, Option):
                record = each.get_help_record(click.Context(command))
                assert each.group in OPTION_GROUPS
                assert record is not None
                has_default = isinstance(each.default, str) or (isinstance(each.default, int) and not each.is_flag)
                assert not has_default or "default: " in record[1], (command.name, each.name)


@pytest.mark.parametrize("words", [[], ["list"]])
def test_a_group_without_a_command_prints_its_help_page_without_a_prefix(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["middlemark", *words])
    monkeypatch.setenv("COLUMNS", "80")
    assert _run() == 2
    assert capsys.readouterr().err == asked(*words, "--help").stdout


def test_help_and_version_are_verbs_too() -> None:
    assert asked("help").stdout == asked("--help").stdout
    assert asked("help", "which").stdout == asked("which", "--help").stdout
    assert asked("help", "tune", "apply").stdout == asked("tune", "apply", "--help").stdout
    assert asked("version").stdout == asked("--version").stdout
    assert not HELPERS.keys() & VERBS.keys()
    assert "did you mean 'compare'?" in refused("help", "compar")
    assert "has no commands" in refused("help", "which", "apply")


# Formats, and the runs that a command reads


ALL = ("text", "json", "csv", "markdown", "html")
LISTED = ("text", "json", "csv", "markdown")
READERS = {
    "show": ALL,
    "compare": ALL,
    "diagnose": LISTED,
}
NAMED = {
    "a run": lambda runs: [sorted(runs.iterdir())[-1]],
    "several": lambda runs: sorted(runs.iterdir()),
    "a folder": lambda runs: [runs],
    "none": lambda _: [],
}


def check(name: str, text: str, count: int, *, rows_expected: bool = True) -> None:
    """Check that a text has the format called ``name``. JSON must have one document for each of ``count`` runs."""
    if name == "json":
        decoder, rest, found = json.JSONDecoder(), text, 0
        while rest.strip():
            _, end = decoder.raw_decode(rest.lstrip())
            rest, found = rest.lstrip()[end:], found + 1
        assert found == count
    elif name == "csv":
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(each) for each in rows}) == 1
        assert len(rows) > 1 or not rows_expected
    elif name == "html":
        assert text.count("<!doctype html>") + text.count("<!DOCTYPE html>") == 1
    else:
        assert text.strip()


@pytest.mark.parametrize("which", NAMED)
@pytest.mark.parametrize(("verb", "name"), [(verb, name) for verb, names in READERS.items() for name in names])
def test_a_verb_prints_each_of_its_formats_however_the_runs_are_named(
    runs: Path, verb: str, name: str, which: str
) -> None:
    named = NAMED[which](runs)
    done = asked(verb, *named, "--format", name)
    assert done.exception is None, done.exception
    assert done.return_value == 0
    count = len(named) if len(named) > 1 and verb != "compare" else 1
    check(name, done.stdout, count, rows_expected=verb != "diagnose")  # these runs met no limit


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("logs", [["ddsperf/ping.log"], ["ddsperf/ping.log", "ddsperf/ping.log"]])
def test_an_import_has_all_formats(name: str, logs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("middlemark.show.html.page.script", lambda: "")
    done = asked("import", *(LOGS / each for each in logs), "--format", name)
    assert done.exception is None, done.exception
    assert done.return_value == 0
    check(name, done.stdout, 1)


def test_compare_writes_one_page_with_a_table_for_each_pair_of_runs(runs: Path) -> None:
    before, after = sorted(runs.iterdir())
    page = asked("compare", before, after, after, "--format", "html").stdout
    assert page.count("<table>") == 2
    assert page.count("slower</td>") == 4
    assert "<script" not in page
    assert "Trials are paired by round" in page


@pytest.mark.parametrize("which", NAMED)
@pytest.mark.parametrize(
    "words",
    [
        ("report", "--markdown", "-"),
        ("report", "--html", "-"),
        *(("export", "--to", each) for each in EXPORTED if each != "hdr"),  # the invented trials have no samples
    ],
)
def test_verbs_that_write_files_accept_runs_in_the_same_ways(runs: Path, words: tuple[str, ...], which: str) -> None:
    verb, *options = words
    done = asked(verb, *NAMED[which](runs), *options)
    assert done.exception is None, done.exception
    assert done.return_value == 0
    assert done.stdout


LISTS = {
    "list-adapters": "name,version,title,",
    "list-suites": "name,default,seconds,description",
    "list-frameworks": "framework,adapter,fact,text,source",
    "list-runs": "folder,suites,started,",
    "doctor": "check,severity,seen,",
    "tune": "target,before,after,",
    "tune-plan": "check,target,now,after,command,",
    "about": "name,fact",
}
"""By name of the schema: the first columns of the CSV."""


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("verb", LISTS)
@pytest.mark.parametrize("name", LISTED)
def test_a_verb_that_prints_a_list_has_four_formats(verb: str, name: str) -> None:
    words = [*verb.split("-"), *(["--no-probes"] if verb == "doctor" else [])]
    done = asked(*words, "--format", name)
    assert done.exception is None, done.exception
    assert done.stdout
    if name == "json":
        read_output(verb, done.stdout)
    if name == "csv":
        header, *rows = csv.reader(io.StringIO(done.stdout))
        assert ",".join(header).startswith(LISTS[verb])
        assert {len(row) for row in rows} <= {len(header)}
    if name == "markdown":
        assert done.stdout.startswith(f"| {LISTS[verb].partition(',')[0]} | ")


HOSTS = (
    Checked("base", (10_000, 12_000, 11_000), {}, None, {"UDP from robot": True, "TCP from robot": True}),
    Checked("robot", (90_000,), {"zenoh": "another build"}, None, {"UDP from base": False, "TCP from base": True}),
)


@pytest.mark.parametrize("name", LISTED)
def test_hosts_have_four_formats_and_fail_if_traffic_is_blocked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = MACHINE
    facts = {
        each.name: Facts(
            HostMachine(name=each.name, address="10.0.0.1", machine=machine, middlemark=__version__, interface="eth0"),
            {"zenoh": "1"},
            {},
        )
        for each in HOSTS
    }

    async def check(_cluster: object) -> list[Checked]:
        return [*HOSTS]

    @contextlib.contextmanager
    def reaching(_hosts: object) -> Iterator[Any]:
        cluster = SimpleNamespace(facts=facts)
        yield SimpleNamespace(connect=lambda: cluster)

    monkeypatch.setattr("middlemark.sites.check.check", check)
    monkeypatch.setattr("middlemark.commands.hosts.reaching", reaching)
    done = asked("hosts", "--format", name)
    assert done.exception is None, done.exception
    assert done.return_value == 1
    if name == "json":
        base, robot = read_output("hosts", done.stdout)["hosts"]
        assert (base["round_trip_ns"], base["ready"], robot["ready"]) == (11_000, True, False)
    if name == "csv":
        base, robot = csv.DictReader(io.StringIO(done.stdout))
        assert (base["ready"], robot["differing"]) == ("true", "zenoh=another build")
    if name == "text":
        assert "UDP from base: does not get through: check the firewall there" in done.stdout
        assert "clock       base does not answer by UDP: no one-way latencies" in done.stdout


def test_several_runs_are_compared_with_the_first_and_a_single_run_with_the_previous_run(runs: Path) -> None:
    before, after = sorted(runs.iterdir())
    named = json.loads(asked("compare", before, after, "--format", "json").stdout)
    assert named == json.loads(asked("compare", "--format", "json").stdout)
    assert named == json.loads(asked("compare", after, "--format", "json").stdout)
    assert named["comparisons"][0]["verdict"] == "slower"
    assert "there is no earlier run of try" in refused("compare", before)
    assert asked("compare", before, after, after, "--format", "csv").stdout.count("\n") == 5


def test_an_import_is_shown_again_as_it_was_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("json", "csv", "text"):
        printed = asked("import", LOGS / "ddsperf/ping.log", "--format", name).stdout
        assert printed == asked("show", "--format", name).stdout
    assert asked("import", LOGS / "ddsperf/ping.log", "--rows").stdout == asked("show", "--rows").stdout


@pytest.fixture
def selftest_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The run of a selftest with six trials: A under four labels, and A with planted delays of 10 % and of 50 %."""
    monkeypatch.chdir(tmp_path)
    labels = {"A1": 1.0, "A2": 1.0, "A3": 1.0, "A4": 1.0, "A+10%": 1.1, "A+50%": 1.5}
    folder = write(tmp_path / "runs", {cell(label=name): 50_000 * times for name, times in labels.items()}, trials=6)
    planted = (Planted("A+10%", 0.1, 5_000.0), Planted("A+50%", 0.5, 25_000.0))
    changed(folder, selftest=(SelfTestCell(cell(), 50_000.0, ("A1", "A2", "A3", "A4"), planted),))
    return folder


def changed(folder: Path, **fields: Any) -> None:
    """Replace fields of a stored run."""
    path = folder / "run.json"
    file = msgspec.json.decode(path.read_bytes(), type=RunFile)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(file, **fields)))


def test_a_selftest_is_shown_in_each_format_with_its_false_verdicts(selftest_run: Path) -> None:
    text = " ".join(asked("show", selftest_run).stdout.split())
    assert "0 of 6 comparisons of a setting with itself were called different" in text
    shown = read_output("selftest", asked("show", selftest_run, "--format", "json").stdout)
    assert shown["false_verdicts"]["false"] == 0
    assert [each["found"] for each in shown["settings"][0]["planted"]] == [True, True]
    rows = list(csv.DictReader(io.StringIO(asked("show", selftest_run, "--format", "csv").stdout)))
    assert {row["b"] for row in rows if row["verdict"] == "slower"} == {"A+10%", "A+50%"}
    markdown = asked("show", selftest_run, "--format", "markdown").stdout
    assert "**A against itself**" in markdown
    assert "| lyra udp, 1 KiB, block | p50 |" in markdown


def test_the_rows_of_a_selftest_can_still_be_shown(selftest_run: Path) -> None:
    assert "A+50%" in asked("show", selftest_run, "--rows").stdout


def test_a_tried_limit_is_shown_in_each_format_with_its_verdict(tmp_path: Path) -> None:
    lift = Lift(name="rcvbuf", before="64k", after="4m", command="--native rcvbuf=4m", keep="--native rcvbuf=4m")
    before, after = lift.sides(cell())
    folder = write(tmp_path / "runs", {before: 50_000, after: 25_000}, trials=8)
    changed(folder, tried=TriedLimit("rmem_max", lift))
    verdict = "rcvbuf 64k → 4m: lyra udp at 1 KiB, p50 -50 % (faster"
    text = " ".join(asked("show", folder).stdout.split())
    assert text.startswith(verdict)
    assert text.endswith("The change is undone; to keep it: --native rcvbuf=4m")
    shown = read_output("diagnose-try", asked("show", folder, "--format", "json").stdout)
    assert shown["lift"]["after"] == "4m"
    assert shown["verdicts"][0].startswith(verdict)
    [row] = csv.DictReader(io.StringIO(asked("show", folder, "--format", "csv").stdout))
    assert (row["check"], row["setting"], row["after"]) == ("rmem_max", "rcvbuf", "4m")
    assert row["verdict"].startswith(verdict)
    assert "| rmem_max | rcvbuf | 64k | 4m |" in asked("show", folder, "--format", "markdown").stdout


def test_a_killed_run_is_shown_as_a_run(runs: Path) -> None:
    folder = sorted(runs.iterdir())[-1]
    changed(folder, ended=None)
    shown = read_output("run", asked("show", folder, "--format", "json").stdout)
    assert shown["run"]["seconds"] > 0


# Conditions of --fail-if


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("condition", "status"),
    [("p50 slower than 5%", 4), ("p50 slower than 50%", 0), ("undecided", 0)],
)
def test_a_condition_of_compare_sets_the_exit_code(condition: str, status: int) -> None:
    done = asked("compare", "--fail-if", condition)
    assert done.exception is None
    assert done.return_value == status


def test_undecided_comparisons_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "runs", {cell(): 50_000, cell(transport="shm"): 25_000}, trials=3)
    done = asked("compare", "--by", "transport", "--anyway", "--fail-if", "undecided")
    assert done.return_value == 4
    assert "p50 undecided" in done.stderr


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run", "--fail-if", "p50 slower than 5%"), "this verb compares nothing"),
        (("run", "--fail-if", "expectation"), "did you mean 'expectations'?"),
        (("run", "--fail-if", "rsss grows by 1 MiB/h"), "there is no resource rsss; did you mean 'rss'?"),
        (("run", "--fail-if", "rss grows by 1 MiB"), "'rss grows by 1 MiB' is not a condition"),
        (("run", "--fail-if", "rss grows more than 1 MiB/h"), "write 'rss grows by 1 MiB/h'"),
        (("run", "--fail-if", "rss grows by much/h"), "'much' is not a size"),
        (("compare", "--fail-if", "rss grows by 1 MiB/h"), "this verb does not judge growth; use `run`"),
        (("reproduce", "cyclonedds-page", "--fail-if", "p50 slower than 5%"), "this verb compares nothing"),
        (("compare", "--fail-if", "expectations"), "this verb judges no expectations"),
        (("compare", "--fail-if", "p5o slower than 5%"), "there is no metric p5o; did you mean 'p50'?"),
        (("compare", "--fail-if", "p50 worse than 5%"), "as in 'p50 slower than 5%', or undecided"),
        (("compare", "--fail-if", "p50 slower than much"), "much"),
        (
            ("export", "--to", "junit", "--by", "transport", "--fail-if", "expectations"),
            "this verb judges no expectations",
        ),
    ],
)
def test_a_condition_that_a_verb_cannot_judge_is_refused(words: tuple[str, ...], expected: str) -> None:
    assert expected in refused(*words)


# Refusals and suggestions


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("run --pattern pubsub", "--pattern: 'pubsub' is not a pattern; did you mean 'stream'?"),
        ("run --pattern rpc", "did you mean 'request-reply'?"),
        ("run --receive bock", "did you mean 'block'?"),
        ("run --adapter udp --race --trials 5", "--trials: excludes --race, which chooses the number of trials"),
        ("run --verbose --quiet", "--quiet: excludes --verbose"),
        ("run --trials 5 --trials 7", "--trials: is given twice, as 5 and 7; leave one of them out"),
        ("run --max-loss 0 --max-loss 1%", "--max-loss: is given twice, as 0 and 1%"),
        ("run --race --no-race", "--race: excludes --no-race; leave one of them out"),
        ("which --size 64 --size 1k", "--size: is given twice, as 64 and 1k"),
        ("show --format json --format csv", "--format: is given twice, as json and csv"),
        ("run --link 1gbps", "'1gbps' is ambiguous; write 1gbit for bits per second, or 8gbit for bytes per second"),
        ("run --link 100m,delay=1ms", "'100m' is ambiguous; write 100mbit"),
        ("run nope.toml", "nope.toml: there is no such file; ./ contains no file *.toml; named suites: amr"),
        ("run ./first-look.toml", "write the suite of this name without a path: first-look"),
        ("run frist-look", "did you mean 'first-look'"),
        ("reproduce nope", "no study has this name; there are cyclonedds-orin, cyclonedds-page"),
        ("compare runs/a runs/a", "A and B are the same run, runs/a"),
        ("report runs/nope", "runs/nope: there is no such run; searched runs/nope/run.json; runs has 2 runs, the"),
        ("show runs/nope", "`middlemark list runs` lists the runs in runs/"),
        ("show --metric latency", "--metric: there is no metric latency; did you mean 'p50'?"),
        ("compare --metric thruput", "did you mean 'throughput'?"),
        ("compare --by adaptr", "--by: there is no factor adaptr; did you mean 'adapter'?"),
        ("show --only siez=64", "did you mean 'size'?"),
        ("show --only transport=upd", "no configuration of 2026-11-21_12-00-00-try-2 matches; did you mean 'udp'?"),
        ("show --format table", "--format: there is no format table; write text; --rows prints every row"),
        ("export --to junti", "--to: there is no format junti; did you mean 'junit'?"),
        ("tune apply rmem_mx", "did you mean 'rmem_max'?"),
        ("workload", "name one bag, or topologies, or give --ros2"),
        ("workload runs", "is neither a bag nor a topology"),
        ("shw", "shw: there is no such command; did you mean 'show'?"),
        ("list adaptrs", "adaptrs: there is no such command; did you mean 'adapters'?"),
        ("tune now", "now: there is no such command; `middlemark help tune` lists the commands"),
        ("suites", "did you mean 'list suites'?"),
        ("tune rmem_max", "rmem_max: is a check; to change it: middlemark tune apply rmem_max"),
        ("run --siez 1k", "--siez: there is no such option; did you mean '--size'?"),
        ("run --subscriber 4", "did you mean '--subscribers'?"),
        ("run --qos reliable", "did you mean '--reliability'?"),
        ("run --transport shared", "no adapter here has a transport 'shared'; there are"),
        ("about --json", "did you mean '--format json'?"),
        ("report --out a.html", "did you mean '--html'?"),
        ("which --trials 5", "`middlemark run` and `middlemark selftest` have it"),
        ("list --adapters", "did you mean 'middlemark list adapters'?"),
        ("show --size", "--size: there is no such option"),
        ("run --size", "--size: needs a value after it"),
        ("run --resume runs/2026", "runs/2026: there is no such run; searched runs/2026/run.json; runs has 2 runs"),
        ("export", "--to: is missing. Its values: csv, csv-long"),
        ("import", "FILE|FOLDER…: is missing. Logs, and folders of the probe."),
        ("import nope.log", "nope.log: there is no such file"),
        ("doctor rmem_max", "rmem_max: `middlemark doctor` takes no such argument"),
        ("workload --ros2 --seconds x", "--seconds: 'x' is no number"),
        ("diagnose --try rmem_mx", "--try: there is no check rmem_mx; did you mean 'rmem_max'?"),
        ("list runs nope", "nope: there is no such folder"),
        ("compare runs:transport=upd --by size", "no configuration has transport=upd; did you mean 'udp'?"),
        ("compare runs:transprt=udp --by size", "there is no factor transprt; did you mean 'transport'?"),
        ("compare runs:size=1m --by transport", "no configuration has size=1 MiB; there is"),
    ],
)
def test_a_wrong_command_is_refused_with_the_problem_and_the_next_step(words: str, expected: str) -> None:
    assert expected in refused(*words.split())


def test_the_studies_are_listed_once() -> None:
    assert refused("reproduce", "nope").count("cyclonedds-orin") == 1


def test_logs_bags_and_topologies_name_the_verb_that_reads_them(tmp_path: Path, runs: Path) -> None:
    log = LOGS / "ddsperf/ping.log"
    assert f"it has ddsperf's lines; middlemark import {log}" in refused("workload", log)
    (tmp_path / "robot.json").write_text('{"nodes": [{"node_name": "a"}]}')
    (tmp_path / "drive.bag").write_bytes(b"#ROSBAG V2.0\n" + bytes(64))
    (tmp_path / "drive").mkdir()
    (tmp_path / "drive/metadata.yaml").write_text("rosbag2_bagfile_information:\n")
    assert (
        "robot.json: is a topology, not a log; to write a suite of its workload: middlemark workload robot.json"
        in refused("import", "robot.json")
    )
    assert "drive.bag: is a bag, not a log; to write a suite of its workload: middlemark workload drive.bag" in refused(
        "import", "drive.bag"
    )
    assert "drive: is a bag, not a log; to write a suite of its workload: middlemark workload drive" in refused(
        "import", "drive"
    )
    assert "it is a stored run; middlemark show" in refused("workload", sorted(runs.iterdir())[0])


def test_without_a_stored_run_the_verbs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["show"], ["report"], ["compare"], ["diagnose"], ["export", "--to", "csv"]):
        assert "runs: there is no such run" in refused(*words)


def test_the_advice_switches_the_set_up_on_if_it_is_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from middlemark.workers import find

    (tmp_path / "middlemark-left-out-zenoh").write_text("it is built on request; `./middlemark build` builds it\n")
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MIDDLEMARK_BUILDER", raising=False)
    text = "it is built on request; `MIDDLEMARK_SETUP=on ./middlemark build zenoh` builds it"
    assert find.left_out()["zenoh"] == text
    assert "MIDDLEMARK_SETUP=on ./middlemark build zenoh" in refused("build", "zenoh")
    monkeypatch.setenv("MIDDLEMARK_BUILDER", str(tmp_path / "packaging/setup/setup.sh"))
    assert find.left_out()["zenoh"] == "it is built on request; `./middlemark build zenoh` builds it"


# Completion


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("typed", "begun", "expected"),
    [
        (["show", "--metric"], "p50,thr", "p50,throughput"),
        (["compare", "--by"], "adap", "adapter"),
        (["tune", "apply"], "rmem_m", "rmem_max"),
        (["diagnose", "--try"], "rmem_m", "rmem_max"),
        (["report"], "runs/2026", "runs/2026-11-21_12-00-00-try"),
        (["show"], "2026", "runs/2026-11-21_12-00-00-try-2"),
        (["run", "--resume"], "runs/", "runs/2026-11-21_12-00-00-try"),
        (["show", "--format"], "mark", "markdown"),
        (["run"], "first", "first-look"),
        (["export", "--to"], "juni", "junit"),
    ],
)
def test_the_shell_completes_metrics_checks_and_runs(typed: list[str], begun: str, expected: str) -> None:
    found: list[Any] = ShellComplete(group, {}, "middlemark", "_X").get_completions(typed, begun)
    assert expected in [each.value for each in found]


def test_printed_commands_begin_as_the_user_typed_them(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = sorted(runs.iterdir())[0]
    monkeypatch.setenv("MIDDLEMARK_NAME", "../bench/middlemark")
    texts = [asked("help", verb).output for verb in VERBS] + [asked("--help").output, asked("show", stored).output]
    texts.append(asked("list", "adapters", "--verbose").output)
    assert all("../bench/middlemark" in each for each in texts[:-1])
    assert not re.search(r"(?<!\.\./bench/)middlemark [a-z]", "".join(texts))
    assert "middlemark " in asked("report", stored, "--markdown", "-").output
    data = asked("show", stored, "--format", "json").output + asked("report", stored, "--markdown", "-").output
    assert "../bench" not in data


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("./middlemark", "./middlemark"),
        ("bash middlemark", "./middlemark"),
        ("../*/middlemark", f"../{ROOT.name}/middlemark"),
        ("PATH=$PWD:$PATH; middlemark", "middlemark"),
    ],
)
def test_the_launcher_passes_on_its_name(typed: str, name: str) -> None:
    environment = {each: value for each, value in os.environ.items() if each != "MIDDLEMARK_NAME"}
    done = subprocess.run(
        ["bash", "-c", f"{typed.replace('*', ROOT.name)} nope"],
        cwd=ROOT, env={**environment, "MIDDLEMARK_SETUP": "off"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"`{name} help`" in done.stderr
