"""Read RTI's perftest as CSV (its default since 3.1) and as text (before 3.1, later ``-outputFormat legacy``).

Both formats become the objects that ``-outputFormat json`` prints, with times in µs.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from middlemark.imports.lines import Lines, number, whole
from middlemark.imports.log import Log, LogFormat
from middlemark.imports.rtiperftest import FORMS, TOOL, PrintedIntervals, measured_of

_US = {"ns": 1e-3, "us": 1.0, "μs": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_CSV_HEADING = re.compile(rb"(?:Length|Sample Size) \(Bytes\), *[A-Z].*")
_CSV_TITLE = re.compile(
    rb"(?:Intervals One-way Latency|Interval Throughput) for \d+ Bytes:|(?:One-way Latency|Throughput) Summary:"
)
_CSV_ROW = re.compile(rb"[\d., ]+")
_CSV_KNOWN = re.compile(rb"^(?:Length|Sample Size) \(Bytes\), *(?:Latency|Ave|Total Samples|Ave Samples)\b", re.M)

_COLUMNS = {
    "Latency": "latency",
    "Ave": "latency_ave",
    "Std": "latency_std",
    "Min": "latency_min",
    "Max": "latency_max",
    "50%": "latency_50",
    "90%": "latency_90",
    "99%": "latency_99",
    "99.99%": "latency_99.99",
    "Serialization": "serialize",
    "Deserialization": "deserialize",
    "Total Samples": "packets",
    "Samples/s": "packets/s",
    "Ave Samples/s": "packets/sAve",
    "Ave Mbps": "mbpsAve",
    "Lost Samples": "lost",
    "CPU (%)": "cpu",
}
"""The name of a column in the CSV, without its unit, → the key in the JSON."""

_LEGACY_HEADING = re.compile(rb"\*{10} New data length is (\d{1,12})")
_PAIR = re.compile(r"(Ave|Std|Min|Max|50%|90%|99%|99\.99%|99\.9999%|CPU) +(\d{1,12}(?:\.\d{1,9})?) *(us|ns|\(%\))?")
_LEGACY_PING = re.compile(r"One way Latency: +(\d{1,12}) (us|ns) +(Ave .*)")
_LEGACY_PINGS = re.compile(r"Length: +(\d{1,12}) +Latency: (Ave .*)")
_LEGACY_STREAM = re.compile(
    r"(?:Length: +(\d{1,12}) +)?Packets: +(\d{1,15}) +(?:Packets/s: +(\d{1,15}) +)?Packets/s\(ave\): +(\d{1,15}) +"
    r"(?:Mbps: +[\d.]+ +)?Mbps\(ave\): +(\d{1,12}(?:\.\d{1,9})?) +Lost: +(\d{1,15}) \([\d.]+%\)"
    r"(?: +CPU:? +(\d{1,9}(?:\.\d{1,9})?) ?\(?%\)?)?"
)
_LEGACY_SERIALIZATION = re.compile(
    r"Serialization/Deserialization: (\d{1,9}\.\d{1,9}) us / (\d{1,9}\.\d{1,9}) us / TOTAL: [\d.]+ us"
)
_LEGACY_KNOWN = re.compile(
    rb"^(?:\*{10} New data length is \d|One way Latency: +\d+ [un]s +Ave |Length: +\d+ +(?:Latency: Ave|Packets: +\d))",
    re.M,
)


class _Documents:
    """The objects of the JSON. Each data length has one object, in the order of the log."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def _of(self, length: int, *, begins: bool) -> dict[str, Any]:
        last = self.found[-1] if self.found else None
        if last is None or begins or last["length"] != length:
            last = {"length": length, "intervals": PrintedIntervals(), "summary": None}
            self.found.append(last)
        return last

    def begin(self, length: int) -> None:
        self._of(length, begins=True)

    def interval(self, length: int, figures: Mapping[str, float]) -> None:
        last = self.found[-1] if self.found else None
        self._of(length, begins=last is not None and last["summary"] is not None)["intervals"].add(figures)

    def summary(self, length: int, figures: Mapping[str, float]) -> None:
        last = self.found[-1] if self.found else None
        of = self._of(length, begins=last is not None and last["summary"] is not None)
        of["summary"] = dict(figures)

    def log(self, lines: Lines) -> Log:
        trials = tuple(trial for each in self.found if (trial := measured_of(each)) is not None)
        return lines.log(trials)


