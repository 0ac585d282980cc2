"""The report as Markdown: a golden file, and hostile text as GitHub would render it."""

import html
import re
from pathlib import Path

import msgspec
import pytest
from golden_streams import floods, loads
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from middlemark.document import document_of, with_verdicts
from middlemark.document.table import table_of
from middlemark.model.description import Description, Transport
from middlemark.model.outcome import Failure, RunWarning, TrialOutcome
from middlemark.model.plan import Limits, Note, Plan, Trial
from middlemark.model.run import Machine, RunFile
from middlemark.model.times import Summary, Times
from middlemark.show import View, markdown
from middlemark.show.markdown import escaped
from middlemark.stats.result import CellResult
from middlemark.stats.trials import TrialSummary
from middlemark.verdicts.names import plain
from middlemark.verdicts.rows import MeasuredRun

Results = tuple[CellResult, ...]
HOSTILE = "<script>alert(1)</script> | [x](http://y) `z` @team #12 **b** _c_ ![i](www.j.k)"
TRIALS = 7


class MarkdownFile(SingleFileSnapshotExtension):
    """One Markdown file for each report."""

    _write_mode = WriteMode.TEXT
    file_extension = "md"


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(MarkdownFile)


def _described(name: str, is_raw_transport: bool) -> Description:
    return Description(
        protocol=1, name=name, title=name, version="1.2", library="", licence="MIT",
        is_raw_transport=is_raw_transport, bench_only=False,
        request_reply=False, own_threads=False, residue=(), native={},
        transports=tuple(
            Transport(
                name=way, carrier=carrier, processes=(1, 2), receive=("block",), reliability=("reliable",),
                loan=(False,), max_bytes=1 << 30,
            )
            for way, carrier in (("udp", "udp"), ("shm", "shared-memory"), ("data-sharing", "shared-memory"))
        ),
    )  # fmt: skip


def _measured(results: Results, **given: object) -> MeasuredRun:
    """Return a run with seven trials of each result, whose figures vary around the figures of the result."""
    cells = tuple(each.cell for each in results)
    trials = [[_trial(at, result, number) for number in range(TRIALS)] for at, result in enumerate(results)]
    planned = tuple(
        Trial(order=number * len(cells) + at, cell=at, number=number + 1, limits=Limits(samples=10))
        for number in range(TRIALS)
        for at in range(len(cells))
    )
    facts: dict[str, object] = {
        "middlemark": "0.1.0",
        "suites": ("first-look",),
        "command": ("middlemark", "run", "first-look"),
        "started": "2026-03-01T12:00:00.000+00:00",
        "ended": "2026-03-01T12:02:41.000+00:00",
        "seed": 42,
        "machine": Machine(
            host="bench-7", cpu="AMD EPYC 7B13", processors=2, memory_bytes=1 << 33, kernel="6.1.0-18-amd64",
            system="Debian GNU/Linux 12 (bookworm)", virtual=True, clocksource="tsc", governor=None,
        ),
        "adapters": tuple(
            _described(name, name in ("shm", "udp")) for name in dict.fromkeys(each.adapter for each in cells)
        ),
        "plan": Plan(cells=cells, trials=planned, names=("first-look",) * len(cells)),
    }  # fmt: skip
    return MeasuredRun(
        folder=Path("runs/2026-03-01_12-00-00-first-look"),
        file=RunFile(**(facts | given)),  # type: ignore[arg-type]
        outcomes=tuple(each.outcome for cell_trials in trials for each in cell_trials),
        trials=trials,
        results=[msgspec.structs.replace(each, trials=TRIALS if each.failed is None else 0) for each in results],
        samples=lambda _: None,
        kept=lambda _: pytest.fail("nothing was kept"),
    )


def _trial(at: int, result: CellResult, number: int) -> TrialSummary:
    outcome = TrialOutcome(
        cell=at, number=number + 1, order=number * 100 + at, started="", seconds=1.0, failed=result.failed
    )
    p50 = result.round_trip_ns.p50 if result.round_trip_ns else None
    trip = None if p50 is None else Summary(p50=p50 * (1 + 0.01 * ((number * (at + 3)) % TRIALS)))
    return TrialSummary(outcome=outcome, times=Times(round_trip_ns=trip))


def _rendered(run: MeasuredRun) -> str:
    document = document_of([run], generated="2026-03-01T12:03:00.000+00:00", middlemark="0.1.0")
    return markdown.render(with_verdicts(document, [run]), View())


def test_markdown(golden: SnapshotAssertion, results: Results) -> None:
    assert golden == _rendered(_measured(results))


def test_markdown_of_streams(golden: SnapshotAssertion) -> None:
    assert golden == _rendered(_measured((*floods(), *loads())))


def test_markdown_of_a_run_that_was_interrupted_before_anything_was_measured(golden: SnapshotAssertion) -> None:
    assert golden == _rendered(_measured((), interrupted=True))


def test_no_text_of_a_run_becomes_markup(results: Results) -> None:
    hostile = msgspec.structs.replace(
        results[0],
        cell=msgspec.structs.replace(results[0].cell, adapter=HOSTILE),
        warnings=(RunWarning(HOSTILE, HOSTILE, HOSTILE),),
    )
    failed = msgspec.structs.replace(results[4], failed=Failure("crashed", f"{HOSTILE}\n# not a heading", HOSTILE))
    run = _measured((hostile, failed))
    plan = msgspec.structs.replace(run.file.plan, notes=(Note(HOSTILE, HOSTILE),))
    file = msgspec.structs.replace(run.file, plan=plan, suites=(HOSTILE,), command=("middlemark", "run", HOSTILE))
    text = _rendered(msgspec.structs.replace(run, file=file))
    shown = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
    tags = set(re.findall(r"</?([a-zA-Z0-9]+)", shown))
    assert tags <= {"h2", "h3", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "pre", "code"}
    assert shown.count("<strong>") == 2, "a size and a warning's code"
    assert html.unescape(re.sub(r"<[^>]*>", "", shown)).count(HOSTILE) >= 8
    assert shown.count("<h2>") == 1


@given(st.text(max_size=40))
def test_any_text_in_a_table_is_shown_unchanged(text: str) -> None:
    table = "\n".join(markdown.table(table_of(("configuration", "p50"), [(text, "1")])))
    shown = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(table)
    (cell,) = re.findall(r"<tbody>\n<tr>\n<td>(.*?)</td>", shown, re.DOTALL)
    assert "<" not in cell
    assert html.unescape(cell) == plain(text).strip()


@pytest.mark.parametrize("text", ["http://x.y", "www.x.y", "@team", "#12"])
def test_no_text_becomes_a_link_or_a_mention(text: str) -> None:
    assert text not in escaped(text)
    assert html.unescape(escaped(text)) == text
