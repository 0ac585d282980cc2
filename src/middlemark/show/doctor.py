"""The output of ``doctor``: the answer, then each finding in a few lines."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from middlemark.document.table import Table, facts
from middlemark.model.units import format_count, format_us
from middlemark.show import View
from middlemark.show.terminal import paragraph, printed, terminal
from middlemark.show.wrapping import as_typed
from middlemark.system.check import Finding
from middlemark.system.tried import Tried
from middlemark.verdicts.names import plain

_CHANGES_NOTHING = "Nothing was changed. Commands that write need root; docs/reference/checks.md explains each check."


def render_text(found: Sequence[Finding], checks: int, tried: Tried | None, view: View, suite: str | None) -> str:
    """Return the findings as text, one screen."""
    by = f"by {checks} checks for {f'the suite {suite}' if suite else 'middlewares in general'}"
    return printed(_lines(found, by, tried, view), view)


def _lines(found: Sequence[Finding], by: str, tried: Tried | None, view: View) -> Iterator[Text]:
    yield from paragraph(f"{_answer(found)}, {by}.", view.width)
    yield from paragraph(_CHANGES_NOTHING if any(each.remedy for each in found) else "", view.width)
    for each in found:
        if each.severity != "note" or view.warnings:
            yield Text()
            yield from _finding(each, view)
    notes = [] if view.warnings else [(f"  {each.check}", each.seen) for each in found if each.severity == "note"]
    if notes:
        yield from (Text(), Text("Notes (--verbose shows why, and what could be done):"))
        yield from terminal(facts(*notes), view.width)
    if tried is not None:
        yield from (Text(), Text("Tried:"))
        yield from terminal(_tried(tried), view.width, wraps=True)


def _answer(found: Sequence[Finding]) -> str:
    counted = Counter[str](each.severity for each in found)
    parts: list[str] = []
    for severity, does in (("falsifies", "falsify"), ("limits", "limit")):
        if number := counted[severity]:
            parts.append(f"{format_count(number, 'thing')} will {does} {'them' if parts else 'results here'}")
    return ", ".join(parts) or "Nothing here falsifies or limits results"


def _finding(each: Finding, view: View) -> Iterator[Text]:
    yield from paragraph(f"{each.check}: {each.seen}", view.width, first=f"{each.severity}  ")
    yield from paragraph(each.rows, view.width, first="    for ")
    yield from paragraph(each.why if view.warnings else "", view.width, first="    why: ")
    if each.remedy:
        yield Text(f"    {as_typed(plain(each.remedy))}")  # a command to copy is never wrapped
    yield from paragraph("" if each.remedy and not view.warnings else each.persist, view.width, first="    to last: ")
    yield from paragraph(each.risk if view.warnings else "", view.width, first="    risk: ")


def _tried(tried: Tried) -> Table:
    memory, gaps, clock = tried.memory_bytes_per_s, tried.gaps_hz, tried.clock_ns
    longest = _us(tried.longest_gap_ns) or "?"
    return facts(
        ("  a role wakes", _pair(("polling", tried.wake_up_polled_ns), ("asleep", tried.wake_up_asleep_ns))),
        ("  a line between processors, there and back", _us(tried.line_ns)),
        ("  a round trip over loopback, 64 B", _pair(("UDP", tried.loopback_udp_ns), ("TCP", tried.loopback_tcp_ns))),
        ("  memory is copied at", f"{memory / 1e9:.3g} GB/s" if memory else ""),
        ("  a spinning thread stops", "" if gaps is None else f"{gaps:,.0f} times a second, the longest {longest}"),
        ("  a timer is late by", _us(tried.timer_late_ns)),
        ("  a reading of the clock", f"{clock:.0f} ns" if clock else ""),
        *(("  not tried", each) for each in tried.absent),
    )


def _us(ns: float | None) -> str:
    return "" if ns is None else f"{format_us(ns)} µs"


def _pair(*figures: tuple[str, float | None]) -> str:
    return ", ".join(f"{name} {_us(ns)}" for name, ns in figures if ns is not None)
