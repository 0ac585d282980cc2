"""The workload of a suite: how it is read, and all its problems at once with their lines."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.model.workload import Process, Topic, Workload
from middlemark.suite.workload import MOST_ENDS, read_workload
from middlemark.workloads.written import toml

ROBOT = """
[[workload.topic]]
name = "camera/image"
from = "camera"
to = ["detector", "recorder"]
size = "900k"
type = "image"
rate = 30
deadline = "33ms"
reliability = "best-effort"
depth = 5

[[workload.topic]]
name = "detections"
from = "detector"
to = "planner"
size = "2k"
after = "camera/image"
work = "3ms"

[[workload.service]]
name = "plan"
client = "planner"
server = "map"
request = 8
reply = "64k"
rate = 1

[workload.process]
perception = ["camera", "detector"]
"""


def problems_of(text: str) -> list[str]:
    _, problems = read_workload(tomllib.loads(text)["workload"], "robot", "robot.toml", text)
    return [str(each) for each in problems]


def test_topics_services_and_processes_are_read() -> None:
    found, problems = read_workload(tomllib.loads(ROBOT)["workload"], "robot", "robot.toml", ROBOT)
    assert not problems
    assert found == Workload(
        name="robot",
        topics=(
            Topic(
                name="camera/image", source="camera", to=("detector", "recorder"), size=900 << 10, type="image",
                rate_hz=30.0, deadline_s=0.033, reliability="best-effort", depth=5,
            ),
            Topic(name="detections", source="detector", to=("planner",), size=2048, after="camera/image", work_s=0.003),
            Topic(name="plan/request", source="planner", to=("map",), size=16, rate_hz=1.0),
            Topic(name="plan/reply", source="map", to=("planner",), size=64 << 10, after="plan/request", service=True),
        ),
        shared=(Process("perception", ("camera", "detector")),),
    )  # fmt: skip
    assert found.nodes == ("camera", "detector", "recorder", "planner", "map")
    assert [each.name for each in found.processes] == ["perception", "planner", "recorder", "map"]
    assert found.chains == ((0, 1), (2, 3))
    assert found.rates_hz == (30.0, 30.0, 1.0, 1.0)


def test_a_scale_multiplies_rates_and_copies_the_graph() -> None:
    found, _ = read_workload(tomllib.loads(ROBOT)["workload"], "robot", "robot.toml")
    assert found is not None
    fleet = found.under(2.0, 3)
    assert len(fleet.topics) == 12
    assert fleet.rates_hz[::4] == (60.0, 60.0, 60.0)
    assert fleet.topics[5] == Topic(
        name="2/detections", source="2/detector", to=("2/planner",), size=2048, after="2/camera/image", work_s=0.003
    )
    assert len(fleet.processes) == 3 * len(found.processes)


SITES = """
[workload.site]
base = ["planner", "map"]
robot = ["camera", "detector", "recorder"]
"""


def test_every_node_can_be_placed_on_one_of_two_sites() -> None:
    found, problems = read_workload(tomllib.loads(ROBOT + SITES)["workload"], "robot", "robot.toml")
    assert not problems
    assert found is not None
    assert found.on("base") == ("planner", "map")
    assert found.under(1.0, 2).on("base") == ("planner", "map", "2/planner", "2/map")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"planner", "map"', '"planner"', "robot.toml: workload.site: map not on any site; put every node on one"),
        ('"planner", "map"', '"planner", "map", "camera"', "workload.site: robot: 'camera' is already in site base"),
        ('"planner", "map"', '"planner", "nobody", "map"', "workload.site: base: no topic has a node 'nobody'"),
        ("base =", '"far-away" =', "workload.site: far-away: is not a valid name of a site"),
        (
            'base = ["planner", "map"]\nrobot = ["camera", ',
            'base = ["planner", "map", "camera"]\nrobot = [',
            "workload.site: process perception would be on base and robot",
        ),
    ],
)
def test_a_problem_of_sites_is_reported(old: str, new: str, problem: str) -> None:
    assert old in SITES
    assert any(problem in each for each in problems_of(ROBOT + SITES.replace(old, new))), problems_of(
        ROBOT + SITES.replace(old, new)
    )


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"900k"', '"9zk"', "line 6: workload.topic 1: size: '9zk': 'zk' is not a unit of size"),
        ("rate = 30", "rate = 0", "line 8: workload.topic 1: rate: 0 is not a rate"),
        ("rate = 30", 'rate = "max"', "line 8: workload.topic 1: rate: 'max' is not a rate of a topic"),
        ("rate = 30\n", "", "line 2: workload.topic 1: has neither rate nor after"),
        ('"33ms"', '"33ns"', "line 9: workload.topic 1: deadline: '33ns' is too short"),
        ('after = "camera/image"', 'after = "camera/imag"', "line 18: workload.topic 2: after: no topic 'camera/imag'"),
        ('from = "detector"', 'from = "map"', "line 18: workload.topic 2: after: 'map' does not subscribe to"),
        ('to = "planner"', 'to = "detector"', "line 16: workload.topic 2: to: 'detector' subscribes to its own"),
        ('"detections"', '"camera/image"', "another topic has the name 'camera/image', of type image"),
        ('work = "3ms"', "", ""),
        ('"camera", "detector"]', '"camera", "nobody"]', "workload.process: perception: no topic has a node 'nobody'"),
        ('client = "planner"\n', "", "line 21: workload.service 1: client is missing"),
        ("depth = 5", "colour = 5", "line 11: workload.topic 1: colour: no such key"),
        (
            "depth = 5",
            'durability = "transient"',
            "line 11: workload.topic 1: durability: 'transient' is not a durability",
        ),
        (
            "depth = 5",
            'durability = "transient-local"',
            "line 11: workload.topic 1: durability: transient-local does not work with",
        ),
        ('"best-effort"\ndepth = 5', '"reliable"\ndepth = "all"\ndurability = "transient-local"', "with depth all"),
        ('"best-effort"\ndepth = 5', '"reliable"\ndepth = 5\ndurability = "transient-local"', ""),
    ],
)
def test_a_problem_names_its_line(old: str, new: str, problem: str) -> None:
    assert old in ROBOT
    problems = problems_of(ROBOT.replace(old, new, 1))
    assert any(problem in each for each in problems) if problem else not problems, problems


def test_a_circle_without_a_rate_is_refused_with_all_problems_at_once() -> None:
    circle = """
