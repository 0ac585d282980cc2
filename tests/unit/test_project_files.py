"""The files that GitHub and citation managers read: they are valid, and the commands and files in them exist."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps_of(workflow: str) -> list[dict[str, Any]]:
    jobs = read(GITHUB / "workflows" / workflow)["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize(("workflow", "script"), [("check.yml", ".ci/run"), ("docs.yml", "scripts/docs")])
def test_a_workflow_calls_the_script_that_anybody_can_run(workflow: str, script: str) -> None:
    assert script in [step.get("run") for step in steps_of(workflow)]
    assert (ROOT / script).stat().st_mode & 0o100, f"{script} is executable"


def test_the_workflow_publishes_the_folder_that_scripts_docs_writes() -> None:
    [uploaded] = [step["with"]["path"] for step in steps_of("docs.yml") if "upload-pages" in step.get("uses", "")]
    assert f"{uploaded}}}" in (ROOT / "scripts/docs").read_text()


@pytest.mark.parametrize("form", sorted(GITHUB.glob("ISSUE_TEMPLATE/[!c]*.yml")), ids=lambda each: each.stem)
def test_a_form_has_what_github_requires(form: Path) -> None:
    parts = read(form)
    assert {"name", "description", "body"} <= parts.keys()
    assert all({"type", "attributes"} <= part.keys() and "label" in part["attributes"] for part in parts["body"])


def test_citation_has_what_its_format_requires() -> None:
    cited = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= cited.keys()


def test_placeholders_are_in_pyproject_alone() -> None:
    files = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "mkdocs.yml")
    for path in [*(ROOT / name for name in files), *GITHUB.rglob("*.*")]:
        assert not re.search(r"example\.(com|org)", path.read_text(encoding="utf-8")), path.name


def test_the_page_on_security_first_names_where_to_report_a_vulnerability() -> None:
    assert "SECURITY.md" in (ROOT / "docs/how-to/security.md").read_text(encoding="utf-8").splitlines()[2]


def test_the_step_page_names_tests_that_exist() -> None:
    step = re.search(r"^step_page\(\) \{(.*?)^\}", (ROOT / "check").read_text(encoding="utf-8"), re.M | re.S)
    assert step
    files = re.search(r"tests/browser/\{(.*)\}\.test\.mjs", step[1])
    assert files
    texts = [(ROOT / "tests/browser" / f"{name}.test.mjs").read_text(encoding="utf-8") for name in files[1].split(",")]
    for pattern in "".join(re.findall(r'tests\+?="(.*)"', step[1])).split("|"):
        begin = pattern.partition(",")[0].partition(":")[0]  # the rest may contain values of the template
        assert any(begin in text for text in texts if begin), pattern
