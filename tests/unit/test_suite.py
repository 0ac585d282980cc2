"""Suite files and options become suites, or all their problems are reported at once."""

from pathlib import Path
from typing import Any

import pytest

from middlemark.problems import RequestError
from middlemark.suite import Suite, available, load, raw_options, request

GOOD = """
description = "two sweeps"
seed = 7

[defaults]
size = [16, "1k"]
trials = 5

[[sweep]]
name = "first"
adapter = ["cyclonedds", "fastdds"]
transport = "udp"
depth = [1, "all"]
pin = ["off", "0,1", [1, 0]]
priority = ["other", "fifo:80"]
duration = "90ms"

[[sweep]]
size = "64k"
loan = [true, false]
samples = 1_000
timeout = "2s"

[sweep.native.fastdds]
segment-size = "8388608"
"""


def suite_of(tmp_path: Path, text: str, **options: Any) -> Suite:
    path = tmp_path / "lan.toml"
    path.write_text(text)
    (suite,) = load([str(path)], raw_options(**options))
    return suite


def problems_of(tmp_path: Path, text: str, **options: Any) -> list[str]:
    with pytest.raises(RequestError) as refused:
        suite_of(tmp_path, text, **options)
    return [str(problem).removeprefix(f"{tmp_path}/") for problem in refused.value.problems]


def test_a_suite_keeps_the_order_of_its_sweeps_and_levels(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, GOOD)
    assert (suite.name, suite.description, suite.seed) == ("lan", "two sweeps", 7)
    first, second = suite.sweeps
    assert first.name == "first"
    assert first.levels("adapter").values == ("cyclonedds", "fastdds")
    assert first.levels("size").values == (16, 1024)
    assert first.levels("depth").values == (1, None)
    assert first.levels("pin").values == ("off", (0, 1), (1, 0))
    assert (first.limits.samples, first.limits.duration_s, first.trials) == (None, 0.09, 5)
    assert second.levels("loan").values == (True, False)
    assert (second.limits.samples, second.limits.duration_s, second.limits.reply_timeout_s) == (1000, None, 2.0)
    assert second.native[0].adapter == "fastdds"
    assert second.native[0].settings == (("segment-size", "8388608"),)


def test_a_list_of_processors_is_one_placement(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "[[sweep]]\npin = [1, 0]\n[[sweep]]\npin = 1\n[[sweep]]\npin = [[0, 1], 'off']")
    assert [sweep.levels("pin").values for sweep in suite.sweeps] == [((1, 0),), ((1,),), ((0, 1), "off")]


def test_a_level_knows_its_place_and_whether_it_was_named(tmp_path: Path) -> None:
    sweep = suite_of(tmp_path, GOOD, receive="poll").sweeps[1]
    assert sweep.levels("size").place.endswith("lan.toml: sweep 2: size")
    assert sweep.levels("size").named
    assert sweep.levels("receive").place == "--receive"
    assert not sweep.levels("reliability").named


def test_defaults_are_overridden_by_the_sweep_and_the_sweep_by_options(tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path, GOOD, size="2k,4k", samples="10", loan=False, depth="all,3", trials="1", seed="9", pin="1,0"
    )
    assert [sweep.levels("size").values for sweep in suite.sweeps] == [(2048, 4096)] * 2
    assert [(sweep.limits.samples, sweep.limits.duration_s) for sweep in suite.sweeps] == [(10, None)] * 2
    assert suite.sweeps[1].levels("loan").values == (False,)
    assert suite.sweeps[0].levels("depth").values == (None, 3)
    assert suite.sweeps[0].levels("pin").values == ((1, 0),)
    assert [sweep.trials for sweep in suite.sweeps] == [1, 1]
    assert suite.seed == 9


def test_samples_and_duration_replace_each_other(tmp_path: Path) -> None:
    text = "[defaults]\nsamples=5\n[[sweep]]\n[[sweep]]\nduration='2s'"
    assert [(each.limits.samples, each.limits.duration_s) for each in suite_of(tmp_path, text).sweeps] == [
        (5, None),
        (None, 2.0),
    ]
    assert {
        (each.limits.samples, each.limits.duration_s) for each in suite_of(tmp_path, text, duration="3s").sweeps
    } == {(None, 3.0)}


