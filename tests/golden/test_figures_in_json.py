"""Every figure of the terminal's table is in the JSON, and equal at the table's precision."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import golden_streams as streams
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import made, render
from middlemark.document.columns import COLUMNS, HEADS
from middlemark.document.numbers import ABSENT, brief, measured, megabytes, processors, share, us, whole
from middlemark.model.outcome import ProtectionProof, TrialCounts
from middlemark.model.times import Summary
from middlemark.show import View
from middlemark.stats.metrics import METRICS
from middlemark.stats.result import CellResult, Origin, Sustainable
from middlemark.verdicts.rows import MeasuredRun
from outputs import read_output

Text = Callable[[Any], str]
few = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def time(name: str, quantile: str) -> Text:
    return lambda cell: us((cell[f"{name}_ns"] or {}).get(quantile))


def trip(quantile: str) -> Text:
    """Return the round trip from the scheduled instant if there is one, or else from the send."""
    return lambda cell: us((cell["round_trip_from_intended_ns"] or cell["round_trip_ns"] or {}).get(quantile))


def sent(quantile: str) -> Text:
    scheduled = time("round_trip", quantile)
    return lambda cell: scheduled(cell) if cell["round_trip_from_intended_ns"] else ABSENT


def own(name: str, write: Callable[[float | None], str]) -> Text:
    return lambda cell: write(cell[name])


def cost(name: str, write: Callable[[float | None], str]) -> Text:
    return lambda cell: write((cell["resources"] or {}).get(name))


def metric(name: str) -> Text:
    return lambda cell: measured(cell["metrics"].get(name, {}).get("median"), METRICS[name].unit)


def lost_of(cell: Any) -> str:
    return f"{brief(cell['lost'])} ({share(cell['loss'])})" if cell["lost"] else whole(cell["lost"])


EVERYWHERE: Mapping[str, Text] = {
    "cpu": cost("cpu", processors),
    "rss MB": cost("rss_bytes", megabytes),
    "comp/msg": metric("cpu.companion"),
    "comp cpu": metric("processors.companion"),
    "comp MB": metric("memory.companion"),
    "actual": lambda cell: cell["actual_transport"] or ABSENT,
    "protected by": lambda cell: cell["protected_by"] or ABSENT,
}
ROUND_TRIPS: Mapping[str, Text] = {
    "p50": trip("p50"),
    "sent p50": sent("p50"),
    "p99": trip("p99"),
    "sent p99": sent("p99"),
    "p99.9": trip("p99.9"),
    "max": trip("max"),
    "samples": own("samples", whole),
    "lost": own("lost", whole),
}
SHOWN: Mapping[str, Mapping[str, Text]] = {
    "ping-pong": {
        **EVERYWHERE,
        **ROUND_TRIPS,
        "mean": time("round_trip", "mean"),
        "first p50": time("first_reply", "p50"),
    },
    "stream": {
        **EVERYWHERE,
        "held/s": lambda cell: brief((cell["sustainable"] or {}).get("rate_hz")),
        "range": lambda cell: "–".join(brief(cell["sustainable"][name]) for name in ("least_hz", "most_hz")),
        "msgs/s": own("rate_hz", brief),
        "MB/s": own("bytes_per_s", megabytes),
        "of link": own("link_share", share),
        "lost": lost_of,
        "p50": time("one_way", "p50"),
        "p99": time("one_way", "p99"),
        "mean": time("one_way_from_sent", "mean"),
        "clocks ±": lambda cell: measured(cell["clock_uncertainty_ns"], "ns"),
        "blocked": own("blocked_share", share),
        "ns/msg": cost("ns_per_message", whole),
    },
    "request-reply": {
        **EVERYWHERE,
        **ROUND_TRIPS,
        "calls/s": own("rate_hz", brief),
        "ns/call": cost("ns_per_message", whole),
        "form": lambda cell: {True: "native", False: "two topics", None: ABSENT}[cell["native_request_reply"]],
    },
}
"""By pattern and heading: the expected text, computed from the JSON's cell."""

nanoseconds = st.integers(1, 10**14).map(lambda thousandths: thousandths / 1000)
rates = st.integers(1, 10**13).map(lambda thousandths: thousandths / 1000)
shares = st.floats(0.0, 1.0)
counts = st.integers(0, 10**9)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


summaries = st.builds(Summary, **dict.fromkeys(Summary.__struct_fields__, maybe(nanoseconds)))


