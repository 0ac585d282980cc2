"""`killed.py POINT WORD…`: run middlemark WORD…, and kill it before a system call for its journal or settings.

POINT is the number of the call; 0: do not kill. Prints the number of these system calls to stderr at the end.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

LEAVES_A_TRACE = ("write", "fsync", "replace", "unlink", "truncate", "pwrite")


def killed_at(point: int, *also: str) -> None:
    """Kill this process before the call with this number. ``also`` names more functions of ``os`` that are counted."""
    calls = 0

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            if sys._getframe(1).f_globals.get("__name__", "").startswith("middlemark.system."):
                calls += 1
                if calls == point:
                    os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **named)

        return call

    for name in (*LEAVES_A_TRACE, *also):
        setattr(os, name, wrapped(getattr(os, name)))


def main() -> None:
    killed_at(int(sys.argv[1]), "open")
    sys.argv[:] = ["middlemark", *sys.argv[2:]]
    from middlemark.cli import main as middlemark

    middlemark()


if __name__ == "__main__":
    main()
