"""Split blocks of a file into complete lines; damaged files are allowed. Pure: no file is opened."""

import codecs
import re
from collections.abc import Iterable, Iterator

from middlemark.imports.log import ImportedTrial, Log

LONGEST = 1 << 20
"""A longer line is dropped while it is read, and counts as not read: no tool writes such lines."""

_ENDS = bytes.maketrans(b"\r\0", b"\n\n")
"""A carriage return and the zero bytes that a crash leaves in a file also end a line."""

_COLOURS = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_PROMPT = re.compile(
    rb"\s*(?:\([^()]{1,60}\) ?)?"  # the name of a virtual environment
    rb"(?:(?:\[?[\w.+-]{1,60}@[\w.-]{1,60}[ :][^$#%>]{0,200}[$#%>]|\$|PS [A-Z]:[^>]{0,200}>)(?: |$)"
    rb"|[A-Z]:\\[^>]{0,200}>)"
)
"""A shell's prompt, with or without a command: of bash, zsh, PowerShell or cmd."""
_SHOWN = 60
MOST = 10**15
"""A number in a log must be smaller than this, whatever its unit. Otherwise it is an error."""
_DIGITS = 18


class Lines:
    """The lines of a log, in one list per block, and the number of lines that could not be read. Iterate only once.

    A text after the last line end may be incomplete (``12`` may have been ``12345``), so it counts as not read.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        """``blocks``: the bytes of a file in order, in blocks of any length."""
        self._blocks = blocks
        self.number = 0
        """The number of lines before the current list, including empty lines."""
        self.total = 0
        """The number of lines so far, including empty lines."""
        self.unread = 0
        self.prompts = 0
        """The number of lines in ``unread`` that are shell prompts."""
        self.first_unread: tuple[int, str] | None = None
        """The number, from 1, and the beginning of the first line that was not read."""

    def __iter__(self) -> Iterator[list[bytes]]:
        """Yield the lines of each block, without line ends, including empty lines."""
        rest = b""
        dropping = False
        for block in _with_one_line_end(utf8(self._blocks)):
            lines = block.translate(_ENDS).split(b"\n")
            if not dropping:
                lines[0] = rest + lines[0]
            elif len(lines) > 1:
                dropping = False
                del lines[0]
                self.number += 1
            else:
                continue
            rest = lines.pop()
            if lines:
                yield lines
                self.number += len(lines)
                self.total += len(lines)
            if len(rest) > LONGEST:
                self.refuse(0, rest)
                self.total += 1
                dropping, rest = True, b""
        if rest.strip():
            self.total += 1
            self.refuse(0, rest)

    def refuse(self, index: int, line: bytes) -> None:
        """Count a line of the current list as not read. ``index``: the line's position in the list."""
        self.unread += 1
        self.prompts += _PROMPT.match(line) is not None
        if self.first_unread is None:
            self.first_unread = (self.number + index + 1, shown(line))

    def log(self, measured: tuple[ImportedTrial, ...]) -> Log:
        """Return the log with these trials and the numbers of lines. Call it after the last line."""
        return Log(
            measured=measured,
            lines=self.total,
            unread=self.unread,
            prompts=self.prompts,
            first_unread=self.first_unread,
        )

    def each(self) -> Iterator[tuple[int, bytes]]:
        """Yield every non-empty line, stripped and without colours, with the index for ``refuse``."""
        for lines in self:
            for index, line in enumerate(lines):
                plain = _COLOURS.sub(b"", line).strip() if b"\x1b" in line else line.strip()
                if plain:
                    yield index, plain


def utf8(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Remove a byte order mark, and convert UTF-16, which Windows shells write, to UTF-8."""
    decoder = None
    begun = False
    for block in blocks:
        if not begun and block:
            begun = True
            if block[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
            elif block.startswith(codecs.BOM_UTF8):
                block = block[len(codecs.BOM_UTF8) :]  # noqa: PLW2901  the rest of the same block
        yield block if decoder is None else decoder.decode(block).encode()


def _with_one_line_end(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Replace CR LF by a line feed, also if CR ends one block and LF begins the next."""
    held = b""
    for block in blocks:
        joined = held + block
        held = b"\r" if joined.endswith(b"\r") else b""
        yield joined[: len(joined) - len(held)].replace(b"\r\n", b"\n")
    if held:
        yield held


def number(text: bytes | str) -> float:
    """Read a figure with a decimal point or, as in some locales, a decimal comma. Raises ValueError.

    ``nan``, ``inf`` and figures too large to be measured are errors.
    """
    value = float(text.replace(b",", b".") if isinstance(text, bytes) else text.replace(",", "."))
    if not abs(value) < MOST:
        raise ValueError(text)
    return value


def whole(text: bytes | str) -> int:
    """Read a count. Raises ValueError, also if the count is negative or too large."""
    value = int(text) if len(text) <= _DIGITS else -1
    if not 0 <= value < MOST:
        raise ValueError(text)
    return value


def clean(text: str) -> str:
    """Return text that can be stored as UTF-8: JSON may contain lone surrogates, which are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def shown(line: bytes) -> str:
    """Return the beginning of a line as text."""
    text = line[: 4 * _SHOWN].decode(errors="backslashreplace").strip()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
