"""Facts about a run as a whole, in words that every format uses: machine, clock, versions, progress, precision."""

import datetime
import statistics
from collections.abc import Iterator, Sequence

from middlemark.document.numbers import four_digits
from middlemark.model.cell import subject
from middlemark.model.description import Description
from middlemark.model.imported import Source
from middlemark.model.protocol import Clock
from middlemark.model.run import HostMachine, Machine, Run
from middlemark.model.units import format_count, format_percent, format_seconds
from middlemark.stats.result import CellResult
from middlemark.verdicts.names import joined, size, varying, words

MOST_ORDER = 2_000
"""The order of at most this number of trials is kept. With more trials, the seed and the suite reproduce the order."""
_MOST_NAMES = 3


def clock_of(run: Run) -> Clock | None:
    """Return the clock of a run: medians over its trials, and all clock sources. None: no trial has a clock."""
    clocks = [each.clock for each in run.outcomes if each.clock]
    if not clocks:
        return None
    return Clock(
        source=", ".join(sorted({each.source for each in clocks})),
        ticks_per_second=statistics.median(each.ticks_per_second for each in clocks),
        cost_ns=statistics.median(each.cost_ns for each in clocks),
        resolution_ns=statistics.median(each.resolution_ns for each in clocks),
    )


def seconds_of(run: Run) -> float | None:
    """Return the duration of a run in s; if the run has no end, the sum of its trials; None: the run has no trial."""
    try:
        started = datetime.datetime.fromisoformat(run.file.started)
        ended = datetime.datetime.fromisoformat(run.file.ended or "")
        return (ended - started).total_seconds()
    except (ValueError, TypeError):
        return sum(each.seconds for each in run.outcomes) if run.outcomes else None


def machine_line(run: Run, *, whole: bool = True) -> str:
    """Return the machine in one line; ``whole``: with the memory, and whether the machine is virtual."""
    if run.file.machines:
        return "; ".join(host_line(each, whole=whole) for each in run.file.machines)
    machine = run.machine
    if machine is None:
        return ("the machine is " if whole else "") + "not known: the logs do not contain it"
    return _described(machine, whole=whole)


def host_line(host: HostMachine, *, whole: bool = True) -> str:
    """Return one host in one line: its machine, and the interface that leads to the other hosts."""
    speed = f"{host.link_bps / 1e6:,.0f} Mbit/s" if host.link_bps else ""
    mtu = f"MTU {host.mtu}" if host.mtu else ""
    way = joined(" ", host.interface, host.driver or "", speed, mtu)
    time = f"time of day {host.time}" if whole and host.time else ""
    return f"{host.name}: {joined(', ', _described(host.machine, whole=whole), way, time)}"


def _described(machine: Machine, *, whole: bool) -> str:
    processors = format_count(machine.processors, "processor")
    memory = f"{four_digits(machine.memory_bytes / (1 << 30))} GiB" if whole and machine.memory_bytes else ""
    kernel = f"Linux {machine.kernel}" if machine.kernel else ""
    kind = {True: "virtual machine", False: "bare metal", None: ""}[machine.virtual] if whole else ""
    return joined(", ", machine.host, machine.cpu, processors, memory, machine.system, kernel, kind)


def machine_and_duration(run: Run) -> str:
    """Return the machine, the trials and their duration, in one short line."""
    machine, seconds = run.machine, seconds_of(run)
    took = format_seconds(four_digits(seconds)) if seconds else ""
    if machine is None or run.file.machines:
        return joined(" · ", machine_line(run, whole=machine is None), took)
    processors = format_count(machine.processors, "processor")
    kind = "virtual machine" if machine.virtual else ""
    return joined(" · ", joined(", ", machine.cpu, processors, kind), format_count(len(run.outcomes), "trial"), took)


def clock_line(run: Run) -> str:
    """Return the clock, its cost and its resolution; empty: no trial ended."""
    clock = clock_of(run)
    if clock is None:
        return ""
    line = f"{clock.source}; a reading costs {clock.cost_ns:.3g} ns, its resolution is {clock.resolution_ns:.2g} ns"
    compared = [each.clocks.uncertainty_ns for each in run.outcomes if each.clocks is not None]
    if not compared:
        return line
    return f"{line}; the clocks of two hosts were compared in each trial, to ± {max(compared) / 1e3:,.1f} µs"


def notes_of(run: Run) -> tuple[str, ...]:
    """Return the plan's notes: what the plan changed or left out, and why; and if a search of crowds was cut short."""
    notes = (f"{note.place}: {note.text}" if note.place else note.text for note in run.file.plan.notes)
    return (*notes, *_unfinished_search(run))


def _unfinished_search(run: Run) -> Iterator[str]:
    breaking, reached = run.file.plan.breaking, run.file.reached
    if breaking is not None and reached is not None and not reached.met:
        budget = format_seconds(breaking.budget_s).removesuffix(" 00 s")
        lines = format_count(len(reached.undecided), "crowd")
        spent = f"the budget of {budget} was spent before the search for {lines} ended"
        yield f"--until-it-breaks: {spent}; give more with --budget"


def sources_of(run: Run) -> tuple[str, ...]:
    """Return the imported logs, each with the number of lines that could be read."""
    return tuple(map(_source, run.file.imported))


