"""The baselines that a plan adds to a middleware's cells: which ones, how many, and when none."""

from collections.abc import Sequence

import msgspec
import pytest
from descriptions import AES, CYCLONE, FAST, MEMCPY, NULL, RAW_TRANSPORTS, UDP, description, transport
from planning import plan_of, problems_of, suite_of
from planning import texts_of as notes_of

from middlemark.model.cell import EXPERIMENT, Cell
from middlemark.model.description import Description
from middlemark.model.plan import Plan
from middlemark.plan import estimate_seconds, make_plan
from middlemark.plan.baselines import same_baseline
from middlemark.show.dry_run import render
from middlemark.suite import load, raw_options

HERE = (NULL, *RAW_TRANSPORTS, MEMCPY, CYCLONE, FAST)
SOCKETS_AND_SHM = {"shm", "uds", "udp", "tcp"}


def planned(text: str, adapters: Sequence[Description] = HERE, only: Sequence[str] = ()) -> Plan:
    return make_plan([suite_of(text, baseline=True)], adapters, cpus=(0, 1), seed=1, only=only)


def baselines_of(plan: Plan) -> list[Cell]:
    return [plan.cells[index] for index in plan.baselines]


def names(cells: Sequence[Cell]) -> list[str]:
    return [cell.adapter for cell in cells]


ONE = "[[sweep]]\nadapter='cyclonedds'\ntransport='udp'\nprocesses=2\n"


def test_a_middlewares_cell_gets_every_baseline_and_memcpy_of_its_size() -> None:
    plan = planned(ONE + "size=['64k']\nreceive='block'\npayload='untouched'\npriority='fifo:80'\ntrials=7")
    (cell,) = (each for each in plan.cells if each.adapter == "cyclonedds")
    *meeting, copying = baselines_of(plan)
    assert set(names(meeting)) == SOCKETS_AND_SHM
    for baseline in meeting:
        assert [getattr(baseline, factor) for factor in EXPERIMENT] == [getattr(cell, factor) for factor in EXPERIMENT]
        assert baseline.native == ()
    assert copying == Cell(
        adapter="memcpy", transport="memcpy", size=65536, receive="poll", payload="untouched", processes=1,
        subscribers=0, pin=(0,), priority="fifo:80",
    )  # fmt: skip


def test_what_another_language_can_do_is_the_baseline_of_that_language_only() -> None:
    python = description("udp-python", *UDP.transports, is_raw_transport=True, language="Python")
    client = description("cyclonedds-python", *CYCLONE.transports, language="Python")
    adapters = (*RAW_TRANSPORTS, python, CYCLONE, client)
    assert "udp-python" not in names(baselines_of(planned(ONE, adapters)))
    plan = planned(ONE.replace("'cyclonedds'", "'cyclonedds-python'"), adapters)
    assert {"udp", "udp-python"} <= set(names(baselines_of(plan)))


def test_baselines_have_equal_trials_and_limits_and_are_shuffled_with_the_others() -> None:
    plan = planned(ONE + "trials=4\nsamples=50\nwarmup='0s'")
    for index in range(len(plan.cells)):
        mine = [trial for trial in plan.trials if trial.cell == index]
        assert [trial.number for trial in mine] == [1, 2, 3, 4]
        assert {(trial.limits.samples, trial.limits.warmup_s) for trial in mine} == {(50, 0.0)}
    places = [trial.order for trial in plan.trials if trial.cell in plan.baselines]
    assert places != sorted(range(places[0], places[0] + len(places))), "baselines must not be measured in one block"


@pytest.mark.parametrize(
    ("size", "limit", "samples"),
    [
        ("16", "duration='10s'", 10_000),
        ("'1m'", "duration='10s'", 191),
        ("'64m'", "duration='10s'", 30),
        ("16", "samples=50", 50),
        ("'1m'", "samples=10000", 191),
    ],
)
def test_memcpy_is_planned_with_a_sufficient_number_of_copies(size: str, limit: str, samples: int) -> None:
    plan = planned(f"{ONE}size={size}\n{limit}\ntrials=1")
    limits = {plan.cells[trial.cell].adapter: trial.limits for trial in plan.trials}
    assert (limits["memcpy"].samples, limits["memcpy"].duration_s) == (samples, None)
    assert limits["shm"] == limits["cyclonedds"]
    asked = planned(f"[[sweep]]\nadapter='memcpy'\nsize={size}\n{limit}\ntrials=1").trials[0].limits
    assert asked.samples == (10_000 if limit == "samples=10000" else samples), "a requested number of samples is kept"


def test_baselines_are_shared_by_all_cells_of_the_same_experiment() -> None:
    text = (
        "[[sweep]]\nadapter=['cyclonedds','fastdds']\ntransport=['udp','shm']\nprocesses=2\ndepth=[1,5]\nsize=[64,'1k']"
    )
    text += "\nreliability=['reliable','best-effort']"
    plan = planned(text)
    baselines = baselines_of(plan)
    assert len(baselines) == 2 * 5, "two sizes"
    assert len({same_baseline(each) for each in baselines}) == len(baselines)
    assert len(plan.cells) - len(baselines) == 2 * 2 * 2 * 2 * 2


