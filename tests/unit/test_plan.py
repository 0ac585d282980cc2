"""Plans suites with hand-made adapters: combinations, defaults of a transport, and cells that are left out."""

import pytest
from descriptions import CYCLONE, EVERYONE, description, transport
from planning import pairs_of, plan_of, problems_of, suite_of, texts_of

from middlemark.model.cell import Cell
from middlemark.plan import make_plan


def test_all_is_every_adapter_with_all_its_transports_except_null() -> None:
    plan = plan_of("[[sweep]]")
    assert pairs_of(plan) == [
        "shm shm", "uds uds", "udp udp", "tcp tcp", "cyclonedds udp", "cyclonedds shm", "cyclonedds intraprocess",
        "fastdds shm", "fastdds intraprocess", "fastdds data-sharing", "fastdds udp", "fastdds tcp",
    ]  # fmt: skip
    assert "adapter all: zenoh is not built here: cargo builds it" in texts_of(plan)


def test_the_null_adapter_is_measured_if_it_is_named() -> None:
    assert pairs_of(plan_of("[[sweep]]\nadapter='null'")) == ["null memory"]


def test_cells_are_crossed_in_the_order_written() -> None:
    plan = plan_of("[[sweep]]\nadapter=['tcp','uds']\nsize=['1k',16]\npriority=['fifo:80','other']")
    assert [(cell.adapter, cell.size, cell.priority) for cell in plan.cells] == [
        (adapter, size, priority)
        for adapter in ("tcp", "uds")
        for size in (1024, 16)
        for priority in ("fifo:80", "other")
    ]


def test_a_cell_has_every_level_and_the_limits_of_its_sweep() -> None:
    plan = plan_of(
        "[[sweep]]\nname='x'\nadapter='fastdds'\ntransport='data-sharing'\nsize='64k'\n"
        "receive='listen'\nreliability='best-effort'\n"
        "depth='all'\nloan=true\npayload='untouched'\nprocesses=1\nsubscribers=3\necho='first'\n"
        "pin='1,0'\npriority='rr:5'\nmlock=true\n"
        "samples=50\nwarmup='0s'\ntrials=1\ntimeout='2s'\nlimit='9s'\nmatch_timeout='3s'\ndomain=4\n"
        "[sweep.native.fastdds]\nsegment-size='8m'"
    )
    assert plan.cells == (
        Cell(
            adapter="fastdds", transport="data-sharing", size=65536, receive="listen", reliability="best-effort",
            depth=None, loan=True, payload="untouched", processes=1, subscribers=3, echo="first", pin=(1, 0),
            priority="rr:5", mlock=True, native=(("segment-size", "8m"),),
        ),
    )  # fmt: skip
    (trial,) = plan.trials
    limits = trial.limits
    assert (limits.samples, limits.duration_s, limits.warmup_s, limits.reply_timeout_s) == (50, None, 0.0, 2.0)
    assert (limits.limit_s, limits.match_timeout_s, trial.domain) == (9.0, 3.0, 4)
    assert plan.names == ("lan: x",)


def test_a_default_that_a_transport_lacks_is_replaced_with_a_note() -> None:
    plan = plan_of("[[sweep]]\nadapter='fastdds'\ntransport='intraprocess'")
    assert [cell.processes for cell in plan.cells] == [1]
    assert texts_of(plan) == ["sweep 1: fastdds intraprocess: processes 1 (within one process only)"]


def test_a_baselines_reliability_follows_the_middlewares_without_a_note() -> None:
    plan = plan_of(
        "[[sweep]]\nreliability='reliable'\nprocesses=2\nadapter=['cyclonedds','udp','tcp']\ntransport=['udp','tcp']\n"
        "skip_unsupported=true"
    )
    assert [(cell.adapter, cell.reliability) for cell in plan.cells] == [
        ("cyclonedds", "reliable"),
        ("udp", "best-effort"),
        ("tcp", "reliable"),
    ]
    plan = plan_of("[[sweep]]\nreliability=['reliable','best-effort']\nprocesses=[1,2]")
    assert {cell.reliability for cell in plan.cells if cell.adapter == "udp"} == {"best-effort"}
    assert {cell.reliability for cell in plan.cells if cell.adapter == "tcp"} == {"reliable"}
    assert not [text for text in texts_of(plan) if "reliability" in text]


