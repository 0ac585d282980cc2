"""What the machine did while a run was measured, in one line below the table."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from middlemark.report.layout import hanging
from middlemark.stats.noise import percent
from middlemark.stats.result import CellResult, Noise, TrialNoise

if TYPE_CHECKING:
    from rich.text import Text


def machine_lines(results: Sequence[CellResult], width: int) -> Iterator["Text"]:
    """Return the line, wrapped; nothing where nobody looked at the machine."""
    from rich.text import Text

    told = summary([each.noise for each in results if each.noise is not None])
    if told:
        yield from map(Text, hanging("Machine  ", told, width))
        yield Text()


def summary(noises: Sequence[Noise]) -> str:
    """Return what the trials of a whole run saw, in words; empty: nothing."""
    trials = [trial for noise in noises for trial in noise.trials]
    parts = [*_taken(trials), *_lengths(trials)]
    if not parts:
        return ""
    return f"{', '.join(parts)}{_tail(trials)}"


def _taken(trials: Sequence[TrialNoise]) -> Iterator[str]:
    for field, words in (
        ("others_share", "of the roles' processors' time taken by others"),
        ("delay_share", "of the time spent waiting for a processor where roles sleep"),
        ("steal_share", "stolen by the hypervisor"),
    ):
        known = [share for each in trials if (share := getattr(each, field)) is not None]
        if known and (field == "others_share" or max(known) > 0):
            yield f"{percent(sum(known) / len(known))} {words}"


def _lengths(trials: Sequence[TrialNoise]) -> Iterator[str]:
    for field, words in (("longest_spell_ns", "longest time away"), ("longest_gap_ns", "longest gap around a trial")):
        known = [ns for each in trials if (ns := getattr(each, field)) is not None]
        if known:
            yield f"{words} {_time(max(known))}"


def _tail(trials: Sequence[TrialNoise]) -> str:
    laid = [each.above_p99_9 for each in trials if each.above_p99_9]
    samples = sum(each.samples for each in laid)
    if not samples:
        return ""
    machine, middleware = sum(each.machine for each in laid), sum(each.middleware for each in laid)
    parts = (
        f"{machine:,} {'is' if machine == 1 else 'are'} the machine's" if machine else "none are the machine's",
        f"{f'at least {middleware:,}' if middleware else 'none for certain'} the middleware's",
        f"{samples - machine - middleware:,} unknown",
    )
    return f"; of {samples:,} samples above p99.9, {', '.join(parts)}"


def _time(ns: float) -> str:
    return f"{ns / 1e3:,.3g} µs" if ns < 1e6 else f"{ns / 1e6:,.3g} ms"
