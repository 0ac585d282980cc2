"""What stands above the table: what was run, where, with which versions, and what every row has in common."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from middlemark.report.factors import ASKED, UNTOLD, WORDS, meeting, plain, subject, usual, varying, words
from middlemark.report.layout import hanging
from middlemark.report.run_facts import Machine, RunFacts
from middlemark.stats.result import CellResult
from middlemark.units import format_percent, format_seconds, format_size

_MOST_NAMES = 3

if TYPE_CHECKING:
    from rich.text import Text


def heading(facts: RunFacts, results: Sequence[CellResult], width: int) -> Iterator["Text"]:
    """Return the lines above the table."""
    from rich.text import Text

    when = f"{facts.started[:19].replace('T', ' ')} UTC"
    yield Text(plain(f"{', '.join(facts.suites)}, {when}"), style="bold")
    for name, text, style in (
        ("imported" if facts.imported else "measured", _progress(facts), "bold yellow" if facts.interrupted else ""),
        ("precision", _precision(facts, results), "" if facts.reached and facts.reached.met else "bold yellow"),
        ("machine", "not known: the logs do not tell it" if facts.imported else _machine(facts.machine), ""),
        ("clock", _clock(facts), ""),
        ("versions", _versions(facts), ""),
        ("every row", _in_common(results), ""),
        ("kept in", facts.folder or "", ""),
        *(("note", note, "") for note in facts.notes),
    ):
        if text:
            yield from (Text(line, style=style) for line in hanging(f"{name:<11}", plain(text), width))


def _progress(facts: RunFacts) -> str:
    if facts.imported:
        return "; ".join(facts.imported)
    trials = f"{facts.done_trials:,} of {facts.planned_trials:,} trials"
    state = "; interrupted: what was measured by then is below" if facts.interrupted else ""
    return f"{trials} in {format_seconds(facts.seconds)}, seed {facts.seed}{state}"


def _precision(facts: RunFacts, results: Sequence[CellResult]) -> str:
    """Say which happened: the medians are as precise as was asked, or the time was spent."""
    asked, reached = facts.precision, facts.reached
    if asked is None:
        return ""
    part = f"± {format_percent(asked.part)}"
    if reached is None:
        return f"{part} was asked for; the run ended before that was settled"
    number = len(asked.focus) - len(reached.unmeasured)
    if number == 0:
        return f"{part} was asked for, and no trial was measured in {reached.rounds} rounds"
    whose = "the median" if number == 1 else f"every median of {number} cells"
    unknown = f"; {_names(reached.unmeasured, results)}: no trial was measured" if reached.unmeasured else ""
    if reached.met:
        return f"{whose} is known to {part} after {reached.rounds} rounds{unknown}"
    budget = format_seconds(asked.budget_s)
    what = f"{len(reached.wide)} of {len(asked.focus)} medians are not known to {part}"
    spent = f"the budget of {budget} was spent after {reached.rounds} rounds"
    return f"{spent}; {what}: {_names(reached.wide, results)}{unknown}; give more with --budget, or quiet the machine"


def _names(cells: Sequence[int], results: Sequence[CellResult]) -> str:
    told = varying(results)
    chosen = [results[each].cell for each in cells[:_MOST_NAMES]]
    shown = [" ".join((subject(each), format_size(each.size), words(each, told))).strip() for each in chosen]
    more = f" and {len(cells) - _MOST_NAMES} more" if len(cells) > _MOST_NAMES else ""
    return "; ".join(shown) + more


def _machine(machine: Machine) -> str:
    processors = "1 processor" if machine.processors == 1 else f"{machine.processors} processors"
    parts = [machine.hostname, machine.cpu_model, processors, machine.os]
    parts.append(f"Linux {machine.kernel}" if machine.kernel else None)
    return ", ".join(each for each in parts if each)


def _clock(facts: RunFacts) -> str:
    if facts.clock is None:
        return ""
    clock = facts.clock
    return f"{clock.source}; a reading costs {clock.cost_ns:.3g} ns, its resolution is {clock.resolution_ns:.2g} ns"


def _versions(facts: RunFacts) -> str:
    middleware = [f"{each.name} {each.version}".strip() for each in facts.adapters if not each.floor]
    floors = [each.name for each in facts.adapters if each.floor]
    told = [f"middlemark {facts.middlemark}", *middleware]
    return ", ".join(told) + (f"; floors: {', '.join(floors)}" if floors else "")


def _in_common(results: Sequence[CellResult]) -> str:
    if not results:
        return ""
    varied = varying(results)
    common = words(meeting(results)[0].cell, set(WORDS) - varied)
    levels = [each for each in usual(results, varied & frozenset(ASKED)).values() if each not in UNTOLD]
    if levels:
        common += f"{'; ' if common else ''}{', '.join(levels)} unless the row says otherwise"
    trials = Counter(each.trials for each in results if each.failed is None)
    if not trials:
        return common
    number = trials.most_common(1)[0][0]
    measured = "one trial" if number == 1 else f"{number} trials; a figure is the median of theirs"
    return f"{common}; {measured}" if common else measured
