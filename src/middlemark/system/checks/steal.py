"""Time that the hypervisor gave to somebody else."""

from middlemark.model.units import format_percent
from middlemark.system.check import Check, Remedy, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

SOME, MUCH = 0.01, 0.05


def _read(root: Root) -> float | None:
    """Return its share of the time in which somebody here wanted a processor, since the machine started."""
    words = (root.text("proc/stat") or "").partition("\n")[0].split()
    if len(words) < 9 or words[0] != "cpu":
        return None
    user, nice, system, _, _, irq, softirq, steal = map(int, words[1:9])
    wanted = user + nice + system + irq + softirq + steal
    return steal / wanted if wanted else None


def _sees(share: float, _: Needs) -> Seen | None:
    if share < SOME:
        return None
    text = f"of the time in which this machine wanted a processor, {format_percent(share)} went to others on its host"
    return Seen("falsifies" if share >= MUCH else "limits", text)


CHECK = Check(
    name="steal",
    family="processors",
    looks="steal in `/proc/stat`, since the machine started",
    why="what was measured then was the neighbours: it differs from hour to hour",
    rows="all; their tails most of all",
    read=_read,
    sees=_sees,
    remedy=Remedy(
        command="middlemark run … --until-precise 5%",
        persist="a machine with processors of its own (dedicated, bare metal)",
        risk="it takes longer",
    ),
)
