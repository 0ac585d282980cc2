"""`[[expect]]` with real workers: an unmet requirement fails the run, and rounds are added until all are decided."""

import re
import xml.etree.ElementTree as ET

import pytest
from product import Bench

ROBOT = """
[[workload.topic]]
name = "cmd_vel"
from = "planner"
to = "base"
size = 64
rate = 50
[[sweep]]
adapter = "null"
transport = "memory"
duration = "1.2s"
warmup = "20ms"
baseline = false
[sweep.native.null]
every_delay_ns = "7000000"
[[expect]]
say = "the robot's commands arrive in time"
of = { topic = "cmd_vel" }
metric = "min"
at_most = "5ms"
[[expect]]
say = "they arrive some time"
of = { topic = "cmd_vel", to = "base" }
metric = "min"
at_most = "2s"
[[expect]]
id = "T7"
say = "MIRA is the fastest"
untestable = "no source of MIRA can be had"
"""


def test_a_missed_bound_ends_in_4_and_names_trial_edge_and_lateness(bench: Bench) -> None:
    ended = bench.run("run", bench.suite(ROBOT), "--fail-if", "expectations", "--quiet")
    assert ended.code == 4, ended.err
    missed = re.search(
        r"middlemark: the robot's commands arrive in time: does not hold: cmd_vel → base \(null memory\), "
        r"trial \d+: ([\d.]+) ms late, min ([\d.]+) ms; the median is [^\n]*claimed min at most 5ms",
        ended.err,
    )
    assert missed, ended.err
    assert float(missed[2]) >= 7
    assert float(missed[1]) == pytest.approx(float(missed[2]) - 5, abs=0.2)
    assert "they arrive some time" not in ended.err
    last = ended.out.splitlines()[-4:]
    assert last[0] == "Expected: 1 of 3 does not hold, 1 untestable, 1 holds"
    assert [each[0] for each in last[1:]] == ["✗", "–", "✓"]
    assert len(ended.out.splitlines()) <= 40
    assert len(ended.kept) == 7, "two expectations need seven trials"

    junit = bench.run("export", str(ended.folder), "--to", "junit", "--out", "-")
    cases = ET.fromstring(junit.out)[0].findall("testcase[@classname='middlemark.expect']")
    assert [each[0].tag for each in cases] == ["failure", "skipped", "system-out"]
    assert bench.run("show", str(ended.folder)).out.splitlines()[-4:] == last


def test_a_failed_expectation_is_only_reported_without_fail_if(bench: Bench) -> None:
    asked = ("--adapter", "null", "--transport", "memory", "--duration", "50ms", "--warmup", "5ms", "--quiet")
    expect = ("--expect", 'of = "adapter=null", metric = "p50", at_most = "1ns"')
    ended = bench.run("run", *asked, *expect, "--format", "json")
    assert ended.code == 0, ended.err
    [found] = ended.document["expectations"]
    assert (found["verdict"], found["kind"], found["claimed"]) == ("does not hold", "bound", "p50 at most 1ns")
    assert found["low"] <= found["measured"] <= found["high"]


@pytest.mark.parametrize(("conditions", "code"), [((), 0), (("--fail-if", "undecided"), 4)])
def test_an_undecided_expectation_fails_only_with_fail_if_undecided(
    bench: Bench, conditions: tuple[str, ...], code: int
) -> None:
    asked = ("--adapter", "null", "--transport", "memory", "--samples", "100", "--warmup", "5ms", "--quiet")
    expect = ("--expect", 'of = "adapter=null", metric = "p50", at_most = "1s"')
    ended = bench.run("run", *asked, *expect, "--trials", "1", *conditions)
    assert ended.code == code, ended.err
    assert "Expected: 1 of 1 is undecided" in ended.out


@pytest.mark.slow
def test_rounds_are_added_until_every_expectation_is_decided(bench: Bench) -> None:
    suite = """
[defaults]
adapter = "null"
transport = "memory"
warmup = "10ms"
samples = 30
baseline = false
[[sweep]]
name = "quick"
[sweep.native.null]
every_delay_ns = "500000"
[[sweep]]
name = "slow"
[sweep.native.null]
every_delay_ns = "10000000"
[[expect]]
say = "slow takes longer"
a = "quick"
b = "slow"
direction = "b slower"
[[expect]]
say = "they are level"
a = "quick"
b = "slow"
within = "5%"
"""
    ended = bench.run("run", bench.suite(suite), "--until-decided", "--budget", "120s", "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    found = {each["say"]: each["verdict"] for each in ended.document["expectations"]}
    assert found == {"they are level": "does not hold", "slow takes longer": "holds"}
    reached = ended.run_file["reached"]
    assert (reached["met"], reached["undecided"]) == (True, [])
    assert reached["rounds"] in (9, 14), (
        "the number of trials at the first look, or at the second look if a round was disturbed"
    )


def test_options_about_expectations_are_refused_if_there_are_none(bench: Bench) -> None:
    ended = bench.run("run", "--adapter", "null", "--fail-if", "expectations")
    assert ended.code == 2
    assert "--fail-if: there is no expectation" in ended.err
    ended = bench.run("run", "--adapter", "null", "--until-decided")
    assert ended.code == 2
    assert "--until-decided: there is no expectation" in ended.err
