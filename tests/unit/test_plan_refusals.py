"""A plan that cannot be measured is refused before anything runs. The message has the place and the next step."""

import pytest
from descriptions import EVERYONE, NULL, RAW_TRANSPORTS, UDP, description, transport
from planning import pairs_of, plan_of, problems_of, suite_of, texts_of

from middlemark.plan import make_plan
from middlemark.problems import RequestError
from middlemark.suite import load, raw_options


def test_a_named_adapter_that_supports_a_level_nowhere_is_refused() -> None:
    assert problems_of("[[sweep]]\nadapter=['fastdds','udp','cyclonedds']\nloan=true\nsize='65m'") == [
        f"sweep 1: size: no transport of {name} can honour size 65 MiB: {why}"
        for name, why in (
            ("fastdds", "fastdds shm, fastdds intraprocess, fastdds data-sharing and fastdds udp: "
             "at most 64 MiB in a message; fastdds tcp: at most 4 MiB in a message; raise the send buffer"),
            ("cyclonedds", "cyclonedds udp, cyclonedds shm and cyclonedds intraprocess: at most 64 MiB in a message"),
        )
    ]  # fmt: skip


def test_a_level_that_no_adapter_supports_is_refused() -> None:
    (problem,) = problems_of("[[sweep]]\nreceive=['block','listen']", RAW_TRANSPORTS)
    assert problem.startswith(
        "sweep 1: receive: no adapter here can honour receive listen: shm, uds, udp and tcp: poll and block only"
    )


def test_levels_that_exclude_each_other_on_every_transport_are_refused() -> None:
    odd = description("odd", transport("a", loan=(True,), receive=("block",)), transport("b", receive=("listen",)))
    (problem,) = problems_of("[[sweep]]\nadapter='odd'\nloan=true\nreceive='listen'", [odd])
    assert problem.startswith("sweep 1: no transport of odd supports all of this at once")


def test_named_pairs_are_refused_if_a_pair_is_impossible() -> None:
    assert pairs_of(plan_of("[[sweep]]\nadapter=['cyclonedds','fastdds']\ntransport=['udp','shm']")) == [
        "cyclonedds udp", "cyclonedds shm", "fastdds udp", "fastdds shm",
    ]  # fmt: skip
    text = "[[sweep]]\nadapter=['cyclonedds','fastdds']\ntransport=['udp','data-sharing']\n"
    assert problems_of(text) == [
        "sweep 1: transport: cyclonedds has no transport 'data-sharing'; it has udp, shm and intraprocess, "
        "or leave such targets out with skip_unsupported"
    ]
    plan = plan_of(text + "skip_unsupported=true")
    assert pairs_of(plan) == ["cyclonedds udp", "fastdds udp", "fastdds data-sharing"]
    assert texts_of(plan) == ["sweep 1: transport: cyclonedds left out: no transport 'data-sharing'"]


def test_named_pairs_are_refused_for_each_unsupported_level() -> None:
    assert problems_of(
        "[[sweep]]\nadapter=['cyclonedds','fastdds']\ntransport='shm'\nloan=true\ndepth=['all',17]\n[[sweep]]\n"
        "adapter='fastdds'\ntransport='tcp'\nsize=['4m','5m']\nprocesses=1\n"
        "[[sweep]]\nadapter='fastdds'\ntransport='intraprocess'\nprocesses=[1,2]"
    ) == [
        "sweep 1: depth: cyclonedds shm: no keep-all history; give a depth of at most 16",
        "sweep 1: depth: cyclonedds shm: at most 16 messages of history",
        "sweep 1: loan: fastdds shm: no memory to lend",
        "sweep 2: size: fastdds tcp: 5 MiB asked, at most 4 MiB in a message; raise the send buffer",
        "sweep 3: processes: fastdds intraprocess: within one process only",
    ]


def test_a_named_transport_with_all_adapters_is_measured_where_it_exists() -> None:
    plan = plan_of("[[sweep]]\ntransport='udp'")
    assert pairs_of(plan) == ["udp udp", "cyclonedds udp", "fastdds udp"]
    assert "sweep 1: transport: shm, uds and tcp left out: no transport 'udp'" in texts_of(plan)
    assert problems_of("[[sweep]]\ntransport='data-sharign'") == [
        "sweep 1: transport: no adapter here has a transport 'data-sharign'; did you mean 'data-sharing'?"
    ]


