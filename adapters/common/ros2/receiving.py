"""How a Python program waits for the messages of one rclpy entity: with a wait set, or with an executor."""

import threading
from typing import Any

import rclpy.executors
from rclpy.impl.implementation_singleton import rclpy_implementation as implementation
from rclpy.node import Node
from rclpy.task import Future

from middlemark_kit import NativeSetting

EXECUTORS: dict[str, Any] = {
    "single": rclpy.executors.SingleThreadedExecutor,
    "multi": rclpy.executors.MultiThreadedExecutor,
}
try:
    from rclpy.experimental.events_executor import EventsExecutor
except ImportError:
    pass
else:
    EXECUTORS["events"] = EventsExecutor
EXECUTOR = NativeSetting(
    help="with `listen`: the executor that calls the callbacks",
    type="choice",
    choices=tuple(EXECUTORS),
    default="single",
)
KINDS = ("subscription", "guard", "timer", "client", "service", "event")
FAR_S = 1e6
"""A timeout that no trial reaches. Without a timeout, the events executor in the wheels of ROS 2 never sleeps, because
a sum of two times overflows in their C++ library."""


class Waiting:
    """A wait set with one entity, as in ``rclpy.wait_for_message``. Every wait empties the set."""

    def __init__(self, node: Node, kind: str, handle: Any) -> None:
        """``kind``: one of KINDS."""
        self._set = implementation.WaitSet(*(int(kind == each) for each in KINDS), node.context.handle)
        self._add = getattr(self._set, f"add_{kind}")
        self._kind = kind
        self._handle = handle

    def wait(self, timeout_s: float) -> bool:
        """Return whether the entity is ready."""
        self._set.clear_entities()
        self._add(self._handle)
        self._set.wait(round(timeout_s * 1e9))
        return bool(self._set.is_ready(self._kind, 0))


class Spinning:
    """An executor that spins one node in a thread.

    Not with ``spin()``: ``shutdown()``, which would end it, destroys the executor's guard condition at once, and a spin
    that begins to wait at this moment then waits for ever.
    """

    def __init__(self, node: Node, executor: str) -> None:
        """Start the thread. ``executor``: a key of EXECUTORS."""
        self._executor = EXECUTORS[executor](context=node.context)
        self._executor.add_node(node)
        self._end = Future()
        self._thread = threading.Thread(
            target=self._executor.spin_until_future_complete,
            args=(self._end, FAR_S) if executor == "events" else (self._end,),
            name=f"the executor {executor}",
        )
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._end.set_result(None)
        self._thread.join()
        self._executor.shutdown()
