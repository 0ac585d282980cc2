"""The end of the way: stdout, which may be a pipe whose reader has gone, a full disk, or nothing at all; and files."""

import contextlib
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
from msgspec.structs import replace

from middlemark.show import View


def is_terminal() -> bool:
    """Whether stdout is one (it may be closed: ``>&-``)."""
    return sys.stdout is not None and sys.stdout.isatty()


def width() -> int:
    """Return the columns that a text on stdout may have: the terminal's, or what reads well in a pipe."""
    return shutil.get_terminal_size((100, 24)).columns if is_terminal() else 100


def view(wanted: View) -> View:
    """Return how a document is shown on stdout: as wide as it, and in colour where it has colours."""
    return replace(wanted, width=width(), colour=is_terminal() and "NO_COLOR" not in os.environ)


def write(text: str) -> str | None:
    """Write the text to stdout. Returns why that was not possible; a reader that has gone (``| head``) is no reason."""
    if sys.stdout is None:
        return None
    try:
        click.echo(text, nl=False, color=True)
        sys.stdout.flush()
    except BrokenPipeError:
        discard()
    except OSError as error:
        discard()
        return f"the output cannot be written: {error.strerror or error}"
    return None


def write_facts(*pairs: tuple[str, str]) -> str | None:
    """Write names, each with its paragraph, to stdout; return as ``write`` does."""
    from middlemark.document.table import facts
    from middlemark.show.terminal import printed, terminal

    return write(printed(terminal(facts(*pairs), width()), View(width=width())))


def discard() -> None:
    """Send what is still buffered nowhere: the interpreter's flush at its end would fail again, in its own words."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def write_whole(path: Path, text: str, *, named: bool = True) -> None:
    """Write the text in place of what was there, all of it or nothing.

    A pipe or a terminal that somebody ``named`` is written to as it is; of another, nobody may be reading.
    Raises OSError; the file is then as it was, and nothing is left beside it.
    """
    if path.exists() and not path.is_file():
        if not named:
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        path.write_text(text, encoding="utf-8")
        return
    there = Path(os.path.realpath(path))  # a link stays one: what it points to is written
    draft = there.with_name(f".{there.name}.{os.getpid()}.new")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(there)
    finally:  # whatever happened, a Ctrl-C too
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def make_whole(folder: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder of files, all of them or none; ``fill`` writes them. Raises OSError, also where it is there."""
    if folder.exists():
        raise FileExistsError(errno.EEXIST, "is there already", str(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        fill(draft)
        draft.chmod(0o755)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def tell(text: str) -> None:
    """Say on stderr what is not part of the result."""
    click.echo(f"middlemark: {text}", err=True)
