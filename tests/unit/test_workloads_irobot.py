"""Topologies of iRobot's ros2-performance become workloads."""

import json

import pytest

from middlemark.problems import RequestError
from middlemark.workloads.irobot import HEADER_BYTES, read

TOPOLOGY = {
    "nodes": [
        {
            "node_name": "lima",
            "publishers": [
                {
                    "topic_name": "nile",
                    "msg_type": "stamped9_float32",
                    "period_ms": 10,
                    "qos_reliability": "best_effort",
                },
                {
                    "topic_name": "amazon",
                    "msg_type": "stamped250kb",
                    "freq_hz": 5,
                    "qos_depth": 3,
                    "qos_durability": "transient_local",
                },
                {"topic_name": "lonely", "msg_type": "stamped_int64", "period_ms": 10},
            ],
            "clients": [{"service_name": "add", "srv_type": "stamped10b", "period_ms": 500}],
        },
        {
            "node_name": "oslo",
            "publishers": [{"topic_name": "nile", "msg_type": "stamped_vector", "msg_size": 100, "period_ms": 200}],
            "subscribers": [{"topic_name": "nile", "msg_type": "x"}, {"topic_name": "amazon", "msg_type": "x"}],
            "servers": [{"service_name": "add", "srv_type": "stamped10b"}],
        },
        {"node_name": "rome", "subscribers": [{"topic_name": "nile", "msg_type": "x"}]},
    ]
}


def test_topics_have_their_sizes_rates_and_qos() -> None:
    found = read(json.dumps(TOPOLOGY), "robot", "robot.json")
    topics = {each.name: each for each in found.workload.topics}
    assert {name: (each.source, each.to, each.size, each.rate_hz) for name, each in topics.items()} == {
        "nile": ("lima", ("oslo", "rome"), HEADER_BYTES + 36, 100.0),
        "amazon": ("lima", ("oslo",), HEADER_BYTES + 250 * 1024, 5.0),
        "nile/oslo": ("oslo", ("rome",), HEADER_BYTES + 100, 5.0),
        "add/lima/request": ("lima", ("oslo",), HEADER_BYTES + 10, 2.0),
        "add/lima/reply": ("oslo", ("lima",), HEADER_BYTES + 10, None),
    }
    assert (topics["nile"].reliability, topics["amazon"].depth) == ("best-effort", 3)
    assert (topics["nile"].durability, topics["amazon"].durability) == ("volatile", "transient-local")
    assert (topics["nile"].deadline_s, topics["amazon"].deadline_s) == (0.01, 0.05)
    assert any("no other node subscribes" in each for each in found.remarks)


@pytest.mark.parametrize("level", [[], {}, "sometimes", 5])
@pytest.mark.parametrize("policy", ["qos_history", "qos_reliability", "qos_durability"])
def test_an_unknown_level_of_a_qos_policy_is_left_out_by_name(policy: str, level: object) -> None:
    nodes = [
        {
            "node_name": "lima",
            "publishers": [{"topic_name": "nile", "msg_type": "stamped10b", "period_ms": 10, policy: level}],
        },
        {"node_name": "oslo", "subscribers": [{"topic_name": "nile"}]},
    ]
    found = read(json.dumps({"nodes": nodes}), "robot", "robot.json")
    assert found.remarks == (f"lima: nile: left out, because no factor has them: {policy} {level}",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "not JSON"),
        ("[]", "a list 'nodes' of objects is missing"),
        ('{"nodes": [{"publishers": 5}]}', "publishers is not a list"),
        (
            '{"nodes": [{"node_name": "a", "publishers": [{"topic_name": "t", "msg_type": "image"}]}]}',
            "'image' is unknown",
        ),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_malformed_topology_is_refused_with_the_place(text: str, expected: str) -> None:
    with pytest.raises(RequestError) as refused:
        read(text, "robot", "robot.json")
    problems = [str(each) for each in refused.value.problems]
    assert any(expected in each for each in problems), problems
    assert all(each.startswith("robot.json") for each in problems)