def test_a_baseline_is_refused_a_reliability_it_lacks() -> None:
    assert problems_of("[[sweep]]\nadapter='udp'\nreliability='reliable'") == [
        "sweep 1: reliability: no transport of udp can honour reliability reliable: udp: best-effort only"
    ]


def test_levels_a_baseline_lacks_are_left_out_with_a_middleware_and_refused_without() -> None:
    plan = plan_of("[[sweep]]\nreceive=['block','listen']\nadapter=['uds','cyclonedds']")
    assert [cell.receive for cell in plan.cells if cell.adapter == "uds"] == ["block"]
    assert "sweep 1: receive: uds: receive listen left out (poll and block only)" in texts_of(plan)
    assert (
        problems_of(
            "[[sweep]]\nreceive=['block','listen']\nadapter=['uds','shm']\ntransport=['uds','shm']\nskip_unsupported=false"
        )
        != []
    )


def test_with_all_transports_a_level_is_measured_where_it_is_possible() -> None:
    plan = plan_of("[[sweep]]\nadapter='cyclonedds'\nprocesses=2\nloan=[false,true]\ndepth=[1,'all']")
    assert [(cell.transport, cell.loan, cell.depth) for cell in plan.cells] == [
        ("udp", False, 1), ("udp", False, None), ("shm", False, 1), ("shm", True, 1),
    ]  # fmt: skip
    assert texts_of(plan) == [
        "sweep 1: loan: cyclonedds udp: loan true left out (no memory to lend)",
        "sweep 1: depth: cyclonedds shm: depth all left out (no keep-all history; give a depth of at most 16)",
        "sweep 1: processes: cyclonedds intraprocess: processes 2 left out (within one process only)",
    ]


def test_sizes_below_the_header_become_the_smallest_message() -> None:
    plan = plan_of("[[sweep]]\nadapter='udp'\nsize=[0,'8',16,64]")
    assert [cell.size for cell in plan.cells] == [16, 64]
    assert texts_of(plan) == ["sweep 1: size: 0 and 8 B became 16 B, the smallest message, which contains the header"]


def test_identical_cells_of_two_suites_are_measured_once_with_the_larger_number_of_trials() -> None:
    one = suite_of("[[sweep]]\nname='a'\nadapter=['udp','tcp']\ntrials=2", "one")
    two = suite_of("[[sweep]]\nadapter=['tcp','uds']\ntrials=4\n[[sweep]]\nadapter='uds'\nsamples=5\ntrials=1", "two")
    plan = make_plan([one, two], EVERYONE, cpus=(0, 1), seed=3)
    assert [cell.adapter for cell in plan.cells] == ["udp", "tcp", "uds"]
    assert plan.names == ("one: a", "one: a", "two")
    assert [sum(trial.cell == index for trial in plan.trials) for index in range(3)] == [2, 4, 4]
    assert texts_of(plan) == [
        "two.toml: sweep 2: configurations that are also in two.toml: sweep 1 are measured once, "
        "with the limits of that sweep"
    ]


def test_echo_first_of_one_subscriber_means_all() -> None:
    plan = plan_of("[[sweep]]\nadapter='cyclonedds'\ntransport='udp'\nsubscribers=[1,2]\necho=['all','first']")
    assert [(cell.subscribers, cell.echo) for cell in plan.cells] == [(1, "all"), (2, "all"), (2, "first")]


@pytest.mark.parametrize(
    ("pin", "cpus", "subscribers", "placed"),
    [
        ("'auto'", (0, 1), 1, (0, 1)),
        ("'auto'", (2, 5, 7), 1, (2, 5)),
        ("'auto'", (2, 5), 3, (2, 5)),
        ("'auto'", (4,), 1, None),
        ("'off'", (0, 1), 1, None),
        ("'1,0'", (0, 1), 1, (1, 0)),
        ("[1,1]", (0, 1), 1, (1, 1)),
        ("[0,1,2]", (0, 1, 2), 1, (0, 1)),
        ("0", (0, 1), 1, (0,)),
    ],
)
def test_roles_are_placed_ping_first(
    pin: str, cpus: tuple[int, ...], subscribers: int, placed: tuple[int, ...] | None
) -> None:
    plan = plan_of(f"[[sweep]]\nadapter='udp'\npin={pin}\nsubscribers={subscribers}", cpus=cpus)
    assert [cell.pin for cell in plan.cells] == [placed]
    assert any("not pinned" in text for text in texts_of(plan)) == (len(cpus) == 1)


