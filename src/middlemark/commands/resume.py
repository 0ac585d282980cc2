"""Whether a run can be gone on with: what was there when it began must be there now."""

from collections.abc import Iterator, Mapping

from middlemark import __version__
from middlemark.store import RunFile
from middlemark.store.machine import read_machine
from middlemark.workers.description import Worker


def differences(file: RunFile, workers: Mapping[str, Worker]) -> Iterator[str]:
    """Yield what is not as it was, each to be read after ``--resume``: trials of two worlds are not one cell's."""
    if file.imported:
        yield "it was imported: there is nothing in it to measure"
        return
    if file.middlemark != __version__:
        yield f"Middlemark was {file.middlemark} then and is {__version__} now: measure anew"
    machine = read_machine()
    for field in ("host", "cpu", "processors", "memory_bytes", "kernel", "system", "clocksource", "governor"):
        then, now = getattr(file.machine, field), getattr(machine, field)
        if then != now:
            yield f"the machine's {field} was {then} then and is {now} now: measure anew"
    for described in file.adapters:
        worker = workers.get(described.name)
        if worker is None:
            yield f"{described.name} {described.version} is not built here any more"
        elif worker.description != described:
            was, now = described.version, worker.description.version
            changed = f"was {was} then and is {now} now" if was != now else "describes itself otherwise than then"
            yield f"{described.name} {changed}: measure anew"
