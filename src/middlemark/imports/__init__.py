"""What others wrote: the logs of other tools, one file a tool, from lines to values. Pure: who reads files calls it."""

from middlemark.imports.assemble import SUITE, assemble
from middlemark.imports.find import FORMATS, HEAD_BYTES, find, is_ours, refusal
from middlemark.imports.log import Format, Log, NotRead, how_many_unread

__all__ = [
    "FORMATS",
    "HEAD_BYTES",
    "SUITE",
    "Format",
    "Log",
    "NotRead",
    "assemble",
    "find",
    "how_many_unread",
    "is_ours",
    "refusal",
]
