"""Check whether two roles run on the two threads of one core."""

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.topology import ProcessorSets, one_each, shared


def _sees(found: ProcessorSets, needs: Needs) -> Seen | None:
    cpus = needs.cpus(found.allowed)
    both = next((each for each in found.sets if len(set(each) & set(cpus)) > 1), None)
    if both is None:
        return None
    pair = [cpu for cpu in both if cpu in cpus]
    better = one_each(found, len(cpus))
    command = f"middlemark run … --pin {','.join(map(str, better))}" if better else ""
    text = f"processors {' and '.join(map(str, pair))}, which run roles, are threads of one core"
    return Seen("falsifies" if needs.polling else "limits", text, needs.polling, command)


CHECK = Check(
    name="smt",
    looks="`topology/thread_siblings_list` of the roles' processors",
    why="both threads share one core: a role that spins halves the speed of the other role",
    rows="all; polling most of all",
    read=lambda root: shared(root, "topology/thread_siblings_list"),
    sees=_sees,
    command="echo off > /sys/devices/system/cpu/smt/control",
    persist="nosmt on the kernel's command line",
    risk="every program then has half as many processors",
)
