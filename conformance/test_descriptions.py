"""Tests of the description that a worker prints without opening its middleware."""

import re
import subprocess
import sys
from pathlib import Path

from candidate import found
from conversation import Conversation

from middlemark.model.description import ANY, DEFAULT_CONFIGURATION, Worker
from middlemark.sites.residue import SYSTEM_V
from middlemark.system.checks.daemons import ROS2_LIBRARIES

ROOT = Path(__file__).resolve().parent.parent
CARRIERS = {"shared-memory", "udp", "tcp", "unix-socket", "message-queue", "process-memory", ANY}
RECEPTIONS = {"poll", "block", "listen"}
RELIABILITIES = {"reliable", "best-effort"}
SPDX = re.compile(r"[A-Za-z0-9.+-]+( (OR|AND|WITH) [A-Za-z0-9.+-]+)*")


def test_there_are_workers_to_test() -> None:
    workers, _ = found()
    names = {worker.description.name for worker in workers}
    assert "null" in names, "no workers were found; ./check builds them and sets MIDDLEMARK_WORKERS"


def test_every_worker_can_describe_itself() -> None:
    assert found()[1] == ()


def test_the_executable_has_the_adapters_name(worker: Worker) -> None:
    assert Path(worker.path).name == f"middlemark-worker-{worker.description.name}"
    assert worker.description.title


def test_the_version_is_that_of_the_loaded_library(worker: Worker) -> None:
    about = worker.description
    assert any(character.isdigit() for character in about.version)
    if about.library:
        # Do not compare the version with the file's name, which may contain the version of the library's interface.
        assert Path(about.library).is_file()


def test_the_named_library_is_mapped_in_the_process(worker: Worker) -> None:
    with Conversation(worker.path) as talk:
        hello = talk.expect("hello")
        assert hello["version"] == worker.description.version
        if worker.description.library:
            assert f" {worker.description.library}\n" in Path(f"/proc/{hello['pid']}/maps").read_text()


def test_the_licence_is_an_spdx_expression(worker: Worker) -> None:
    assert SPDX.fullmatch(worker.description.licence)


def test_transports_have_distinct_names_and_known_levels(worker: Worker) -> None:
    transports = worker.description.transports
    assert len({transport.name for transport in transports}) == len(transports) > 0
    for transport in transports:
        assert transport.carrier in CARRIERS
        assert len(transport.processes) > 0
        assert set(transport.processes) <= {1, 2}
        assert len(transport.receive) > 0
        assert set(transport.receive) <= RECEPTIONS
        assert len(transport.reliability) > 0
        assert set(transport.reliability) <= RELIABILITIES
        assert len(transport.loan) > 0
        assert transport.max_bytes >= 1 << 10
        assert transport.max_depth is None or transport.max_depth >= 1


def test_the_last_transport_of_a_middleware_is_its_default_configuration(worker: Worker) -> None:
    names = [transport.name for transport in worker.description.transports]
    lists_rmws = worker.description.name in ROS2_LIBRARIES  # each transport is an RMW in its default configuration
    if worker.description.is_raw_transport or worker.description.bench_only or lists_rmws:
        assert DEFAULT_CONFIGURATION not in names
    else:
        assert names[-1] == DEFAULT_CONFIGURATION
        assert len(names) > 1


def test_shared_memory_segments_have_a_specific_name(worker: Worker) -> None:
    for transport in worker.description.transports:
        if transport.carrier == "shared-memory":
            assert transport.segments
            assert "*" not in transport.segments


def test_residue_patterns_are_absolute_and_specific(worker: Worker) -> None:
    for pattern in worker.description.residue:
        if pattern == SYSTEM_V:
            continue
        folder, _, name = pattern.rpartition("/")
        assert folder in ("/dev/shm", "/dev/mqueue", "/tmp"), pattern
        assert len(name.replace("*", "")) >= 4, f"{pattern} would match files of other programs"


def test_every_native_setting_has_a_help_text(worker: Worker) -> None:
    assert all(setting.help for setting in worker.description.native.values())


def test_the_readme_has_the_native_settings_of_the_worker(worker: Worker) -> None:
    """If this fails, run ``scripts/native-tables`` to update the README."""
    command = [sys.executable, str(ROOT / "scripts" / "native-tables"), "--check", worker.description.name]
    stale = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (stale.stdout, stale.stderr, stale.returncode) == ("", "", 0)
