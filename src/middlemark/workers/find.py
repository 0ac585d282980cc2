"""Finds the worker executables and asks each what it is."""

import contextlib
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from middlemark.model.description import BrokenWorker, Description, Worker

PREFIX = "middlemark-worker-"
LEFT_OUT = "middlemark-left-out-"
WITNESS = "middlemark-witness"
PROTOCOL = 1
DESCRIBE_S = 10.0

_DECODER = msgspec.json.Decoder(Description)
"""Made once, before there are threads: made by several at a time, the type's description can crash the interpreter."""


def find_workers() -> tuple[tuple[Worker, ...], tuple[BrokenWorker, ...]]:
    """Return the workers that described themselves, by name, and those that could not.

    Looked for in MIDDLEMARK_WORKERS (folders or files, separated by colons), the package's own folder and the PATH;
    of one name the first counts.
    """
    paths = executables()
    if not paths:
        return (), ()
    with ThreadPoolExecutor(max_workers=min(8, len(paths))) as pool:
        found = list(pool.map(describe, paths.items()))
    workers = tuple(
        sorted((each for each in found if isinstance(each, Worker)), key=lambda each: each.description.name)
    )
    return workers, tuple(each for each in found if isinstance(each, BrokenWorker))


def executables() -> dict[str, str]:
    """Return adapter name → absolute path of its worker."""
    found: dict[str, str] = {}
    for folder in _places():
        candidates = [folder] if folder.is_file() else sorted(folder.glob(f"{PREFIX}*")) if folder.is_dir() else []
        for path in candidates:
            name = path.name.removeprefix(PREFIX)
            if path.name.startswith(PREFIX) and name not in found and path.is_file() and os.access(path, os.X_OK):
                found[name] = str(path.absolute())
    return found


def left_out() -> dict[str, str]:
    """Return adapter name → why it was not built and how to get it: the build notes it beside the workers."""
    here = executables()
    found: dict[str, str] = {}
    for folder in _places():
        for path in sorted(folder.glob(f"{LEFT_OUT}*")) if folder.is_dir() else []:
            name = path.name.removeprefix(LEFT_OUT)
            if name in here or name in found:
                continue
            with contextlib.suppress(OSError):
                found[name] = path.read_text(encoding="utf-8", errors="replace").strip()
    return found


def witness() -> str | None:
    """Return the absolute path of the witness to the noise, which is built beside the workers; None: there is none."""
    for folder in _places():
        path = (folder.parent if folder.is_file() else folder) / WITNESS
        if path.is_file() and os.access(path, os.X_OK):
            return str(path.absolute())
    return None


def _places() -> list[Path]:
    named = [Path(each) for each in os.environ.get("MIDDLEMARK_WORKERS", "").split(os.pathsep) if each]
    own = [Path(__file__).parent / "bin"]
    return named + own + [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep) if each]


def describe(named: tuple[str, str]) -> Worker | BrokenWorker:
    """Ask one worker for its description; what goes wrong is in the answer."""
    name, path = named
    try:
        answer = subprocess.run(
            [path, "--describe"], stdin=subprocess.DEVNULL, capture_output=True, timeout=DESCRIBE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return BrokenWorker(name, path, f"did not describe itself within {DESCRIBE_S:g} s")
    except OSError as error:
        return BrokenWorker(name, path, f"cannot be started: {error.strerror}")
    if answer.returncode != 0:
        words = answer.stderr.decode(errors="replace").strip()[-300:]
        return BrokenWorker(name, path, f"--describe ended with status {answer.returncode}: {words}")
    try:
        description = _DECODER.decode(answer.stdout)
    except msgspec.DecodeError as error:
        return BrokenWorker(name, path, f"--describe: {error}")
    if description.protocol != PROTOCOL:
        return BrokenWorker(name, path, f"speaks protocol {description.protocol}, not {PROTOCOL}: build it anew")
    return Worker(path, description)
