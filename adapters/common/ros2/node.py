"""Nodes of rclpy, each with one end, and the quality of service of the ends."""

import os
from typing import Any

from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from middlemark_kit import Settings, Topic
from middlemark_kit.filling import Form


def make_node(context: Context, scope: str, number: int) -> Node:
    """Return a node without services and ``/rosout``, so that an executor spins only its end."""
    return Node(
        f"{scope}_{os.getpid()}_{number}",
        context=context,
        use_global_arguments=False,
        enable_rosout=False,
        start_parameter_services=False,
        parameter_overrides=[Parameter("start_type_description_service", value=False)],
    )


def quality(topic: Topic, sources: int) -> QoSProfile:
    """Return the quality of service of an end that keeps the messages of ``sources`` publishers."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_ALL if topic.depth is None else HistoryPolicy.KEEP_LAST,
        depth=(topic.depth or 0) * sources,
        reliability=ReliabilityPolicy.RELIABLE if topic.reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if topic.history else DurabilityPolicy.VOLATILE,
    )


def form_of(topic: Topic, message: Any, kind: str) -> Form:
    """Return the form of a message, whose fields are constant except ``data``. ``kind``: see ``Form``."""
    constant = message.get_fields_and_field_types().keys() - {"data"} if topic.type != "octets" else ()
    return Form(message, topic, kind, constant)


class End:
    """A publisher, subscription, client or service, with a node of its own."""

    def __init__(self, node: Node, form: Form, settings: Settings) -> None:
        """``form``: of the messages that this end fills or reads."""
        self._node = node
        self._form = form
        self._settings = settings

    def close(self) -> None:
        """Destroy the node."""
        self._node.destroy_node()
