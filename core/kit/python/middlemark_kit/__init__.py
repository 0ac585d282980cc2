"""The contract of ``core/adapter.hpp`` for adapters in Python. It imports nothing of the command ``middlemark``.

An adapter is a class in ``adapter.py`` of its folder with ``description()``, ``publisher()`` and ``subscriber()``, and
optional parts: see :class:`Adapter`. ``middlemark_python_adapter()`` in CMake makes its worker. The core's roles run in
the worker's process: they keep time, write and check the messages, and call the adapter for each message.

Life of a worker: ``Adapter(settings)`` → publishers and subscribers of each topic → (start) → ``publish``, ``take`` and
``wait`` on the roles' threads → (stop) → ``close()`` of each, if it has one. An exception before the start refuses the
trial; raise :class:`AdapterError` to name the next step. An exception after the start counts as a failed call, and the
worker reports the text of the last one.
"""

from middlemark_kit.contract import (
    Adapter,
    Attendance,
    Exchange,
    Publisher,
    Rendezvous,
    Settings,
    Subscriber,
    Topic,
    Visit,
)
from middlemark_kit.protocol import Companion, Description, NativeSetting, OwnSettings, Transport
from middlemark_kit.structs import AdapterError

__all__ = [
    "Adapter",
    "AdapterError",
    "Attendance",
    "Companion",
    "Description",
    "Exchange",
    "NativeSetting",
    "OwnSettings",
    "Publisher",
    "Rendezvous",
    "Settings",
    "Subscriber",
    "Topic",
    "Transport",
    "Visit",
]
