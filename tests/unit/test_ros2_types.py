"""The hashes of ROS 2's types in the adapter ros2-zenoh, computed again by rosbags from the definitions."""

import re
from pathlib import Path
from typing import Any

import pytest
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.store import Typestore

SOURCE = Path(__file__).parents[2] / "adapters" / "ros2-zenoh" / "src" / "names.rs"
DECLARED = re.findall(
    r'/// (\w+/(?:msg|srv)/\w+).*\nconst \w+: Type = Type \{\s*name: "([^"]+)",\s*hash: "([^"]+)",?\s*\}',
    SOURCE.read_text(),
)
"""For each type: its name in ROS 2, its name in keys and its hash."""

Fields = list[tuple[str, Any]]
OCTETS: Fields = [("data", (Nodetype.SEQUENCE, ((Nodetype.BASE, ("uint8", 0)), 0)))]
NUMBER = (Nodetype.BASE, ("int64", 0))


def types() -> Typestore:
    """Return the types of ROS 2 Jazzy. ServiceEventInfo has uint8 for char, as rosidl translates it."""
    store = get_typestore(Stores.ROS2_JAZZY)
    definitions: dict[str, Any] = store.fielddefs
    constants, fields = definitions["service_msgs/msg/ServiceEventInfo"]
    gid = (Nodetype.ARRAY, ((Nodetype.BASE, ("uint8", 0)), 16))
    translated = [(name, gid if name == "client_gid" else kind) for name, kind in fields]
    definitions["service_msgs/msg/ServiceEventInfo"] = constants, translated
    return store


def hash_of_service(name: str, request: Fields, reply: Fields) -> str:
    """Return the hash of a service, which depends on its request, its reply and the event of introspection."""
    store = types()

    def one_or_none(kind: str) -> Any:
        return (Nodetype.SEQUENCE, ((Nodetype.NAME, kind), 1))

    store.fielddefs[f"{name}_Request"] = [], request
    store.fielddefs[f"{name}_Response"] = [], reply
    store.fielddefs[f"{name}_Event"] = (
        [],
        [
            ("info", (Nodetype.NAME, "service_msgs/msg/ServiceEventInfo")),
            ("request", one_or_none(f"{name}_Request")),
            ("response", one_or_none(f"{name}_Response")),
        ],
    )
    parts = {"request_message": "Request", "response_message": "Response", "event_message": "Event"}
    store.fielddefs[name] = [], [(field, (Nodetype.NAME, f"{name}_{part}")) for field, part in parts.items()]
    return store.hash_rihs01(name)


def test_the_hash_of_a_service_of_ros_2_is_computed_as_rosidl_does() -> None:
    computed = hash_of_service("example_interfaces/srv/AddTwoInts", [("a", NUMBER), ("b", NUMBER)], [("sum", NUMBER)])
    # The hash in the design document of rmw_zenoh.
    assert computed == "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"


def test_all_types_are_compared() -> None:
    in_use = SOURCE.read_text().partition("#[cfg(test)]")[0]
    assert len(DECLARED) == in_use.count('"RIHS01_') == 6


@pytest.mark.parametrize(("name", "in_keys", "hash_"), DECLARED, ids=[each[0] for each in DECLARED])
def test_the_name_and_the_hash_of_a_type_are_those_of_ros_2(name: str, in_keys: str, hash_: str) -> None:
    package, kind, last = name.split("/")
    assert in_keys == f"{package}::{kind}::dds_::{last}_"
    computed = hash_of_service(name, OCTETS, OCTETS) if kind == "srv" else types().hash_rihs01(name)
    assert hash_ == computed
