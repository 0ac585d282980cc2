"""Typed messages: which transport supports which types and sizes, and the rows that a plan adds."""

import pytest
from descriptions import UDP, description, transport
from planning import plan_of, problems_of, suite_of, texts_of

from middlemark.model.cell import graph_of
from middlemark.model.types import misfit
from middlemark.plan import make_plan
from middlemark.trial.worker_request import settings_of

ALL = ("octets", "image", "point-cloud", "imu", "tf")
TYPED = description("typed", transport("udp", types=ALL))
PLAIN = description("plain", transport("udp"))


def cells_of(text: str, *adapters: object) -> list[tuple[str, str, int]]:
    plan = plan_of(text, adapters or (TYPED, PLAIN))  # type: ignore[arg-type]
    return [(each.adapter, each.type, each.size) for each in plan.cells]


def test_a_type_is_a_factor_whose_default_is_octets() -> None:
    assert cells_of("[[sweep]]\nadapter='typed'") == [("typed", "octets", 1024)]
    assert cells_of("[[sweep]]\nadapter='typed'\ntype=['image','octets']\nsize='64k'") == [
        ("typed", "image", 65536), ("typed", "octets", 65536),
    ]  # fmt: skip


def test_a_type_that_the_transport_does_not_carry_is_refused() -> None:
    assert problems_of("[[sweep]]\nadapter='plain'\ntype='image'", (TYPED, PLAIN)) == [
        "sweep 1: type: no transport of plain can honour type image: plain udp: it supports octets, not image"
    ]
    assert cells_of("[[sweep]]\ntype='image'") == [("typed", "image", 1024)]


@pytest.mark.parametrize(
    ("type_name", "size", "right"), [("imu", 1024, 296), ("tf", 1024, 1008), ("tf", 16, 56), ("point-cloud", 1000, 992)]
)
def test_a_size_that_a_type_lacks_is_refused_with_a_valid_size(type_name: str, size: int, right: int) -> None:
    (problem,) = problems_of(f"[[sweep]]\nadapter='typed'\ntype='{type_name}'\nsize={size}", (TYPED, PLAIN))
    assert problem.startswith("sweep 1: type: type " + type_name)
    assert problem.endswith(f"take size {right}")
    assert misfit(type_name, right) is None


def test_a_size_that_only_some_types_have_is_left_out_for_the_others() -> None:
    text = "[[sweep]]\nadapter='typed'\ntype=['octets','imu']\nsize=[296,'1k']"
    assert sorted(cells_of(text)) == [("typed", "imu", 296), ("typed", "octets", 296), ("typed", "octets", 1024)]
    assert any("type imu of size 1 KiB left out" in each for each in texts_of(plan_of(text, (TYPED, PLAIN))))


def test_the_baseline_of_a_typed_cell_carries_octets_of_its_size() -> None:
    text = "[[sweep]]\nadapter='typed'\ntype=['image','octets']\nsize='64k'"
    plan = make_plan([suite_of(text, baseline=True)], (TYPED, UDP), cpus=(0, 1), seed=1)
    assert [(each.type, each.size) for each in plan.cells if each.adapter == "udp"] == [("octets", 65536)]


GRAPH = """
[defaults]
adapter = ["typed", "plain"]
[[workload.topic]]
name = "a"
from = "x"
to = ["y"]
size = "64k"
type = "image"
rate = 10
[[workload.topic]]
name = "b"
from = "x"
to = ["y"]
size = 320
type = "imu"
rate = 10
"""


def test_topics_of_a_workload_are_typed_if_the_transport_and_their_size_allow() -> None:
    plan = plan_of(GRAPH, (TYPED, PLAIN))
    carried = {}
    for cell in plan.cells:
        [own] = (TYPED if cell.adapter == "typed" else PLAIN).transports
        graph = graph_of(cell, own)
        settings = settings_of(cell, domain=0, scope="s", scratch="/", interface="lo", graph=graph)
        carried[cell.adapter] = [each.type for each in settings.topics]
        assert settings.type == "octets"
    assert carried == {"typed": ["image", "octets"], "plain": ["octets", "octets"]}
    notes = texts_of(plan)
    assert any("typed udp: messages of type imu are sent as octets" in each for each in notes)
    assert any("plain udp: messages of type image and imu are sent as octets" in each for each in notes)


def test_workers_receive_the_type_of_a_single_topic() -> None:
    [cell] = plan_of("[[sweep]]\nadapter='typed'\npattern='stream'\ntype='image'", (TYPED, PLAIN)).cells
    settings = settings_of(cell, domain=0, scope="s", scratch="/", interface="lo")
    assert settings.type == "image"
    assert [each.type for each in settings.topics] == ["image"]
