"""Statements of the documents are compared with the code: options, files, JSON keys, counts, units, capabilities."""

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from report_runs import cell, data_of, run_of, spread

from middlemark.commands import group
from middlemark.document.columns import FIGURES
from middlemark.model.version import adapter_of
from middlemark.stats.metrics import METRICS, PER_ROLE, ROLES
from middlemark.suite.frameworks import frameworks
from middlemark.workers.find import find_workers

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted({*ROOT.glob("docs/**/*.md")} - {*ROOT.glob("docs/decisions/*")})]
VERSION = re.compile(r"\d+(?:\.\d+)+")


def page(name: str) -> str:
    """Return a document as one line for each paragraph and each row of a table."""
    return re.sub(r"\n(?!\n|[|#-])\s*", " ", (ROOT / name).read_text(encoding="utf-8"))


def table(name: str, head: str) -> list[list[str]]:
    """Return the cells of the table whose heading begins with these words."""
    text = (ROOT / name).read_text(encoding="utf-8")
    body = text[text.index(f"| {head}") :].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in body]


def options_of(command: click.Command) -> set[str]:
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


def verbs(parent: click.Group, names: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    found: dict[tuple[str, ...], click.Command] = {}
    for name in parent.list_commands(click.Context(parent)):
        command = parent.get_command(click.Context(parent), name)
        assert command is not None
        found[(*names, name)] = command
        if isinstance(command, click.Group):
            found |= verbs(command, (*names, name))
    return found


VERBS = verbs(group)


def commands_in(text: str) -> list[list[str]]:
    """Return the words of each command line `middlemark VERB …` in the text's code, without comments."""
    lines = re.findall(r"(?:^|`|\s)(?:\./)?middlemark ([a-z][^`\n#|]*)", text, re.MULTILINE)
    return [found.split() for line in lines if (found := line.strip()) and (found.split()[0],) in VERBS]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda each: str(each.relative_to(ROOT)))
def test_every_option_in_a_command_exists(path: Path) -> None:
    for words in commands_in(path.read_text(encoding="utf-8")):
        name = tuple(words[:2]) if tuple(words[:2]) in VERBS else (words[0],)
        known = options_of(VERBS[name]) | {"--help", "--version"}
        asked = {word.rstrip(",;").partition("=")[0] for word in words if word.startswith("--") and len(word) > 2}
        assert asked <= known, f"{path.name}: middlemark {' '.join(words)}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda each: str(each.relative_to(ROOT)))
