"""Find the worker executables and ask each for its description."""

import asyncio
import contextlib
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from middlemark import interrupts
from middlemark.limits import is_a_limit
from middlemark.model.description import BrokenWorker, Description, Worker
from middlemark.model.protocol import PROTOCOL_VERSION
from middlemark.workers.ask import NoAnswerError, ask

PREFIX = "middlemark-worker-"
LEFT_OUT = "middlemark-left-out-"
WITNESS = "middlemark-witness"
BUILDER = "MIDDLEMARK_BUILDER"
"""The environment variable with the path of the set-up script; ./middlemark sets it."""
LATER = "it is built on request"
"""The first words of the note about an adapter that is built only on request (cmake/MiddlemarkAdapter.cmake)."""
NOT_YET = "it is not built yet"
"""The first words of the reason why an adapter of this checkout is absent, if the build left no note about it."""
NO_CANDIDATES = frozenset({"null", "udp-python", "uds-python"})
"""Adapters of this checkout that no user chooses: ``null`` tests the bench, the others are baselines. Built adapters
say so in their description."""
DESCRIBE_S = 10.0
AT_ONCE = 8
ROS = Path("/opt/ros")
"""The folder of ROS 2 distributions. Their libraries are found only after a shell has sourced a distribution's
script."""

_DECODER = msgspec.json.Decoder(Description)


def find_workers(named: Collection[str] = ()) -> tuple[tuple[Worker, ...], tuple[BrokenWorker, ...]]:
    """Return the workers that described themselves, sorted by name, and the other executables.

    Searches MIDDLEMARK_WORKERS (folders or files, separated by colons), the package's own folder and the PATH. If two
    workers have one name, the first is used. Raises OSError if a limit of this process prevents starting a worker.

    ``named``: the only adapters that the caller uses, besides baselines; empty: all. If no worker in Python is named,
    none is started, because each needs up to a quarter of a second to import its client library.
    """
    paths = executables()
    if named and paths.keys() >= set(named):  # a name that is not found is an error that lists all names
        scripts = {name for name, path in paths.items() if _is_script(path)}
        if scripts.isdisjoint(named):
            paths = {name: path for name, path in paths.items() if name not in scripts}
    return interrupts.run(described(paths)) if paths else ((), ())


async def described(paths: Mapping[str, str]) -> tuple[tuple[Worker, ...], tuple[BrokenWorker, ...]]:
    """Ask the workers at these paths (adapter name → path).

    Returns the same values as :func:`find_workers`, and raises the same errors.
    """
    found = await _describe_all(paths)
    workers = tuple(
        sorted((each for each in found if isinstance(each, Worker)), key=lambda each: each.description.name)
    )
    return workers, tuple(each for each in found if isinstance(each, BrokenWorker))


def executables() -> dict[str, str]:
    """Return adapter name → absolute path of its worker."""
    found: dict[str, str] = {}
    for place in _places():
        for path in _files_with_prefix(place, PREFIX):
            name = path.name.removeprefix(PREFIX)
            if name not in found and _is_executable(path):
                found[name] = str(path.absolute())
    return found


def left_out() -> dict[str, str]:
    """Return name of an adapter → why it was not built, and how to build it.

    The build writes these notes to files next to the workers. If an adapter of this checkout has neither a worker nor a
    note, it is not built yet.
    """
    here = executables()
    found: dict[str, str] = {}
    for place in _places():
        for path in _files_with_prefix(place, LEFT_OUT):
            name = path.name.removeprefix(LEFT_OUT)
            if name in here or name in found:
                continue
            with contextlib.suppress(OSError):
                note = path.read_text(encoding="utf-8", errors="replace").strip()
                found[name] = f"{LATER}; {_how_to_build(name)}" if note.startswith(LATER) else note
    for name in checkout_adapters():
        if name not in here and name not in found:
            found[name] = f"{NOT_YET}; {_how_to_build(name)}"
    return found


def _how_to_build(name: str) -> str:
    """Return a sentence with the command that builds an adapter of a checkout.

    If the automatic set-up is off, the command switches it on.
    """
    on = "" if os.environ.get(BUILDER) else "MIDDLEMARK_SETUP=on "
    return f"`{on}./middlemark build {name}` builds it"


def checkout_adapters() -> list[str]:
    """Return the names of this checkout's adapters, sorted. Empty: the program was not started by ./middlemark."""
    builder = os.environ.get(BUILDER)
    if not builder:
        return []
    return sorted(each.parent.name for each in (Path(builder).parents[2] / "adapters").glob("*/CMakeLists.txt"))


def witness() -> str | None:
    """Return the absolute path of the witness, which is built next to the workers; None: it is not built."""
    for place in _places():
        path = (place.parent if place.name.startswith(PREFIX) else place) / WITNESS
        if _is_executable(path):
            return str(path.absolute())
    return None


def _files_with_prefix(place: Path, prefix: str) -> list[Path]:
    """Return the files in ``place`` with this prefix, or ``place`` itself; empty if ``place`` cannot be read."""
    if place.name.startswith(prefix) and os.path.isfile(place):
        return [place]
    try:
        return sorted(place / name for name in os.listdir(place) if name.startswith(prefix))
    except OSError:
        return []


def _is_executable(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # both are False for a name that is too long


def _is_script(path: str) -> bool:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(2) == b"#!"
    return False


def _places() -> list[Path]:
    named = [Path(each) for each in os.environ.get("MIDDLEMARK_WORKERS", "").split(os.pathsep) if each]
    own = [Path(__file__).parent / "bin"]
    return named + own + [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep) if each]


async def _describe_all(paths: Mapping[str, str]) -> list[Worker | BrokenWorker]:
    limit = asyncio.Semaphore(AT_ONCE)

    async def described(name: str, path: str) -> Worker | BrokenWorker:
        async with limit:
            return await describe(name, path)

    asking = [asyncio.create_task(described(name, path)) for name, path in paths.items()]
    try:
        return list(await asyncio.gather(*asking))
    finally:
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def describe(name: str, path: str) -> Worker | BrokenWorker:
    """Ask one worker for its description. An error is returned as a BrokenWorker."""
    try:
        answer = await ask([path, "--describe"], timeout_s=DESCRIBE_S)
    except NoAnswerError as error:
        return BrokenWorker(name, path, str(error))
    except OSError as error:
        if is_a_limit(error):
            raise
        return BrokenWorker(name, path, f"cannot be started: {error.strerror}")
    if answer.status != 0:
        words = answer.words[-300:]
        return BrokenWorker(name, path, f"--describe ended with status {answer.status}: {words}{_sourcing(words)}")
    try:
        description = _DECODER.decode(answer.out)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return BrokenWorker(name, path, f"--describe: {error}")
    if description.protocol != PROTOCOL_VERSION:
        return BrokenWorker(name, path, f"uses protocol {description.protocol}, not {PROTOCOL_VERSION}; rebuild it")
    _, at, version = name.partition("@")  # a build against another version: only the name has the version
    return Worker(path, msgspec.structs.replace(description, name=f"{description.name}{at}{version}"))


def _sourcing(words: str) -> str:
    """Return advice about a library that the loader did not find; empty if no library is missing."""
    missing = re.search(r"error while loading shared libraries: ([^:\s]+)", words)
    if missing is None:
        return ""
    homes = sorted(ROS.glob(f"*/lib/{missing[1]}"))
    script = homes[-1].parents[1] / "setup.bash" if homes else ROS / "DISTRO" / "setup.bash"
    where = "" if homes else "if it belongs to ROS 2, "
    return f"; rebuild the workers or, {where}run in this shell: source {script}"
