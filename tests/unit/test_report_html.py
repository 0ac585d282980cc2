"""The HTML page: text never becomes markup, and the page needs no other file."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from documents import HOSTILE, empty, hostile, small
from hypothesis import given
from hypothesis import strategies as st
from report_runs import MACHINE, ROBOT, cell, data_of, run_of

from middlemark.document import document_of
from middlemark.document.runs import machine_line, state
from middlemark.model.outcome import Failure
from middlemark.problems import MeasureError
from middlemark.show.html import page, page_of
from middlemark.stats.result import HistoryResult

_PIECES = st.lists(
    st.sampled_from(["<", ">", "&", "</script", "<!--", "\u2028", "\u2029", '"', "'", "\\", "ä"]), max_size=9
)


class Elements(HTMLParser):
    """Collects every element of a page, and the text of its data block."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.data = ""
        self._is_data = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self._is_data = ("id", "data") in attrs

    def handle_data(self, data: str) -> None:
        if self._is_data:
            self.data += data
            self._is_data = False


@pytest.fixture(autouse=True)
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake script for the page, because its other content does not depend on the real script."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / page.SCRIPT).write_text("/* script */")
    monkeypatch.setenv("MIDDLEMARK_WEB", str(folder))
    page.script.cache_clear()
    yield folder
    page.script.cache_clear()


@given(pieces=_PIECES)
def test_no_text_ends_the_data_block_and_all_text_reads_back(pieces: list[str]) -> None:
    text = "".join(pieces)
    block = page.data_block({"text": text})
    assert not set("<>&\u2028\u2029") & set(block)
    assert json.loads(block) == {"text": text}


def test_names_are_escaped_in_the_page_and_in_its_data() -> None:
    document = hostile()
    elements = Elements(page_of(document))
    assert elements.names.count("script") == 2
    assert "img" not in elements.names
    assert not [value for _, value in elements.attributes if "onerror=alert" in value and "<" not in value]
    assert json.loads(elements.data) == document
    assert HOSTILE in json.loads(elements.data)["title"]


def test_the_page_refers_to_nothing_outside() -> None:
    elements = Elements(page_of(small()))
    addresses = [value for name, value in elements.attributes if name in {"src", "href", "action", "srcset"}]
    assert addresses
    assert all(value.startswith("#") for value in addresses)
    policy = next(value for name, value in elements.attributes if name == "content" and "default-src" in value)
    assert "default-src 'none'" in policy
    assert "http" not in policy


def test_the_answers_the_machine_and_the_warnings_are_shown_without_scripts() -> None:
    text = page_of(small())
    before_scripts = text[: text.index("<script")]
    for words in (
        "cyclonedds answers 29 % faster",
        "AMD EPYC, 2 processors",
        "few samples",
        "middlemark run first-look --seed 1",
    ):
        assert words in before_scripts


def test_a_run_without_a_cell_makes_a_page() -> None:
    text = page_of(empty())
    assert "No trial ended: there is nothing to show." in text
    assert 'id="filters"' not in text


def test_an_edge_that_joins_late_shows_its_received_history() -> None:
    run = run_of({cell(workload=ROBOT, pattern="stream", rate=100.0, processes=2): [0.5] * 6})
    assert "joined late" not in page_of(data_of(run))
    [result] = run.results
    assert result.workload is not None
    first, *others = result.workload.topics
    late = msgspec.structs.replace(first, history=HistoryResult(expected=60, received=59, last_ns=1_500_000))
    graph = msgspec.structs.replace(result.workload, topics=(late, *others))
    run = msgspec.structs.replace(run, results=(msgspec.structs.replace(result, workload=graph),))
    text = page_of(data_of(run))
    assert '<th scope="col">history, joined late</th>' in text
    assert "<td>59 of 60 in 1,500 µs</td>" in text


def test_without_its_script_the_error_names_the_next_step(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_places", lambda: [script / "elsewhere"])
    with pytest.raises(MeasureError) as raised:
        page_of(small())
    assert "D3 and Observable Plot" in str(raised.value)
    assert "packaging/setup/setup.sh again web" in raised.value.advice


def progress_text(
    trials: int, planned: int, *, failed: int = 0, running: bool = False, lines: int = 0, **file: Any
) -> str:
    """Return the sentence about the progress of a run with these trials."""
    made = run_of({cell(): [1.0] * planned}, **({"ended": None} | file))
    outcomes = [msgspec.structs.replace(each, seconds=0.0) for each in made.outcomes[:trials]]
    outcomes[:failed] = [msgspec.structs.replace(each, failed=Failure("silent", "")) for each in outcomes[:failed]]
    return state(
        msgspec.structs.replace(made, outcomes=tuple(outcomes), running=running, damaged=("line 1: ",) * lines)
    )


BEGAN = "from 2026-11-21 10:00:00 UTC, seed 7"


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({"trials": 1, "planned": 1, "ended": "x"}, f"1 trial, {BEGAN}"),
        ({"trials": 40, "planned": 40, "failed": 3, "ended": "x"}, f"40 trials, 3 of them failed, {BEGAN}"),
        (
            {"trials": 4, "planned": 4, "interrupted": True},
            f"4 trials, {BEGAN}, interrupted: only the trials until then are shown",
        ),
        (
            {"trials": 4, "planned": 9, "running": True},
            f"4 of 9 trials, {BEGAN}, still running",
        ),
        ({"trials": 1, "planned": 9}, f"1 of 9 trials, {BEGAN}, killed before its end"),
        (
            {"trials": 4, "planned": 4, "ended": "x", "lines": 1},
            f"4 trials, {BEGAN}, 1 damaged line of its file left out",
        ),
        (
            {"trials": 4, "planned": 4, "ended": "x", "error": "no room"},
            f"4 trials, {BEGAN}, ended early: no room",
        ),
    ],
)
def test_the_progress_of_a_run_is_stated(run: dict[str, Any], expected: str) -> None:
    assert progress_text(**run) == expected


def test_a_partly_unknown_machine_is_described_without_gaps() -> None:
    little = msgspec.structs.replace(MACHINE, host="", cpu="", processors=1, memory_bytes=0, system="", virtual=None)
    (run,) = document_of([run_of({}, machine=little)]).runs
    assert machine_line(run) == "1 processor, Linux 6.1"
