"""The middleware's own settings: which adapter accepts which key, from a suite and from the command line."""

from typing import Any

import pytest
from descriptions import CYCLONE, FAST, TCP, UDP, description, transport
from planning import plan_of, problems_of, suite_of

from middlemark.model.plan import Plan
from middlemark.plan import make_plan
from middlemark.plan.native import accepts
from middlemark.problems import RequestError
from middlemark.suite import load, raw_options

OPEN = description("open", transport("udp"), native={"Domain/*": "any element below", "depth": "a number"})
ANY = description("any", transport("udp"), native={"*": "whatever it knows", "level": "a number"})
DOTTED = description("fast.dds", transport("udp"), native={"size": "bytes"})
SOCKETS = (UDP, TCP)
WITH_BUFFERS = tuple(
    description(each.name, *each.transports, is_raw_transport=True, native={"buffer": "bytes"}) for each in SOCKETS
)
HERE = (CYCLONE, FAST, OPEN, ANY, DOTTED, *WITH_BUFFERS)


def typed(*native: str, adapter: str = "fastdds,cyclonedds", **more: Any) -> Plan:
    options = raw_options(
        adapter=adapter, transport="udp", skip_unsupported=True, baseline=False, native=native, **more
    )
    return make_plan(load([], options), HERE, cpus=(0, 1), seed=0, absent={"zenoh": "cargo builds it"})


def refusals(*native: str, adapter: str = "fastdds,cyclonedds") -> list[str]:
    with pytest.raises(RequestError) as refused:
        typed(*native, adapter=adapter)
    return [str(problem) for problem in refused.value.problems]


def natives_of(plan: Plan) -> dict[str, dict[str, str]]:
    return {cell.adapter: dict(cell.native) for cell in plan.cells}


@pytest.mark.parametrize(
    ("key", "taken"),
    [("depth", True), ("Domain/x", True), ("Domain/a/b", True), ("Domain/", True), ("Domain", False), ("dept", False)],
)
def test_a_key_that_ends_in_a_star_matches_a_prefix(key: str, taken: bool) -> None:
    assert accepts(OPEN, key) == taken
    assert accepts(ANY, key)


def test_a_suites_keys_are_also_checked_against_stars() -> None:
    text = "[[sweep]]\nadapter='open'\n[sweep.native.open]\n'Domain/Tracing' = 'fine'\n"
    assert plan_of(text, [OPEN]).cells[0].native == (("Domain/Tracing", "fine"),)
    (problem,) = problems_of(text + "Domian = 'x'", [OPEN])
    assert problem.startswith("sweep 1: native: open: Domian: open has no native setting 'Domian'")


def test_a_bare_key_applies_to_every_adapter_that_has_it() -> None:
    plan = typed("buffer=4096", adapter="fastdds,udp,tcp")
    assert natives_of(plan) == {"fastdds": {}, "udp": {"buffer": "4096"}}
    plan = typed("segment-size=8m", "max-message-size=1k")
    assert natives_of(plan) == {"fastdds": {"segment-size": "8m"}, "cyclonedds": {"max-message-size": "1k"}}


def test_an_adapter_that_accepts_any_key_gets_only_keys_that_no_other_adapter_has() -> None:
    plan = typed("segment-size=8m", "level=3", "unheard=1", adapter="fastdds,any")
    assert natives_of(plan) == {"fastdds": {"segment-size": "8m"}, "any": {"level": "3", "unheard": "1"}}


def test_a_key_with_an_adapter_applies_only_there_and_before_a_bare_key() -> None:
    assert natives_of(typed("fastdds.segment-size=1", "segment-size=2"))["fastdds"] == {"segment-size": "1"}
    assert natives_of(typed("any.segment-size=1", adapter="fastdds,any")) == {
        "fastdds": {},
        "any": {"segment-size": "1"},
    }
    assert natives_of(typed("fast.dds.size=5", adapter="fast.dds,fastdds"))["fast.dds"] == {"size": "5"}


@pytest.mark.parametrize("value", ["a=b", "<Tracing><File>a b</File></Tracing>", "", " 1ms ", "{}"])
def test_a_value_is_everything_after_the_first_equals_sign(value: str) -> None:
    assert natives_of(typed(f"segment-size={value}"))["fastdds"] == {"segment-size": value}


def test_the_command_line_overrides_the_suite(tmp_path: Any) -> None:
    path = tmp_path / "lan.toml"
    path.write_text(
        "[defaults]\nadapter='open'\n[defaults.native.open]\ndepth='1'\n'Domain/x'='2'\n[[sweep]]\n[[sweep]]\nsize=64"
    )
    plan = make_plan(load([str(path)], raw_options(native=("depth=9",), baseline=False)), HERE, cpus=(0, 1), seed=0)
    assert [cell.native for cell in plan.cells] == [(("Domain/x", "2"), ("depth", "9"))] * 2


def test_a_key_needs_only_one_sweep_that_accepts_it(tmp_path: Any) -> None:
    path = tmp_path / "lan.toml"
    path.write_text("[[sweep]]\nadapter='fastdds'\ntransport='udp'\n[[sweep]]\nadapter='udp'")
    plan = make_plan(
        load([str(path)], raw_options(native=("segment-size=9",), baseline=False)), HERE, cpus=(0, 1), seed=0
    )
    assert [cell.native for cell in plan.cells] == [(("segment-size", "9"),), ()]


def test_an_unknown_key_is_refused_with_the_closest_key() -> None:
    wrong = ("segment-sise=1", "fastdds.segment-sise=1", "fastdd.segment-size=1", "x=1", "zenoh.y=1", "open.depth=1")
    assert [problem.split("=1: ")[1] for problem in refusals(*wrong)] == [
        "no adapter that is measured has a native setting 'segment-sise'; did you mean 'segment-size' of fastdds?",
        "fastdds has no native setting 'segment-sise'; did you mean 'segment-size'?",
        "no adapter is called 'fastdd'; did you mean 'fastdds.segment-size'?",
        "no adapter that is measured has a native setting 'x'; there are max-message-size and segment-size",
        "zenoh is not measured; there are cyclonedds and fastdds",
        "open is not measured; there are cyclonedds and fastdds",
    ]


def test_a_malformed_setting_is_refused_with_the_typed_text() -> None:
    assert refusals("segment-size", "=1", "segment-size=1", "segment-size=2") == [
        "--native segment-size: '=' is missing; write --native KEY=VALUE or ADAPTER.KEY=VALUE",
        "--native =1: the key before '=' is missing; write --native KEY=VALUE or ADAPTER.KEY=VALUE",
        "--native segment-size=2: 'segment-size' is given twice; remove one of them",
    ]


def test_an_adapter_that_is_not_built_is_reported_once() -> None:
    suites = load([], raw_options(adapter="zenoh,fastdds", native=("zenoh.y=1",)))
    with pytest.raises(RequestError) as refused:
        make_plan(suites, HERE, cpus=(0, 1), seed=0, absent={"zenoh": "cargo builds it"})
    assert [problem.text for problem in refused.value.problems] == ["zenoh is not built here: cargo builds it"]


def test_native_settings_make_a_separate_cell() -> None:
    one = suite_of("[[sweep]]\nadapter='open'\n[sweep.native.open]\ndepth='1'\n[[sweep]]\nadapter='open'")
    assert len(make_plan([one], HERE, cpus=(0, 1), seed=0).cells) == 2
