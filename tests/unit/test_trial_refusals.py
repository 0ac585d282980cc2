"""Refusals of a plan by the workers before anything starts. The worker is a script that refuses on demand."""

import json
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from descriptions import description, transport

from middlemark.commands.run import command as run
from middlemark.problems import RequestError

WORKER = """
import json, sys
from pathlib import Path
if sys.argv[1:] == ["--describe"]:
    print({description!r})
elif sys.argv[1:] == ["--check"]:
    {check}
else:
    Path(sys.argv[0]).with_name("started").touch()
"""
REFUSING = """
    asked = Path(sys.argv[0]).with_name("asked").open("a")
    for line in sys.stdin:
        command = json.loads(line)
        asked.write(line)
        settings = command["settings"]
        colour = settings["native"].get("colour")
        wrong = colour if colour and settings["message_bytes"] > 100 else None
        error = {"event": "error", "code": "refused", "text": f"lyra: colour {wrong}", "advice": "take grey"}
        print(json.dumps(error if wrong else None))
"""


class Place:
    """A folder with one worker."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def worker(self, check: str = REFUSING) -> None:
        described = description("lyra", transport("udp"), native={"colour": "a colour"})
        text = WORKER.format(description=json.dumps(msgspec.to_builtins(described)), check=check.strip())
        path = self.folder / "middlemark-worker-lyra"
        path.write_text(f"#!{sys.executable} -IS\n{text}")
        path.chmod(0o755)

    def run(self, *options: str) -> Result:
        return CliRunner().invoke(run, ["--adapter", "lyra", "--no-baseline", *options])

    def problems(self, *options: str) -> list[str]:
        ran = self.run(*options)
        assert isinstance(ran.exception, RequestError), ran.output
        assert not (self.folder / "started").exists()
        return [str(each) for each in ran.exception.problems]

    @property
    def asked(self) -> list[list[str]]:
        """The roles in each configure command that the worker was asked about."""
        lines = (self.folder / "asked").read_text().splitlines()
        return [[role["role"] for role in json.loads(line)["roles"]] for line in lines]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path)


@pytest.mark.parametrize("dry", [("--dry-run",), ()])
def test_all_refusals_of_the_worker_are_reported_before_anything_starts(place: Place, dry: tuple[str, ...]) -> None:
    place.worker()
    asked = ("--size", "64,1k,4k", "--receive", "block,poll")
    assert place.problems(*dry, *asked, "--native", "colour=red") == [
        "lyra udp, 1 KiB, block and 3 more: lyra: colour red (take grey)",
        "--skip-unsupported: leaves out these configurations and measures the others",
    ]
    assert not (place.folder / "runs").exists()


def test_a_refused_cell_is_left_out_with_a_note_with_skip_unsupported(place: Place) -> None:
    place.worker()
    ran = place.run("--dry-run", "--skip-unsupported", "--size", "64,1k", "--native", "colour=red")
    assert ran.exit_code == 0, ran.exception
    assert "note: lyra udp, 1 KiB, block: left out: lyra: colour red (take grey)" in ran.output
    assert "1 configuration, 3 trials" in ran.output


def test_a_plan_without_remaining_cells_is_refused_despite_skip_unsupported(place: Place) -> None:
    place.worker()
    assert place.problems("--skip-unsupported", "--size", "1k", "--native", "colour=red") != []


def test_workers_with_equal_roles_are_queried_once(place: Place) -> None:
    place.worker()
    assert place.run("--dry-run", "--size", "64", "--subscribers", "5", "--echo", "first").exit_code == 0
    assert place.asked == [["ping"], ["pong"], ["pong"]]
    (place.folder / "asked").unlink()
    place.run("--dry-run", "--size", "64", "--pattern", "stream", "--rate", "sustainable", "--processes", "1")
    assert place.asked == [["publisher", "subscriber"]]


@pytest.mark.parametrize("check", ["sys.exit(2)", "print('nonsense')", "print('{}')", "pass", "print('null\\n' * 100)"])
def test_a_worker_that_cannot_be_queried_refuses_at_the_start_of_the_trial(place: Place, check: str) -> None:
    place.worker(check)
    assert place.run("--dry-run", "--native", "colour=red").exit_code == 0
