"""Runs action.yml's script as a runner does: with a build that is slower than the base branch's, and an equal one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from product import ROOT

from middlemark.workers.find import PREFIX

SCRIPT = ROOT / "packaging" / "action" / "run.sh"
MEASURED = "--transport memory --size 64 --trials 10 --samples 50 --no-baseline --native null@old.every_delay_us=0"


class Step(NamedTuple):
    """The exit status and output of the action's step."""

    status: int
    err: str
    out: Path
    summary: str


def step(folder: Path, worker: Path, **inputs: str) -> Step:
    workers = folder / "workers"
    workers.mkdir()
    for name in ("null", "null@old"):
        shutil.copy(worker, workers / f"{PREFIX}{name}")
    summary = folder / "summary.md"
    summary.touch()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MIDDLEMARK")},
        "PYTHONPATH": str(ROOT / "src"),
        "MIDDLEMARK_COMMAND": f"{sys.executable} -m middlemark",
        "MIDDLEMARK_WORKERS": str(workers),
        "GITHUB_STEP_SUMMARY": str(summary),
        **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
    }
    done = subprocess.run(
        [SCRIPT], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    return Step(done.returncode, done.stdout + done.stderr, folder / "middlemark-results", summary.read_text())


@pytest.mark.parametrize(("delay_us", "status"), [(500, 4), (0, 0)])
def test_a_branch_is_compared_with_its_base_and_all_results_are_kept(
    null_worker: Path, tmp_path: Path, delay_us: int, status: int
) -> None:
    done = step(
        tmp_path, null_worker, adapter="null", base="old", options=f"{MEASURED} --native null.every_delay_us={delay_us}"
    )
    assert done.status == status, done.err
    assert ("null is no worse than null@old: does not hold" in done.err) == bool(status)
    assert "null" in done.summary
    assert done.summary.strip() == (done.out / "report.md").read_text().strip()
    cases = ElementTree.parse(done.out / "junit.xml").getroot()
    assert len(list(cases.iter("testcase"))) == 3  # two builds and one expectation
    assert len(list(cases.iter("failure"))) == bool(status)
    assert len(list(done.out.glob("runs/*/run.json"))) == 1


def test_a_refused_request_ends_the_step_with_its_status_and_message(null_worker: Path, tmp_path: Path) -> None:
    done = step(tmp_path, null_worker, suite="nonesuch")
    assert done.status == 2
    assert "nonesuch" in done.err


def test_every_input_of_the_action_is_passed_to_the_script_and_no_other() -> None:
    action = (ROOT / "action.yml").read_text()
    declared = re.findall(r"^  (\w+):$", action.partition("inputs:")[2].partition("\nruns:")[0], re.MULTILINE)
    given = re.findall(r"INPUT_(\w+): \$\{\{ inputs\.(\w+) \}\}", action)
    read = set(re.findall(r"\bINPUT_([A-Z]+)\b", SCRIPT.read_text()))
    assert [(name.lower(), name.lower()) for name, _ in given] == [(each.lower(), same) for each, same in given]
    assert {name for _, name in given} == set(declared) == {each.lower() for each in read}
    assert "packaging/action/run.sh" in action
