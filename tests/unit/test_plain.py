"""scripts/plain finds each pattern on its line, and skips everything that is not running text."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPENINGS = ["Of", "What", "Who", "Whoever", "Whether", "Those", "Likewise", "The same"]
PHRASES = ["is told", "are told", "held against", "stands against", "stands beside", "laid to"]
PHRASES += ["comes to", "anew", "surely", "machine alone", "as it comes", "so many"]
SENTENCES = {f"begins with {words}": f"{words} rows have a warning." for words in OPENINGS}
SENTENCES |= {words: f"The row {words} there." for words in PHRASES}


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    loader = SourceFileLoader("plain", str(ROOT / "scripts/plain"))
    spec = spec_from_loader("plain", loader)
    assert spec is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "plain", module)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def found(plain: ModuleType, path: str, text: str) -> list[tuple[int, str]]:
    """Return the line and the pattern of each finding in a file with this text."""
    file = Path(plain.ROOT) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return [(each.line, each.pattern) for each in plain.findings(path)]


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("a.py", '"""Rows.\n\n{}\n"""'),
        ("a.py", "x = 1\n\n# {}"),
        ("src/a.py", 'x = 1\n\nprint("{}")'),
        ("src/a.py", 'x = 1\n\nprint(f"{{x}} rows. {}")'),
        ("a.hpp", "int x;\n\n/// {}"),
        ("a.cpp", "int x;\n\n/* {} */"),
        ("a.rs", "fn a<'a>() {{}}\n\n//! {}"),
        ("a.mjs", "let x;\n\n// {}"),
        ("a.sh", "set -e\n\nx=1  # {}"),
        ("a.toml", 'x = "#"\n\n# {}'),
        ("a.md", "# Rows\n\nMore rows. {}"),
        ("a.md", "# Rows\n\n- {}"),
    ],
    ids=lambda value: value.split("\n")[-1] if "{" in value else value,
)
def test_each_pattern_is_found_on_its_line(plain: ModuleType, path: str, form: str) -> None:
    for pattern, sentence in SENTENCES.items():
        assert found(plain, path, form.format(sentence)) == [(3, pattern)]


def test_a_sentence_is_read_across_line_ends(plain: ModuleType) -> None:
    assert found(plain, "a.py", "# The row\n# shows the machine\n# alone. Of\n# rows it shows none.") == [
        (3, "begins with Of"),
        (2, "machine alone"),
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.md",
            "# What it measures\n\n> So many rows\n\n| Of | surely |\n\n```\nWhat is told\n```\n\nIs it measured anew?",
        ),
        ("a.md", 'A row says `surely` or "machine alone", and <!-- so many -->nothing else ([there](surely.md)).'),
        ("a.md", "<!-- scripts/protocol: Rows -->\n\nWhat a row has.\n\n- Of rows.\n\n<!-- end -->"),
        ("a.md", "```\n- Of rows\n```"),
        ("a.md", "What does it measure? Round trips."),
        ("docs/decisions/0001.md", "What was rejected"),
        ("CHANGELOG.md", "# Changes\n\n## 2\n\n- New.\n\n## 1\n\n- Likewise new."),
        ("a.py", "# Somewhat. Whatever `is told`. The sameness."),
        ("src/a.py", 'NAME = "What it costs"\nPATTERN = r"surely|anew"'),
        ("tests/a.py", 'assert text == "What was measured is told"'),
        ("a.hpp", 'auto x = "What is told";  // a text'),
        ("a.md", f"| {'x' * 200} |"),
        ("a.md", f"See https://example.org/{'x' * 200}"),
        ("a.py", f"# {'x' * 128}"),
        ("a.md", "x" * 160),
    ],
)
def test_text_that_is_not_running_text_is_not_checked(plain: ModuleType, path: str, text: str) -> None:
    assert found(plain, path, text) == []


@pytest.mark.parametrize(("path", "text"), [("a.py", f"\nx = '{'x' * 126}'"), ("a.md", "\n" + "x " * 80 + "x")])
def test_long_lines_are_found(plain: ModuleType, path: str, text: str) -> None:
    width = 130 if path == "a.py" else 160
    assert found(plain, path, text) == [(2, f"over {width} characters")]