def test_unknown_adapters_and_adapters_that_are_not_built_are_refused_differently() -> None:
    assert problems_of("[[sweep]]\nadapter=['fast-dds','zenoh','mqtt']\nskip_unsupported=false") == [
        "sweep 1: adapter: no adapter is called 'fast-dds'; did you mean 'fastdds'?",
        "sweep 1: adapter: zenoh is not built here: cargo builds it",
        "sweep 1: adapter: no adapter is called 'mqtt'; "
        "there are null, shm, uds, udp, tcp, cyclonedds, fastdds and zenoh",
    ]
    plan = plan_of("[[sweep]]\nadapter=['udp','zenoh']\nskip_unsupported=true")
    assert pairs_of(plan) == ["udp udp"]
    assert texts_of(plan) == ["sweep 1: adapter: zenoh is not built here: cargo builds it"]


def test_a_version_that_is_not_built_is_refused_or_left_out() -> None:
    text = "[[sweep]]\nadapter=['udp','fastdds@9']\nskip_unsupported="
    (problem,) = problems_of(text + "false")
    assert problem.startswith("sweep 1: adapter: there is no build fastdds@9 here; there ")
    plan = plan_of(text + "true")
    assert pairs_of(plan) == ["udp udp"]
    assert texts_of(plan) == [problem]


def test_a_plan_without_built_adapters_is_refused() -> None:
    assert problems_of("[[sweep]]", [NULL]) == [
        "sweep 1: no adapter is built here; `middlemark list adapters` says why"
    ]


def test_a_plan_with_everything_left_out_is_refused() -> None:
    (problem,) = problems_of("[[sweep]]\nadapter='zenoh'\nskip_unsupported=true")
    assert problem == "nothing is left to measure: zenoh is not built here: cargo builds it"


def test_missing_processors_are_refused() -> None:
    assert problems_of("[[sweep]]\nadapter='udp'\npin=['0,7','8,9']", cpus=(0, 1)) == [
        "sweep 1: pin: processor 7 is not one this process may use (0 and 1)",
        "sweep 1: pin: processors 8 and 9 are not ones this process may use (0 and 1)",
    ]


def test_more_pollers_than_processors_are_refused() -> None:
    spin = "[[sweep]]\nadapter='shm'\nreceive=['block','poll']\n"
    where = "sweep 1: receive: poll with "
    assert problems_of(spin, cpus=(0,)) == [
        where + "1 subscriber has 2 roles spinning, but there is 1 processor; block or listen instead"
    ]
    assert problems_of(spin + "subscribers=[1,2]") == [
        where + "2 subscribers has 3 roles spinning, but there are 2 processors; block or listen instead"
    ]
    for pin in ("'0'", "'1,1'"):
        (problem,) = problems_of(spin + f"pin={pin}")
        assert "names 1 processor; name 2 of the processors in pin (0 and 1)" in problem
    assert problems_of(spin + "pin='off'", cpus=(3,)) != []
    assert len(plan_of(spin).cells) == 2
    assert len(plan_of(spin + "subscribers=2", cpus=(0, 1, 2)).cells) == 2
    plan = plan_of(spin + "skip_unsupported=true", cpus=(0,))
    assert [cell.receive for cell in plan.cells] == ["block"]
    assert any("left out: poll with" in text for text in texts_of(plan))


def test_native_settings_are_checked_by_name() -> None:
    text = (
        "[[sweep]]\nadapter='fastdds'\n[sweep.native.fastdds]\nsegment-sise='1'\n[sweep.native.fastdd]\nx='1'\n"
        "[sweep.native.udp]\nx='1'\n[sweep.native.zenoh]\ny='1'"
    )
    assert problems_of(text) == [
        "sweep 1: native: fastdds: segment-sise: fastdds has no native setting 'segment-sise'; "
        "did you mean 'segment-size'?",
        "sweep 1: native: fastdd: no adapter is called 'fastdd'; did you mean 'fastdds'?",
        "sweep 1: native: udp: x: udp has no native setting 'x'; the adapter has no native settings",
    ]


