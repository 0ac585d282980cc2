"""Load the requested suites: by name, from this checkout or package, or by path."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from middlemark.model.cell import FACTORS
from middlemark.model.spelling import listing, nearest
from middlemark.problems import Problem, RequestError
from middlemark.suite.expect import read_typed_expectations, same_ids
from middlemark.suite.overrides import COMMAND_LINE, read_native, read_only, read_options
from middlemark.suite.read import make_sweep, read_document, read_suite
from middlemark.suite.sweep import RawOptions, Suite
from middlemark.suite.table import Table
from middlemark.suite.user_files import read_typed

DEFAULT_SUITE = "first-look"


def load(names_or_paths: Sequence[str], options: RawOptions) -> tuple[Suite, ...]:
    """Return the requested suites, with the options applied to every sweep.

    Without a suite, but with a factor as an option, the request is a suite with one sweep, ``command-line``. Without a
    suite and such an option, the request is ``first-look``. Raises RequestError with all problems of all suites and
    options.
    """
    given, seed, problems = read_options(options)
    typed_native, wrong = read_native(options.native)
    problems += wrong
    typed_files, wrong = read_typed(options.config)
    typed_native += typed_files
    problems += wrong
    problems += read_only(options.only)[1]
    expected, wrong = read_typed_expectations(options.expect)
    problems += wrong
    suites: list[Suite] = []
    asked_factors = any(name in FACTORS for name in options.keys)
    if not names_or_paths and asked_factors:
        sweep, wrong = make_sweep(COMMAND_LINE, given, {}, None, expected=bool(expected))
        problems += wrong
        suites.append(Suite(name="command-line", place=COMMAND_LINE, sweeps=(sweep,)))
    for name in dict.fromkeys(names_or_paths or (() if asked_factors else (DEFAULT_SUITE,))):
        suite, wrong = _load_one(name, given, bool(expected))
        problems += wrong
        if suite is not None:
            suites.append(suite)
    named, wrong = same_ids([*(each for suite in suites for each in suite.expectations), *expected])
    problems += wrong
    problems = list(dict.fromkeys(problems))  # every sweep reports the same wrong option
    if seed is None and len({suite.seed for suite in suites if suite.seed is not None}) > 1:
        problems.append(Problem("--seed", "these suites have different seeds; choose one with --seed N"))
    if problems:
        raise RequestError(problems)
    suites = [msgspec.structs.replace(suite, expectations=()) for suite in suites]
    suites[-1] = msgspec.structs.replace(suites[-1], expectations=named)
    if seed is not None:
        suites = [msgspec.structs.replace(suite, seed=seed) for suite in suites]
    if typed_native:
        suites = [
            msgspec.structs.replace(
                suite, sweeps=tuple(msgspec.structs.replace(each, typed_native=typed_native) for each in suite.sweeps)
            )
            for suite in suites
        ]
    return tuple(suites)


def available() -> list[tuple[str, str, str]]:
    """Return (name, path, description) of every suite in Middlemark, sorted by name."""
    found = []
    for name, path in suite_files().items():
        document, problems, _ = read_document(path, shown_path(path))
        described = (document or {}).get("description", "")
        text = " ".join(described.split()) if isinstance(described, str) else ""
        found.append((name, shown_path(path), f"cannot be read: {problems[0]}" if problems else text))
    return found


def _load_one(name: str, options: Table, expected: bool) -> tuple[Suite | None, list[Problem]]:
    path = find_suite(name)
    if isinstance(path, str):
        return None, [Problem(name if name.endswith(".toml") or "/" in name else f"suite '{name}'", path)]
    place = shown_path(path)
    document, problems, text = read_document(path, place)
    if document is None:
        return None, problems
    return read_suite(document, path.stem, place, path.parent, options, text, expected)


def folder_of(name: str) -> Path | None:
    """Return Middlemark's folder ``suites`` or ``studies``; None: this installation has no such folder."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[1]
    for folder in (package / name, checkout / name):
        # Only a checkout has src/middlemark. In an installation, a folder "suites" beside site-packages is not ours.
        if folder.is_dir() and (folder.parent == package or package.parent.name == "src"):
            return folder
    return None


def suite_files() -> dict[str, Path]:
    """Return name → file for the suites that Middlemark provides, sorted by name."""
    folder = folder_of("suites")
    return {path.stem: path for path in sorted(folder.glob("*.toml"))} if folder else {}


def find_suite(name: str) -> Path | str:
    """Return the file of a suite, or a text with the reason why there is no file.

    ``name``: a path if it ends in .toml or contains a slash, else the name of a suite.
    """
    files = suite_files()
    if name.endswith(".toml") or "/" in name:
        path = Path(name)
        with contextlib.suppress(OSError, ValueError):  # reading the file raises a better error
            try:
                path.stat()
            except FileNotFoundError:
                return _no_file(path, files)
        return path
    if name in files:
        return files[name]
    near = nearest(name, files)
    question = f" (did you mean '{near}'?)" if near else ""
    names = f"available: {listing(files)}" if files else "none is installed"
    in_folder = f"; for the file in this folder write './{name}.toml'" if Path(f"{name}.toml").is_file() else ""
    return f"no suite has this name{question}; {names}{in_folder}"


def _no_file(path: Path, files: Mapping[str, Path]) -> str:
    """Return the error text about a path that does not exist, with similar files and the names of the suites."""
    there = sorted(str(each) for each in path.parent.glob("*.toml"))
    if path.stem in files:
        return f"there is no such file; write the suite of this name without a path: {path.stem}"
    near = nearest(str(path), there)
    hint = f"did you mean {near}?" if near else f"{path.parent}/ contains {listing(there) or 'no file *.toml'}"
    return f"there is no such file; {hint}; named suites: {listing(files)}"


def shown_path(path: Path) -> str:
    """Return the path as a person would type it: relative if the path is below the current folder."""
    absolute = os.path.abspath(path)
    try:
        relative = os.path.relpath(absolute)
    except (OSError, ValueError):
        return absolute
    return absolute if relative.startswith("..") else relative
