"""Check how much processor time the hypervisor gave to other virtual machines."""

from middlemark.model.units import format_percent
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

SOME, MUCH = 0.01, 0.05


def _read(root: Root) -> float | None:
    """Return the share that the hypervisor took of the time in which this machine needed a processor; 0 to 1.

    The time counts from the start of the machine. None: not known.
    """
    words = (root.text("proc/stat") or "").partition("\n")[0].split()
    if len(words) < 9 or words[0] != "cpu":
        return None
    user, nice, system, _, _, irq, softirq, steal = map(int, words[1:9])
    needed = user + nice + system + irq + softirq + steal
    return steal / needed if needed else None


def _sees(share: float, _: Needs) -> Seen | None:
    if share < SOME:
        return None
    text = f"the hypervisor gave other machines {format_percent(share)} of the processor time that this machine needed"
    return Seen("falsifies" if share >= MUCH else "limits", text)


CHECK = Check(
    name="steal",
    looks="steal in `/proc/stat`, since the machine started",
    why="the figures then depend on other virtual machines, and differ from hour to hour",
    rows="all; their tails most of all",
    read=_read,
    sees=_sees,
    command="middlemark run … --until-precise 5%",
    persist="measure on a machine with dedicated processors (dedicated, bare metal)",
    risk="the run takes longer",
)