def _read_csv(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    documents = _Documents()
    keys: list[tuple[str, float]] = []
    for index, line in lines.each():
        if _CSV_HEADING.fullmatch(line):
            keys = [_key(each) for each in line.decode(errors="replace").split(",")[1:]]
        elif keys and _CSV_ROW.fullmatch(line):
            if not _csv_row(documents, keys, line):
                lines.refuse(index, line)
        elif _CSV_TITLE.fullmatch(line) is None:
            lines.refuse(index, line)
    return documents.log(lines)


def _key(heading: str) -> tuple[str, float]:
    """Return the key of a column, and the factor that converts its figures to µs. An unknown column has no key."""
    name, _, unit = heading.strip().partition(" (")
    if heading.strip() in _COLUMNS:
        return _COLUMNS[heading.strip()], 1.0
    unit = unit.rstrip(")")
    # A second column of losses has their share in per cent.
    return (_COLUMNS.get(name, ""), _US[unit]) if unit in _US else ("" if unit else _COLUMNS.get(name, ""), 1.0)


def _csv_row(documents: _Documents, keys: list[tuple[str, float]], line: bytes) -> bool:
    length, *fields = line.split(b",")
    if len(fields) != len(keys):
        return False
    try:
        figures = {key: scale * number(each) for (key, scale), each in zip(keys, fields, strict=True) if key}
        size = whole(length.strip())
    except ValueError:
        return False
    if "latency" in figures or "packets/s" in figures:
        documents.interval(size, figures)
    else:
        documents.summary(size, figures)
    return True


def _read_legacy(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    documents = _Documents()
    length = 0
    for index, line in lines.each():
        text = line.decode(errors="replace")
        if heading := _LEGACY_HEADING.fullmatch(line):
            length = int(heading[1])
            documents.begin(length)
        elif ping := _LEGACY_PING.fullmatch(text):
            documents.interval(length, {"latency": float(ping[1]) * _US[ping[2]], **_pairs(ping[3])})
        elif pings := _LEGACY_PINGS.fullmatch(text):
            documents.summary(int(pings[1]), _pairs(pings[2]))
        elif stream := _LEGACY_STREAM.fullmatch(text):
            of, packets, now, average, mbps, lost, cpu = stream.groups()
            figures = {
                "packets": float(packets),
                "packets/sAve": float(average),
                "mbpsAve": float(mbps),
                "lost": float(lost),
            }
            if cpu:
                figures["cpu"] = float(cpu)
            if now is not None:
                documents.interval(length, {**figures, "packets/s": float(now)})
            else:
                documents.summary(int(of or length), figures)
        elif (took := _LEGACY_SERIALIZATION.fullmatch(text)) and documents.found and documents.found[-1]["summary"]:
            documents.found[-1]["summary"] |= {"serialize": float(took[1]), "deserialize": float(took[2])}
        else:
            lines.refuse(index, line)
    return documents.log(lines)


def _pairs(text: str) -> dict[str, float]:
    """Return the figures of a line of the legacy text, in µs."""
    return {
        _COLUMNS.get(name, _COLUMNS.get(f"{name} (%)", name)): float(value) * _US.get(unit or "", 1.0)
        for name, value, unit in _PAIR.findall(text)
    }


CSV = LogFormat("rtiperftest's CSV", TOOL, _CSV_KNOWN, _read_csv, FORMS[1:3])
LEGACY = LogFormat("rtiperftest's text", TOOL, _LEGACY_KNOWN, _read_legacy, FORMS[3:])
