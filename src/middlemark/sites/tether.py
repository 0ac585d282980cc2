"""What runs on a host on behalf of a coordinator elsewhere: a Dask process that ends when the SSH connection does.

``prepare`` puts the run's keys into a folder of this user's alone; ``FOLDER -m distributed.cli.dask_spec …`` is how
Dask's own SSH deployment starts its scheduler and workers, with this before it; ``clear FOLDER`` takes the keys away.
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
    """What ``prepare`` reads, in PEM; file name → content."""

    files: dict[str, str]


class Prepared(msgspec.Struct, frozen=True):
    """What it answers."""

    folder: str
    middlemark: str
    distributed: str


def prepare() -> int:
    """Write the keys, 0600 in a folder that is 0700."""
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
    """Remove that folder of keys, and what trials of dead processes have left."""
    if Path(folder).name.startswith(FOLDER):
        shutil.rmtree(folder, ignore_errors=True)
    clear_abandoned()


def run(folder: str, arguments: list[str]) -> None:
    """Run Dask until it ends, or until stdin does."""
    import dask
    from distributed.cli.dask_spec import main as run_dask

    dask.config.set({"temporary-directory": folder})

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
    """Do what the arguments say."""
    match sys.argv[1:]:
        case ["prepare"]:
            return prepare()
        case ["clear", folder]:
            clear(folder)
        case [folder, "-m", "distributed.cli.dask_spec", *arguments]:
            run(folder, arguments)
        case _:
            print("this is started by Middlemark on another machine", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
