"""Check how much memory all UDP sockets of the machine may use in total."""

import os

from middlemark.model.setting import Setting
from middlemark.model.units import MIB, format_size
from middlemark.system.check import Check, Seen
from middlemark.system.checks.rmem_max import wanted
from middlemark.system.needs import Needs

NAME = "net.ipv4.udp_mem"
PAGE = os.sysconf("SC_PAGE_SIZE")


def _pages(needs: Needs) -> int:
    return max(2 * needs.roles * wanted(needs), 16 * MIB) // PAGE


def _sees(pages: tuple[int, int, int], needs: Needs) -> Seen | None:
    rows = needs.over("udp")
    most = pages[2]
    if not rows or most >= _pages(needs):
        return None
    text = f"all UDP sockets together may use {format_size(most * PAGE)} ({NAME} is {' '.join(map(str, pages))} pages)"
    return Seen("limits", f"{text}; needed: {format_size(_pages(needs) * PAGE)}", rows)


def _change(pages: tuple[int, int, int], needs: Needs) -> tuple[Setting, ...]:
    most = _pages(needs)
    return (Setting(NAME, f"{max(pages[0], most * 3 // 4)} {max(pages[1], most * 7 // 8)} {most}"),)


CHECK = Check(
    name="udp_mem",
    looks=f"`{NAME}`",
    why="above this limit the kernel drops datagrams, even if the socket's own buffer has room",
    rows="udp: large messages, or many messages that wait",
    read=lambda root: root.three("proc/sys/net/ipv4/udp_mem"),
    sees=_sees,
    risk="sockets may use this amount of the machine's memory",
    change=_change,
)
