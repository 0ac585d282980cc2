"""What a document says of each run as a whole, and how it is done again."""

import datetime
import shlex
from collections.abc import Sequence

import msgspec

from middlemark.launch.imported import Source
from middlemark.report.document.measured import MeasuredRun
from middlemark.report.document.model import Adapter, Run, Suite, brief, rounded
from middlemark.report.document.rows import Row
from middlemark.report.factors import plain
from middlemark.report.run_facts import clock_of

MOST_ORDER = 2_000
"""Trials whose order is told; the seed and the suite draw it again."""


def run_of(at: int, run: MeasuredRun, rows: Sequence[Row]) -> Run:
    """Return the facts of one run; ``rows`` are those of the document."""
    file = run.file
    first = next((row.index for row in rows if row.run == at), 0)
    outcomes = sorted(run.outcomes, key=lambda each: each.order)
    clock = clock_of(outcomes)
    return Run(
        id=f"r{at}",
        name=run.name,
        folder=run.folder,
        started=file.started,
        ended=file.ended,
        interrupted=file.interrupted,
        running=run.running,
        error=file.error,
        damaged_lines=run.damaged_lines,
        suites=tuple(Suite(name=name, text=file.suite_texts.get(name)) for name in file.suites),
        command=_command(run),
        middlemark=file.middlemark,
        seed=file.seed,
        machine=msgspec.to_builtins(file.machine),
        machine_line=_machine_line(run),
        adapters=tuple(
            Adapter(name=each.name, title=each.title, version=each.version, licence=each.licence, floor=each.floor)
            for each in file.adapters
        ),
        notes=(
            *(_read(each) for each in file.imported),
            *(f"{note.place}: {note.text}" if note.place else note.text for note in file.plan.notes),
        ),
        planned_trials=len(file.plan.trials),
        trials=len(outcomes),
        failed_trials=sum(each.failed is not None for each in outcomes),
        seconds=rounded(_seconds(run)),
        clock=None
        if clock is None
        else f"{clock.source}; a reading costs {clock.cost_ns:.3g} ns, its resolution is {clock.resolution_ns:.2g} ns",
        order=tuple(first + each.cell for each in outcomes[:MOST_ORDER]),
        order_cut=len(outcomes) > MOST_ORDER,
    )


def title_of(runs: Sequence[MeasuredRun]) -> str:
    """Return suites, machine and day of the first run, and how many more there are."""
    if not runs:
        return "no runs"
    first = runs[0].file
    host = "" if first.imported else first.machine.host
    parts = [", ".join(first.suites) or runs[0].name, host, first.started[:10]]
    more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    return plain(", ".join(each for each in parts if each)) + more


def commands_of(runs: Sequence[MeasuredRun], factors: Sequence[str]) -> tuple[str, ...]:
    """Return the commands that do it again; ``factors`` are those that were compared."""
    lines = []
    for run in runs:
        command = [*_command(run)]
        if run.file.command and not run.file.imported and not _has_seed(command) and not _resumes(command):
            command += ["--seed", str(run.file.seed)]
        lines.append(shlex.join(command) if run.file.command else "")
        if run.file.command and not run.running and len(run.outcomes) < len(run.file.plan.trials):
            lines.append(shlex.join(["middlemark", "run", "--resume", run.folder]))
    folders = [run.folder for run in runs]
    lines.append(shlex.join(["middlemark", "report", *folders]))
    if len(folders) == 1:
        lines += [shlex.join(["middlemark", "compare", folders[0], "--by", factor]) for factor in factors[:4]]
    elif len(folders) == 2:
        lines.append(shlex.join(["middlemark", "compare", *folders]))
    return tuple(dict.fromkeys(plain(each) for each in lines if each))


def _command(run: MeasuredRun) -> tuple[str, ...]:
    """The command as typed; how the program was reached (a path, ``python -m``) is nobody else's."""
    return ("middlemark", *run.file.command[1:]) if run.file.command else ()


def _has_seed(command: Sequence[str]) -> bool:
    return any(each == "--seed" or each.startswith("--seed=") for each in command)


def _resumes(command: Sequence[str]) -> bool:
    return any(each == "--resume" or each.startswith("--resume=") for each in command)


def _read(source: Source) -> str:
    unread = f", {source.unread:,} of them not read" if source.unread else ""
    return f"{source.file}: read as {source.tool}, {source.lines:,} {source.unit}s{unread}"


def _machine_line(run: MeasuredRun) -> str:
    if run.file.imported:
        return "the machine is not known: the logs do not tell it"
    machine = run.file.machine
    processors = "1 processor" if machine.processors == 1 else f"{machine.processors} processors"
    kind = {True: "virtual machine", False: "bare metal", None: ""}[machine.virtual]
    memory = f"{brief(machine.memory_bytes / (1 << 30))} GiB" if machine.memory_bytes else ""
    kernel = f"Linux {machine.kernel}" if machine.kernel else ""
    parts = [machine.host, machine.cpu, processors, memory, machine.system, kernel, kind]
    return plain(", ".join(each for each in parts if each))


def _seconds(run: MeasuredRun) -> float | None:
    """From its beginning to its end; of one that has none, what its trials took."""
    try:
        started = datetime.datetime.fromisoformat(run.file.started)
        ended = datetime.datetime.fromisoformat(run.file.ended or "")
        return (ended - started).total_seconds()
    except (ValueError, TypeError):
        return sum(each.seconds for each in run.outcomes) if run.outcomes else None
