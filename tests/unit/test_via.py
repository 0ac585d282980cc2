"""Tests of the factor via: routers, discovery servers, and middlewares that always have a broker."""

import pytest
from descriptions import RAW_TRANSPORTS, description, transport
from planning import plan_of, problems_of, suite_of, texts_of

from middlemark.commands.list import _limits
from middlemark.model.cell import EXPERIMENT, Cell
from middlemark.model.pairs import together
from middlemark.plan import make_plan
from middlemark.trial.worker_request import settings_of

ROUTED = description("routed", transport("tcp", via=("direct", "router")), transport("shm", via_why="one host"))
BROKERED = description("brokered", transport("tcp", via=("router",), via_why="every message passes through its broker"))
PLAIN = description("plain", transport("udp"))
ALL = (ROUTED, BROKERED, PLAIN)


def test_both_ways_are_candidates_of_one_experiment() -> None:
    plan = plan_of("[[sweep]]\nadapter='routed'\ntransport='tcp'\nvia=['direct','router']", ALL)
    assert [cell.via for cell in plan.cells] == ["direct", "router"]
    assert "via" not in EXPERIMENT


def test_a_trial_is_direct_unless_asked_for_otherwise() -> None:
    [cell] = plan_of("[[sweep]]\nadapter='routed'\ntransport='tcp'", ALL).cells
    assert cell.via == "direct"
    assert settings_of(cell, domain=1, scope="s", scratch="/", interface="lo").via == "direct"


def test_a_row_of_a_middleware_with_a_broker_is_via_router_and_says_why() -> None:
    plan = plan_of("[[sweep]]\nadapter='brokered'", ALL)
    assert [cell.via for cell in plan.cells] == ["router"]
    assert any("router only: every message passes through its broker" in text for text in texts_of(plan))


def test_a_way_that_a_transport_does_not_have_is_refused_with_its_reason() -> None:
    refused = {
        "adapter='brokered'\nvia='direct'": "router only: every message passes through its broker",
        "adapter='routed'\ntransport='shm'\nvia='router'": "direct only: one host",
        "adapter='routed'\ntransport='tcp'\nvia='discovery-server'": "direct and router only",
        "adapter='plain'\nvia='router'": "it has no router and no discovery server that the bench can start",
    }
    for text, says in refused.items():
        assert says in "\n".join(problems_of(f"[[sweep]]\n{text}", ALL))


def test_only_the_levels_with_a_process_between_the_peers_need_companions() -> None:
    tcp = ROUTED.transports[0]
    assert [tcp.has_companions(via) for via in ("direct", "router", "discovery-server")] == [False, True, True]
    assert transport("tcp", companions=True).has_companions("direct")


@pytest.mark.parametrize("text", ["adapter='brokered'", "adapter='routed'\ntransport='tcp'\nvia=['direct','router']"])
def test_the_baselines_of_a_routed_cell_pass_through_no_router_and_exist_once(text: str) -> None:
    suite = suite_of(f"[[sweep]]\n{text}", baseline=True)
    plan = make_plan([suite], (*RAW_TRANSPORTS, *ALL), cpus=(0, 1), seed=1)
    baselines = [plan.cells[index] for index in plan.baselines]
    assert baselines
    assert {cell.via for cell in baselines} == {"direct"}
    assert len({cell.transport for cell in baselines}) == len(baselines)


def test_list_adapters_names_the_levels() -> None:
    assert "via direct/router" in _limits(ROUTED.transports[0])
    assert "via router" in _limits(BROKERED.transports[0])
    assert "via" not in _limits(PLAIN.transports[0])


def test_a_pair_has_the_ways_that_both_sides_have() -> None:
    one = description("one", transport("udp", wire="rtps", via=("direct", "discovery-server")))
    other = description("other", transport("udp", wire="rtps"))
    [shared] = together(one, other).transports
    assert shared.via == ("direct",)
    assert shared.via_why == "only one of the two has it"


def test_stored_cells_without_the_factor_are_direct() -> None:
    assert Cell(adapter="routed", transport="tcp", size=64).via == "direct"
