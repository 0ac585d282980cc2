"""Read ApexAI's performance_test: CSV (settings, then one row per second) and JSON."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from middlemark.imports.columns import Form
from middlemark.imports.lines import Lines, clean, number, whole
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, imported_warning
from middlemark.imports.objects import Element, Objects, count, elements, figure, text_of
from middlemark.imports.performance_test_rates import (
    FORMS,
    JSON_FORM,
    OF_1_3,
    SINCE_2,
    UP_TO_1_1,
    CountsBack,
    CountsTally,
    PrintedSecond,
    size_of,
)
from middlemark.imports.plausible import contradiction, in_lines
from middlemark.model.outcome import Failure, RunWarning, TrialCounts
from middlemark.model.times import Summary, Times

TOOL = "performance_test"
_NS = 1e9

_CSV_KNOWN = re.compile(rb"^(?:---EXPERIMENT-START---|T_experiment,[ \t]*(?:T_loop,[ \t]*)?received,)", re.M)
_JSON_KNOWN = re.compile(rb'"analysis_results"\s*:\s*\[')
_SETTING = re.compile(rb"([A-Z][\w .()/-]{1,60}): ?(.*)")
_ENDS = re.compile(rb"(?:Maximum runtime reached|.*[Ee]xiting|Waiting for |Publishers? |Subscribers? ).*")
_BETWEEN = re.compile(rb",[ \t]+")


class _Experiment:
    """The settings of an experiment by their JSON names, and the sums of the rows (one row per second)."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.columns: list[str] = []
        self.json = False
        self.tally: CountsTally | None = None
        """The sums of the rows; None: no row was added."""

    def add(self, second: PrintedSecond) -> None:
        """Add a row. The settings come before the rows."""
        if self.tally is None:
            size = size_of(self.message)
            self.tally = CountsTally(self.form, size, self.publishers or 1, self.subscribers or 1)
        self.tally.add(second)

    @property
    def message(self) -> str:
        """The name of the message's type; empty: unknown."""
        return self.settings.get("msg_name") or self.settings.get("topic_name") or ""

    @property
    def publishers(self) -> int | None:
        """The number of publishers of the process; None: unknown.

        With 0, the rate that the process prints has no meaning.
        """
        return _whole(self.settings.get("number_of_publishers"))

    @property
    def subscribers(self) -> int | None:
        """The number of subscribers of the process; None: unknown or 0."""
        return _whole(self.settings.get("number_of_subscribers")) or None

    @property
    def form(self) -> Form:
        """The form of the output, found by version and columns."""
        if self.json:
            return JSON_FORM
        if any(each.startswith("pub_loop_res") for each in self.columns):
            return UP_TO_1_1
        return OF_1_3 if self.settings.get("Performance Test Version", "").startswith("1.3") else SINCE_2


