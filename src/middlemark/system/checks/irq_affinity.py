"""Check whether devices interrupt the roles' processors."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

MANY_HZ = 100.0


class Interrupt(NamedTuple):
    """The interrupts of one device: processor → mean rate in Hz since the machine started."""

    number: str
    name: str
    hz: tuple[float, ...]


class Interrupts(NamedTuple):
    """The interrupts of all devices, the processors that this process may use, and all processors."""

    devices: tuple[Interrupt, ...]
    allowed: tuple[int, ...]
    processors: tuple[int, ...]


def _read(root: Root) -> Interrupts | None:
    head, *lines = (root.text("proc/interrupts") or "").splitlines()
    cpus = tuple(int(name[3:]) for name in head.split())
    up_s = float((root.text("proc/uptime") or "").split()[0])
    found = []
    for line in lines:
        number, _, rest = line.partition(":")
        words = rest.split()
        if number.strip().isdigit() and len(words) > len(cpus):
            counts = tuple(int(each) / up_s for each in words[: len(cpus)])
            found.append(Interrupt(number.strip(), words[-1], counts))
    return Interrupts(tuple(found), root.allowed(), cpus)


def _disturbing(found: Interrupts, needs: Needs) -> list[Interrupt]:
    cpus = needs.cpus(found.allowed)
    places = [at for at, cpu in enumerate(found.processors) if cpu in cpus]
    return [each for each in found.devices if sum(each.hz[at] for at in places) >= MANY_HZ]


def _others(found: Interrupts, needs: Needs) -> str:
    return ",".join(str(cpu) for cpu in found.processors if cpu not in needs.cpus(found.allowed))


def _sees(found: Interrupts, needs: Needs) -> Seen | None:
    rows = needs.where(lambda row: row.priority or row.polls)
    disturbing = _disturbing(found, needs)
    if not rows or not disturbing or not _others(found, needs):
        return None
    worst = max(disturbing, key=lambda each: sum(each.hz))
    cpus = ", ".join(map(str, needs.cpus(found.allowed)))
    return Seen(
        "limits",
        f"{worst.name} interrupts processors {cpus}, which run roles, {sum(worst.hz):.0f} times a second",
        rows,
    )


CHECK = Check(
    name="irq_affinity",
    looks="`/proc/interrupts`: interrupts of devices on the roles' processors, per second",
    why="an interrupt and its softirq take a role's processor for about 10 µs, whatever the role's priority",
    rows="priority fifo or rr, and polling",
    read=_read,
    sees=_sees,
    persist="irqaffinity= on the kernel's command line",
    risk="only the other processors serve the device",
    change=lambda found, needs: tuple(
        Setting(f"/proc/irq/{each.number}/smp_affinity_list", _others(found, needs))
        for each in _disturbing(found, needs)
    ),
)
