"""Find files that a process uses."""

import contextlib
import os
from collections.abc import Iterable


def in_use(paths: Iterable[str], proc: str = "/proc") -> frozenset[str]:
    """Return the ``paths`` that a process has mapped, open or bound."""
    wanted = set(paths)
    used: set[str] = set()
    networks: set[str] = set()
    for pid in filter(str.isdigit, os.listdir(proc)):
        process = f"{proc}/{pid}"
        with contextlib.suppress(OSError):
            # /proc/PID/fd does not show the path of a Unix socket. The table of the socket's network namespace shows
            # it.
            network = os.readlink(f"{process}/ns/net")
            if network not in networks:
                used |= wanted & _bound(f"{process}/net/unix")
                networks.add(network)
        with contextlib.suppress(OSError), open(f"{process}/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.rstrip("\n").split(maxsplit=5)
                used |= wanted.intersection(path[5:])
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"{process}/fd"):
                with contextlib.suppress(OSError):
                    used |= wanted & {os.readlink(f"{process}/fd/{descriptor}")}
    return frozenset(used)


def _bound(table: str) -> frozenset[str]:
    with open(table, encoding="utf-8", errors="replace") as lines:
        columns = [line.rstrip("\n").split(maxsplit=7) for line in lines]
    return frozenset(each[7] for each in columns if len(each) == 8)
