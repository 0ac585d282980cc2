"""`[[expect]]` and `--expect`: valid and wrong ones, and the output about them."""

import contextlib
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import pytest
from descriptions import EVERYONE
from hypothesis import given
from hypothesis import strategies as st
from planning import plan_of, problems_of, suite_of
from report_runs import ROBOT, MeasuredRun, cell, document_of, run_of, spread

from middlemark.document.expectations import expected_of
from middlemark.model.expectation import (
    Band,
    Bound,
    Crossover,
    Deciding,
    Expectation,
    NoInfluence,
    Order,
    Ratio,
    Shape,
    Untestable,
)
from middlemark.model.parts import NothingToJudge, parts_of
from middlemark.model.plan import Plan, Reached
from middlemark.plan import make_plan
from middlemark.problems import RequestError
from middlemark.show import render
from middlemark.show.html.data import data_of
from middlemark.show.html.page import page_of
from middlemark.suite import load, raw_options
from middlemark.suite.claim import KEYS as EXPECT_KEYS
from middlemark.suite.expect import read_expectations, read_typed_expectations, same_ids
from middlemark.suite.read import parse_toml, read_suite
from outputs import read_output

SWEEP = """
[[sweep]]
adapter = "cyclonedds"
transport = ["udp", "shm"]
size = ["64", "1k", "64k"]
pin = ["off", "auto"]
priority = ["other", "fifo:80"]
"""


def read(text: str) -> tuple[Expectation, ...]:
    found, problems = read_expectations((parse_toml(text, "lan.toml")[0] or {})["expect"], "lan.toml", text)
    assert not problems, problems
    return same_ids(found)[0]


def problems_in(text: str) -> list[str]:
    document, _ = parse_toml(SWEEP + text, "lan.toml")
    assert document is not None
    return [str(each) for each in read_suite(document, "lan", "lan.toml", Path(), {}, SWEEP + text)[1]]


def pairs(plan: Plan, at: int = 0) -> int:
    return len(parts_of(plan.expectations[at], plan))


def test_a_change_pairs_cells_that_differ_only_in_the_named_factors() -> None:
    plan = plan_of(
        SWEEP
        + """
[[expect]]
say = "pinning and FIFO take more than half off the median"
a = { transport = "shm", pin = "off", priority = "other" }
b = { transport = "shm", pin = "auto", priority = "fifo:80" }
metric = "p50"
change = "-72% … -62%"
"""
    )
    [found] = same_ids(plan.expectations)[0]
    assert (found.id, found.kind, found.metric) == (
        "pinning-and-fifo-take-more-than-half-off-the-med", "change", "p50",
    )  # fmt: skip
    assert isinstance(found.claim, Ratio)
    assert found.claim.band == Band(pytest.approx(0.28), pytest.approx(0.38))
    assert pairs(plan) == 3
    for part in parts_of(found, plan):
        a, b = (plan.cells[each.cell] for each in part.subjects)
        assert (a.size, a.pin, b.pin, b.priority) == (b.size, None, (0, 1), "fifo:80")


def test_levels_named_by_both_sides_are_equal_in_each_pair() -> None:
    plan = plan_of(
        SWEEP
        + """
[[expect]]
say = "optimised, shared memory is faster up to 1 KiB"
a = { transport = "udp", pin = "auto", priority = "fifo:80", size = ["64", "1k"] }
b = { transport = "shm", pin = "auto", priority = "fifo:80", size = ["1k", "64"] }
direction = "b faster"
"""
    )
    found = [
        tuple(plan.cells[each.cell].size for each in part.subjects) for part in parts_of(plan.expectations[0], plan)
    ]
    assert found == [(64, 64), (1024, 1024)]


