"""Finds the worker executables and asks each what it is."""

import asyncio
import contextlib
import os
import re
from collections.abc import Mapping
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
"""The variable that has the path of the set-up's script; ./middlemark sets it."""
NOT_YET = "it is not built yet"
"""How the reason begins of an adapter of this checkout that the build knows nothing of."""
DESCRIBE_S = 10.0
AT_ONCE = 8
ROS = Path("/opt/ros")
"""Where distributions of ROS 2 are; each has a script to be sourced before anything of it can be loaded."""

_DECODER = msgspec.json.Decoder(Description)


def find_workers() -> tuple[tuple[Worker, ...], tuple[BrokenWorker, ...]]:
    """Return the workers that described themselves, by name, and those that could not.

    Looked for in MIDDLEMARK_WORKERS (folders or files, separated by colons), the package's own folder and the PATH;
    of one name the first counts. Raises OSError where this process may not start another, or open what that takes.
    """
    paths = executables()
    return interrupts.run(described(paths)) if paths else ((), ())


async def described(paths: Mapping[str, str]) -> tuple[tuple[Worker, ...], tuple[BrokenWorker, ...]]:
    """Ask the workers at these paths, by adapter, what they are. As :func:`find_workers`."""
    found = await _describe_all(paths)
    workers = tuple(
        sorted((each for each in found if isinstance(each, Worker)), key=lambda each: each.description.name)
    )
    return workers, tuple(each for each in found if isinstance(each, BrokenWorker))


def executables() -> dict[str, str]:
    """Return adapter name → absolute path of its worker."""
    found: dict[str, str] = {}
    for place in _places():
        for path in _named(place, PREFIX):
            name = path.name.removeprefix(PREFIX)
            if name not in found and _runs(path):
                found[name] = str(path.absolute())
    return found


def left_out() -> dict[str, str]:
    """Return adapter name → why it was not built and how to get it.

    The build notes that beside the workers. An adapter of this checkout without a note was not built yet.
    """
    here = executables()
    found: dict[str, str] = {}
    for place in _places():
        for path in _named(place, LEFT_OUT):
            name = path.name.removeprefix(LEFT_OUT)
            if name in here or name in found:
                continue
            with contextlib.suppress(OSError):
                found[name] = path.read_text(encoding="utf-8", errors="replace").strip()
    for name in checkout_adapters():
        if name not in here and name not in found:
            found[name] = f"{NOT_YET}; `./middlemark build {name}` builds it"
    return found


def checkout_adapters() -> list[str]:
    """Return the adapters of this checkout, by name; none where ./middlemark was not used."""
    builder = os.environ.get(BUILDER)
    if not builder:
        return []
    return sorted(each.parent.name for each in (Path(builder).parents[2] / "adapters").glob("*/CMakeLists.txt"))


def witness() -> str | None:
    """Return the absolute path of the witness to the noise, which is built beside the workers; None: there is none."""
    for place in _places():
        path = (place.parent if place.name.startswith(PREFIX) else place) / WITNESS
        if _runs(path):
            return str(path.absolute())
    return None


def _named(place: Path, prefix: str) -> list[Path]:
    """Return the files there whose names begin so, or the one that ``place`` is; nothing of a place nobody may read."""
    if place.name.startswith(prefix) and os.path.isfile(place):
        return [place]
    try:
        return sorted(place / name for name in os.listdir(place) if name.startswith(prefix))
    except OSError:
        return []


def _runs(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # of a name that is too long, too, both say no


def _places() -> list[Path]:
    named = [Path(each) for each in os.environ.get("MIDDLEMARK_WORKERS", "").split(os.pathsep) if each]
    own = [Path(__file__).parent / "bin"]
    return named + own + [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep) if each]


async def _describe_all(paths: Mapping[str, str]) -> list[Worker | BrokenWorker]:
    few = asyncio.Semaphore(AT_ONCE)

    async def described(name: str, path: str) -> Worker | BrokenWorker:
        async with few:
            return await describe(name, path)

    asking = [asyncio.create_task(described(name, path)) for name, path in paths.items()]
    try:
        return list(await asyncio.gather(*asking))
    finally:
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def describe(name: str, path: str) -> Worker | BrokenWorker:
    """Ask one worker for its description; what is wrong with the worker is in the answer."""
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
        return BrokenWorker(
            name, path, f"speaks protocol {description.protocol}, not {PROTOCOL_VERSION}: build it anew"
        )
    _, at, version = name.partition("@")  # one of several builds: it does not know that itself
    return Worker(path, msgspec.structs.replace(description, name=f"{description.name}{at}{version}"))


def _sourcing(words: str) -> str:
    """Return what to do about a library that the loader did not find; nothing where it did."""
    missing = re.search(r"error while loading shared libraries: ([^:\s]+)", words)
    if missing is None:
        return ""
    homes = sorted(ROS.glob(f"*/lib/{missing[1]}"))
    script = homes[-1].parents[1] / "setup.bash" if homes else ROS / "DISTRO" / "setup.bash"
    where = "" if homes else ", if it is of ROS 2"
    return f" → `source {script}` in this shell{where}, or build the workers anew"
