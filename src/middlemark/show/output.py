"""Write to stdout, which may be a closed pipe, a full disk or closed. Write files completely or not at all."""

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
from middlemark.show.wrapping import as_typed, wrap


def is_terminal() -> bool:
    """Say whether stdout is a terminal. A closed stdout (``>&-``) is no terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def width() -> int:
    """Return the width for text on stdout in columns: the terminal's, or 100 for a pipe."""
    return shutil.get_terminal_size((100, 24)).columns if is_terminal() else 100


def view(wanted: View) -> View:
    """Return the view with the width and the colours of stdout."""
    return replace(wanted, width=width(), colour=is_terminal() and "NO_COLOR" not in os.environ)


def write(text: str) -> str | None:
    """Write the text to stdout. Returns an error message or None; a closed pipe (``| head``) is no error."""
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


def failed(text: str) -> bool:
    """Write the text to stdout. If this fails, print the reason to stderr and return True."""
    unwritten = write(text)
    if unwritten is not None:
        tell(unwritten)
    return unwritten is not None


def say(text: str) -> None:
    """Print a line to stdout, with commands as the user types them."""
    click.echo(as_typed(text))


def write_facts(*pairs: tuple[str, str]) -> str | None:
    """Write each name with its paragraph to stdout; return an error message or None."""
    from middlemark.document.table import facts
    from middlemark.show.terminal import printed, terminal

    return write(printed(terminal(facts(*pairs), width()), View(width=width())))


def discard() -> None:
    """Redirect buffered output to /dev/null, so that the flush at the interpreter's exit prints no error."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def write_whole(path: Path, content: str | bytes, *, named: bool = True) -> None:
    """Replace the file's content completely or not at all.

    A pipe or a terminal is written directly if the user ``named`` it. Otherwise it is refused, because it may have no
    reader. Raises OSError: the file is then unchanged, and no temporary file remains.
    """
    written = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        if not named:
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        path.write_bytes(written)
        return
    there = Path(os.path.realpath(path))  # write to a link's target, and keep the link
    draft = there.with_name(f".{there.name}.{os.getpid()}.new")
    try:
        draft.write_bytes(written)
        draft.replace(there)
    finally:  # also after Ctrl-C
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def make_whole(folder: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder completely or not at all; ``fill`` writes its files. Raises OSError if the folder exists."""
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


def tell(text: str, advice: str = "") -> None:
    """Print a message, and ``advice`` below it, to stderr, wrapped on a terminal."""
    columns = shutil.get_terminal_size().columns if sys.stderr is not None and sys.stderr.isatty() else None
    for begin, line in (("middlemark: ", text), ("  ", advice)):
        lines = wrap(begin + line, columns - 2) if columns else [begin + as_typed(line)]
        if line:
            click.echo("\n  ".join(lines), err=True)