@st.composite
def results(draw: st.DrawFn, pattern: str) -> CellResult:
    """Draw a row in which each figure may be absent."""
    base = {"ping-pong": streams.calls, "request-reply": streams.calls, "stream": streams.loads}[pattern]()[0]
    cell = msgspec.structs.replace(base.cell, pattern=pattern, rate="max")
    costs = msgspec.structs.replace(
        base.resources,
        cpu=draw(maybe(st.floats(0.0, 64.0))),
        ns_per_message=draw(maybe(nanoseconds)),
        rss_bytes=draw(maybe(st.integers(0, 10**11).map(float))),
    )
    received, lost = draw(counts), draw(counts)
    drawn = {
        name: draw(maybe(summaries))
        for name in ("round_trip_ns", "first_reply_ns", "round_trip_from_intended_ns", "one_way_ns")
    }
    drawn |= {name: draw(maybe(shares)) for name in ("blocked_share", "link_share")}
    drawn |= {name: draw(maybe(rates)) for name in ("rate_hz", "bytes_per_s")}
    names = ("cpu.companion", "processors.companion", "memory.companion")
    companions = {name: (draw(rates),) for name in names if draw(st.booleans())}
    return made(
        cell,
        None,
        samples=draw(counts),
        counts=TrialCounts(sent=received + lost, received=received, lost=lost),
        one_way_from_sent_ns=None,
        clock_uncertainty_ns=draw(maybe(nanoseconds)),
        resources=draw(maybe(st.just(costs))),
        metrics=companions,
        actual_transport=draw(maybe(st.sampled_from(["udp", "shared-memory"]))),
        native_request_reply=draw(maybe(st.booleans())),
        **drawn,
    )


def headings_and_texts(table: str, pattern: str) -> dict[str, str]:
    """Return the cells of a table's only row, by heading."""
    lines = table.splitlines()
    at = next(at for at, line in enumerate(lines) if line.strip().startswith(HEADS[pattern]))
    headings, texts = (re.split("  +", line.strip())[1:] for line in lines[at : at + 2])
    return dict(zip(headings, texts, strict=True))


Rendered = Callable[..., str]


@pytest.fixture
def rendered(facts: MeasuredRun) -> Rendered:
    """A function that renders the report of one row in a format.

    It is a function because hypothesis prints a test's arguments.
    """
    return lambda name, result, **view: render(name, facts, [result], View(width=400, **view))


def cell_of(rendered: Rendered, result: CellResult) -> Any:
    [cell] = read_output("run", rendered("json", result))["cells"]
    return cell


def shown(rendered: Rendered, result: CellResult, pattern: str) -> set[str]:
    """Compare each figure of the row with the JSON; return the row's headings."""
    row, cell = headings_and_texts(rendered("table", result), pattern), cell_of(rendered, result)
    row.pop("proof", None)  # a text, tested in tests/unit/test_report_protection.py
    assert row == {heading: SHOWN[pattern][heading](cell) for heading in row}
    return set(row)


@pytest.mark.parametrize("pattern", SHOWN)
@few
@given(data=st.data())
def test_a_rows_figures_are_in_the_json(rendered: Rendered, pattern: str, data: st.DataObject) -> None:
    shown(rendered, data.draw(results(pattern)), pattern)


def test_a_row_with_all_figures_shows_every_column(rendered: Rendered) -> None:
    """Fails for a new column that SHOWN lacks."""
    full = Summary(**{name: 12_345.678 * (at + 1) for at, name in enumerate(Summary.__struct_fields__)})
    proven = ProtectionProof(payload_not_seen=True)
    for pattern, base in (
        ("ping-pong", streams.calls()[0]),
        ("request-reply", streams.calls()[0]),
        ("stream", streams.floods()[0]),
    ):
        everything = msgspec.structs.replace(
            base,
            cell=msgspec.structs.replace(base.cell, pattern=pattern),
            **dict.fromkeys(("round_trip_ns", "first_reply_ns", "round_trip_from_intended_ns", "one_way_ns"), full),
            sustainable=Sustainable(rate_hz=387_200.0, least_hz=371_000.0, most_hz=391_000.0),
            link_share=0.87,
            clock_uncertainty_ns=1_234.0,
            metrics={"processors.companion": (0.25,), "memory.companion": (1.5e7,), "cpu.companion": (9.8e4,)},
            protected_by="AES-256",
            proof=proven,
            warnings=(),
        )
        bare = msgspec.structs.replace(
            everything,
            imported=Origin(tool="it", files=("a.log",), not_counted=()),
            round_trip_ns=msgspec.structs.replace(full, p50=None),
            one_way_from_sent_ns=msgspec.structs.replace(full, p50=None),
        )
        columns = {each.title for each in COLUMNS[pattern]} | {"protected by"}
        assert shown(rendered, everything, pattern) | shown(rendered, bare, pattern) == columns


magnitudes = st.builds(lambda digits, power: digits * 10.0**power, st.integers(1000, 9999), st.integers(-9, 9))
figures_of_trials = st.tuples(maybe(magnitudes))


@few
@given(metrics=st.dictionaries(st.sampled_from(sorted(METRICS)), figures_of_trials, min_size=1, max_size=4))
def test_the_requested_metrics_are_in_the_json(
    rendered: Rendered, metrics: dict[str, tuple[float | None, ...]]
) -> None:
    result = msgspec.structs.replace(streams.calls()[0], metrics=metrics)
    row = headings_and_texts(rendered("table", result, metrics=tuple(metrics)), "request-reply")
    cell = cell_of(rendered, result)
    assert row == {name: metric(name)(cell) for name in metrics}
