"""The search for workers, and the messages about workers that were not built."""

import json
import os
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from descriptions import description, transport

from middlemark.commands.list import command
from middlemark.commands.run import command as run
from middlemark.problems import RequestError
from middlemark.workers import find
from middlemark.workers.find import NO_CANDIDATES, executables, find_workers, left_out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of workers; no other folder is searched."""
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    return tmp_path


def built(folder: Path, name: str) -> None:
    worker = folder / f"middlemark-worker-{name}"
    worker.write_text("#!/bin/sh\nexit 1\n")
    worker.chmod(0o755)


def test_a_worker_that_was_not_built_has_its_reason(folder: Path) -> None:
    (folder / "middlemark-left-out-lyra").write_text("Lyra 3 was not found (Debian: apt-get install lyra-dev)\n")
    assert left_out() == {"lyra": "Lyra 3 was not found (Debian: apt-get install lyra-dev)"}
    assert "Lyra 3 was not found" in CliRunner().invoke(command, ["adapters"]).output


def test_a_worker_that_exists_was_not_left_out(folder: Path) -> None:
    (folder / "middlemark-left-out-lyra").write_text("an older build's word\n")
    built(folder, "lyra")
    assert (list(executables()), left_out()) == (["lyra"], {})


def test_a_file_that_is_not_executable_is_no_worker(folder: Path) -> None:
    (folder / "middlemark-worker-lyra").write_text("")
    assert executables() == {}


def says(folder: Path, name: str, script: str) -> None:
    worker = folder / f"middlemark-worker-{name}"
    worker.write_text(f"#!/bin/sh\n{script}\n")
    worker.chmod(0o755)


def broken() -> str:
    """Return the reason why the only worker is left out."""
    workers, [left] = find_workers()
    assert workers == ()
    return left.reason


def test_an_endless_description_takes_bounded_memory(folder: Path) -> None:
    says(folder, "lyra", "exec /bin/cat /dev/zero")
    assert broken() == "--describe answered more than 16 MiB"


def test_a_worker_with_endless_error_output_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "DESCRIBE_S", 0.5)
    says(folder, "lyra", "exec /bin/cat /dev/zero >&2")
    assert broken() == "--describe did not answer within 0.5 s"


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("transports", [], "`$.transports`"),
        ("name", "", "`$.name`"),
        ("loan", [], "`$.transports[0].loan`"),
        ("carrier", None, "missing required field `carrier` - at `$.transports[0]`"),
        ("receive", [], "`$.transports[0].receive`"),
        ("reliability", [], "`$.transports[0].reliability`"),
        ("processes", [], "`$.transports[0].processes`"),
        ("processes", [3], "`$.transports[0].processes[0]`"),
        ("max_bytes", 0, "`$.transports[0].max_bytes`"),
    ],
)
def test_a_malformed_description_is_refused_with_its_field(folder: Path, field: str, value: object, why: str) -> None:
    described = msgspec.to_builtins(description("lyra", transport("udp")))
    owner = described if field in ("transports", "name") else described["transports"][0]
    if value is None:
        del owner[field]
    else:
        owner[field] = value
    says(folder, "lyra", f"echo '{json.dumps(described)}'")
    assert why in broken()


def test_an_adapter_with_a_broken_worker_is_not_called_unknown(folder: Path) -> None:
    says(folder, "lyra", "echo no >&2; exit 1")
    says(folder, "vega", f"echo '{json.dumps(msgspec.to_builtins(description('vega', transport('udp'))))}'")
    ran = CliRunner().invoke(run, ["--adapter", "lyra", "--dry-run"])
    assert isinstance(ran.exception, RequestError)
    [problem] = ran.exception.problems
    assert "lyra is not built here: its worker does not work: " in problem.text
    assert "--describe ended with status 1: no" in problem.text


def test_an_unreadable_or_missing_folder_hides_no_other_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: object) -> list[str]:
        raise PermissionError(13, "Permission denied")

    built(folder, "lyra")
    long = "/tmp/" + "x" * 300
    monkeypatch.setenv("MIDDLEMARK_WORKERS", f"{long}:{folder / 'no'}:{folder}")
    monkeypatch.setenv("PATH", f"{long}:/nowhere")
    assert (list(executables()), left_out(), find.witness()) == (["lyra"], {}, None)
    monkeypatch.setattr(os, "listdir", denied)
    assert (executables(), left_out(), find.witness()) == ({}, {}, None)


def test_named_folders_come_before_those_on_the_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "other").mkdir()
    for place in (folder, folder / "other"):
        built(place, "lyra")
    monkeypatch.setenv("MIDDLEMARK_WORKERS", f"{folder / 'other'}:{folder}")
    assert executables() == {"lyra": str(folder / "other" / "middlemark-worker-lyra")}
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(folder / "middlemark-worker-lyra"))
    monkeypatch.setenv("PATH", str(folder / "other"))
    assert executables() == {"lyra": str(folder / "middlemark-worker-lyra")}


def test_adapters_that_are_no_candidates_are_known_before_they_are_built() -> None:
    adapters = Path(__file__).parents[2] / "adapters"
    bench = {each.parent.name for each in adapters.glob("*/adapter.hpp") if ".bench_only = true" in each.read_text()}
    # The first start builds the baselines in C++; those in Python are built on request.
    raw = {each.parent.name for each in adapters.glob("*/adapter.py") if "is_raw_transport=True" in each.read_text()}
    assert bench | raw == NO_CANDIDATES


def test_workers_in_python_are_started_only_if_one_of_them_is_named(folder: Path) -> None:
    (folder / "middlemark-worker-vega").symlink_to("/bin/false")
    for name in ("lyra", "mira"):
        built(folder, name)

    def asked(*named: str) -> list[str]:
        return sorted(each.name for each in find_workers(named)[1])

    assert asked("vega") == ["vega"]
    assert asked("vega", "lyra") == ["lyra", "mira", "vega"], "the other may be a baseline in Python"
    assert asked() == asked("vega", "lira") == ["lyra", "mira", "vega"], "the error lists every name"
