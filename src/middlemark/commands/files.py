"""Files that are whole or as they were before."""

import contextlib
import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write the text in place of what was there, all of it or nothing; a pipe or a terminal is written to as it is.

    Raises OSError; the file is then as it was, and nothing is left beside it.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    there = path.resolve()  # a link stays one: what it points to is written
    draft = there.with_name(f".{there.name}.{os.getpid()}.new")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(there)
    finally:  # whatever happened, a Ctrl-C too
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
