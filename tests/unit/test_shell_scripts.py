"""Shell scripts pass shellcheck: those of the set-up, and those of images and the action, which no test can run."""

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(
    [*ROOT.glob("packaging/docker/*.sh"), *ROOT.glob("packaging/action/*.sh"), *ROOT.glob("scripts/targets/*.sh")]
)
SET_UP = sorted([ROOT / "middlemark", ROOT / "scripts/docs", *ROOT.glob("packaging/setup/*.sh")])
OF_PARTS = "SC1090,SC1091,SC2154,SC2034"
"""Checks of shellcheck that are wrong for files that are sourced: other files set or read their variables."""
DOCKERFILES = sorted(ROOT.glob("packaging/docker/*.Dockerfile"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda each: str(each.relative_to(ROOT)))
def test_shellcheck_finds_nothing(script: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("there is no shellcheck")
    done = subprocess.run(
        ["shellcheck", "--external-sources", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_shellcheck_finds_nothing_in_the_set_up() -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("there is no shellcheck")
    options = ["--shell=bash", f"--exclude={OF_PARTS},SC2016,SC2054"]  # for dpkg's format and env's option
    done = subprocess.run(["shellcheck", *options, *SET_UP], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_build_shows_its_progress_on_a_terminal_and_logs_every_line(tmp_path: Path) -> None:
    lines = [f"[{number}/10] Building CXX object {number}.o" for number in range(1, 11)]
    lines[3:3] = ["[4/10] Building the Rust library middlemark_zenoh (cargo)"]
    script = f"log={tmp_path}/log; cd {ROOT}/packaging/setup; source ./say.sh; source ./progress.sh; show_progress"
    terminal, end = pty.openpty()
    subprocess.run(["bash", "-c", script], input="\n".join(lines), stdout=end, stderr=end, text=True, check=True)
    os.close(end)
    shown = os.read(terminal, 1 << 16).decode()
    os.close(terminal)
    assert "middlemark: 4 of 10 steps\x1b" in shown
    assert re.search(r"middlemark: 5 of 10 steps, about \d+ s more", shown)
    assert "middlemark: Building the Rust library middlemark_zenoh (cargo)" in shown
    assert (tmp_path / "log").read_text().splitlines() == lines


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda each: each.stem)
def test_a_dockerfile_calls_only_existing_scripts(file: Path) -> None:
    text = file.read_text()
    called = re.findall(r'^(?:RUN |ENTRYPOINT \[")/middlemark/(\S+?)"?\]?$', text, re.MULTILINE)
    assert len(called) == text.count("RUN ") + text.count("ENTRYPOINT") == 3
    for each in called:
        assert (ROOT / each).stat().st_mode & 0o111, each
    assert f"packaging/docker/{file.name}" in (ROOT / "compose.yaml").read_text()


def test_images_that_were_never_built_are_marked_in_their_file() -> None:
    run = {each.stem.removeprefix("docker-") for each in ROOT.glob("scripts/targets/docker-*.sh")}
    assert run == {"debian-12"}
    assert {each.stem for each in DOCKERFILES if "We have never built this image" not in each.read_text()} == run
