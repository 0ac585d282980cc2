"""Check which real-time priority a process may request."""

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

CAP_SYS_NICE = 23


def _read(root: Root) -> int | None:
    return -1 if root.may(CAP_SYS_NICE) else root.limit("Max realtime priority")


def _sees(limit: int, needs: Needs) -> Seen | None:
    rows = needs.where(lambda row: row.priority > limit)
    needed = max((row.priority for row in rows), default=0)
    return (
        Seen("limits", f"priorities up to {limit} are allowed; needed: {needed}", rows) if rows and limit >= 0 else None
    )


CHECK = Check(
    name="rtprio",
    looks="the limit of real-time priority (`/proc/self/limits`), and CAP_SYS_NICE",
    why="the system refuses the priority, and the trial fails",
    rows="priority fifo or rr",
    read=_read,
    sees=_sees,
    command="ulimit -r 98",
    persist="echo '* - rtprio 98' > /etc/security/limits.d/60-middlemark.conf; for a container: --cap-add SYS_NICE",
    risk="a thread that spins with such a priority stops everything else on its processor",
)