def test_every_kind_is_read_and_finds_its_pairs() -> None:
    plan = plan_of(
        SWEEP
        + """
[[expect]]
of = { transport = "shm" }
metric = "p99.9"
at_most = "5ms"
[[expect]]
a = { transport = "udp" }
b = { transport = "shm" }
direction = "b faster"
[[expect]]
id = "O4"
a = "transport=shm,size=64k"
b = "transport=udp,size=64k"
ratio = 2.0
tolerance = "10%"
[[expect]]
of = { transport = "shm", pin = "off" }
along = "size"
within = "5%"
[[expect]]
order = ["transport=shm,pin=auto", "transport=udp,pin=auto", "transport=udp,pin=off"]
[[expect]]
crossover = { factor = "size", a = { transport = "udp" }, b = { transport = "shm" }, at = "64k" }
[[expect]]
of = { transport = "shm" }
shape = { along = "size", from = "64", growth = { 1k = 1.3, 64k = "4 … 5" } }
[[expect]]
of = { transport = "shm" }
metric = "link_share"
at_least = "85%"
[[expect]]
say = "MIRA is the fastest"
untestable = "no source of MIRA can be had"
"""
    )
    kinds = [each.kind for each in plan.expectations]
    assert kinds == [
        "bound", "direction", "ratio", "no influence", "order", "crossover", "shape", "link share", "untestable",
    ]  # fmt: skip
    bound, direction, ratio, same, order, crossing, shape, *_ = (each.claim for each in plan.expectations)
    assert isinstance(bound, Bound)
    assert bound.band == Band(None, 5e6)
    assert isinstance(direction, Ratio)
    assert direction.band == Band(None, 1 / 1.05)
    assert isinstance(ratio, Ratio)
    assert ratio.band == Band(1.8, 2.2)
    assert isinstance(same, NoInfluence)
    assert same.max_loss == 0.01
    assert isinstance(order, Order)
    assert order.band == Band(1.05, None)
    assert isinstance(crossing, Crossover)
    assert (crossing.at, crossing.before) == (64 << 10, Band(1 / 1.05, None))
    assert isinstance(shape, Shape)
    assert shape.growth[1].band == Band(4, 5)
    # The two sides form a pair for each combination of the factors that they do not name: 2 placements, 2 priorities, 3
    # sizes.
    assert [pairs(plan, at) for at in range(7)] == [12, 12, 4, 3 * 2, 6 + 6, 12, 8]


def test_faster_means_higher_for_a_metric_where_higher_is_better() -> None:
    text = '[[expect]]\na = "size=64"\nb = "size=1k"\nmetric = "throughput"\ndirection = "b faster"\n'
    [found] = read(text)
    assert isinstance(found.claim, Ratio)
    assert found.claim.band == Band(1.05, None)


def test_sweeps_can_be_named_and_are_paired_by_their_common_levels() -> None:
    plan = plan_of(
        """
[defaults]
adapter = "cyclonedds"
size = ["64", "1k"]
[[sweep]]
name = "usual"
transport = "udp"
pin = "off"
[[sweep]]
name = "tuned"
transport = "shm"
priority = "fifo:80"
[[expect]]
order = ["tuned", "usual"]
"""
    )
    found = [
        tuple(plan.cells[each.cell].size for each in part.subjects) for part in parts_of(plan.expectations[0], plan)
    ]
    assert found == [(64, 64), (1024, 1024)]


def test_other_differences_between_paired_middlewares_are_named() -> None:
    text = """
[[sweep]]
adapter = ["cyclonedds", "udp"]
transport = "udp"
size = ["64", "1k"]
[[expect]]
a = "adapter=cyclonedds"
b = "adapter=udp"
ratio = "0.1 … 1"
"""
    plan = plan_of(text)
    assert {(each.adapter, each.reliability) for each in plan.cells} == {
        ("cyclonedds", "reliable"), ("udp", "best-effort"),
    }  # fmt: skip
    assert pairs(plan) == 2
    [problem] = problems_of(
        """
[[sweep]]
adapter = "cyclonedds"
transport = "udp"
size = ["64", "1k"]
[[sweep]]
adapter = "cyclonedds"
transport = "shm"
size = ["64", "1k"]
receive = "poll"
[[expect]]
a = "transport=udp"
b = "transport=shm"
ratio = 2
"""
    )
    assert problem == (
        "expect 1: transport=udp and transport=shm also differ in receive: name one configuration of each"
    )