def test_a_long_trial_is_not_shortened_by_the_default_limit(tmp_path: Path) -> None:
    assert suite_of(tmp_path, "[[sweep]]\nduration='10m'").sweeps[0].limits.limit_s >= 600


def test_a_problem_of_every_sweep_is_reported_once(tmp_path: Path) -> None:
    text = "[defaults]\nlimit='1s'\n[[sweep]]\nsamples=1\n[[sweep]]\nsamples=1"
    assert problems_of(tmp_path, text, duration="2s") == [
        "lan.toml: defaults: limit: 1s is shorter than the trial's duration of 2s"
    ]


def test_native_defaults_are_merged_with_the_sweeps_own(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "[defaults.native.x]\na='1'\nb='2'\n[[sweep]]\n[sweep.native.x]\nb='3'\n[[sweep]]")
    assert [sweep.native[0].settings for sweep in suite.sweeps] == [(("a", "1"), ("b", "3")), (("a", "1"), ("b", "2"))]


def test_all_problems_of_a_suite_and_of_the_options_are_reported_at_once(tmp_path: Path) -> None:
    text = """
    description = 3
    seed = -1
    size = 16
    sweeps = 1
    [defaults]
    trials = 0
    [[sweep]]
    sise = 16
    recieve = "poll"
    size = ["64KB", 16, "16"]
    receive = "pol"
    reliability = []
    depth = 0
    loan = "yes"
    duration = 0.5
    samples = 10
    priority = "fifo:100"
    processes = "2"
    domain = 233
    warmup = ["1s"]
    [sweep.native]
    fastdds = "x"
    [sweep.native.cyclonedds]
    n = 5
    [[sweep]]
    adapter = ["all", "udp"]
    pin = [0, "a"]
    limit = "1s"
    duration = "2s"
    """
    problems = problems_of(
        tmp_path, text, size="16,x", subscribers="0", samples="a", duration="5", only=("sizes=16", "size")
    )
    expected = [
        ("lan.toml: description", "3 is not text"),
        ("lan.toml: seed", "-1 is not a seed"),
        ("lan.toml: size", "move it to [defaults] or a [[sweep]]"),
        ("lan.toml: sweeps", "did you mean 'sweep'?"),
        ("lan.toml: defaults: trials", "0 is not a number of trials"),
        ("lan.toml: sweep 1: sise", "did you mean 'size'?"),
        ("lan.toml: sweep 1: recieve", "did you mean 'receive'?"),
        ("lan.toml: sweep 1: size", "'64KB' is ambiguous; write '64k'"),
        ("lan.toml: sweep 1: size", "16 is listed twice"),
        ("lan.toml: sweep 1: receive", "'pol' is not a way to receive; did you mean 'poll'?"),
        ("lan.toml: sweep 1: reliability", "an empty list"),
        ("lan.toml: sweep 1: depth", "0 is not a depth"),
        ("lan.toml: sweep 1: loan", "'yes' is neither true nor false"),
        ("lan.toml: sweep 1: duration", "0.5 is not a time with a unit; write '0.5s'"),
        ("lan.toml: sweep 1: samples", "duration is also set"),
        ("lan.toml: sweep 1: priority", "priority from 1 to 99"),
        ("lan.toml: sweep 1: processes", "(2, without quotes)"),
        ("lan.toml: sweep 1: domain", "233 is not a domain; write a whole number from 0 to 232"),
        ("lan.toml: sweep 1: warmup", "a sweep has only one warmup"),
        ("lan.toml: sweep 1: native: fastdds", "'x' is not a table"),
        ("lan.toml: sweep 1: native: cyclonedds: n", '5 is not text; write "5" in quotes'),
        ("lan.toml: sweep 2: adapter", "'all' includes the other names"),
        ("lan.toml: sweep 2: pin", "'a' names no processors"),
        ("lan.toml: sweep 2: limit", "1s is shorter than the trial's duration of 2s"),
        ("--size", "'x' is not a size"),
        ("--subscribers", "0 is not a number of subscribers"),
        ("--samples", "'a' is not a number of samples"),
        ("--samples", "--duration is also given"),
        ("--duration", "'5' has no unit"),
        ("--only sizes=16", "did you mean 'size'?"),
        ("--only size", "write --only KEY=VALUE"),
    ]
    for place, words in expected:
        assert any(problem.startswith(f"{place}: ") and words in problem for problem in problems), (place, words)
    assert len(problems) == len(expected), problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = 1\nb = = 2\n", "lan.toml: line 2: column 5: not TOML: Invalid value"),
        ("", "lan.toml: has no [[sweep]]; a suite needs at least one"),
        ("[sweep]\nsize = 16", "lan.toml: sweep: is a single table; write [[sweep]]"),
        ("sweep = 3", "lan.toml: sweep: 3 is not a sweep"),
        ("sweep = [3]", "lan.toml: sweep 1: 3 is not a sweep"),
        ("defaults = 3\n[[sweep]]", "lan.toml: defaults: 3 is not a table"),
        ("name = '../x'\n[[sweep]]", "lan.toml: name: '../x' is not a valid name for a suite"),
        ("[[sweep]]\nname = ''", "lan.toml: sweep 1: name: '' is not a name for a sweep"),
        ("[[sweep]]\nsize = {}", "lan.toml: sweep 1: size: a table is not a size"),
        ("[[sweep]]\nsize = 1979-05-27", "lan.toml: sweep 1: size: 1979-05-27 is not a size"),
        ("[[sweep]]\nsize = true", "lan.toml: sweep 1: size: true is not a size"),
        ("[[sweep]]\nsubscribers = true", "lan.toml: sweep 1: subscribers: true is not a number of subscribers"),
        ("[[sweep]]\nsize = nan", "lan.toml: sweep 1: size: nan is not a size"),
        ("[[sweep]]\nsize = '@none.csv'", "lan.toml: sweep 1: size: cannot read"),
        ("[[sweep]]\nsamples = " + "9" * 5000, "lan.toml: not TOML: it contains a number"),
        ("x = " + "[" * 100_000, "lan.toml: not TOML"),
    ],
)
def test_a_file_that_is_no_suite_is_refused_with_the_reason_and_place(tmp_path: Path, text: str, problem: str) -> None:
    assert [each for each in problems_of(tmp_path, text) if each.startswith(problem)]


