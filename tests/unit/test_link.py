"""Links: their notation, the time that messages take on a link, and the cells with a link."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning import pairs_of, plan_of, problems_of, texts_of

from middlemark.model.levels import Wrong
from middlemark.model.link import LINK, Link, line_bytes, link_text, parse_link, share_of

CYCLONE = "[[sweep]]\nadapter='cyclonedds'\ntransport='udp'\n"


def test_every_part_of_a_link_is_read() -> None:
    assert parse_link("1gbit") == Link(rate_bps=1e9)
    assert parse_link(" 2.5Gbit, delay=2ms,jitter=500us , loss=0.5%,reorder=1%,mtu=9000,queue=50") == Link(
        rate_bps=2.5e9, delay_s=0.002, jitter_s=0.0005, loss=0.005, reorder=0.01, mtu=9000, queue=50
    )
    assert parse_link("loss=1%,rate=100mbit") == Link(rate_bps=1e8, loss=0.01)


@given(
    st.builds(
        Link,
        rate_bps=st.integers(1000, 10**10).map(float),
        delay_s=st.integers(1000, 10**6).map(lambda us: us / 1e6),
        jitter_s=st.integers(0, 1000).map(lambda us: us / 1e6),
        loss=st.integers(0, 999).map(lambda each: each / 1000),
        mtu=st.integers(576, 9000),
        queue=st.integers(1, 100_000),
    )
)
def test_a_written_link_reads_back_as_the_same(link: Link) -> None:
    assert parse_link(link_text(link)) == link
    assert LINK.read(LINK.read(link_text(link))) == LINK.read(link_text(link))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("fast", "is not a rate of a link; write 100mbit"),
        ("1000", "is ambiguous; write 1000bit"),
        (".", "is not a rate of a link; write 100mbit"),
        ("1.2.3", "is not a rate of a link; write 100mbit"),
        ("40gbit", "cannot be emulated; write a rate from 1kbit to 10gbit"),
        ("1gbit,2ms", "'2ms' is not a property of a link; write NAME=VALUE"),
        ("1gbit,delays=2ms", "did you mean 'delay'?"),
        ("1gbit,delay=2", "has no unit"),
        ("1gbit,loss=0.5", "not a percentage"),
        ("1gbit,loss=100%", "below 100%"),
        ("1gbit,loss=1%,loss=2%", "loss is given twice"),
        ("1gbit,mtu=100", "is not a whole number from 576 to 9000"),
        ("delay=2ms", "a link needs a rate"),
        ("1gbit,jitter=1ms", "the jitter is larger than the delay"),
        ("1gbit,reorder=1%", "reorder without a delay"),
    ],
)
def test_a_malformed_link_is_refused_with_a_correct_example(text: str, problem: str) -> None:
    with pytest.raises(Wrong) as refused:
        LINK.read(text)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("size", "mtu", "expected"),
    [
        (16, 1500, 84),  # the shortest frame: 64 bytes, plus preamble and gap
        (1024, 1500, 1024 + 8 + 20 + 38),
        (1472, 1500, 1538),
        (1473, 1500, 1538 + 84),  # one byte in a second fragment
        (2000, 1500, 1538 + (2008 - 1480) + 20 + 38),
        (8972, 9000, 9038),
    ],
)
def test_a_messages_share_includes_its_headers_and_the_gaps_between_frames(size: int, mtu: int, expected: int) -> None:
    assert line_bytes(size, mtu) == expected


def test_a_link_full_of_single_messages_is_fully_used() -> None:
    assert share_of(Link(rate_bps=1e9), 1024, 1e9 / 8 / 1090) == pytest.approx(1.0)


def test_a_link_without_across_is_between_two_sites() -> None:
    [cell] = plan_of(CYCLONE + "link='1gbit'").cells
    assert (cell.across, cell.link) == ("base-robot", "1gbit")


def test_each_link_is_a_level_and_cells_across_here_have_none() -> None:
    plan = plan_of(CYCLONE + "link=['1gbit','100mbit,loss=1%']\nacross=['here','lab-field']")
    assert [(each.across, each.link) for each in plan.cells] == [
        ("here", None),
        ("lab-field", "1gbit"),
        ("lab-field", "100mbit,loss=1%"),
    ]


def test_a_table_of_a_suite_is_a_link_with_a_name() -> None:
    table = "[link.worn]\nrate='100mbit'\nloss='1%'\nqueue=50\n"
    assert [each.link for each in plan_of(table + CYCLONE + "link=['worn','1gbit']").cells] == [
        "100mbit,loss=1%,queue=50",
        "1gbit",
    ]


def test_a_transport_that_cannot_cross_hosts_is_refused_or_left_out() -> None:
    everything = "[[sweep]]\nadapter='all'\nlink='1gbit'\n"
    plan = plan_of(everything)
    assert {each.across for each in plan.cells} == {"base-robot"}
    assert "cyclonedds udp" in pairs_of(plan)
    assert not {"shm shm", "uds uds", "memcpy memcpy", "cyclonedds shm"} & {*pairs_of(plan)}
    assert any("shared memory does not cross from one site to another" in each for each in texts_of(plan))
    assert problems_of(CYCLONE.replace("udp", "shm") + "link='1gbit'") == [
        "sweep 1: link: cyclonedds shm: shared memory does not cross from one site to another"
    ]


def test_two_sites_need_a_link_and_two_processes() -> None:
    assert problems_of(CYCLONE + "across='base-robot'") == [
        "sweep 1: across: no link joins base and robot; give a link, as in --link 1gbit, or --hosts base=…,robot=…"
    ]
    fast = "[[sweep]]\nadapter='fastdds'\ntransport='udp'\nlink='1gbit'\nprocesses=1"
    assert problems_of(fast) == [
        "sweep 1: processes: 1 process cannot be on two sites (across base-robot); leave out one of the two"
    ]
    assert [each.processes for each in plan_of(fast.replace("=1", "=[1,2]")).cells if each.across != "here"] == [2]


def test_baselines_for_a_link_are_those_that_can_cross_it() -> None:
    from planning import EVERYONE, make_plan, suite_of

    suite = suite_of(CYCLONE + "link='1gbit'", baseline=True)
    plan = make_plan([suite], EVERYONE, cpus=(0, 1), seed=1)
    assert {plan.cells[each].adapter for each in plan.baselines} == {"udp", "tcp"}
    assert {plan.cells[each].link for each in plan.baselines} == {"1gbit"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("link='1gbit,los=1%'\n", "sweep 1: link: a link has no 'los'; did you mean 'loss'?"),
        ("link=['1gbit','1gbit']\n", "sweep 1: link: '1gbit' is listed twice"),
        ("across='base-'\nlink='1gbit'\n", "sweep 1: across: 'base-' names no sites"),
        ("across='base-base'\nlink='1gbit'\n", "sweep 1: across: 'base-base' names one site twice"),
    ],
)
def test_a_wrong_link_is_a_problem_with_its_place(text: str, problem: str) -> None:
    from pathlib import Path

    from middlemark.suite.read import parse_toml, read_suite

    document, _ = parse_toml(CYCLONE + text, "lan.toml")
    assert document is not None
    _, problems = read_suite(document, "lan", "lan.toml", Path(), {})
    assert [str(each).removeprefix("lan.toml: ").startswith(problem) for each in problems] == [True]
