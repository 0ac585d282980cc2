"""``middlemark about``: facts to paste into a bug report."""

import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from middlemark import __version__, exits
from middlemark.commands.options import LISTED, formats
from middlemark.commands.page import page
from middlemark.model.units import format_size
from middlemark.workers.find import find_workers, left_out

PACKAGES = ("click", "rich", "msgspec", "numpy", "scipy", "psutil", "pyroute2", "distributed")


@page("about", ("about", "the facts as text"), ("about --format markdown", "a table to paste into a bug report"))
@formats(*LISTED)
def command(output_format: str) -> int:
    """Print the facts; return the exit code."""
    from middlemark.show import output
    from middlemark.show.json.listing import AboutOutput, NamedFact
    from middlemark.show.records import render

    workers, broken = find_workers()
    adapters = {
        each.description.name: ", ".join(filter(None, (each.description.version, each.description.library)))
        for each in workers
    }
    adapters |= {each.name: f"does not work: {each.path} {each.reason}" for each in broken}
    adapters |= {name: f"not built: {why}" for name, why in left_out().items()}
    facts = dict(_facts())
    named = (*facts.items(), *adapters.items())
    if output_format == "text":
        text = "".join(f"{name:<12} {fact}\n" for name, fact in named)
    else:
        rows = [NamedFact(name=name, fact=fact) for name, fact in named]
        text = render(output_format, AboutOutput(facts=facts, adapters=adapters), NamedFact, rows)
    return exits.CELL_FAILED if output.failed(text) else exits.OK


def _facts() -> Iterator[tuple[str, str]]:
    from middlemark.sites.machine import read_machine
    from middlemark.system.checks import environment, rmem_default, rmem_max, wmem_max
    from middlemark.system.root import Root

    machine = read_machine()
    root = Path(__file__).parents[3]
    yield "Middlemark", f"{__version__}{_commit(root)}, {Path(__file__).parents[1]}"
    yield "Python", f"{platform.python_version()}, {sys.executable}"
    yield "packages", ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    yield "system", f"{machine.system}, Linux {machine.kernel}, {platform.libc_ver()[0]} {platform.libc_ver()[1]}"
    virtual = {True: "virtual", False: "no hypervisor", None: "hypervisor unknown"}[machine.virtual]
    yield "machine", f"{machine.cpu}, {machine.processors} processors, {format_size(machine.memory_bytes)}, {virtual}"
    yield "clock", f"{machine.clocksource or 'unknown'}; frequency governor {machine.governor or 'none'}"
    room = os.statvfs("/dev/shm") if os.path.isdir("/dev/shm") else None
    yield "/dev/shm", f"{format_size(room.f_bavail * room.f_frsize)} free" if room else "absent"
    buffers = (rmem_max.CHECK, wmem_max.CHECK, rmem_default.CHECK)
    yield "sockets", ", ".join(f"{each.name} {each.look(Root()) or 'unknown'}" for each in buffers)
    limits = {"rtprio": resource.RLIMIT_RTPRIO, "memlock": resource.RLIMIT_MEMLOCK, "nofile": resource.RLIMIT_NOFILE}
    yield "limits", ", ".join(f"{name} {_limit(number)}" for name, number in limits.items()) + f", user {os.geteuid()}"
    own = ", ".join(f"{name}={text}" for name, text in sorted((environment.CHECK.look(Root()) or {}).items()))
    yield "environment", own or "nothing that changes a middleware"


def _commit(root: Path) -> str:
    """Return the commit of the checkout as `` (c8c3582a-dirty)``; "dirty": files differ.

    Empty: no checkout, or no git.
    """
    if not (root / ".git").exists():
        return ""
    git = ["git", "-C", str(root), "describe", "--always", "--dirty"]
    try:
        ended = subprocess.run(git, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return f" ({ended.stdout.strip()})" if ended.returncode == 0 else ""


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _limit(number: int) -> str:
    soft, _ = resource.getrlimit(number)
    return "unlimited" if soft == resource.RLIM_INFINITY else str(soft)