def test_cells_that_only_leaves_out_are_not_refused() -> None:
    text = (
        "[[sweep]]\nadapter=['zenoh','cyclonedds']\nloan=[false,true]\nsize=[16,'65m']\n"
        "[[sweep]]\nadapter='udp'\nreceive=['block','poll','listen']"
    )
    plan = plan_of(text, only=["adapter=udp", "receive=block"])
    assert [(cell.adapter, cell.receive) for cell in plan.cells] == [("udp", "block")]
    plan = plan_of(text, only=["adapter=cyclonedds", "size=16", "transport=udp"])
    assert [(cell.transport, cell.loan) for cell in plan.cells] == [("udp", False)]


def test_only_without_a_match_is_refused_with_the_available_levels() -> None:
    text = "[[sweep]]\nadapter=['udp','tcp']\nsize=[16,'1k']\npin='off'"
    assert problems_of(text, only=["adapter=tpc", "size=2k,1k", "pin=0,1", "recieve=poll"]) == [
        "--only recieve=poll: 'recieve' is not a factor; did you mean 'receive'?",
        "--only adapter=tpc: no configuration has adapter tpc; there are udp and tcp",
        "--only size=2k,1k: no configuration has size 2 KiB; there are 16 B and 1 KiB",
        "--only pin=0,1: no configuration has pin 0,1; there are off",
    ]
    (problem,) = problems_of(text + "\n[[sweep]]\nadapter='uds'\nsize=64", only=["adapter=uds", "size=16"])
    assert "nothing is left to measure" in problem


def test_only_avoids_refusals_of_the_levels_it_removes() -> None:
    text = "[[sweep]]\nadapter=['cyclonedds','fastdds']\ntransport=['shm','udp']\nloan=[false,true]\ndepth=17"
    assert len(problems_of(text)) == 4
    plan = plan_of(text, only=["adapter=fastdds", "loan=false"])
    assert [(cell.adapter, cell.transport) for cell in plan.cells] == [("fastdds", "shm"), ("fastdds", "udp")]


def test_the_deepest_history_and_the_largest_message_are_accepted() -> None:
    plan = plan_of("[[sweep]]\nadapter='cyclonedds'\ntransport='shm'\ndepth=16\nsize='64m'")
    assert [(cell.depth, cell.size) for cell in plan.cells] == [(16, 64 << 20)]


def test_only_selects_processors_that_were_chosen_by_auto() -> None:
    plan = plan_of("[[sweep]]\nadapter='cyclonedds'\npin=['off', 'auto']", only=["pin=auto", "adapter=cyclonedds"])
    assert {cell.pin for cell in plan.cells} == {(0, 1)}


def test_all_problems_of_all_suites_are_reported_at_once() -> None:
    suites = [
        suite_of("[[sweep]]\nadapter='x1'", "one"),
        suite_of("[[sweep]]\nadapter='tcp'\n[[sweep]]\nreceive='listen'\nadapter='tcp'", "two"),
    ]
    with pytest.raises(RequestError) as refused:
        make_plan(suites, EVERYONE, cpus=(0, 1), seed=0)
    assert [problem.place for problem in refused.value.problems] == [
        "one.toml: sweep 1: adapter",
        "two.toml: sweep 2: receive",
    ]


def test_a_far_too_large_plan_is_refused_before_it_is_made() -> None:
    sizes = ",".join(map(str, range(16, 9016)))
    (problem,) = problems_of(
        f"[[sweep]]\nadapter=['udp','tcp']\nsize=[{sizes}]\npriority=['fifo:1','fifo:2','fifo:3','fifo:4','fifo:5','fifo:6']"
    )
    assert "the levels make 108000 configurations; at most 100000" in problem
    (problem,) = problems_of(f"[[sweep]]\nadapter='udp'\nsize=[{sizes}]\ntrials=1000")
    assert "9000 configurations make 9000000 trials" in problem


def test_a_refusal_names_the_option_as_its_place() -> None:
    with pytest.raises(RequestError) as refused:
        make_plan(
            load([], raw_options(adapter="udp", transport="udp", receive="listen,poll", subscribers="5")),
            [UDP],
            cpus=(0, 1),
            seed=0,
        )
    assert [problem.place for problem in refused.value.problems] == ["--receive", "--receive"]