def test_polling_with_a_middleware_that_has_its_own_threads_is_noted() -> None:
    text = "sweep 1: receive: fastdds receives on threads of its own, which share the processors with 2 polling roles"
    polling = "[[sweep]]\nadapter=['shm','fastdds']\nreceive='poll'"
    assert text in texts_of(plan_of(polling))
    assert text not in texts_of(plan_of(polling, cpus=(0, 1, 2)))


def test_only_selects_small_sizes_by_their_requested_value() -> None:
    assert [cell.size for cell in plan_of("[[sweep]]\nadapter='udp'\nsize=[0,64]", only=["size=0"]).cells] == [16]


def test_only_keeps_the_cells_that_have_the_values() -> None:
    text = "[[sweep]]\nadapter=['cyclonedds','udp']\nsize=[16,'1k','64k']\npin=['0,1','off']\ndepth=[1,'all']"
    cells = plan_of(
        text, only=["size=1k", "size=16", "adapter=cyclonedds", "transport=udp", "pin=off", "depth=all"]
    ).cells
    assert [(cell.adapter, cell.transport, cell.size, cell.pin, cell.depth) for cell in cells] == [
        ("cyclonedds", "udp", size, None, None) for size in (16, 1024)
    ]
    assert len(plan_of(text, only=["pin=0,1"]).cells) == len(plan_of(text, only=["pin=off"]).cells)
    assert {cell.size for cell in plan_of(text, only=["size=1k,64k"]).cells} == {1024, 65536}


def test_a_workload_notes_only_the_history_and_reliability_of_its_own_topics() -> None:
    lossy = description("lossy", transport("udp", reliability=("best-effort",)))
    within = description("within", transport("heap", processes=(1,), reliability=("reliable",)))
    text = (
        "defaults.processes=2\nsweep=[{adapter=['cyclonedds','lossy','within'],skip_unsupported=true}]\n"
        "[[workload.topic]]\nname='image'\nfrom='camera'\nto='detector'\nsize=100\nrate=10\ndepth=5\n"
        "[[workload.topic]]\nname='map'\nfrom='map'\nto='detector'\nsize=100\nrate=10\ndepth=20\n"
    )
    plan = plan_of(text, (CYCLONE, lossy, within))
    assert pairs_of(plan) == ["cyclonedds udp", "cyclonedds shm", "lossy udp"]
    noted = [each for each in texts_of(plan) if "depth" in each or "reliab" in each]
    assert noted == [
        "sweep 1: cyclonedds shm: depth 16 for map, because the transport supports nothing else",
        "sweep 1: lossy udp: reliability best-effort for image and map, because the transport supports nothing else",
    ]


def test_a_workload_notes_a_transports_history_for_late_joiners() -> None:
    last = description("last", transport("tcp", max_history=1))
    whole = description("whole", transport("udp", max_history=None))
    text = (
        "[[sweep]]\nadapter=['cyclonedds','last','whole']\ntransport=['all']\nprocesses=2\n"
        "[[workload.topic]]\nname='tf'\nfrom='robot'\nto='view'\nsize=100\nrate=10\ndepth=4\ndurability='transient-local'\n"
        "[[workload.topic]]\nname='map'\nfrom='robot'\nto='view'\nsize=100\nrate=10\ndepth=1\ndurability='transient-local'\n"
    )
    plan = plan_of(text, (CYCLONE, last, whole))
    assert [each for each in texts_of(plan) if "volatile" in each or "history" in each] == [
        "sweep 1: cyclonedds udp: durability volatile for tf and map, because the transport supports nothing else",
        "sweep 1: cyclonedds shm: durability volatile for tf and map, because the transport supports nothing else",
        "sweep 1: last tcp: a history of 1 for tf, because the transport supports nothing else",
    ]