def _read_csv(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    experiments = [_Experiment()]
    for index, line in lines.each():
        now = experiments[-1]
        if line.startswith((b"Experiment id:", b"---EXPERIMENT-START---")) and now.columns:
            now = _Experiment()
            experiments.append(now)
        if line.startswith(b"T_experiment,"):
            now.columns = [each.strip().decode(errors="replace") for each in line.strip(b", \t").split(b",")]
        elif line[:1].isdigit() and now.columns:
            second = _row(now.columns, line)
            if second is None:
                lines.refuse(index, line)
            else:
                now.add(second)
        elif line == b"---EXPERIMENT-START---" or _ENDS.fullmatch(line):
            continue
        elif setting := _SETTING.fullmatch(line):
            now.settings[_NAMES.get(setting[1].decode(), setting[1].decode())] = setting[2].decode(errors="replace")
        else:
            lines.refuse(index, line)
    measured = tuple(_measured(each, each.tally) for each in experiments if each.tally)
    return lines.log(measured)


_NAMES = {
    "Communication mean": "com_mean_str",
    "Communicator": "com_mean_str",
    "RMW Implementation": "rmw_implementation",
    "Publishing rate": "rate",
    "Msg name": "msg_name",
    "Message type": "msg_name",
    "Topic name": "topic_name",
    "Number of publishers": "number_of_publishers",
    "Number of subscribers": "number_of_subscribers",
    "Roundtrip Mode": "roundtrip_mode",
    "Zero copy transfer": "is_zero_copy_transfer",
    "QOS": "qos",
}
"""A setting's name in the CSV → its name in the JSON."""


def _row(columns: Sequence[str], line: bytes) -> PrintedSecond | None:
    # The tool separates columns by a comma and tabs, so a comma without tabs is a decimal comma.
    fields = _BETWEEN.split(line.strip(b", \t")) if b"\t" in line else line.strip(b", ").split(b",")
    if len(fields) != len(columns):
        return None
    values = dict(zip(columns, fields, strict=True))

    def ns(name: str) -> float | None:
        return number(values[name]) * SINCE_2[name].ns if arrived and name in values else None

    try:
        received = whole(values["received"])
        arrived = received > 0 or _is_number(values.get("latency_min (ms)", "nan"))
        variance = ns("latency_variance (ms)")
        return PrintedSecond(
            at_s=number(values["T_experiment"]),
            seconds=number(values["T_loop"]) if "T_loop" in values else 0.0,
            sent=whole(values["sent"]),
            received=received,
            lost=whole(values["lost"]),
            bytes=whole(values["data_received"]),
            low=ns("latency_min (ms)"),
            high=ns("latency_max (ms)"),
            mean=ns("latency_mean (ms)"),
            variance=None if variance is None else variance * _NS / 1e3,  # the column contains s² times 1,000
        )
    except (KeyError, ValueError):
        return None


def _is_number(text: str | bytes) -> bool:
    """Say whether a latency is a number. Without messages the tool prints ``inf``, ``-inf`` or ``nan``."""
    try:
        number(text)
    except ValueError:
        return False
    return True


def _read_json(blocks: Iterable[bytes]) -> Log:
    experiments: list[_Experiment] = []
    objects = Objects()
    head: Mapping[str, Any] | None = None
    for objects.number, each in enumerate(elements(text_of(blocks), "analysis_results"), start=1):
        if not isinstance(each, Element):
            objects.refuse(each)
            continue
        if each.head is not head:
            head = each.head
            experiments.append(_Experiment())
            experiments[-1].json = True
            plain = {key: value for key, value in head.items() if isinstance(value, str | int | float)}
            experiments[-1].settings = {key: clean(str(value)) for key, value in plain.items()}
        second = _object(each.value)
        if second is None:
            objects.refuse("the row has no counts")
        else:
            experiments[-1].add(second)
    return objects.log(_measured(each, each.tally) for each in experiments if each.tally)


def _object(row: Mapping[str, Any]) -> PrintedSecond | None:
    counts = [count(row.get(f"num_samples_{each}")) for each in ("sent", "received", "lost")]
    sent, received, lost = counts
    if sent is None or received is None or lost is None:
        return None

    def ns(name: str, power: int = 1) -> float | None:
        value = figure(row.get(name)) if received else None  # the tool writes 0 if no samples arrived
        return None if value is None else value * _NS**power

    return PrintedSecond(
        # Despite their names, these fields are the time since the experiment's start and the length of this row.
        at_s=(figure(row.get("experiment_start")) or 0.0) / _NS,
        seconds=max(figure(row.get("loop_start")) or 0.0, 0.0) / _NS,
        sent=sent,
        received=received,
        lost=lost,
        bytes=count(row.get("total_data_received")) or 0,
        messages=count(row.get("latency_n")),
        low=ns("latency_min"),
        high=ns("latency_max"),
        mean=ns("latency_mean"),
        variance=ns("latency_variance", 2),
    )


def _measured(of: _Experiment, tally: CountsTally) -> ImportedTrial:
    settings = of.settings
    mode = settings.get("roundtrip_mode", "").upper()
    subscribers, publishers, message = of.subscribers, of.publishers, of.message
    alone = publishers == 0  # without publishers, the process counts no message as sent
    rate = None if alone else _whole(settings.get("rate"))
    quality = (settings.get("qos_reliability") or settings.get("qos", "")).upper()
    size = size_of(message)
    pattern = "ping-pong" if mode == "MAIN" else "stream"
    where = cell(
        _adapter(settings),
        size,
        pattern,
        native=(("message", message[:100]),) if message else (),
        topics=1,
        subscribers=subscribers,
        publishers=publishers or None,
        rate=None if rate is None else float(rate) if rate else "max",
        reliability="reliable" if "RELIABLE" in quality else "best-effort" if "BEST_EFFORT" in quality else None,
    )
    if mode == "RELAY":
        text = "its log is from the side that relays round trips and measures nothing"
        failure = Failure("relay", text, "import the log of the side with --roundtrip-mode Main")
        return ImportedTrial(cell=where, failed=failure, warnings=(imported_warning(where),))
    counts = tally.counts()
    figures = counts.latency
    hz = None if pattern == "ping-pong" else counts.hz
    counted = {
        "sent": counts.sent.narrow and not alone,
        "received": counts.received.narrow,
        "lost": counts.lost.low > 0 or not counts.lost.high,
    }
    return ImportedTrial(
        cell=where,
        times=Times(round_trip_ns=figures) if pattern == "ping-pong" else Times(one_way_from_sent_ns=figures),
        samples=counts.received.low,
        counts=TrialCounts(sent=counts.sent_nearest, received=counts.received.low, lost=counts.lost.low),
        counted=tuple(name for name, known in counted.items() if known),
        rate_hz=None if hz is None else hz / (subscribers or 1),
        rate_total_hz=hz,
        warnings=(imported_warning(where), _counted_back(counts, alone), *_warnings(tally, figures, pattern)),
    )


def _counted_back(counts: CountsBack, alone: bool) -> RunWarning:
    """Return the warning that the tool prints rates, from which the counts were computed."""
    sent = "" if alone else f"sent {counts.sent}, "
    boot = "; rate and loss exclude the first row, which the tool divides by the time since the machine's start"
    return RunWarning(
        "rates-cut-off",
        "performance_test prints received, sent and lost as whole messages a second; its counts here come from "
        f"data_received and the length of each row: received {counts.received}, {sent}lost {counts.lost}"
        f"{boot if counts.since_boot else ''}",
        "if a count is a range, the row has its smallest number of received and lost messages (none if it is 0), "
        "and the number of sent messages that fits them",
    )


def _adapter(settings: Mapping[str, str]) -> str:
    mean = settings.get("com_mean_str", "")[:100] or "middleware unknown"
    rmw = settings.get("rmw_implementation", "")[:100]
    return f"{mean}{f' {rmw}' if rmw not in ('', 'N/A') else ''} ({TOOL})"


def _whole(text: str | None) -> int | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return int(value) if value is not None and 0 <= value < 1e12 else None


def _warnings(of: CountsTally, figures: Summary | None, pattern: str) -> list[RunWarning]:
    way = "of whole round trips" if pattern == "ping-pong" else "one way, from one process's clock to another's"
    found = [
        RunWarning(
            "no-quantiles",
            f"performance_test keeps only the minimum, mean, maximum and variance of its latency ({way})",
            "a mean is not a median, and one stall changes it; for quantiles, measure again with Middlemark",
        ),
        RunWarning(
            "size-of-type",
            "its size is the number in the name of the type; the tool neither writes nor reads the payload",
            "a middleware that passes pointers therefore seems equally fast at any size",
        ),
    ]
    if figures is not None and figures.min is not None and figures.min < 0:
        found.append(
            RunWarning(
                "clocks-differ",
                "its minimum latency is negative: sender and receiver had different clocks",
                "use the tool's round-trip mode, or run both on one machine",
            )
        )
    found += in_lines(of.wrong, of.rows, "the mean latency is not between minimum and maximum")
    found += in_lines(of.miscounted, of.rows, "`latency_n` is not `num_samples_received` × the length of the row")
    if of.size_differs:
        text = "its received bytes do not fit its received messages and the size in the type's name"
        found.append(contradiction(text, "the counts are computed from the rates"))
    if of.repeated:
        found.append(
            RunWarning(
                "interleaved",
                "the time in its rows goes backwards: several processes wrote into this log, and it does not name them",
                "let each process write to its own file",
            )
        )
    return found


CSV = LogFormat("performance_test's CSV", TOOL, _CSV_KNOWN, _read_csv, FORMS[:-1])
JSON = LogFormat("performance_test's JSON", TOOL, _JSON_KNOWN, _read_json, FORMS[-1:])
