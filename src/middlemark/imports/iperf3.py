"""Read ``iperf3 --json``: the throughput of a link. The messages of a row are the writes of ``blksize`` bytes."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from middlemark.imports.columns import Form, PrintedColumn
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, imported_warning
from middlemark.imports.objects import Objects, count, documents, figure, text_of, word
from middlemark.imports.plausible import differ
from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, RunWarning, TrialCounts

TOOL = "iperf3"
FORM = Form(
    tool=TOOL,
    versions="3.1 and later, --json",
    known_by='"test_start": {',
    source="src/iperf_api.c at 3.1 to 3.21",
    columns=(
        PrintedColumn("blksize", "other", "bytes", "run", "size", "of a write; of a datagram over UDP"),
        PrintedColumn("sum_received.bits_per_second", "rate", "bit/s", "run", "received", "TCP"),
        PrintedColumn("sum_sent.bits_per_second", "rate", "bit/s", "run", "sent"),
        PrintedColumn("sum.bits_per_second", "rate", "bit/s", "run", "sent", "UDP: before loss"),
        PrintedColumn("sum.packets", "count", "", "run", "sent", "UDP; the received are packets without lost_packets"),
        PrintedColumn("sum.lost_packets", "count", "", "run", "lost", "UDP"),
        PrintedColumn("jitter_ms", "other", "ms", "run", "", "no latency"),
    ),
)
_KNOWN = re.compile(rb'"test_start"\s*:\s*\{')


def _read(blocks: Iterable[bytes]) -> Log:
    measured = []
    objects = Objects()
    for objects.number, each in enumerate(documents(text_of(blocks)), start=1):
        found = _measured(each) if isinstance(each, dict) else None
        if found is not None:
            measured.append(found)
        else:
            objects.refuse(each if isinstance(each, str) else "the log has no sums at its end")
    return objects.log(measured)


def _table(value: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    for key in path:
        found = value.get(key)
        value = found if isinstance(found, dict) else {}
    return value


def _measured(document: Mapping[str, Any]) -> ImportedTrial | None:
    test, end = _table(document, "start", "test_start"), _table(document, "end")
    size, protocol = count(test.get("blksize")) or 0, word(test.get("protocol")).lower() or "unknown protocol"
    where = cell(f"{protocol} (iperf3)", size, "stream", topics=1, publishers=count(test.get("num_streams")) or None)
    error = document.get("error")
    if isinstance(error, str):
        failure = Failure("imported", f"iperf3 failed: {error[:200]}", "fix the reason, and run it again")
        return ImportedTrial(cell=where, failed=failure)
    if not size:
        return None
    return _datagrams(where, _table(end, "sum")) if protocol == "udp" else _bytes(where, end)


def _datagrams(where: Cell, total: Mapping[str, Any]) -> ImportedTrial | None:
    seconds, packets, lost = figure(total.get("seconds")), count(total.get("packets")), count(total.get("lost_packets"))
    if not seconds or packets is None or lost is None or lost > packets:
        return None
    rate = (packets - lost) / seconds
    return ImportedTrial(
        cell=where,
        counts=TrialCounts(sent=packets, received=packets - lost, lost=lost),
        counted=("sent", "received", "lost"),
        rate_hz=rate,
        rate_total_hz=rate,
        sent_hz=packets / seconds,
        warnings=(
            imported_warning(where),
            *_bits(total),
            *_doubt("its bytes", figure(total.get("bytes")), "datagrams × size", float(packets * where.size)),
            *_doubt(
                "its lost percentage", figure(total.get("lost_percent")), "lost ÷ all", 100 * lost / (packets or 1)
            ),
        ),
    )


def _bits(total: Mapping[str, Any]) -> tuple[RunWarning, ...]:
    """Return a warning if the rate does not fit the bytes and the seconds."""
    seconds, sent = figure(total.get("seconds")), figure(total.get("bytes"))
    by_bytes = None if not seconds or sent is None else 8 * sent / seconds
    return _doubt("its bit/s", figure(total.get("bits_per_second")), "bytes × 8 ÷ seconds", by_bytes)


def _doubt(name: str, value: float | None, of_what: str, other: float | None) -> tuple[RunWarning, ...]:
    return () if value is None or other is None else differ(name, value, of_what, other)


def _bytes(where: Cell, end: Mapping[str, Any]) -> ImportedTrial | None:
    received, sent = (figure(_table(end, each).get("bits_per_second")) for each in ("sum_received", "sum_sent"))
    if received is None:
        return None
    rate = received / 8 / where.size
    writes = RunWarning(
        "bytes-not-messages",
        f"a TCP connection has no messages: its messages/s are bytes/s by writes of {where.size:,} bytes",
        "compare MB/s",
    )
    return ImportedTrial(
        cell=where,
        rate_hz=rate,
        rate_total_hz=rate,
        sent_hz=None if sent is None else sent / 8 / where.size,
        warnings=(
            imported_warning(where),
            writes,
            *_bits(_table(end, "sum_received")),
            *_bits(_table(end, "sum_sent")),
        ),
    )


FORMAT = LogFormat("iperf3's --json", TOOL, _KNOWN, _read, (FORM,))
