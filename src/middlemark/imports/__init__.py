"""Logs of other tools, from lines to values: one module for each tool. Pure: the caller reads the files."""

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