def test_an_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"[[sweep]]\nname = '\xe9'\n")
    asked = [str(tmp_path / "latin.toml"), str(tmp_path / "none.toml"), str(tmp_path) + "/", "a/b\0c"]
    with pytest.raises(RequestError) as refused:
        load(asked, raw_options())
    texts = [str(problem) for problem in refused.value.problems]
    assert len(texts) == len(asked)
    assert "latin.toml: line 2: not TOML: not UTF-8 text" in texts[0]
    assert "there is no such file" in texts[1]
    assert "Is a directory" in texts[2]
    assert "null" in texts[3]


def test_sizes_are_read_from_a_demands_file_of_latencytest(tmp_path: Path) -> None:
    (tmp_path / "demands.csv").write_text("16;1024;\n\n 64512 ; 1m\r\n")
    suite = suite_of(tmp_path, "[[sweep]]\nsize = ['2k', '@demands.csv']")
    assert suite.sweeps[0].levels("size").values == (2048, 16, 1024, 64512, 1 << 20)
    suite = suite_of(tmp_path, "[[sweep]]", size=f"8,@{tmp_path}/demands.csv")
    assert suite.sweeps[0].levels("size").values == (8, 16, 1024, 64512, 1 << 20)


def test_malformed_demands_are_reported_with_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "demands.csv").write_text("16;1024\n64512;  large;32\n16\n8,9\n")
    (tmp_path / "empty.csv").write_text(" ;\n")
    (tmp_path / "raw.csv").write_bytes(b"\xff\xfe")
    assert problems_of(tmp_path, "[[sweep]]\nsize = ['@demands.csv', '@empty.csv', '@raw.csv', '@']") == [
        "lan.toml: sweep 1: size: demands.csv: line 2: column 9: "
        "'large' is not a size; write bytes (64512) or KiB and MiB (64k, 1m)",
        "lan.toml: sweep 1: size: demands.csv: line 3: column 1: 16 is listed twice",
        "lan.toml: sweep 1: size: demands.csv: line 4: column 1: "
        "'8,9' is not a size; write bytes (64512) or KiB and MiB (64k, 1m); the separator is a semicolon",
        "lan.toml: sweep 1: size: empty.csv: contains no size; write sizes as 16;1024;64512",
        "lan.toml: sweep 1: size: cannot read raw.csv: it is not text",
        "lan.toml: sweep 1: size: '@' needs the name of a file; write @demands.csv",
    ]


