"""Check whether the roles' processors share a cache."""

from middlemark.system.check import Check, Seen
from middlemark.system.checks.smt import ProcessorSets, shared
from middlemark.system.needs import Needs
from middlemark.system.root import Root


def _read(root: Root) -> ProcessorSets | None:
    levels = [name.rsplit("/", 1)[1] for name in root.names("sys/devices/system/cpu/cpu0/cache/index[0-9]*")]
    return shared(root, f"cache/{levels[-1]}/shared_cpu_list") if levels else None


def _sees(found: ProcessorSets, needs: Needs) -> Seen | None:
    cpus = needs.cpus(found.allowed)
    if len(cpus) < 2 or len(found.sets) < 2 or any(set(cpus) <= set(each) for each in found.sets):
        return None
    better = next(
        (free for each in found.sets if len(free := [x for x in each if x in found.allowed]) >= len(cpus)), []
    )
    command = f"middlemark run … --pin {','.join(map(str, better[: len(cpus)]))}" if better else ""
    text = f"processors {', '.join(map(str, cpus))} do not share a cache"
    return Seen("limits", text, needs.over("shared-memory"), command)


CHECK = Check(
    name="shared_cache",
    looks="`shared_cpu_list` of the largest cache (a probe measures the round trip of a cache line)",
    why="every cache line of a message then passes through memory, which takes two to five times as long",
    rows="shared memory, polling most of all",
    read=_read,
    sees=_sees,
    risk="none, but the run measures another placement",
)
