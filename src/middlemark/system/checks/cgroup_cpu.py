"""Check how much processor time this control group may use."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.cgroups import groups
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root


class Quota(NamedTuple):
    """The processor time per period in µs, and the file with this quota."""

    processors: float
    quota_us: int
    period_us: int
    file: str
    usable: int = 0
    """The number of processors that this process could use without a quota."""


def _read(root: Root) -> Quota | None:
    found = []
    for group in groups(root, "cpu"):
        quota, period = root.number(f"{group}/cpu.cfs_quota_us"), root.number(f"{group}/cpu.cfs_period_us")
        file = f"{group}/cpu.cfs_quota_us"
        words = (root.text(f"{group}/cpu.max") or "").split()
        if len(words) == 2 and words[0] != "max":
            quota, period, file = int(words[0]), int(words[1]), f"{group}/cpu.max"
        if quota is not None and period and quota > 0:
            found.append(Quota(quota / period, quota, period, file, len(root.allowed())))
    return min(found, default=None)


def _sees(quota: Quota, needs: Needs) -> Seen | None:
    if quota.processors >= min(needs.roles, quota.usable or needs.roles):
        return None
    text = (
        f"this control group may use {quota.quota_us / 1000:g} ms of processor time per {quota.period_us / 1000:g} ms"
    )
    return Seen("falsifies", f"{text}: {quota.processors:g} processors for {needs.roles} roles")


def _change(quota: Quota, _: Needs) -> tuple[Setting, ...]:
    return (Setting(f"/{quota.file}", f"max {quota.period_us}" if quota.file.endswith("cpu.max") else "-1"),)


CHECK = Check(
    name="cgroup_cpu",
    looks="`cpu.max` of this control group and of those above it, `cpu.cfs_quota_us` of version 1",
    why="when the time is used up, every thread of the group stops until the next period: this adds tens of ms to the "
    "tail, and a candidate that uses more time is stopped for longer",
    rows="all; polling and full rates most of all",
    read=_read,
    sees=_sees,
    persist="where the group is created: CPUQuota= of the unit, --cpus of the container, limits.cpu of the pod",
    risk="the other processes of the machine get less",
    change=_change,
)
