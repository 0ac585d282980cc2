"""Every file and every command line results in a suite or in problems, never in another exception."""

import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.problems import RequestError
from middlemark.suite import load, raw_options
from middlemark.suite.read import parse_toml, read_suite
from middlemark.suite.sweep import KEYS

NAMES = st.sampled_from([*KEYS, "name", "native", "sweep", "defaults", "description", "seed", "sise"])
SCALARS = st.one_of(
    st.integers(),
    st.booleans(),
    st.floats(),
    st.dates(),
    st.text(max_size=8),
    st.sampled_from(
        [
            "all",
            "64k",
            "1MB",
            "0.5s",
            "poll",
            "fifo:80",
            "fifo:0",
            "0,1",
            "off",
            "@",
            "@none.csv",
            "reliable",
            "1%",
            "curve",
        ]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=8,
)
TABLES = st.dictionaries(st.one_of(NAMES, st.text(max_size=5)), VALUES, max_size=6)
DOCUMENTS = st.one_of(
    TABLES,
    st.fixed_dictionaries({"sweep": st.lists(TABLES, max_size=3)}, optional={"defaults": TABLES, "seed": SCALARS}),
)
RAW = st.fixed_dictionaries(
    {},
    optional={
        name: st.booleans()
        if name in ("loan", "mlock", "skip_unsupported", "baseline")
        else st.one_of(
            st.text(max_size=12),
            st.sampled_from(["1", "16,1k", "all", "poll", "0.5s", "0,1", "other", ",", "2.5k", "curve", "1%", "off"]),
        )
        for name in (*KEYS, "seed")
    },
)


@given(DOCUMENTS)
def test_any_table_is_a_suite_or_has_problems(document: dict[str, Any]) -> None:
    suite, problems = read_suite(document, "lan", "lan.toml", Path("/nowhere"), {})
    assert (suite is None) == bool(problems)
    assert all(problem.place.startswith("lan.toml") and problem.text for problem in problems)


@given(st.text(alphabet=string.printable + "é\0", max_size=200))
def test_any_text_is_toml_or_has_one_problem(text: str) -> None:
    document, problems = parse_toml(text, "lan.toml")
    assert (document is None) == (len(problems) == 1)


@given(RAW, st.lists(st.text(max_size=12), max_size=3), st.lists(st.text(alphabet="a.= ", max_size=6), max_size=3))
def test_any_command_line_is_a_request_or_is_refused(raw: dict[str, Any], only: list[str], native: list[str]) -> None:
    try:
        assert load([], raw_options(**raw, only=tuple(only), native=tuple(native)))
    except RequestError as refused:
        assert all(problem.place.startswith("--") for problem in refused.problems)


def test_an_unreadable_file_of_any_name_is_refused(tmp_path: Path) -> None:
    for name in ("x" * 300, "~", "\n", "é"):
        with pytest.raises(RequestError):
            load([f"{tmp_path}/{name}.toml"], raw_options())
