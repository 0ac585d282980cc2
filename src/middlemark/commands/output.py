"""The end of the way: text to stdout, which may be a pipe whose reader has gone, a full disk, or nothing at all."""

import contextlib
import os
import sys

import click


def is_terminal() -> bool:
    """Whether stdout is one (it may be closed: ``>&-``)."""
    return sys.stdout is not None and sys.stdout.isatty()


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


def discard() -> None:
    """Send what is still buffered nowhere: the interpreter's flush at its end would fail again, in its own words."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
