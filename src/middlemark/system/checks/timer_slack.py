"""Check how much later than requested a sleep may end."""

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs

USUAL_NS = 50_000


def _sees(slack_ns: int, needs: Needs) -> Seen | None:
    rows = needs.where(lambda row: not row.priority and not row.polls)
    if slack_ns <= USUAL_NS or not rows:
        return None
    return Seen("limits", f"sleeps may end {slack_ns / 1000:g} µs late; usual: {USUAL_NS / 1000:g} µs", rows)


CHECK = Check(
    name="timer_slack",
    looks="`/proc/self/timerslack_ns`, which processes inherit",
    why="timers of middlewares (heartbeats, batching, resending) may end this much later; the roles set 1 ns",
    rows="all that block, except priority fifo and rr",
    read=lambda root: root.number("proc/self/timerslack_ns"),
    sees=_sees,
    command="echo 50000 > /proc/$$/timerslack_ns",
    persist="TimerSlackNSec=50us of the unit that starts it",
    risk="none known",
)
