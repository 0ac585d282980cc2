"""What ``doctor`` found: the answer, then each finding in short; or JSON."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from middlemark.model.units import format_us
from middlemark.show import View
from middlemark.system.check import Finding
from middlemark.system.tried import Tried
from middlemark.verdicts.names import plain

INDENT = " " * 4


def render_text(found: Sequence[Finding], checks: int, tried: Tried | None, view: View, suite: str | None) -> str:
    """Return one screen."""
    lines = [_answer(found, checks, suite)]
    if any(each.remedy for each in found):
        lines.append("Nothing is changed. Commands that write want root; docs/machine.md says more of each check.")
    for each in found:
        if each.severity != "note" or view.warnings:
            lines += ["", *_told(each, view)]
    notes = [each for each in found if each.severity == "note"]
    if notes and not view.warnings:
        lines += ["", "Worth knowing (--verbose says why, and what could be done):"]
        lines += [line for each in notes for line in _wrapped(f"{each.check}: {each.seen}", view.width, INDENT)]
    if tried is not None:
        lines += ["", "Tried:", *_tried(tried, view.width)]
    return "\n".join(lines) + "\n"


def _answer(found: Sequence[Finding], checks: int, suite: str | None) -> str:
    for_what = f"the suite {suite}" if suite else "middlewares in general"
    counted = Counter(each.severity for each in found)
    bad = counted["falsifies"] + counted["limits"]
    if not bad:
        return f"Nothing here falsifies or limits results, by {checks} checks for {for_what}."
    falsifying = f"{_things(counted['falsifies'])} will falsify results here" if counted["falsifies"] else ""
    limiting = (
        f"{_things(counted['limits'])} will limit them" if falsifying else f"{_things(bad)} will limit results here"
    )
    told = ", ".join(filter(None, (falsifying, limiting if counted["limits"] else "")))
    return f"{told}, by {checks} checks for {for_what}."


def _things(count: int) -> str:
    return "1 thing" if count == 1 else f"{count} things"


def _told(each: Finding, view: View) -> Iterator[str]:
    head = f"{each.severity}  {each.check}: {each.seen}"
    yield from _wrapped(head, view.width, "")
    yield from _wrapped(f"for {each.rows}", view.width, INDENT)
    if view.warnings:
        yield from _wrapped(f"why: {each.why}", view.width, INDENT)
    if each.remedy:
        yield f"{INDENT}{plain(each.remedy)}"  # to be copied: never wrapped
    if view.warnings or not each.remedy:
        yield from _wrapped(f"to last: {each.persist}", view.width, INDENT) if each.persist else ()
    if view.warnings and each.risk:
        yield from _wrapped(f"risk: {each.risk}", view.width, INDENT)


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        plain(text),
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def _tried(tried: Tried, width: int) -> Iterator[str]:
    of = {
        "a role wakes": _pair(("polling", tried.wake_up_polled_ns), ("asleep", tried.wake_up_asleep_ns)),
        "a line between processors, there and back": _us(tried.line_ns),
        "a round trip over loopback, 64 B": _pair(("UDP", tried.loopback_udp_ns), ("TCP", tried.loopback_tcp_ns)),
        "memory is copied at": tried.memory_bytes_per_s and f"{tried.memory_bytes_per_s / 1e9:.3g} GB/s",
        "a spinning thread stands still": tried.gaps_hz is not None
        and f"{tried.gaps_hz:,.0f} times a second, the longest {_us(tried.longest_gap_ns) or '?'}",
        "a timer is late by": _us(tried.timer_late_ns),
        "a reading of the clock": tried.clock_ns and f"{tried.clock_ns:.0f} ns",
    }
    for name, told in of.items():
        if told:
            yield from _wrapped(f"{name}: {told}", width, INDENT)
    for each in tried.absent:
        yield from _wrapped(f"not tried: {each}", width, INDENT)


def _us(ns: float | None) -> str:
    return "" if ns is None else f"{format_us(ns)} µs"


def _pair(*figures: tuple[str, float | None]) -> str:
    return ", ".join(f"{name} {_us(ns)}" for name, ns in figures if ns is not None)