def test_all_problems_are_reported_at_once_with_their_lines() -> None:
    assert problems_in(
        """
[[expect]]
of = { transprt = "shm", size = "1q" }
at_most = "5"
change = "-5%"
[[expect]]
a = { transport = "shm" }
b = { transport = "udp" }
metric = "p98"
direction = "b best"
[[expect]]
of = { transport = "shm", topic = "cmd_vel" }
metric = "cpu"
at_most = 5
tolerence = "3%"
margin = "3%"
[[expect]]
a = { size = "64" }
change = "67 percent"
id = "?"
[[expect]]
say = "something"
"""
    ) == [
        "lan.toml: line 9: expect 1: at_most and change are 2 kinds of expectation; write one [[expect]] per kind",
        "lan.toml: line 10: expect 1: of: transprt: 'transprt' is not a factor; did you mean 'transport'?",
        "lan.toml: line 10: expect 1: of: size: '1q': 'q' is not a unit of size; k, m and g are KiB, MiB and GiB",
        "lan.toml: line 16: expect 2: metric: there is no 'p98'; did you mean 'p99'?",
        "lan.toml: line 22: expect 3: tolerence: no such key; did you mean 'tolerance'?",
        "lan.toml: line 23: expect 3: margin: has no effect with at_most; leave it out",
        "lan.toml: line 21: expect 3: at_most: 5 is not a time with a unit; write '5ms' or '20us', in quotes",
        "lan.toml: line 20: expect 3: metric: cpu describes a whole trial; for a topic use deadline, far_tail, loss, "
        "max, mean, min, p50, p90, p99, p99.9, p99.99 and 5 more",
        "lan.toml: line 27: expect 4: id: '?' is not a valid id; use letters, digits, '.', '_' and '-'",
        'lan.toml: line 24: expect 4: b is missing; select configurations, as in b = { transport = "shm" }',
        "lan.toml: line 26: expect 4: change: '67 percent' is not understood; write '-72% … -62%', or '-67%'",
        "lan.toml: line 28: expect 5: has no expectation; write one of at_most, at_least, direction, "
        "change, ratio, within, order, crossover, shape, trend and untestable",
    ]


WANTING = """
[[expect]]
of = { transport = "shm", size = "1m" }
at_most = "5ms"
[[expect]]
of = { topic = "cmd_vel" }
at_most = "5ms"
[[expect]]
a = { adapter = "fastdds" }
b = { adapter = "cyclonedds" }
ratio = "1.5"
[[expect]]
crossover = { factor = "size", a = { transport = "udp" }, b = { transport = "shm" }, at = "16" }
[[expect]]
a = "fast"
b = "transport=udp"
ratio = "1.5"
"""


def test_a_selection_that_no_configuration_can_match_is_refused() -> None:
    assert problems_of(SWEEP + WANTING) == [
        "expect 1: no configuration has size 1 MiB; there is 64 B, 1 KiB and 64 KiB",
        "expect 2: topic cmd_vel: no selected configuration has a workload",
        "expect 3: no configuration has adapter fastdds; there is cyclonedds",
        "expect 4: the two sides have no common size below 16 B, so no crossover can be seen",
        "expect 5: no sweep is called 'fast'; there is none",
    ]


def test_an_expectation_about_left_out_cells_is_untestable() -> None:
    plan = plan_of(SWEEP + "skip_unsupported = true" + WANTING)
    assert len(plan.expectations) == 5
    text = SWEEP + '[[expect]]\na = { adapter = "zenoh" }\nb = { adapter = "cyclonedds" }\nratio = 1.5\n'
    assert len(plan_of(text).expectations) == 1, "zenoh is not built here"


def test_an_id_is_a_slug_of_say_or_a_number_and_unique() -> None:
    typed = ['say = "In time!", of = "size=64", at_most = "5ms"'] * 2 + ['say = "…", of = "size=64", at_least = "1us"']
    found, problems = read_typed_expectations(typed)
    assert not problems
    assert [each.id for each in same_ids(found)[0]] == ["in-time", "in-time-2", "3"]
    named = [msgspec.structs.replace(each, id="O1a") for each in found[:2]]
    [problem] = same_ids(named)[1]
    assert problem.text == "another expectation also has the id 'O1a'; choose a different one"


def test_typed_expectations_are_read_like_written_ones() -> None:
    options = raw_options(adapter="udp", size="64", expect=('of = { size = "64" }, metric = "p99", at_most = "5ms"',))
    [suite] = load((), options)
    [found] = suite.expectations
    assert found.say == "size=64: p99 at most 5ms"
    with pytest.raises(RequestError) as refused:
        load((), raw_options(adapter="udp", expect=("of = 3, at_most", "at_most = '5ms'")))
    problems = [str(each) for each in refused.value.problems]
    assert problems[0].startswith("--expect of = 3, at_most: line 1: column ")
    assert problems[1].startswith("--expect at_most = '5ms': of is missing")


def test_the_default_number_of_trials_suffices_for_the_verdicts() -> None:
    expect = '[[expect]]\nof = "adapter=udp"\nat_most = "5ms"\n'

    def trials(keys: str, expectations: int) -> int:
        plan = plan_of(f'[[sweep]]\nadapter = "udp"\n{keys}\n{expectations * expect}')
        return len(plan.trials) // len(plan.cells)

    assert trials("size = 64", 0) == 3
    assert trials("size = 64", 1) == 6
    assert trials("size = 64", 5) == 8
    assert trials("size = ['64', '1k', '4k', '64k']", 1) == 8, "each of the four pairs may fail"
    assert trials("size = 64\ntrials = 3", 1) == 3