def test_the_command_line_overrides_the_suite_about_baselines() -> None:
    suite = suite_of(ONE + "baseline=false", baseline=True)
    assert [sweep.baseline for sweep in suite.sweeps] == [False]
    suite = suite_of(
        "[defaults]\nbaseline=false\n" + ONE + ONE.replace("cyclonedds", "fastdds") + "baseline=true", baseline=True
    )
    assert [sweep.baseline for sweep in suite.sweeps] == [False, True]
    (suite,) = load(["idle-to-flood"], raw_options(baseline=True))
    assert {sweep.baseline for sweep in suite.sweeps} == {True}


def test_without_baselines_only_the_requested_cells_are_planned() -> None:
    assert baselines_of(planned(ONE + "baseline=false")) == []
    asked = load([], raw_options(adapter="cyclonedds", transport="udp", baseline=False))
    assert [each.adapter for each in make_plan(asked, HERE, cpus=(0, 1), seed=1).cells] == ["cyclonedds"]
    wanted = load([], raw_options(adapter="cyclonedds", transport="udp", baseline=True))
    assert len(make_plan(wanted, HERE, cpus=(0, 1), seed=1).cells) == 6


@pytest.mark.parametrize("adapter", ["shm", "null", "memcpy"])
def test_a_baseline_gets_no_baselines(adapter: str) -> None:
    plan = planned(f"[[sweep]]\nadapter='{adapter}'")
    assert names(plan.cells) == [adapter]
    assert plan.baselines == ()


def test_a_baseline_in_the_suite_is_not_duplicated_but_gets_equal_trials() -> None:
    text = f"[[sweep]]\nadapter='shm'\ntrials=2\nname='mine'\n{ONE}trials=5"
    plan = planned(text)
    (shm,) = (index for index, cell in enumerate(plan.cells) if cell.adapter == "shm")
    assert shm not in plan.baselines
    assert plan.names[shm] == "lan: mine"
    assert sum(trial.cell == shm for trial in plan.trials) == 5
    assert set(names(baselines_of(plan))) == {"uds", "udp", "tcp", "memcpy"}


def test_a_baseline_in_two_sweeps_is_one_cell_with_the_larger_number_of_trials() -> None:
    plan = planned(f"{ONE}trials=2\n{ONE.replace('cyclonedds', 'fastdds')}trials=3")
    assert len(plan.baselines) == 5
    assert {sum(trial.cell == index for trial in plan.trials) for index in plan.baselines} == {3}
    assert {plan.names[index] for index in plan.baselines} == {"lan: baseline"}
    assert notes_of(plan) == []


def test_a_baseline_takes_the_levels_it_supports() -> None:
    listening = planned(ONE + "receive='listen'")
    assert {(each.adapter, each.receive) for each in baselines_of(listening)} == {
        *((name, "block") for name in SOCKETS_AND_SHM), ("memcpy", "poll"),
    }  # fmt: skip
    lending = planned("[[sweep]]\nadapter='cyclonedds'\ntransport='shm'\nprocesses=2\nloan=true")
    assert {each.adapter: each.loan for each in baselines_of(lending)} == {
        "shm": True, "uds": False, "udp": False, "tcp": False, "memcpy": False,
    }  # fmt: skip
    reliable = baselines_of(planned(ONE + "reliability='reliable'"))
    assert {each.adapter: each.reliability for each in reliable}["udp"] == "best-effort"
    streaming = baselines_of(planned(ONE + "pattern='stream'\ndepth=3"))
    assert {each.depth for each in streaming if each.adapter != "memcpy"} == {None}


def test_a_baseline_that_would_be_another_experiment_is_left_out() -> None:
    small = description("small", transport("small", max_bytes=1024, receive=("poll", "block")), is_raw_transport=True)
    deaf = description("deaf", transport("deaf", receive=("poll",)), is_raw_transport=True)
    apart = description("apart", transport("apart", processes=(2,), receive=("block",)), is_raw_transport=True)
    lender = description("lender", transport("lender", loan=(True,)), is_raw_transport=True)
    here = (small, deaf, apart, lender, CYCLONE)
    assert set(names(baselines_of(planned(ONE + "size=64", here)))) == {"small", "apart"}
    assert set(names(baselines_of(planned(ONE + "size='64k'", here)))) == {"apart"}
    assert set(names(baselines_of(planned(ONE + "size='64k'\nreceive='poll'", here)))) == {"deaf"}
    inside = "[[sweep]]\nadapter='cyclonedds'\ntransport='intraprocess'\nsize=64\n"
    assert set(names(baselines_of(planned(inside, here)))) == {"small"}


