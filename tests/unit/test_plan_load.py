"""The load in a plan: combinations, duplicates, cells that are left out, and refusals."""

from typing import Any

import pytest
from descriptions import EVERYONE
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import plan_of, problems_of, texts_of

from middlemark.model.cell import Cell
from middlemark.plan import make_plan
from middlemark.problems import RequestError
from middlemark.suite import load, raw_options

STREAM = "[[sweep]]\nadapter='udp'\npattern='stream'\n"


def rates_of(cells: tuple[Cell, ...]) -> list[Any]:
    return [cell.rate for cell in cells]


def test_a_cell_has_every_level_of_its_load() -> None:
    (cell,) = plan_of(
        STREAM
        + "publishers=4\nsubscribers=8\ntopics=2\nrate='sustainable'\narrivals='poisson'\nmax_loss='1%'\nmax_p99='2ms'"
    ).cells
    assert (cell.pattern, cell.publishers, cell.subscribers, cell.topics) == ("stream", 4, 8, 2)
    assert (cell.rate, cell.arrivals, cell.max_loss, cell.max_p99_s) == ("sustainable", "poisson", 0.01, 0.002)
    (cell,) = plan_of(STREAM + "burst=100\nrecovery='90ms'").cells
    assert (cell.rate, cell.burst, cell.recovery_s) == ("max", 100, 0.09)


def test_rates_are_an_axis_of_every_pattern() -> None:
    plan = plan_of("[[sweep]]\nadapter='udp'\npattern=['ping-pong','stream','request-reply']\nrate=[1,'2.5k','max']")
    assert [(cell.pattern, cell.rate) for cell in plan.cells] == [
        (pattern, rate) for pattern in ("ping-pong", "stream", "request-reply") for rate in (1.0, 2500.0, "max")
    ]


def test_loads_are_crossed_in_the_order_written() -> None:
    plan = plan_of(STREAM + "subscribers=[2,1]\nburst=[100,1000]\nrecovery=['5ms','0s']")
    assert [(cell.subscribers, cell.burst, cell.recovery_s) for cell in plan.cells] == [
        (subscribers, burst, recovery) for subscribers in (2, 1) for burst in (100, 1000) for recovery in (0.005, 0.0)
    ]


def test_a_burst_without_a_recovery_repeats_at_once() -> None:
    assert [(cell.burst, cell.recovery_s) for cell in plan_of(STREAM + "burst=['off',10]").cells] == [
        (None, None),
        (10, 0.0),
    ]


