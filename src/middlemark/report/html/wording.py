"""What the template says of runs, in words: plain text, escaped where it is put in."""

from collections.abc import Callable, Mapping
from typing import Any

from middlemark.units import format_seconds

_Json = Mapping[str, Any]

_NAMED = ("host", "cpu", "processors", "memory_bytes", "kernel", "system")
"""Facts of a machine that its one line tells."""


def machine_line(run: _Json) -> str:
    """Return the machine in one line, and what it ran."""
    machine = run["machine"]
    processors = machine.get("processors")
    memory = machine.get("memory_bytes")
    parts = (
        machine.get("host") or machine.get("hostname"),
        machine.get("cpu") or machine.get("cpu_model"),
        f"{processors} processor{'' if processors == 1 else 's'}" if processors else "",
        f"{memory / (1 << 30):.3g} GiB" if memory else "",
        machine.get("system") or machine.get("os"),
        f"Linux {machine['kernel']}" if machine.get("kernel") else "",
        "a virtual machine" if machine.get("virtual") else "",
    )
    return run.get("machine_line") or ", ".join(each for each in parts if each)


def machine_facts(run: _Json) -> list[tuple[str, str]]:
    """Return what else is known of the machine; what is not known is left out."""
    names = {"clocksource": "clock of the kernel", "governor": "governor"}
    known = {name: value for name, value in run["machine"].items() if name in names and value}
    clock = [("clock", str(run["clock"]))] if run.get("clock") else []
    return clock + [(names[name], str(value)) for name, value in known.items()]


def state(run: _Json) -> str:
    """Return how far a run came."""
    failed, trials, planned = run.get("failed_trials") or 0, run["trials"], run.get("planned_trials")
    of_planned = f" of {planned:,}" if planned and planned != trials else ""
    lines = run.get("damaged_lines")
    parts = [
        f"{trials:,}{of_planned} trial{'' if trials == 1 and not of_planned else 's'}",
        f"{failed:,} of them failed" if failed else "",
        f"in {format_seconds(run['seconds'])}" if run.get("seconds") else "",
        f"from {run['started'][:19].replace('T', ' ')} UTC" if run.get("started") else "",
        f"seed {run['seed']}" if run.get("seed") is not None else "",
        "interrupted: what was measured by then is shown" if run.get("interrupted") else "",
        _unended(run),
        f"it ended early: {run['error']}" if run.get("error") else "",
        f"{lines:,} damaged line{'' if lines == 1 else 's'} of its file left out" if lines else "",
    ]
    return ", ".join(each for each in parts if each)


def _unended(run: _Json) -> str:
    if run.get("running"):
        return "it is still running: more will come"
    return "" if run.get("ended") or run.get("interrupted") or run.get("error") else "it was killed before its end"


def doubted(document: _Json) -> int:
    """Return how many cells there is a doubt about."""
    return sum(1 for cell in document["cells"] if cell.get("doubts"))


WORDING: Mapping[str, Callable[..., Any]] = {
    "machine_line": machine_line,
    "machine_facts": machine_facts,
    "state": state,
    "doubted": doubted,
}
