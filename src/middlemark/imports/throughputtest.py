"""Read Fast DDS's ThroughputTest: the table and the file of ``--export_csv``, one row per size, demand and recovery."""

import re
from collections.abc import Iterable

from middlemark.imports.columns import Form, PrintedColumn
from middlemark.imports.lines import Lines, number
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, imported_warning
from middlemark.imports.plausible import differ
from middlemark.model.outcome import RunWarning, TrialCounts

TOOL = "ThroughputTest"
_ADAPTER = "fastdds (ThroughputTest)"

# Sizes, counts and whole µs have no decimals, and rates have three. So decimal commas are recognised.
_W, _R = r" *(\d{1,12})", r" *(\d{1,12}[.,]\d{3})"
_ROW = re.compile(",".join([_W, _W, _W, _W, _W, _R, _R, _W, _W, _W, _R, _R]).encode())
_CSV = re.compile(",".join([_W, _W, _W, _W, _R, _R, _R, _W, _W, _R, _R, _R]).encode())
_CSV_HEADER = re.compile(rb"Payload \[Bytes\],Demand \[sample/burst\],Recovery time \[ms\],Sent \[samples\],.*")
_OTHER = re.compile(
    rb"\[ .*\]|\[-+,.*\]|-+|(?:Starting throughput test|(?:Publisher|Subscriber)'s clock access overhead:|Reading |"
    rb"Performing test|Payload: |Recovery times: |Pub: |Sub:? |Waiting for data discovery|Discovery data complete|"
    rb"Command: |Sending results|Last Received Sample: |Lost Samples: |Samples per second: |Test of size |"
    rb"DATA SUBSCRIBER MATCHING REMOVAL|EVERYTHING STOPPED FINE).*|\d{4}-\d\d-\d\d .*"
)
FORM = Form(
    tool=TOOL,
    versions="1.9.4 to 3",
    known_by="Bytes,Demand,Recovery Time; --export_csv",
    source="test/performance/throughput/ThroughputPublisher.cpp at v1.9.4 to v3.6.2",
    columns=(
        PrintedColumn("Sent Samples", "count", "", "run", "sent"),
        PrintedColumn("Rec Samples", "count", "", "run", "received", "all subscribers together"),
        PrintedColumn("Lost Samples", "count", "", "run", "", "gaps before the last sample that arrived"),
        PrintedColumn("Packs/sec", "rate", "1/s", "run", "sent, received", "includes the pauses between bursts"),
    ),
)
_KNOWN = re.compile(
    rb"^(?:Starting throughput test|\[ Bytes,Demand,Recovery Time\]|Payload \[Bytes\],Demand \[sample/burst\])", re.M
)


def _read(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    measured = []
    for index, line in lines.each():
        if row := _ROW.fullmatch(line) or _CSV.fullmatch(line):
            measured.append(_row([number(each) for each in row.groups()]))
        elif _CSV_HEADER.fullmatch(line) is None and _OTHER.fullmatch(line) is None:
            lines.refuse(index, line)
    return lines.log(tuple(measured))


def _row(figures: list[float]) -> ImportedTrial:
    size, demand, recovery_ms, sent, _, sent_hz, _, received, gaps, taken_us, rate_hz, mbits = figures
    doubts = (
        *differ("its received Mbit/s", mbits, "the rate times the size", rate_hz * size * 8 / 1e6),
        *differ("its received rate", rate_hz, "the received samples by their time", 1e6 * received / (taken_us or 1)),
    )
    # The tool counts only gaps before the last message that arrived. Messages lost after it are missing in the count.
    lost = int(max(sent - received, gaps))
    where = cell(
        _ADAPTER,
        int(size),
        "stream",
        publishers=1,
        topics=1,
        rate="max",
        burst=int(demand),
        recovery_s=recovery_ms / 1e3,
    )
    return ImportedTrial(
        cell=where,
        counts=TrialCounts(sent=int(sent), received=int(received), lost=lost),
        counted=("sent", "received", "lost"),
        rate_hz=rate_hz,
        rate_total_hz=rate_hz,
        sent_hz=sent_hz,
        warnings=(
            imported_warning(where),
            *doubts,
            *_beyond_gaps(lost, int(gaps)),
            *((_RESTS,) if sent > demand else ()),  # a single burst has no pause
            RunWarning(
                "subscribers-added",
                "ThroughputTest adds up the messages of all its subscribers, and the log does not say how many there "
                "were",
                "with several subscribers, divide its rate and its received messages by their number",
            ),
        ),
    )


_RESTS = RunWarning(
    "rest-included",
    "its rate includes the pauses between bursts, so it is not the highest rate",
    "for the highest rate use --rate max without a burst",
)


def _beyond_gaps(lost: int, gaps: int) -> tuple[RunWarning, ...]:
    """Return the warning if more messages were lost than the tool counted."""
    if lost <= gaps:
        return ()
    return (
        RunWarning(
            "gaps-only",
            f"{lost:,} messages were lost, but ThroughputTest counts only {gaps:,}: it does not count messages sent "
            "after the last message that arrived, nor messages that its own writer refused",
            "the tool's own figure is lower than this one",
        ),
    )


FORMAT = LogFormat("ThroughputTest's table or --export_csv", TOOL, _KNOWN, _read, (FORM,))