STREAM = """
[[sweep]]
pattern = ["stream", "request-reply"]
publishers = [1, 64]
topics = 2
rate = ["max", 1, "2.5k", "1 MHz", "sustainable", "curve"]
arrivals = ["periodic", "poisson"]
burst = ["off", 100]
recovery = ["0s", "90ms"]
max_loss = "1%"
max_p99 = "500ns"
"""


def test_a_load_is_read_with_its_units(tmp_path: Path) -> None:
    (sweep,) = suite_of(tmp_path, STREAM).sweeps
    assert sweep.levels("rate").values == ("max", 1.0, 2500.0, 1e6, "sustainable", "curve")
    assert sweep.levels("burst").values == (None, 100)
    assert sweep.levels("recovery").values == (0.0, 0.09)
    assert (sweep.levels("max_loss").values, sweep.levels("max_p99").values) == ((0.01,), (5e-7,))
    options = {"rate": "max,100,1k", "burst": "5,off", "recovery": "1ms", "max_loss": "0.5", "max_p99": "1ms"}
    (sweep,) = suite_of(tmp_path, STREAM, **options).sweeps
    assert sweep.levels("rate").values == ("max", 100.0, 1000.0)
    assert sweep.levels("burst").values == (5, None)
    assert sweep.levels("recovery").values == (0.001,)
    assert (sweep.levels("max_loss").values, sweep.levels("max_p99").values) == ((0.5,), (0.001,))


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("rate = 0", "0 is not a rate; leave the rate out to send as fast as possible"),
        ("rate = -1", "-1 is not a rate"),
        ("rate = nan", "nan is not a rate"),
        ("rate = inf", "inf is not a rate"),
        ("rate = true", "true is not a rate; write messages per second (1000, '2.5k', '1M'), or 'max'"),
        ("rate = '1m'", "'1m' is ambiguous; write '1M'"),
        ("rate = 'Max'", "'Max' is not a rate; did you mean 'max'?"),
        ("rate = 'fast'", "'fast' is not a rate; write messages per second"),
        ("rate = [1000, '1k']", "'1k' is listed twice"),
        ("arrivals = 'poison'", "did you mean 'poisson'?"),
        ("pattern = 'streams'", "did you mean 'stream'?"),
        ("burst = 0", "0 is not a number of messages in a burst (or 'off')"),
        ("burst = 'on'", "a whole number from 1"),
        ("recovery = 5", "5 is not a time with a unit; write '5s' or '5ms', in quotes"),
        ("publishers = 65", "a whole number from 1 to 64"),
        ("topics = 0", "0 is not a number of topics"),
        ("max_loss = 5", "5 is not a share of the messages; write '1%' or 0.01 (below 100%), or 0 for none"),
        ("max_loss = '100%'", "'100%' is not a share"),
        ("max_loss = '1.2.3'", "'1.2.3' is not a share"),
        ("max_loss = nan", "nan is not a share"),
        ("max_loss = [0, 0.1]", "a sweep has only one max_loss"),
        ("max_p99 = '0s'", "'0s' is too short; the shortest time is 1ns"),
    ],
)
def test_a_malformed_load_is_refused_with_a_valid_example(tmp_path: Path, key: str, hint: str) -> None:
    (problem,) = problems_of(tmp_path, f"[[sweep]]\n{key}")
    assert problem.startswith(f"lan.toml: sweep 1: {key.split(maxsplit=1)[0]}: ")
    assert hint in problem


