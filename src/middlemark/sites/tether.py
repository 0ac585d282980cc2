"""A program that runs on a host for a coordinator elsewhere: it starts Dask, which ends with the SSH connection.

``prepare`` writes the run's keys to a private folder. ``FOLDER -m distributed.cli.dask_spec …`` is the command with
which Dask's SSH deployment starts its scheduler and its workers. ``clear FOLDER`` removes the keys.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from importlib import metadata
from pathlib import Path

import msgspec

from middlemark import __version__
from middlemark.sites.residue import clear_abandoned

FOLDER = "middlemark-keys-"
PATIENCE_S = 5.0


class Keys(msgspec.Struct, frozen=True):
    """The input of ``prepare``: file name → the file's content in PEM."""

    files: dict[str, str]


class Prepared(msgspec.Struct, frozen=True):
    """The answer of ``prepare``."""

    folder: str
    middlemark: str
    distributed: str


def prepare() -> int:
    """Write the keys with mode 0600 into a folder with mode 0700."""
    keys = msgspec.json.decode(sys.stdin.buffer.read(), type=Keys)
    try:
        distributed = metadata.version("distributed")
    except metadata.PackageNotFoundError:
        print("No module named 'distributed'", file=sys.stderr)
        return 1
    folder = tempfile.mkdtemp(prefix=FOLDER)
    for name, content in keys.files.items():
        with open(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(content)
    print(msgspec.json.encode(Prepared(folder, __version__, distributed)).decode())
    return 0


def clear(folder: str) -> None:
    """Remove the folder of keys, and the leftovers of the trials of dead launchers."""
    if Path(folder).name.startswith(FOLDER):
        shutil.rmtree(folder, ignore_errors=True)
    clear_abandoned()


def run(folder: str, arguments: list[str]) -> None:
    """Run Dask until it ends or until stdin closes."""
    import dask
    from distributed.cli.dask_spec import main as run_dask

    dask.config.set({"temporary-directory": folder})
    # Let Python look for the temporary folder now, because its first look writes a file there. Otherwise clear() would
    # be the first to look, while Dask ends and kills its scheduler. A kill at that moment would leave the file.
    tempfile.gettempdir()

    def end_with_stdin() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE_S)
        clear(folder)
        os._exit(1)

    threading.Thread(target=end_with_stdin, daemon=True).start()
    try:
        run_dask(arguments)
    finally:
        clear(folder)


def main() -> int:
    """Run the command that the arguments name."""
    match sys.argv[1:]:
        case ["prepare"]:
            return prepare()
        case ["clear", folder]:
            clear(folder)
        case [folder, "-m", "distributed.cli.dask_spec", *arguments]:
            run(folder, arguments)
        case _:
            print("this program is started by Middlemark from another machine", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