def test_levels_without_meaning_for_others_make_no_cells() -> None:
    plan = plan_of(STREAM + "rate=['max',100]\narrivals=['poisson','periodic']")
    assert [(cell.rate, cell.arrivals) for cell in plan.cells] == [
        ("max", "periodic"),
        (100.0, "poisson"),
        (100.0, "periodic"),
    ]
    plan = plan_of(STREAM + "burst=['off',10]\nrecovery=['1ms','2ms']")
    assert [(cell.burst, cell.recovery_s) for cell in plan.cells] == [(None, None), (10, 0.001), (10, 0.002)]
    plan = plan_of(STREAM + "rate=['max','curve']\nmax_loss=0.5\nmax_p99='1ms'")
    assert [(cell.rate, cell.max_loss, cell.max_p99_s) for cell in plan.cells] == [
        ("max", 0.0, None),
        ("curve", 0.5, 0.001),
    ]
    plan = plan_of("[[sweep]]\nadapter='udp'\npattern=['ping-pong','stream']\nsubscribers=2\necho=['all','first']")
    assert [(cell.pattern, cell.echo) for cell in plan.cells] == [
        ("ping-pong", "all"),
        ("ping-pong", "first"),
        ("stream", "all"),
    ]
    assert texts_of(plan) == []


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("publishers=2", "publishers: publishers 2 under ping-pong, which has only one; take pattern stream"),
        ("topics=2", "topics: topics 2 under ping-pong, which has only one; take pattern stream"),
        ("burst=5", "burst: burst 5 under ping-pong: only streams have bursts; take pattern stream"),
        (
            "rate='curve'",
            "rate: rate curve under ping-pong: only the rate of a stream is searched for; take pattern stream",
        ),
        (
            "pattern='request-reply'\nrate='sustainable'",
            "rate: rate sustainable under request-reply: only the rate of a stream is searched for; "
            "take pattern stream",
        ),
        (
            "pattern='request-reply'\nsubscribers=2",
            "subscribers: subscribers 2 under request-reply, where one server replies; its clients are publishers",
        ),
        (
            "pattern='request-reply'\ntopics=2",
            "topics: topics 2 under request-reply, where there is one service; its clients are publishers",
        ),
        (
            "pattern='stream'\ntopics=3\nsubscribers=2\npublishers=3",
            "topics: topics 3 with subscribers 2: each topic needs publisher and subscriber; "
            "give at least 3, or fewer topics",
        ),
        (
            "pattern='stream'\nburst=5\nrate=100",
            "burst: burst 5 at rate 100 Hz: a burst is sent as fast as possible; "
            "leave the rate out and set the pace with recovery",
        ),
        ("pattern='stream'\nrecovery='5ms'", "recovery: recovery 5 ms without bursts; give a burst, as in 100"),
        ("pattern='stream'\necho='first'", "echo: echo first: only the pongs of ping-pong echo; leave echo out"),
        ("arrivals='poisson'", "arrivals: arrivals poisson at rate max, which has no schedule; give a rate in Hz"),
        (
            "pattern='stream'\nmax_loss='1%'",
            "max_loss: max_loss 1 % limits a rate that is found by search; take rate sustainable or curve",
        ),
        (
            "pattern='stream'\nmax_p99='5ms'\nrate=5",
            "max_p99: max_p99 5 ms limits a rate that is found by search; take rate sustainable or curve",
        ),
        (
            "rate=0.1",
            "rate: rate 0.1 Hz brings no message within the duration of 1 s; measure for at least 10 s",
        ),
    ],
)
def test_contradicting_named_levels_are_refused_with_the_next_step(keys: str, problem: str) -> None:
    assert problems_of(f"[[sweep]]\nadapter='udp'\n{keys}") == [f"sweep 1: {problem}"]


def test_contradicting_combinations_from_crossing_are_left_out_with_a_note() -> None:
    plan = plan_of(STREAM + "publishers=2\nsubscribers=[1,2,4]\ntopics=[1,2]")
    assert [(cell.subscribers, cell.topics) for cell in plan.cells] == [(1, 1), (2, 1), (2, 2), (4, 1), (4, 2)]
    assert texts_of(plan) == [
        "sweep 1: topics: left out: topics 2 with subscribers 1: each topic needs publisher and subscriber; "
        "give at least 2, or fewer topics"
    ]
    plan = plan_of("[[sweep]]\nadapter='udp'\npattern=['ping-pong','stream']\nrate=['max','curve']\nburst=['off',9]")
    assert [(cell.pattern, cell.rate, cell.burst) for cell in plan.cells] == [
        ("ping-pong", "max", None),
        ("stream", "max", None),
        ("stream", "max", 9),
        ("stream", "curve", None),
    ]
    assert len(texts_of(plan)) == 3


def test_a_level_without_any_valid_combination_is_refused() -> None:
    text = "[[sweep]]\nadapter='udp'\npattern=['ping-pong','stream']\nburst=9"
    assert problems_of(text) == [
        "sweep 1: burst: burst 9 under ping-pong: only streams have bursts; take pattern stream"
    ]
    # The two rules together exclude every cell of rate 100: ping-pong has no bursts, and a burst has no rate.
    both = (
        "[[sweep]]\nadapter='udp'\npattern=['ping-pong','stream']\nburst=['off',9]\nrate=['curve',0.5]\nduration='1s'"
    )
    assert any("rate 0.5 Hz" in problem for problem in problems_of(both))
    one = STREAM + "topics=2\nburst=['off',9]\nrate=['max',100]"
    assert problems_of(one) == [
        "sweep 1: topics: topics 2 with publishers 1 and subscribers 1: each topic needs publisher and subscriber; "
        "give at least 2, or fewer topics"
    ]