def test_factors_without_a_suite_make_one() -> None:
    (suite,) = load([], raw_options(adapter="udp, tcp", size="1k"))
    assert (suite.name, suite.place, len(suite.sweeps)) == ("command-line", "command line", 1)
    assert suite.sweeps[0].levels("adapter").values == ("udp", "tcp")
    assert (suite.sweeps[0].limits.duration_s, suite.sweeps[0].trials) == (1.0, 3)


def test_without_a_suite_and_a_factor_the_suite_is_first_look() -> None:
    (suite,) = load([], raw_options(trials="1"))
    assert suite.name == "first-look"
    assert {sweep.trials for sweep in suite.sweeps} == {1}


def test_an_unknown_suite_is_refused_with_the_existing_ones() -> None:
    with pytest.raises(RequestError) as refused:
        load(["frist-look", "zzz"], raw_options())
    first, second = map(str, refused.value.problems)
    assert first.startswith("suite 'frist-look': no suite has this name (did you mean 'first-look'?); available: ")
    assert "available: amr, car, crowd-big, crowd, cyclonedds-performance, " in second


def test_suites_with_different_seeds_need_an_explicit_one(tmp_path: Path) -> None:
    paths = []
    for seed in (1, 2):
        path = tmp_path / f"s{seed}.toml"
        path.write_text(f"seed = {seed}\n[[sweep]]\n")
        paths.append(str(path))
    with pytest.raises(RequestError, match="choose one with --seed"):
        load(paths, raw_options())
    assert [suite.seed for suite in load(paths, raw_options(seed="3"))] == [3, 3]


def test_the_included_suites_are_listed_and_can_be_loaded() -> None:
    found = available()
    assert [name for name, _, _ in found] == [
        "amr",
        "car",
        "crowd-big",
        "crowd",
        "cyclonedds-performance",
        "cyclonedds-roundtrip",
        "everything",
        "fan-out",
        "fastdds-latency",
        "fastdds-throughput",
        "first-look",
        "gigabit",
        "idle-to-flood",
        "interop",
        "links",
        "local-and-remote",
        "python-cost",
        "ros1-factors",
        "ros2-layers",
        "security",
        "small-robot",
        "soak",
        "swarm",
        "wifi",
        "zero-copy",
    ]
    assert all(description for _, _, description in found)
    assert len(load([name for name, _, _ in found], raw_options())) == len(found)


@pytest.mark.parametrize("installed", [True, False])
def test_suites_are_found_in_a_checkout_and_in_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    package = tmp_path / ("lib/python/site-packages" if installed else "src") / "middlemark"
    (package / "suite").mkdir(parents=True)
    (
        package.parents[1] / "suites"
    ).mkdir()  # in a checkout this is Middlemark's; next to site-packages it belongs to another package
    (package.parents[1] / "suites" / "outside.toml").write_text("description = 'outside'")
    if installed:
        (package / "suites").mkdir()
        (package / "suites" / "inside.toml").write_text("description = '''\ninside\nit'''")
        (package / "suites" / "torn.toml").write_text("=")
    monkeypatch.setattr(request, "__file__", str(package / "suite" / "request.py"))
    listed = {name: description for name, _, description in available()}
    if installed:
        assert listed.keys() == {"inside", "torn"}
        assert listed["inside"] == "inside it"
        assert listed["torn"].startswith("cannot be read: ")
    else:
        assert listed == {"outside": "outside"}


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ('["pin", "priority"]', (("pin", "priority"),)),
        ('[["pin", "priority"], ["loan", "transport"]]', (("pin", "priority"), ("loan", "transport"))),
    ],
)
def test_factors_may_vary_together(tmp_path: Path, written: str, found: tuple[tuple[str, ...], ...]) -> None:
    assert suite_of(tmp_path, f"vary_together = {written}\n[[sweep]]").together == found


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ('"pin"', "is not a combination of factors"),
        ('["pin"]', "name two or more"),
        ('["pin", "zeal"]', "'zeal' is not a factor"),
        ('[["pin", 3]]', "3 is not a factor"),
    ],
)
def test_factors_that_cannot_vary_together_are_refused(tmp_path: Path, written: str, wrong: str) -> None:
    with pytest.raises(RequestError, match=wrong):
        suite_of(tmp_path, f"vary_together = {written}\n[[sweep]]")
