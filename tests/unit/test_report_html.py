"""The HTML page: nothing in it is markup that should be text, and it needs nothing but itself."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from documents import HOSTILE, empty, hostile, small
from hypothesis import given
from hypothesis import strategies as st

from middlemark.problems import MeasureError
from middlemark.report.html import page, render_html
from middlemark.report.html.wording import machine_line, state

_PIECES = st.lists(
    st.sampled_from(["<", ">", "&", "</script", "<!--", "\u2028", "\u2029", '"', "'", "\\", "ä"]), max_size=9
)


class Elements(HTMLParser):
    """Every element of a page, and the text of its data block."""

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
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for D3 and Plot: what a page is made of does not depend on them."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / page.LIBRARIES).write_text("/* libraries */")
    monkeypatch.setenv("MIDDLEMARK_WEB", str(folder))
    page._libraries.cache_clear()
    yield folder
    page._libraries.cache_clear()


@given(pieces=_PIECES)
def test_no_text_ends_the_data_block_and_all_of_it_comes_back(pieces: list[str]) -> None:
    text = "".join(pieces)
    block = page.data_block({"text": text})
    assert not set("<>&\u2028\u2029") & set(block)
    assert json.loads(block) == {"text": text}


def test_names_are_text_in_the_page_and_in_its_data() -> None:
    document = hostile()
    elements = Elements(render_html(document))
    assert elements.names.count("script") == 3
    assert "img" not in elements.names
    assert not [value for _, value in elements.attributes if "onerror=alert" in value and "<" not in value]
    assert json.loads(elements.data) == document
    assert HOSTILE in json.loads(elements.data)["title"]


def test_the_page_refers_to_nothing_outside_of_it() -> None:
    elements = Elements(render_html(small()))
    addresses = [value for name, value in elements.attributes if name in {"src", "href", "action", "srcset"}]
    assert addresses
    assert all(value.startswith("#") for value in addresses)
    policy = next(value for name, value in elements.attributes if name == "content" and "default-src" in value)
    assert "default-src 'none'" in policy
    assert "http" not in policy


def test_the_answers_the_machine_and_the_doubts_are_there_without_any_script() -> None:
    text = render_html(small())
    before_scripts = text[: text.index("<script")]
    for said in (
        "cyclonedds answers 29 % faster",
        "AMD EPYC, 2 processors",
        "few samples",
        "middlemark run first-look --seed 1",
    ):
        assert said in before_scripts


def test_a_run_without_a_cell_is_a_page_too() -> None:
    text = render_html(empty())
    assert "No trial ended: there is nothing to show." in text
    assert 'id="filters"' not in text


def test_every_module_is_in_the_script_once_and_none_is_left_out() -> None:
    folder = Path(page.__file__).parent / "scripts"
    written = {each.stem for each in folder.glob("*.mjs")}
    assert set(re.findall(r"^\{ // (\w+)$", page.script(), re.MULTILINE)) == written
    assert not re.search(r"^(import|export) ", page.script(), re.MULTILINE)


def test_a_module_comes_after_those_it_imports_from() -> None:
    folder = Path(page.__file__).parent / "scripts"
    order = {name: place for place, name in enumerate(page._SCRIPTS)}
    for name in page._SCRIPTS:
        for other in re.findall(r'from "\./(\w+)\.mjs"', (folder / f"{name}.mjs").read_text()):
            assert order[other] < order[name], f"{name} imports from {other}"


def test_without_the_libraries_the_next_step_is_told(libraries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_places", lambda: [libraries / "elsewhere"])
    with pytest.raises(MeasureError) as raised:
        render_html(small())
    assert "D3 and Observable Plot" in str(raised.value)
    assert "packaging/setup/setup.sh again web" in raised.value.advice


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"trials": 1, "seconds": 2.0, "ended": "x"}, "1 trial, in 2 s"),
        ({"trials": 40, "failed_trials": 3, "ended": "x"}, "40 trials, 3 of them failed"),
        ({"trials": 4, "interrupted": True}, "4 trials, interrupted: what was measured by then is shown"),
        ({"trials": 4, "planned_trials": 9, "running": True}, "4 of 9 trials, it is still running: more will come"),
        ({"trials": 1, "planned_trials": 9}, "1 of 9 trials, it was killed before its end"),
        ({"trials": 4, "ended": "x", "damaged_lines": 1}, "4 trials, 1 damaged line of its file left out"),
        ({"trials": 4, "ended": "x", "error": "no room"}, "4 trials, it ended early: no room"),
    ],
)
def test_how_far_a_run_came_is_said(run: dict[str, Any], said: str) -> None:
    assert state(run) == said


def test_a_machine_of_which_little_is_known_is_told_without_gaps() -> None:
    assert machine_line({"machine": {"processors": 1, "cpu": None, "kernel": "6.1"}}) == "1 processor, Linux 6.1"