def test_two_rules_that_leave_nothing_of_a_level_are_both_reported() -> None:
    text = "[[sweep]]\nadapter='udp'\npattern=['ping-pong','stream']\nrate=['curve','max']\nburst="
    assert len(plan_of(text + "[9,'off']").cells) == 4
    assert [problem.split(": ")[2].split()[:3] for problem in problems_of(text + "9")] == [
        ["burst", "9", "under"],
        ["burst", "9", "at"],
    ]


def test_all_problems_of_a_load_are_reported_at_once() -> None:
    places = [
        problem.split(": ")[1] for problem in problems_of(STREAM + "burst=5\nrate=100\necho='first'\nmax_p99='1ms'")
    ]
    assert places == ["burst", "max_p99", "echo"]


def test_with_skip_unsupported_contradicting_levels_are_left_out() -> None:
    plan = plan_of(STREAM + "burst=['off',5]\nrate=100\nskip_unsupported=true")
    assert [(cell.rate, cell.burst) for cell in plan.cells] == [(100.0, None)]
    assert any("left out: burst 5 at rate 100 Hz" in text for text in texts_of(plan))


def test_loads_that_only_leaves_out_are_not_refused() -> None:
    text = "[[sweep]]\nadapter='udp'\npattern=['ping-pong','stream']\nburst=9"
    assert [cell.burst for cell in plan_of(text, only=["pattern=stream"]).cells] == [9]
    assert rates_of(plan_of(STREAM + "rate=[10,'1k','max']", only=["rate=1k,max"]).cells) == [1000.0, "max"]


def test_only_selects_meaningless_levels_by_the_value_that_replaced_them() -> None:
    text = STREAM + "rate=['max',100]\narrivals='poisson'"
    assert rates_of(plan_of(text, only=["arrivals=periodic"]).cells) == ["max"]
    assert [cell.burst for cell in plan_of(STREAM + "burst=[5,'off']", only=["burst=off"]).cells] == [None]
    bursts = STREAM + "burst=5\nrecovery=['1ms','2ms']"
    assert [cell.recovery_s for cell in plan_of(bursts, only=["recovery=2ms"]).cells] == [0.002]
    assert problems_of(bursts, only=["recovery=3ms"])[0].endswith(
        "no configuration has recovery 3 ms; there are 1 ms and 2 ms"
    )


@pytest.mark.parametrize(
    ("transport", "pattern", "publishers", "depth"),
    [
        ("udp", "ping-pong", 1, 1),
        ("udp", "request-reply", 4, 1),
        ("udp", "stream", 1, None),
        ("shm", "stream", 1, 16),
        ("shm", "stream", 4, 4),
        ("shm", "stream", 64, 1),
        ("shm", "ping-pong", 1, 1),
    ],
)
def test_a_stream_keeps_the_largest_possible_history_unless_a_depth_is_named(
    transport: str, pattern: str, publishers: int, depth: int | None
) -> None:
    text = f"[[sweep]]\nadapter='cyclonedds'\ntransport='{transport}'\npattern='{pattern}'\npublishers={publishers}\n"
    plan = plan_of(text)
    assert [cell.depth for cell in plan.cells] == [depth]
    note = f"sweep 1: cyclonedds shm: depth {depth} (no keep-all history)"
    assert (note in texts_of(plan)) == ((transport, pattern) == ("shm", "stream"))
    assert [cell.depth for cell in plan_of(text + "depth=1").cells] == [1]


def test_publishers_on_several_topics_do_not_share_a_history() -> None:
    text = "[[sweep]]\nadapter='cyclonedds'\ntransport='shm'\npattern='stream'\npublishers=4\nsubscribers=2\ntopics=2"
    assert [cell.depth for cell in plan_of(text).cells] == [8]


