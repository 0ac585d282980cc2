"""``middlemark build``: builds the workers of this checkout, or an adapter against another version of a middleware."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import click

from middlemark import exits, interrupts
from middlemark.commands.page import argument, option, page
from middlemark.model.description import Worker
from middlemark.model.version import adapter_of
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.workers.find import BUILDER, PREFIX, checkout_adapters, describe, executables, left_out
from middlemark.workers.later import build_again

CHECKOUT = Path(__file__).parents[3]
GROUPS = {"ros2": ("rcl", "rclpy", "fastdds")}
"""Names for several adapters. The adapters of `ros2` share the ROS 2 that MIDDLEMARK_ROS2 names, or a sourced ROS 2. If
wheels are installed, fastdds is also built with their Fast DDS."""


def _adapters(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    return sorted(name for name in {*checkout_adapters(), *GROUPS} if name.startswith(typed))


def _members(names: Sequence[str]) -> list[str]:
    """Return the adapters with these names.

    A group's name is replaced by the adapters of the group in this checkout.
    """
    members = [each for name in names for each in GROUPS.get(name, (name,))]
    in_groups = {each for group in GROUPS.values() for each in group} - set(names)
    return [each for each in members if each not in in_groups or (CHECKOUT / "adapters" / each).is_dir()]


@page(
    "build",
    ("build", "every adapter whose middleware is installed"),
    ("build zenoh ros2", "zenoh, and ROS 2 from PyPI with its adapters"),
    ("build cyclonedds --prefix /opt/cyclonedds-11 --as 11", "makes the adapter cyclonedds@11"),
)
@argument(
    "adapters",
    metavar="[ADAPTER]…",
    nargs=-1,
    shell_complete=_adapters,
    says="Adapters (default: every adapter whose middleware is installed).",
)
@option(
    "--prefix",
    metavar="FOLDER",
    group="What is measured",
    help="Another installation of the middleware: the folder with include/ and lib/.",
)
@option(
    "--as",
    "label",
    metavar="VERSION",
    group="What is measured",
    default_text="the version that the library reports",
    help="The version in the name ADAPTER@VERSION.",
)
@option(
    "--clear-cache",
    is_flag=True,
    group="Machine",
    help="Remove ~/.cache/middlemark/cargo, the compiled crates that all checkouts share.",
)
def command(adapters: tuple[str, ...], prefix: str | None, label: str | None, clear_cache: bool) -> int:
    """Build the adapters and print the path of each worker; return the exit code."""
    if clear_cache:
        return _clear_cache()
    if prefix is None:
        return _build_here(_members(adapters), label)
    if len(adapters) != 1:
        raise RequestError([Problem("--prefix", "names the installation of one middleware; name one adapter")])
    return _build_version(adapters[0], Path(prefix).absolute(), label)


def _clear_cache() -> int:
    """Remove the cache of crates that cmake/MiddlemarkRust.cmake shares between all checkouts."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "middlemark" / "cargo"
    if cache.is_dir():
        shutil.rmtree(cache)
        click.echo(f"removed {cache}; the next build of an adapter in Rust compiles its crates again")
    else:
        click.echo(f"there is no {cache}")
    return exits.OK


def _build_here(adapters: Sequence[str], label: str | None) -> int:
    if label is not None:
        raise RequestError([Problem("--as", "names a build against another version; add --prefix FOLDER")])
    problems = [
        Problem(name, f"there is no adapters/{name} in {CHECKOUT}; `middlemark list adapters` lists them")
        for name in adapters
        if not (CHECKOUT / "adapters" / name / "CMakeLists.txt").is_file()
    ]
    if not os.environ.get(BUILDER):
        off = (CHECKOUT / "middlemark").is_file()
        how = f"the set-up is off; write MIDDLEMARK_SETUP=on ./middlemark {' '.join(['build', *adapters])}"
        built = "an installation cannot build workers; run ./middlemark build in a checkout"
        problems.append(Problem("build", how if off else built))
    if problems:
        raise RequestError(problems)
    build_again(adapters)
    here, absent = executables(), left_out()
    versions = [name for name in here if "@" in name and adapter_of(name) in adapters]
    for name in (*adapters, *versions) or sorted({*here, *checkout_adapters()}):
        click.echo(f"{name}: {here.get(name) or f'not built, {absent.get(name)}'}")
    return exits.OK if {adapter_of(name) for name in here} >= set(adapters) else exits.NOTHING_MEASURED


def _build_version(adapter: str, folder: Path, label: str | None) -> int:
    problems = []
    if not (CHECKOUT / "adapters" / adapter / "CMakeLists.txt").is_file():
        text = f"there is no adapters/{adapter} in {CHECKOUT}; build needs a checkout with the sources of the adapter"
        problems.append(Problem("ADAPTER", text))
    if not folder.is_dir():
        problems.append(
            Problem("--prefix", f"{folder} is no folder; name the folder of an installation, which contains lib/")
        )
    if label is not None and (not label or {"/", "@"} & set(label)):
        problems.append(Problem("--as", f"'{label}' is no version; write it like 11.0.1"))
    if problems:
        raise RequestError(problems)
    tree = CHECKOUT / "build" / "versions" / f"{adapter}{str(folder).replace('/', '-')}"
    settings = (f"-DMIDDLEMARK_ADAPTERS={adapter}", f"-DCMAKE_PREFIX_PATH={folder}", "-DCMAKE_BUILD_TYPE=Release")
    _logged(tree, "cmake", "-S", str(CHECKOUT), "-B", str(tree), "-G", "Ninja", *settings)
    _logged(tree, "cmake", "--build", str(tree), "--target", "middlemark-workers")
    built = tree / "workers" / f"{PREFIX}{adapter}"
    found = interrupts.run(describe(adapter, str(built)))
    if not isinstance(found, Worker):
        raise MeasureError(f"{built}: {found.reason}", f"the build is in {tree}")
    about = found.description
    if not Path(about.library).is_relative_to(folder):
        raise MeasureError(
            f"{adapter} found {about.title} {about.version} in {about.library}, which is not in {folder}",
            f"name the folder of an installation of {about.title} with its CMake or pkg-config files",
        )
    words = [label] if label is not None else about.version.split()
    if not words:
        raise MeasureError(f"{about.title} in {about.library} does not say its version", "add --as VERSION")
    kept = CHECKOUT / "build" / "workers" / f"{PREFIX}{adapter}@{words[0]}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    aside = kept.with_name(f".{kept.name}.new")
    shutil.copy(built, aside)
    os.replace(aside, kept)
    name = kept.name.removeprefix(PREFIX)
    click.echo(f"{name}: {about.title} {about.version}, {about.library}")
    from middlemark.show.output import say

    say(f"compare both: ./middlemark run --adapter {adapter},{name}, then ./middlemark compare RUN --by version")
    return exits.OK


def _logged(tree: Path, *command: str) -> None:
    """Run a command and append its output to build.log in ``tree``. Raises MeasureError if the command fails."""
    tree.mkdir(parents=True, exist_ok=True)
    log = tree / "build.log"
    try:
        with log.open("ab") as file:
            ended = subprocess.run(
                command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False
            )
    except FileNotFoundError:
        raise MeasureError(
            f"{command[0]} is not installed", "install CMake and Ninja; `./middlemark build` also installs them"
        ) from None
    if ended.returncode != 0:
        raise MeasureError(f"the build failed; the messages of the compiler are at the end of {log}")
