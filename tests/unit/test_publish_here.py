"""``scripts/publish-here``, with a ``middlemark`` that only notes its arguments."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from middlemark.suite.request import suite_files

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/publish-here"
FAKE = """#!/usr/bin/env bash
echo "$*" >> calls
if [[ $1 == run ]]; then
  while [[ $1 != --out ]]; do shift; done
  mkdir -p "$2"
  exit "${RUN_ENDS:-0}"
fi
exit "${PUBLISH_ENDS:-0}"
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    (tmp_path / "middlemark").write_text(FAKE)
    (tmp_path / "middlemark").chmod(0o755)
    return tmp_path


def published(clone: Path, *words: str, **environment: str) -> tuple[int, list[str], str]:
    """Run the script. Return its exit code, the calls without the time in the folder's name, and stderr."""
    argv = [str(clone / "scripts/publish-here"), *words]
    done = subprocess.run(argv, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    calls = (clone / "calls").read_text()
    return done.returncode, re.sub(r"-\d{8}T\d{6}", "-TIME", calls).splitlines(), done.stderr


def test_every_suite_of_the_projects_own_results_is_measured_and_published(clone: Path) -> None:
    code, calls, _ = published(clone)
    assert code == 0
    suites = [call.split()[1] for call in calls if call.startswith("run")]
    assert suites == [
        "first-look",
        "ros2-layers",
        "python-cost",
        "amr",
        "car",
        "interop",
        "crowd",
        "security",
        "gigabit",
    ]
    assert {*suites} <= {*suite_files()}
    assert calls[0] == "run first-look --out runs/published/first-look-TIME"
    assert calls[2] == "run ros2-layers --trials 6 --out runs/published/ros2-layers-TIME"
    assert calls[3] == "publish runs/published/ros2-layers-TIME --to results"


def test_suites_options_trials_and_the_folder_can_be_chosen(clone: Path) -> None:
    code, calls, _ = published(clone, "crowd", "--", "--participants", "1,2", TRIALS="7", RESULTS="elsewhere")
    assert code == 0
    assert calls == [
        "run crowd --trials 7 --participants 1,2 --out runs/published/crowd-TIME",
        "publish runs/published/crowd-TIME --to elsewhere",
    ]


def test_a_run_with_a_failed_configuration_is_still_offered_to_publish(clone: Path) -> None:
    code, calls, _ = published(clone, "crowd", RUN_ENDS="1")
    assert (code, len(calls)) == (0, 2)


def test_a_refused_run_is_named_and_the_others_are_measured(clone: Path) -> None:
    code, calls, err = published(clone, "crowd", "car", PUBLISH_ENDS="4")
    assert (code, len(calls)) == (1, 4)
    assert "not published: crowd car;" in err


def test_an_interrupt_ends_everything(clone: Path) -> None:
    code, calls, _ = published(clone, "crowd", "car", RUN_ENDS="130")
    assert (code, len(calls)) == (130, 1)