@pytest.mark.parametrize(
    ("keys", "placed"),
    [
        ("pattern='stream'", (3, 5)),
        ("pattern='stream'\npublishers=2", (3, 5, 7)),
        ("pattern='stream'\npublishers=2\nsubscribers=4", (3, 5, 7)),
        ("pattern='request-reply'\npublishers=2", (3, 5, 7)),
        ("pattern='request-reply'\npin='7,3'", (7, 3)),
    ],
)
def test_roles_are_placed_senders_first(keys: str, placed: tuple[int, ...]) -> None:
    assert [cell.pin for cell in plan_of(f"[[sweep]]\nadapter='udp'\n{keys}", cpus=(3, 5, 7)).cells] == [placed]


@pytest.mark.parametrize(
    ("keys", "who", "roles"),
    [
        ("pattern='stream'\nsubscribers=2", "1 publisher and 2 subscribers", 3),
        ("pattern='stream'\npublishers=2", "2 publishers and 1 subscriber", 3),
        ("pattern='request-reply'\npublishers=2", "2 clients", 3),
    ],
)
def test_more_spinning_roles_than_processors_are_refused(keys: str, who: str, roles: int) -> None:
    text = f"[[sweep]]\nadapter='udp'\n{keys}\n"
    assert problems_of(text + "receive='poll'") == [
        f"sweep 1: receive: poll with {who} has {roles} roles spinning, but there are 2 processors; "
        "block or listen instead"
    ]
    assert len(plan_of(text + "receive='block'").cells) == 1
    assert len(plan_of(text + "receive='poll'", cpus=(0, 1, 2)).cells) == 1


OPTIONS = st.fixed_dictionaries(
    {"pattern": st.sampled_from(["ping-pong", "stream", "request-reply", "ping-pong,stream"])},
    optional={
        "publishers": st.sampled_from(["1", "1,2", "4"]),
        "subscribers": st.sampled_from(["1", "1,3"]),
        "topics": st.sampled_from(["1", "1,2"]),
        "rate": st.sampled_from(["max", "100", "1,1k", "curve", "max,sustainable", "0.1,5"]),
        "arrivals": st.sampled_from(["poisson", "periodic,poisson"]),
        "burst": st.sampled_from(["off", "10", "off,10"]),
        "recovery": st.sampled_from(["0s", "1ms,2ms"]),
        "max_loss": st.sampled_from(["0", "1%"]),
        "max_p99": st.just("1ms"),
        "echo": st.sampled_from(["first", "all,first"]),
        "depth": st.sampled_from(["1", "all"]),
        "samples": st.just("10"),
        "skip_unsupported": st.just(True),
    },
)


@given(OPTIONS, st.lists(st.sampled_from(["rate=max", "pattern=stream", "burst=off", "arrivals=poisson"]), max_size=1))
@settings(max_examples=300)
def test_any_load_is_valid_or_refused(options: dict[str, Any], only: list[str]) -> None:
    try:
        plan = make_plan(
            load([], raw_options(adapter="udp,cyclonedds", transport="udp", **options)),
            EVERYONE,
            cpus=(0, 1),
            seed=0,
            only=only,
        )
    except RequestError as refused:
        assert all(problem.place and problem.text for problem in refused.problems)
        return
    assert len(set(plan.cells)) == len(plan.cells) > 0
    for cell in plan.cells:
        stream = cell.pattern == "stream"
        assert cell.topics <= min(cell.publishers, cell.subscribers)
        assert stream or (cell.topics, cell.burst, cell.recovery_s) == (1, None, None)
        assert cell.pattern != "ping-pong" or cell.publishers == 1
        assert cell.pattern != "request-reply" or cell.subscribers == 1
        assert stream or isinstance(cell.rate, float) or cell.rate == "max"
        assert cell.burst is None or cell.rate == "max"
        assert (cell.recovery_s is None) == (cell.burst is None)
        assert cell.arrivals == "periodic" or cell.rate != "max"
        assert cell.rate in ("sustainable", "curve") or (cell.max_loss, cell.max_p99_s) == (0.0, None)
        assert cell.echo == "all" or (cell.pattern == "ping-pong" and cell.subscribers > 1)
    if not (only or options.get("skip_unsupported")):
        for factor in ("pattern", "publishers", "subscribers", "topics"):
            asked = set(str(options.get(factor, "")).split(",")) - {""}
            assert asked <= {str(getattr(cell, factor)) for cell in plan.cells}, "a named level vanished"