@pytest.mark.parametrize("rate", ["sustainable", "curve"])
def test_a_search_has_only_the_baseline_of_its_own_transport(rate: str) -> None:
    text = f"[[sweep]]\nadapter='cyclonedds'\npattern='stream'\nrate='{rate}'\nskip_unsupported=true\ntransport="
    assert names(baselines_of(planned(f"{text}'udp'"))) == ["udp"]
    assert names(baselines_of(planned(f"{text}'intraprocess'"))) == ["shm"]
    assert set(names(baselines_of(planned(f"{text}['udp','shm']")))) == {"udp", "shm"}


def test_only_removes_named_baselines_and_keeps_those_of_the_remaining_cells() -> None:
    text = ONE + "size=[64,'1k']\nreceive='listen'"
    assert baselines_of(planned(text, only=["adapter=cyclonedds"])) == []
    assert names(baselines_of(planned(text, only=["adapter=cyclonedds,uds"]))) == ["uds", "uds"]
    assert names(baselines_of(planned(text, only=["transport=udp"]))) == ["udp", "udp"]
    named = planned(text, only=["adapter=shm", "size=64"])
    assert [(each.adapter, each.size) for each in named.cells] == [("shm", 64)]
    followed = planned(text, only=["size=64", "receive=listen"])
    assert {(each.adapter, each.size) for each in baselines_of(followed)} == {
        (name, 64) for name in (*SOCKETS_AND_SHM, "memcpy")
    }
    (problem,) = problems_of(text, HERE, only=["adapter=fastdds"])
    assert "there are cyclonedds" in problem


def test_memcpy_that_is_named_is_measured_as_round_trips_of_one_process() -> None:
    text = "[[sweep]]\nadapter='memcpy'\nsize=[64,'1m']\nrate=['max',100]\npin='1,0'\nmlock=true"
    cells = planned(text).cells
    assert [(cell.size, cell.rate) for cell in cells] == [(64, "max"), (64, 100.0), (1 << 20, "max"), (1 << 20, 100.0)]
    assert {(cell.subscribers, cell.processes, cell.pin, cell.mlock) for cell in cells} == {(0, 1, (1,), True)}
    assert make_plan([suite_of("[[sweep]]\nadapter='memcpy'")], HERE, cpus=(0,), seed=1).cells, (
        "memcpy needs only one processor"
    )
    for pattern in ("pattern='stream'", "subscribers=2"):
        (problem,) = problems_of(f"[[sweep]]\nadapter='memcpy'\n{pattern}", HERE)
        assert "memcpy copies within one process" in problem
    assert "at most 64 MiB" in problems_of("[[sweep]]\nadapter='memcpy'\nsize='128m'", HERE)[0]


def test_all_does_not_include_memcpy() -> None:
    assert "memcpy" not in names(plan_of("[[sweep]]", HERE).cells)
    assert not [text for text in notes_of(plan_of("[[sweep]]\ntransport='udp'", HERE)) if "memcpy" in text]


def test_a_dry_run_shows_the_baselines_and_their_time() -> None:
    with_baseline, without = planned(ONE), planned(ONE + "baseline=false")
    text = render(with_baseline, 200, verbose=True)
    assert "lan: baseline: memcpy, 1 KiB, ping-pong, one at a time, poll, 1 process, nobody receives, filled" in text
    seconds = estimate_seconds(with_baseline) - estimate_seconds(without)
    note = f"measure raw transports as baselines, about {seconds:.0f} s; --no-baseline"
    assert f"5 of these configurations {note}" in text
    assert "raw transports" not in render(without, 200, verbose=True)


def test_many_cells_that_are_one_experiment_have_one_set_of_baselines() -> None:
    many = description("many", transport("udp"), native={"*": "anything"})
    text = "[[sweep]]\nadapter='many'\nsize=[" + ",".join(str(64 + each) for each in range(50)) + "]\ndepth=["
    text += ",".join(str(1 + each) for each in range(200)) + "]\ntrials=1"
    plan = planned(text, (*RAW_TRANSPORTS, MEMCPY, many))
    assert len(plan.cells) == 50 * 200 + 50 * 5


def test_an_old_stored_plan_has_no_baselines() -> None:
    plan = planned(ONE)
    old = msgspec.to_builtins(plan)
    del old["baselines"]
    assert msgspec.convert(old, Plan) == msgspec.structs.replace(plan, baselines=())


def test_the_cost_of_encryption_is_measured_with_encrypted_cells_only() -> None:
    safe = description("safe", transport("udp", processes=(2,), security=("none", "signed", "encrypted")))
    tls = msgspec.structs.replace(
        RAW_TRANSPORTS[-1], name="tls", transports=(transport("tls", security=("none", "encrypted")),)
    )
    text = "[[sweep]]\nadapter='safe'\nsecurity=['none', 'signed', 'encrypted']\nsize=64"
    plan = planned(text, (MEMCPY, AES, tls, safe))
    found = [(each.adapter, each.security) for each in baselines_of(plan)]
    assert sorted(found) == [*[("aes-gcm", "encrypted"), ("memcpy", "none"), ("tls", "encrypted"), ("tls", "none")]]