def test_planned_baselines_are_selected_only_by_their_names() -> None:
    text = '[[sweep]]\nadapter = "cyclonedds"\ntransport = "udp"\nsize = 64\n'
    expect = '[[expect]]\nof = "size=64"\nat_most = "5ms"\n[[expect]]\nof = "adapter=udp"\nat_most = "5ms"\n'
    plan = make_plan([suite_of(text + expect, baseline=True)], EVERYONE, cpus=(0, 1), seed=1)
    subjects = [
        [plan.cells[each.a.cell].adapter for each in parts_of(expectation, plan)] for expectation in plan.expectations
    ]
    assert subjects == [["cyclonedds"], ["udp"]]


def test_a_plan_with_expectations_reads_back_as_it_was_written() -> None:
    plan = plan_of(SWEEP + '[[expect]]\nof = { pin = "auto", size = ["64", "1k"] }\nat_most = "5ms"\n')
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan


EXPECTED = """
[[expect]]
say = "it keeps its deadlines"
of = "topic=image"
metric = "deadline"
at_most = "100%"
[[expect]]
say = "the robot's images arrive in time, as its controller wants them every night of the year and in every weather"
of = { topic = "image" }
metric = "p99"
at_most = "5ms"
[[expect]]
id = "T7"
say = "MIRA is the fastest"
untestable = "no source of MIRA can be had"
[[expect]]
id = "O1"
say = "lyra leaves more room"
a = "adapter=vega"
b = "adapter=lyra"
metric = "deadline"
direction = "b better"
"""


def expecting(run: MeasuredRun, text: str) -> MeasuredRun:
    plan = msgspec.structs.replace(run.file.plan, expectations=read(text))
    return msgspec.structs.replace(run, file=msgspec.structs.replace(run.file, plan=plan))


@pytest.fixture
def robots() -> MeasuredRun:
    lyra, vega = (cell(each, workload=ROBOT, pattern="stream", rate=100.0, processes=2) for each in ("lyra", "vega"))
    return expecting(run_of({lyra: spread(0.3), vega: spread(1.4)}), EXPECTED)


def test_the_last_lines_name_trial_edge_and_lateness_of_each_expectation(robots: MeasuredRun) -> None:
    text = render("summary", document_of(robots))
    lines = text.splitlines()
    assert len(lines) <= 40
    assert all(len(each) <= 100 for each in lines)
    assert lines[-5:] == [
        "Expected: 2 of 4 do not hold, 1 untestable, 1 holds",
        "✗ it keeps its deadli…: image → detector (vega udp), trial 10: 0.41 × deadline late, deadline 1.41 …",
        "✗ the robot's images arrive in ti…: image → detector (vega udp), trial 10: 9.06 ms late, p99 14.1 ms",
        "– MIRA is the fastest: no source of MIRA can be had",
        "✓ lyra leaves more room: -78.6 % (-78.6 % … -78.6 %)",
    ]


@pytest.mark.parametrize(
    ("met", "text"),
    [(True, " 1 holds after 12 rounds"), (False, "; the budget of 30 min 00 s was spent after 12 rounds")],
)
def test_a_run_until_decided_reports_its_rounds_or_the_spent_budget(robots: MeasuredRun, met: bool, text: str) -> None:
    plan = msgspec.structs.replace(robots.file.plan, deciding=Deciding(budget_s=1800.0))
    reached = Reached(rounds=12, seconds=1800.0, met=met)
    run = msgspec.structs.replace(robots, file=msgspec.structs.replace(robots.file, plan=plan, reached=reached))
    assert text in " ".join(render("summary", document_of(run)).split())


def test_json_has_every_expectation_with_its_interval(robots: MeasuredRun) -> None:
    found = read_output("run", render("json", document_of(robots)))["expectations"]
    assert [each["verdict"] for each in found] == ["does not hold", "does not hold", "untestable", "holds"]
    assert list(found[0]) == [
        "id", "say", "kind", "claimed", "measured", "low", "high", "verdict", "trials_needed", "why",
    ]  # fmt: skip
    late = found[1]
    assert (late["claimed"], late["measured"]) == ("p99 at most 5ms", 14e6)
    assert late["low"] < late["measured"] < late["high"]
    assert late["why"] == (
        "image → detector (vega udp), trial 10: 9.06 ms late, p99 14.1 ms; the median is 14 ms (13.9 ms … 14.1 ms), "
        "claimed p99 at most 5ms (10 trials, 99.6 % interval, one of 4)"
    )
    assert (found[3]["id"], found[3]["measured"]) == ("O1", pytest.approx(-0.785714))


