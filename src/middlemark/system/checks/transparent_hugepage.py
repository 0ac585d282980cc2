"""Check whether the kernel creates huge pages, and whether a page fault waits for a huge page."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

FOLDER = "/sys/kernel/mm/transparent_hugepage"


class HugePages(NamedTuple):
    """The current values of the settings."""

    enabled: str
    defrag: str


def _chosen(text: str | None) -> str:
    return (text or "").partition("[")[2].partition("]")[0]


def _read(root: Root) -> HugePages | None:
    enabled, defrag = (_chosen(root.text(f"{FOLDER[1:]}/{name}")) for name in ("enabled", "defrag"))
    return HugePages(enabled, defrag) if enabled else None


def _sees(pages: HugePages, needs: Needs) -> Seen | None:
    if pages.enabled != "never" and pages.defrag == "always":
        return Seen("limits", "a page fault waits until the kernel has made a huge page (defrag is always)", needs.rows)
    return Seen("note", "huge pages are switched off (enabled is never)") if pages.enabled == "never" else None


def _change(pages: HugePages, _: Needs) -> tuple[Setting, ...]:
    name = "enabled" if pages.enabled == "never" else "defrag"
    return (Setting(f"{FOLDER}/{name}", "madvise"),)


CHECK = Check(
    name="transparent_hugepage",
    looks=f"`{FOLDER}/enabled` and `defrag`",
    why="with defrag a page fault may take ms while memory is moved; without huge pages large messages miss the TLB",
    rows="all that touch memory for the first time; sizes from 1 MiB on",
    read=_read,
    sees=_sees,
    persist="transparent_hugepage=madvise on the kernel's command line",
    risk="none known",
    change=_change,
)
