"""Read the logs of other tools: one module per tool. Pure: the caller reads the files and passes their bytes."""

from middlemark.imports.assemble import SUITE, assemble, samples_of
from middlemark.imports.find import FORMATS, HEAD_BYTES, find, is_ours, refusal
from middlemark.imports.log import Log, LogFormat, NotRead, Records, how_many_unread
from middlemark.imports.probe import FORMAT_OF_PROBE, read_probes
from middlemark.imports.probe_file import is_stamps

__all__ = [
    "FORMATS",
    "FORMAT_OF_PROBE",
    "HEAD_BYTES",
    "SUITE",
    "Log",
    "LogFormat",
    "NotRead",
    "Records",
    "assemble",
    "find",
    "how_many_unread",
    "is_ours",
    "is_stamps",
    "read_probes",
    "refusal",
    "samples_of",
]
