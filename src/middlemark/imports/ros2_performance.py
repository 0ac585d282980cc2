"""Read the results of iRobot's ros2-performance: ``latency_all`` (a row per subscription) and ``latency_total``."""

import re
from collections.abc import Iterable, Mapping

from middlemark.imports.columns import Form, PrintedColumn, summary_columns
from middlemark.imports.lines import Lines, number, whole
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, imported_warning
from middlemark.imports.plausible import contradiction, near
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import Summary, Times
from middlemark.model.units import format_count

TOOL = "ros2-performance"
_ADAPTER = f"middleware unknown ({TOOL})"


def _form(versions: str, source: str, names: Mapping[str, str], times: Mapping[str, str]) -> Form:
    return Form(
        tool=TOOL,
        versions=versions,
        known_by=next(iter(names)),
        source=source,
        columns=(
            *(PrintedColumn(name, "count", "", "run", becomes) for name, becomes in names.items()),
            *summary_columns("one way", "us", "run", "one_way_from_sent", dict(times)),
        ),
    )


OLD = _form(
    "until January 2022",
    "performance_test/src/tracker.cpp and performance_test/src/utils/stat_logger.cpp at 6846c95",
    {"received[#]": "received", "late[#]": "late", "too_late[#]": "", "lost[#]": "lost"},
    {"mean[us]": "mean", "sd[us]": "stdev", "min[us]": "min", "max[us]": "max"},
)
NEW = _form(
    "since December 2023",
    "performance_metrics/src/tracker.cpp and performance_metrics/src/stat_logger.cpp at d47cfb2",
    {"received_msgs": "received", "late_msgs": "late", "too_late_msgs": "", "lost_msgs": "lost"},
    {"mean_us": "mean", "sd_us": "stdev", "min_us": "min", "max_us": "max"},
)

_KNOWN = re.compile(rb"^(?:node[\s,]+topic[\s,]+size(?:\[b\]|_b)|received(?:\[#\]|_msgs)[\s,]+mean)", re.M)
_HEADING = re.compile(rb"(?:node[\s,]+topic|received(?:\[#\]|_msgs))[\s,].*")
_TITLE = re.compile(rb"(Subscriptions|Publishers|Clients|Servers) stats:")
_OTHER = re.compile(rb"\[(?:INFO|WARN|DEBUG)\] .*")
_FIELDS = re.compile(rb"[,\s]+")
_UNIT = re.compile(r"\[[^%]*\]|_(?:b|msgs|us|hz)$")
"""The unit in a heading. A heading in per cent keeps its unit, because a count has the same name without it."""


def _read(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    measured = []
    names: list[str] = []
    publishers = False
    for index, line in lines.each():
        if title := _TITLE.fullmatch(line):
            publishers = title[1] == b"Publishers"
        elif _HEADING.fullmatch(line):
            names = [_UNIT.sub("", each.decode(errors="replace")) for each in _FIELDS.split(line.strip(b", "))]
        elif names:
            row = _row(names, _FIELDS.split(line.strip(b", ")))
            if row is None and _OTHER.fullmatch(line) is None:
                lines.refuse(index, line)
            elif row is not None and not publishers:  # a publisher's row has the duration of publish()
                measured.append(row)
        elif _OTHER.fullmatch(line) is None:
            lines.refuse(index, line)
    return lines.log(tuple(measured))


def _row(names: list[str], fields: list[bytes]) -> ImportedTrial | None:
    if len(fields) != len(names):
        return None
    values = dict(zip(names, fields, strict=True))
    try:
        received, late, too_late, lost = (whole(values[each]) for each in ("received", "late", "too_late", "lost"))
        size = whole(values["size"]) if "size" in values else 0
        times = {
            column.becomes.partition(".")[2]: column.ns * number(values[name])
            for column in OLD.columns
            if column.kind == "one way" and (name := _UNIT.sub("", column.name)) in values
        }
        rate = number(values["freq"]) if "freq" in values else None
    except (KeyError, ValueError):
        return None
    named = " ".join(values[each].decode(errors="backslashreplace") for each in ("node", "topic") if each in values)
    where = cell(
        _ADAPTER, size, "stream", native=(("topic", named[:100]),) if named else (), rate=rate or None,
        subscribers=1 if named else None, topics=1 if named else None,
    )  # fmt: skip
    return ImportedTrial(
        cell=where,
        times=Times(one_way_from_sent_ns=Summary(**times)) if received else Times(),
        samples=received,
        counts=TrialCounts(received=received, late=late, lost=lost),
        counted=("received", "late", "lost"),
        warnings=(
            imported_warning(where),
            _NO_QUANTILES,
            *_cut(too_late),
            *_shares(values, received, late, too_late, lost),
        ),
    )


def _shares(values: Mapping[str, bytes], received: int, late: int, too_late: int, lost: int) -> list[RunWarning]:
    """Return a warning for each printed per cent that the counts do not give."""
    found = []
    for name, part, of in (("late", late, received), ("too_late", too_late, received), ("lost", lost, received + lost)):
        text = values.get(f"{name}[%]", values.get(f"{name}_perc"))
        try:
            printed = None if text is None else number(text)
        except ValueError:  # without messages, the tool prints nan
            printed = None
        share = 100 * part / (of or 1)
        if printed is not None and not near(printed, share, _SHARE_ROUNDING):
            differs = f"{name} is printed as {printed:g} %, but its counts give {share:.4g} %"
            found.append(contradiction(differs, "the counts are used"))
    return found


_SHARE_ROUNDING = 1e-4
"""A printed per cent may differ from the counts by this number of per cents: totals are cut to four digits."""


_NO_QUANTILES = RunWarning(
    "no-quantiles",
    "ros2-performance keeps only the mean, standard deviation, minimum and maximum of its one-way latency",
    "a mean is not a median, and one stall changes it; for quantiles, measure again with Middlemark",
)


def _cut(too_late: int) -> list[RunWarning]:
    if not too_late:
        return []
    return [
        RunWarning(
            "maximum-cut",
            "its mean, standard deviation, minimum and maximum exclude messages that took longer than 50 ms or "
            f"than a period: {format_count(too_late, 'message')}",
            "the true maximum is higher than the maximum shown",
        )
    ]


FORMAT = LogFormat("ros2-performance's latency_all or latency_total", TOOL, _KNOWN, _read, (OLD, NEW))
