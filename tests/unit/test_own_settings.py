"""The settings that workers report in the middleware's own form: merged, kept with the trial, and with comments."""

import sys
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from launching import Launching

sys.path.append(str(Path(__file__).parents[2] / "conformance"))
from own_settings import problems

from middlemark.model.own_settings import commented, together
from middlemark.model.protocol import Language, OwnSettings


def code(text: str) -> OwnSettings:
    return OwnSettings(language="cpp", text=text)


def test_equal_settings_of_several_processes_are_kept_once() -> None:
    assert together([("ping", code("a();\n")), ("pong 0", code("a();\n"))]) == code("a();\n")


def test_different_settings_follow_each_other_below_the_names_of_their_processes() -> None:
    found = together(
        [("publisher 0", code("a();\n")), ("subscriber 0", code("b();\n")), ("subscriber 1", code("b();\n"))]
    )
    assert found == code("// publisher 0\na();\n\n// subscriber 0, subscriber 1\nb();\n")


def test_processes_that_report_nothing_are_left_out() -> None:
    assert together([("ping", None), ("pong 0", code("a();\n"))]) == code("a();\n")
    assert together([("ping", None), ("pong 0", None)]) is None


@pytest.mark.parametrize("language", get_args(Language))
def test_each_language_has_comments(language: Language) -> None:
    begin = commented(language, ["1 -- 2"])
    assert begin == {"xml": "<!-- 1 - - 2 -->\n", "toml": "# 1 -- 2\n"}.get(language, "// 1 -- 2\n")


def test_a_trial_keeps_what_its_workers_report(tmp_path: Path) -> None:
    launching = Launching(tmp_path)
    assert launching.trial({"settings": "depth = 1;"}).settings == code("depth = 1;\n")
    several = launching.trial({"settings": "NAME;"}).settings
    assert several == code("// publisher 0\npublisher 0;\n\n// subscriber 0\nsubscriber 0;\n")
    assert launching.trial().settings is None


def test_an_empty_text_is_not_accepted() -> None:
    with pytest.raises(msgspec.ValidationError, match="length >= 1"):
        msgspec.convert({"language": "xml", "text": ""}, OwnSettings)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("xml", "<a>\n  <b/>\n</a>\n<!--\n// writer\n-->\n"),
        ("json5", '{\n  mode: "peer",\n  list: [1, 2,],\n}\n// your own endpoints, as tcp/…\n'),
        ("toml", "[a]\nb = 1\n"),
        ("cpp", "depth = 1;\n"),
    ],
)
def test_conformance_accepts_settings_that_can_be_copied(language: Language, text: str, tmp_path: Path) -> None:
    assert problems(OwnSettings(language=language, text=text), tmp_path) == []
    assert problems(None, tmp_path) == []


@pytest.mark.parametrize(
    ("language", "text", "problem"),
    [
        ("xml", "<a>\n", "is no xml"),
        ("json5", "{ a: }\n", "is no json5"),
        ("toml", "[a\n", "is no toml"),
        ("c", " \n", "is empty"),
        ("c", "open(mm_1a2b_topic);\n", "contains mm_1a2b_topic"),
        ("c", 'connect("127.0.0.1:4711");\n', "contains 127.0.0.1:4711"),
        ("c", "key = sender.key;\n", "contains .key"),
        ("c", "-----BEGIN PRIVATE KEY-----\n", "contains -----BEGIN"),
    ],
)
def test_conformance_refuses_what_belongs_to_the_trial_or_cannot_be_parsed(
    language: Language, text: str, problem: str, tmp_path: Path
) -> None:
    assert [each for each in problems(OwnSettings(language=language, text=text), tmp_path) if problem in each]


def test_conformance_refuses_paths_of_the_trial(tmp_path: Path) -> None:
    assert problems(code(f"open({tmp_path});\n"), tmp_path)
