"""Open and read regular files without blocking.

A path may also be a pipe that blocks, a device without an end, or a folder. These are refused.
"""

import errno
import hashlib
import os
import stat
from pathlib import Path


def open_regular(path: Path, flags: int = os.O_RDONLY) -> int:
    """Return a descriptor of a regular file. Never blocks. Raises OSError, also if the path is no regular file."""
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, or a pipe that nobody reads
            raise _not_regular(path) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise _not_regular(path)


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file. Raises OSError, also if the file has more than ``most_bytes``."""
    with os.fdopen(open_regular(path), "rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"has more than {most_bytes:,} bytes", str(path))
    return content


def digest_of(path: str | Path) -> str:
    """Return the SHA-256 of a file. Raises OSError."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _not_regular(path: Path) -> OSError:
    return OSError(errno.EINVAL, "is not a regular file", str(path))
