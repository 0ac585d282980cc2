"""Check whether the kernel lets programs reserve more memory than the machine has."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.model.units import MIB
from middlemark.system.check import Check, Seen
from middlemark.system.checks.swap import kib
from middlemark.system.needs import Needs
from middlemark.system.root import Root

NAME = "vm.overcommit_memory"


class Promised(NamedTuple):
    """The policy of the kernel, and the bytes that programs may still reserve under policy 2."""

    policy: int
    remaining: int


def _read(root: Root) -> Promised | None:
    policy = root.number("proc/sys/vm/overcommit_memory")
    if policy is None:
        return None
    return Promised(policy, (kib(root, "CommitLimit") - kib(root, "Committed_AS")) * 1024 if policy == 2 else 0)


def _sees(promised: Promised, needs: Needs) -> Seen | None:
    needed = 4 * (needs.memory_bytes + needs.shm_bytes)  # middlewares reserve more address space than they use
    if promised.policy != 2 or promised.remaining >= needed:
        return None
    return Seen(
        "limits", f"{NAME} is 2: {promised.remaining // MIB} MiB can still be reserved; needed: {needed // MIB} MiB"
    )


CHECK = Check(
    name="overcommit_memory",
    looks=f"`{NAME}`, `CommitLimit` and `Committed_AS`",
    why="middlewares reserve much larger pools than they use, and do not start if the reservation is refused",
    rows="all; shared memory and deep histories most of all",
    read=_read,
    sees=_sees,
    risk="when the memory is really used up, the kernel kills a process",
    change=lambda _, __: (Setting(NAME, "0"),),
)