[[workload.topic]]
name = "a"
from = "one"
to = "two"
size = 64
after = "b"

[[workload.topic]]
name = "b"
from = "two"
to = "one"
size = 64
after = "a"

[[workload.topic]]
name = "c"
from = "one"
to = []
size = 64
rate = 1
"""
    problems = problems_of(circle)
    assert sum("these topics follow each other in a circle; give one topic a rate" in each for each in problems) == 2
    assert any("no node receives the topic" in each for each in problems)


def test_more_endpoints_than_threads_are_refused() -> None:
    crowd = ", ".join(f'"n{at}"' for at in range(MOST_ENDS))
    text = f'[[workload.topic]]\nname = "a"\nfrom = "x"\nto = [{crowd}]\nsize = 16\nrate = 1\n'
    assert ["at most 4,096" in each for each in problems_of(text)] == [True]


@given(st.data())
def test_a_workload_written_as_a_suite_reads_back_as_the_same(data: st.DataObject) -> None:
    plain = st.from_regex(r"\A[a-z][a-z0-9_/]{0,8}\Z")
    nodes = data.draw(st.lists(plain, min_size=2, max_size=5, unique=True))
    names = data.draw(st.lists(plain, min_size=1, max_size=4, unique=True))
    topics = tuple(
        Topic(
            name=name,
            source=nodes[0],
            to=tuple(nodes[1:]),
            size=data.draw(st.integers(16, 1 << 24)),
            rate_hz=float(data.draw(st.integers(1, 5000))),
            deadline_s=data.draw(st.sampled_from((None, 0.001, 0.0333, 2.0))),
            reliability=data.draw(st.sampled_from(("reliable", "best-effort"))),
            depth=data.draw(st.sampled_from((None, 1, 10, 77))),
        )
        for name in names
    )
    kept = Topic(name="kept", source=nodes[0], to=(nodes[1],), size=64, rate_hz=1.0, durability="transient-local")
    asked = Topic(name="map/request", source=nodes[0], to=(nodes[1],), size=64, rate_hz=2.0)
    reply = Topic(
        name="map/reply", source=nodes[1], to=(nodes[0],), size=99, after=asked.name, service=True, work_s=0.003
    )
    topics = (*(each for each in topics if each.name not in (kept.name, asked.name, reply.name)), kept, asked, reply)
    wanted = Workload(name="w", topics=topics, shared=(Process("both", tuple(nodes)),) if "both" not in nodes else ())
    text = toml(wanted, 'a "description" \\', ["a remark\nof two lines"])
    found, problems = read_workload(tomllib.loads(text)["workload"], "w", "w.toml", text)
    assert not problems
    assert found == wanted


def test_a_topic_after_a_services_requests_is_refused_if_there_are_replies() -> None:
    other = '[[workload.topic]]\nname = "log"\nfrom = "map"\nto = "recorder"\nsize = 64\nafter = "plan/request"\n'
    problems = problems_of(ROBOT.replace("[workload.process]", f"{other}\n[workload.process]"))
    assert ["so only the service's replies may follow" in each for each in problems] == [True]
