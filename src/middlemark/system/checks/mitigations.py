"""Check for mitigations of processor flaws that slow down system calls."""

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

AT_EVERY_CALL = ("PTI", "IBRS", "Clear CPU buffers", "Untrained return thunk", "Safe RET")


def _read(root: Root) -> tuple[str, ...]:
    """Return the flaws whose mitigation costs time at every system call or context switch."""
    names = root.names("sys/devices/system/cpu/vulnerabilities/*")
    texts = {name.rpartition("/")[2]: root.text(name) or "" for name in names}
    return tuple(
        name for name, text in texts.items() if "Mitigation" in text and any(each in text for each in AT_EVERY_CALL)
    )


def _sees(names: tuple[str, ...], needs: Needs) -> Seen | None:
    rows = needs.where(lambda row: not row.polls or row.carriers != ("shared-memory",))
    return Seen("note", f"mitigations at every system call: {', '.join(names)}", rows) if names and rows else None


CHECK = Check(
    name="mitigations",
    looks="`/sys/devices/system/cpu/vulnerabilities`",
    why="each system call and each context switch takes up to 1 µs longer: sockets are slower, polled shared "
    "memory is not",
    rows="udp, tcp, unix sockets, and all that blocks",
    read=_read,
    sees=_sees,
    persist="mitigations=off on the kernel's command line",
    risk="programs may read each other's memory: use it only where all code is trusted; robots are sold with "
    "mitigations on, so measure with mitigations on",
)
