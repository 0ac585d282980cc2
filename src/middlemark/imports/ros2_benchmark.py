"""Read the JSON of NVIDIA's ros2_benchmark: the frame rate and latency of a graph, at several publishing rates."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from middlemark.imports.columns import Form, PrintedColumn, summary_columns
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, imported_warning
from middlemark.imports.objects import Objects, count, documents, figure, text_of, word
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import Summary, Times

TOOL = "ros2_benchmark"
_PREFIX = "BasicPerformanceMetrics."
_LATENCIES = {"MEAN_LATENCY": "mean", "MAX_LATENCY": "max", "MIN_LATENCY": "min"}
FORM = Form(
    tool=TOOL,
    versions="0.30 to 4.5",
    known_by=f'"{_PREFIX}…',
    source="ros2_benchmark/ros2_benchmark/basic_performance_calculator.py at v0.30.0-dp to v4.5-0",
    columns=(
        *summary_columns("one way", "ms", "run", "one_way_from_sent", _LATENCIES),
        PrintedColumn("MEAN_FRAME_RATE", "rate", "1/s", "run", "received"),
        PrintedColumn("MEAN_PLAYBACK_FRAME_RATE", "rate", "1/s", "run", "sent"),
        PrintedColumn("NUM_FRAMES_SENT", "count", "", "run", "sent", "the mean over the iterations"),
        PrintedColumn("NUM_MISSED_FRAMES", "count", "", "run", "lost", "the mean over the iterations"),
        PrintedColumn("FIRST_SENT_RECEIVED_LATENCY", "other", "ms", "run", "", "may be of two different frames"),
        PrintedColumn("…_JITTER", "other", "ms", "run", "", "no latency"),
    ),
)
_KNOWN = re.compile(rb'"BasicPerformanceMetrics\.[A-Z_]+"\s*:')
_MOST_DEEP = 8


def _read(blocks: Iterable[bytes]) -> Log:
    measured = []
    objects = Objects()
    for each in documents(text_of(blocks)):
        rows = [*_rows(each, "", 0)] if isinstance(each, dict) else []
        if not rows:
            objects.number += 1
            objects.refuse(each if isinstance(each, str) else "the object has no frame rate")
        metadata = each.get("metadata") if isinstance(each, dict) else None
        name = word(metadata.get("BenchmarkMetadata.NAME")) if isinstance(metadata, dict) else ""
        for path, row in rows:
            objects.number += 1
            measured.append(_measured(name, path, row))
    return objects.log(measured)


def _rows(value: Mapping[str, Any], path: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each object with a frame rate, with its path: a fixed rate (``30.0fps``) or the prefix of a monitor."""
    if figure(value.get(f"{_PREFIX}MEAN_FRAME_RATE")) is not None:
        yield path, value
    for key, inner in value.items():
        if isinstance(inner, dict) and depth < _MOST_DEEP:
            yield from _rows(inner, f"{path} {key}".strip()[:100], depth + 1)


def _measured(name: str, path: str, row: Mapping[str, Any]) -> ImportedTrial:
    def of(key: str) -> float | None:
        return figure(row.get(f"{_PREFIX}{key}"))

    fixed = re.search(r"(\d{1,9}(?:\.\d{1,9})?)fps", path)
    rate = float(fixed[1]) if fixed else None
    named = " ".join(filter(None, (name, path)))[:100]
    where = cell(f"ROS2 ({TOOL})", 0, "stream", native=(("benchmark", named),) if named else (), rate=rate or None)
    times = {field: value * FORM[key].ns for key, field in _LATENCIES.items() if (value := of(key)) is not None}
    sent, lost = count(of("NUM_FRAMES_SENT")), count(of("NUM_MISSED_FRAMES"))
    counts = None
    if sent is not None and lost is not None and lost <= sent:
        counts = TrialCounts(sent=sent, received=sent - lost, lost=lost)
    hz = of("MEAN_FRAME_RATE")
    return ImportedTrial(
        cell=where,
        times=Times(one_way_from_sent_ns=Summary(**times)) if times else Times(),
        samples=counts.received if counts else 0,
        counts=counts,
        counted=("sent", "received", "lost") if counts else (),
        rate_hz=hz,
        rate_total_hz=hz,
        sent_hz=of("MEAN_PLAYBACK_FRAME_RATE"),
        warnings=(imported_warning(where), _GRAPH),
    )


_GRAPH = RunWarning(
    "graph-included",
    "ros2_benchmark measures a whole graph: its latency includes the work of the nodes, and the figures are means over "
    "iterations without the best and the worst one",
    "do not compare it with the time of a message alone",
)

FORMAT = LogFormat("ros2_benchmark's JSON", TOOL, _KNOWN, _read, (FORM,))