def test_junit_has_a_case_for_each_expectation(robots: MeasuredRun) -> None:
    suite = ET.fromstring(render("junit", document_of(robots)))[0]
    cases = suite.findall("testcase[@classname='middlemark.expect']")
    assert [each[0].tag for each in cases] == ["failure", "failure", "skipped", "system-out"]
    assert (suite.get("failures"), suite.get("skipped")) == ("2", "1")
    assert "trial 10: 9.06 ms late" in (cases[1][0].get("message") or "")


def test_reports_show_expectations_first(robots: MeasuredRun) -> None:
    document = document_of(robots)
    markdown = render("markdown", document)
    assert markdown.index("### Expected: 2 of 4 do not hold") < markdown.index("### Latency")
    page = page_of(data_of(document))
    assert page.count('<li class="failing">') == 2
    assert page.index("Expected: 2 of 4 do not hold") < page.index('id="verdict"' if document.choices else "</main>")


def test_the_pair_that_decides_is_named() -> None:
    medians = {("udp", 64): 50e3, ("shm", 64): 20e3, ("udp", 1024): 55e3, ("shm", 1024): 54e3}
    cells = {cell(transport=transport, size=size): spread(p50) for (transport, size), p50 in medians.items()}
    text = """
[[expect]]
a = "transport=udp"
b = "transport=shm"
direction = "b faster"
[[expect]]
of = "transport=udp"
along = "size"
within = "5%"
[[expect]]
crossover = { factor = "size", a = "transport=udp", b = "transport=shm", at = "1k" }
"""
    found = {each.kind: each.short for each in expected_of(expecting(run_of(cells), text))}
    assert found == {
        "direction": "lyra, 1 KiB: -1.8 % (-1.8 % … -1.8 %), claimed p50 b faster",
        "no influence": "+10.0 % (+10.0 % … +10.0 %), claimed p50 within 5% along size",
        "crossover": "lyra, 64 B: -60.0 % (-60.0 % … -60.0 %), claimed p50 b faster from size 1k on",
    }


def test_an_undecided_expectation_states_how_many_more_trials_it_needs() -> None:
    udp, shm = cell(), cell(transport="shm")
    run = expecting(
        run_of({udp: spread(50e3, 4), shm: spread(20e3, 4)}),
        '[[expect]]\nsay = "shm is faster"\na = "transport=udp"\nb = "transport=shm"\ndirection = "b faster"\n',
    )
    [found] = expected_of(run)
    assert found.sentence == (
        "shm is faster: undecided, about 2 more trials would decide: -60.0 % (too few trials), claimed p50 b faster "
        "(4 trials, 95 % interval)"
    )
    assert found.trials_needed == 6


VALUES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(
            ["5ms", "5%", "b faster", "size=64", "-72% … -62%", "size", "p99", "64", "transport=udp,topic=x"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from([*EXPECT_KEYS, "size", "pin", "transport", "factor", "at", "from", "growth"]), inner
        ),
    ),
    max_leaves=8,
)


SMALL = plan_of(SWEEP)


@given(table=st.dictionaries(st.sampled_from(EXPECT_KEYS), VALUES, max_size=6))
def test_any_table_is_an_expectation_or_a_problem(table: dict[str, object]) -> None:
    found, problems = read_expectations([table], "lan.toml")
    assert bool(found) != bool(problems)
    for each in found:
        assert msgspec.json.decode(msgspec.json.encode(each), type=Expectation).id == each.id
        with contextlib.suppress(NothingToJudge):
            assert parts_of(each, SMALL) or isinstance(each.claim, Untestable)


def test_a_screen_lists_eight_expectations_and_counts_the_others() -> None:
    cells = {
        cell(adapter, transport, size=size): spread(10e3 + size + 100 * at, 7)
        for at, (adapter, transport) in enumerate([("lyra", "udp"), ("lyra", "shm"), ("vega", "udp"), ("deneb", "udp")])
        for size in (64, 256, 1024, 4096, 1 << 14, 1 << 16)
    }
    text = "".join(f'[[expect]]\nof = "size=64"\nat_most = "{at}ms"\nsay = "claim {at}"\n' for at in range(1, 21))
    lines = render("summary", document_of(expecting(run_of(cells), text))).splitlines()
    assert len(lines) <= 40
    assert lines[-1] == "  and 12 more, with --rows"