def _source(source: Source) -> str:
    lines = source.unit if source.lines == 1 else f"{source.unit}s"
    read = f"{source.lines - source.unread:,} of {source.lines:,}" if source.unread else f"all {source.lines:,}"
    return f"{source.file} ({source.format}, {read} {lines})"


def read_as(source: Source) -> str:
    """Return a note on an imported log: the tool, and how many lines were read."""
    unread = f", {source.unread:,} of them not read" if source.unread else ""
    return f"{source.file}: read as {source.tool}, {format_count(source.lines, source.unit)}{unread}"


def state(run: Run) -> str:
    """Return the progress of a run: trials, failures, time, and how it ended."""
    file, lines, planned, done = run.file, run.damaged_lines, run.planned_trials, len(run.outcomes)
    of_planned = f" of {planned:,}" if planned != done else ""
    seconds = seconds_of(run)
    return joined(
        ", ",
        f"{done:,}{of_planned} trial{'' if done == 1 and not of_planned else 's'}",
        f"{run.failed_trials:,} of them failed" if run.failed_trials else "",
        f"in {format_seconds(four_digits(seconds))}" if seconds else "",
        f"from {file.started[:19].replace('T', ' ')} UTC" if file.started else "",
        f"seed {file.seed}",
        "interrupted: only the trials until then are shown" if file.interrupted else "",
        _unended(run),
        f"ended early: {file.error}" if file.error else "",
        f"{format_count(lines, 'damaged line')} of its file left out" if lines else "",
    )


def _language_of(described: Description) -> str:
    """Return the language in parentheses; empty for C++, the language of most adapters."""
    return "" if described.language == "C++" else f"({described.language})"


def versions_of(run: Run) -> str:
    """Return the versions of Middlemark, of the middlewares and of the raw transports."""
    named = [
        (each.is_raw_transport, " ".join(filter(None, (each.name, each.version, _language_of(each)))))
        for each in run.file.adapters
    ]
    names = [f"middlemark {run.file.middlemark}", *(name for is_raw, name in named if not is_raw)]
    raw_transports = ", ".join(name for is_raw, name in named if is_raw)
    return ", ".join(names) + (f"; raw transports: {raw_transports}" if raw_transports else "")


def facts_of(run: Run, *, whole: bool = True) -> dict[str, str]:
    """Return facts about a run by their names; an unknown fact is empty."""
    return {
        "machine": machine_line(run, whole=whole),
        "clock": clock_line(run),
        "versions": versions_of(run),
        "kept in": str(run.folder),
    }


def _unended(run: Run) -> str:
    if run.running:
        return "still running"
    ended = run.file.ended or run.file.interrupted or run.file.error
    return "" if ended else "killed before its end"


def precision_of(run: Run, results: Sequence[CellResult]) -> str:
    """Return a sentence on whether the precision of ``--until-precise`` was reached; empty: no precision was asked."""
    asked, reached = run.file.plan.precision, run.file.reached
    if asked is None:
        return ""
    part = f"± {format_percent(asked.part)}"
    if reached is None:
        return f"{part} was asked for; the run ended before this was reached"
    number, rounds = len(asked.focus) - len(reached.unmeasured), format_count(reached.rounds, "round")
    if number == 0:
        return f"{part} was asked for, and no trial was measured in {rounds}"
    whose = "the median" if number == 1 else f"every median of {number} configurations"
    unknown = f"; {_medians(reached.unmeasured, results)}: no trial was measured" if reached.unmeasured else ""
    if reached.met:
        return f"{whose} is known to {part} after {rounds}{unknown}"
    budget = format_seconds(asked.budget_s)
    what = f"{len(reached.undecided)} of {len(asked.focus)} medians are not known to {part}"
    spent = f"the budget of {budget} was spent after {rounds}"
    whose = _medians(reached.undecided, results)
    return f"{spent}; {what}: {whose}{unknown}; give more with --budget, or quiet the machine"


def decided_of(run: Run) -> str:
    """Return the number of rounds until all expectations were decided, or the spent budget, as part of a sentence.

    Empty: the run was not measured until decided.
    """
    deciding, reached = run.file.plan.deciding, run.file.reached
    if deciding is None or reached is None:
        return ""
    rounds = format_count(reached.rounds, "round")
    return (
        f" after {rounds}"
        if reached.met
        else f"; the budget of {format_seconds(deciding.budget_s)} was spent after {rounds}"
    )


def _medians(cells: Sequence[int], results: Sequence[CellResult]) -> str:
    varied = varying(results)
    chosen = [results[each].cell for each in cells[:_MOST_NAMES]]
    shown = [" ".join((subject(each), size(each), words(each, varied))).strip() for each in chosen]
    more = f" and {len(cells) - _MOST_NAMES} more" if len(cells) > _MOST_NAMES else ""
    return "; ".join(shown) + more


def title_of(runs: Sequence[Run]) -> str:
    """Return suites, machine and day of the first run, and the number of further runs."""
    if not runs:
        return "no runs"
    first = runs[0].file
    host = "" if first.imported else first.machine.host
    more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    return joined(", ", ", ".join(first.suites) or runs[0].name, host, first.started[:10]) + more