def test_every_linked_file_exists(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def runs_in(path: Path) -> list[str]:
    """Return the examples of `run` that need no file, no second machine and no second build of an adapter."""
    found = re.findall(r"^ *(?:\./)?middlemark (run [^#\n]*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [line for line in found if not re.search(r"…|\.toml|\.xml|@|--against|--resume", line)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "line"),
    [pytest.param(path, line, id=f"{path.name}: {line}") for path in DOCUMENTS for line in runs_in(path)],
)
def test_every_example_of_run_is_accepted(path: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    named = {name for names in re.findall(r"--adapter (\S+)", line) for name in names.split(",")} - {"all"}
    if missing := named - {worker.description.name for worker in find_workers()[0]}:
        pytest.skip(f"not built: {sorted(missing)}")
    words = [*shlex.split(line), *([] if "--dry-run" in line else ["--dry-run"])]
    done = CliRunner().invoke(group, words, prog_name="middlemark")
    assert done.exit_code == 0, f"{path.name}: {done.exception}"


def test_usage_names_every_verb_every_list_and_every_role() -> None:
    text = page("docs/reference/commands.md")
    for names in VERBS:
        if names[0] not in {"help", "version"}:
            assert re.search(rf"(?:`|middlemark |^\|? ?`?){' '.join(names)}\b", text, re.MULTILINE), names
    listed = re.search(r"ROLE is ([a-z, ]+?) \(", text)
    assert listed
    assert {*re.split(r", | or ", listed[1])} == {*ROLES}


def test_the_documents_name_every_environment_variable_that_a_user_sets() -> None:
    sources = (file.read_text() for file in ROOT.glob("src/middlemark/**/*.py"))
    named = {name for source in sources for name in re.findall(r'"(MIDDLEMARK_[A-Z_]+)"', source)}
    text = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    assert {name for name in named if name not in text} == {"MIDDLEMARK_TRIAL"}, "set by the product itself"


def test_exports_names_every_unit_of_the_long_csv() -> None:
    listed = re.search(r"`metric`, `unit` \((.+?)\), `value`", page("docs/reference/exports.md"))
    assert listed
    units = {figure.unit for figure in FIGURES.values()}
    assert {*re.findall(r"`([^`]+)`", listed[1])} == units


def test_reading_a_report_names_every_key_of_the_data() -> None:
    rows = [cell(name, size=size) for name in ("lyra", "vega", "udp") for size in (64, 1024)]
    data = data_of(run_of({each: spread(2e4 + at) for at, each in enumerate(rows)}))
    keys = table("docs/reference/report-data.md", "key | |")
    described = {key: row[1] for row in keys for key in re.findall(r"`(\w+)", row[0])}
    assert {*data} == {*described}
    for key in ("runs", "cells", "factors", "comparisons", "not_tried"):
        named = {*re.findall(r"`(\w+)", described[key])}
        for each in data[key]:
            missing = {name for name in each if name not in named}
            assert not missing, key


def test_the_glossary_has_each_word_once() -> None:
    rows = re.findall(
        r"^\| (?!word|---)(.+?) \|", (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    words = [word.strip() for row in rows for word in re.sub(r"\(.*?\)", "", row).split(", ")]
    assert len(words) == len({*words})
    assert {"loan", "baseline", "raw transport", "standing"} <= {*words}


def test_typed_messages_lists_the_adapters_that_carry_bytes_and_cdr() -> None:
    pattern = re.compile(r"BYTES_AND_CDR|^middlemark_rust_adapter|^middlemark_bytes_and_cdr", re.MULTILINE)
    carry = {each.parent.name for each in ROOT.glob("adapters/*/CMakeLists.txt") if pattern.search(each.read_text())}
    [row] = [
        row for row in table("docs/reference/workloads.md", "adapter | what serialises") if "*bytes + CDR*" in row[1]
    ]
    assert {*re.findall(r"`([\w-]+)`", row[0])} == carry - {"null", "fastdds"}  # Fast DDS serialises itself


def test_the_documents_say_which_built_adapters_serve_and_keep_a_history() -> None:
    late = {
        name: row
        for row in table("docs/reference/workloads.md", "adapter | a late joiner")
        for name in re.findall(r"`([\w-]+)`", row[0])
    }
    served = re.search(r"- A service is two edges,.*? chain\. (.+?) use their own", page("docs/reference/workloads.md"))
    assert served
    for worker in find_workers()[0]:
        about = worker.description
        if about.is_raw_transport or about.bench_only:
            continue
        name = adapter_of(about.name)
        assert (name in late) == any(each.max_history != 0 for each in about.transports), name
        assert (f"`{name}`" in served[1]) == any(each.services for each in about.transports), name


def test_the_last_release_of_a_framework_is_no_older_than_a_tested_version() -> None:
    tested = {
        name.strip("[]`").partition("`")[0]: versions
        for name, _, versions in table("README.md", "adapter | transports")
    }
    for framework in frameworks().framework.values():
        if framework.adapter is None or framework.last_release is None:
            continue
        versions = [tuple(map(int, each.split("."))) for each in VERSION.findall(tested[framework.adapter])]
        newest = VERSION.search(framework.last_release.text)
        assert newest
        assert tuple(map(int, newest[0].split("."))) >= max(versions), framework.title


def test_usage_has_every_metric() -> None:
    listed = {
        name
        for row in table("docs/reference/commands.md", "metric | what it is")
        for name in re.findall(r"`([\w.]+)`", row[0])
    }
    assert listed == {name for name in METRICS if name.partition(".")[0] not in PER_ROLE or name in PER_ROLE} | {
        f"{name}.ROLE" for name in PER_ROLE
    }


def test_the_steps_of_check_are_documented_and_have_budgets() -> None:
    script = (ROOT / "check").read_text()
    steps = {*re.findall(r"^  \[(\w+)\]=", script, re.MULTILINE)} - {"mutants"}
    listed = {name for row in table("docs/reference/tests.md", "step | in") for name in row[0].split(", ")}
    assert listed == steps
    assert {line.split()[0] for line in (ROOT / "tests/budgets").read_text().splitlines()} == steps


def test_the_first_answer_in_the_readme_has_only_adapters_that_the_first_start_builds() -> None:
    later = re.compile(r"^middlemark_((rust|python)_adapter\(|adapter\([^)]*\bLATER\b)", re.MULTILINE)
    adapters = {each.parent.name: each.read_text() for each in ROOT.glob("adapters/*/CMakeLists.txt")}
    answer = (ROOT / "results/which.txt").read_text(encoding="utf-8")
    assert " is best for " in answer
    rows = {line.split()[0] for line in answer.splitlines() if re.search(r"\d\.\d\d  \S", line)} & {*adapters}
    assert rows
    assert not {name for name in rows if later.search(adapters[name])}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda each: str(each.relative_to(ROOT)))
def test_no_sample_output_has_a_word_of_older_versions(path: Path) -> None:
    samples = "".join(path.read_text(encoding="utf-8").split("```")[1::2])
    for word in ("machine alone", "× alone", "left:", "carried by", "cannot tell", "two speeds"):
        assert word not in samples, f"{path.name}: {word}"
