"""Runs with folders that cannot be written, with full disks, and with output that nobody reads."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from product import Bench, Mount, until

pytestmark = pytest.mark.usefixtures("null_worker")

ONE = ["--adapter", "null", "--transport", "memory", "--size", "64", "--warmup", "10ms", "--pin", "off"]
QUICK = ["run", *ONE, "--samples", "100", "--trials", "1"]


def fill(folder: Path) -> None:
    """Fill the disk completely."""
    with (folder / "full").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass


def test_a_folder_that_cannot_be_written_is_named_and_nothing_is_measured(bench: Bench, mount: Mount) -> None:
    out = mount("ro") / "results"
    ended = bench.run(*QUICK, "--out", str(out))
    assert ended.code == 3
    assert str(out) in ended.err
    assert "Read-only file system" in ended.err
    assert "--out DIR" in ended.err


@pytest.mark.parametrize("out", ["/dev/null/results", "/proc/results"])
def test_a_folder_that_cannot_be_made_is_named(bench: Bench, out: str) -> None:
    ended = bench.run(*QUICK, "--out", out)
    assert ended.code == 3
    assert out in ended.err


def test_a_folder_name_that_is_not_utf_8_is_refused(bench: Bench) -> None:
    ended = bench.run(*QUICK, "--out", os.fsdecode(os.fsencode(bench.folder) + b"/\xff"))
    assert ended.code == 3
    assert "not UTF-8" in ended.err


def test_samples_that_do_not_fit_on_the_disk_fail_their_trial_and_the_file_is_named(bench: Bench, mount: Mount) -> None:
    disk = mount("size=1m")
    ended = bench.run("run", *ONE, "--samples", "5000", "--trials", "6", "--out", str(disk), "--format", "json")
    [cell] = ended.document["cells"]
    assert 1 <= cell["trials"] < 6
    assert cell["samples"] == 5000 * cell["trials"], "earlier trials keep their samples"
    [warning] = [each for each in cell["warnings"] if each["code"] == "trials-failed"]
    assert str(disk) in warning["text"]
    assert ".npy" in warning["text"]
    assert "No space left on device" in warning["text"]
    assert ended.code == 1, "some requested trials have no result"
    assert f"{6 - cell['trials']} of 6 trials could not be kept: " in ended.err
    assert re.search(rf"could not be kept: .*{disk}\S+/samples/\d+\.npy: No space left on device", ended.err)
    assert "--out DIR" in ended.err


def test_samples_that_were_deleted_before_the_report_count_as_not_kept(bench: Bench) -> None:
    run = bench.start("run", *ONE, "--samples", "200", "--trials", "10", "--format", "json")
    until(lambda: run.trials() >= 1)
    first = run.folder / "samples" / "00000.npy"
    first.unlink()
    ended = run.ended()
    assert ended.code == 1
    assert "1 of 10 trials could not be kept: " in ended.err
    assert str(first) in ended.err
    assert ended.document["cells"][0]["trials"] == 9


def test_a_disk_that_fills_up_ends_the_run_with_its_path_and_the_results_so_far(bench: Bench, mount: Mount) -> None:
    disk = mount("size=4m")
    run = bench.start(
        "run", *ONE, "--samples", "200", "--trials", "1000", "--out", str(disk), "--format", "json", out=disk
    )
    until(lambda: run.trials() >= 2)
    fill(disk)
    ended = run.ended()
    assert ended.code == 1
    assert "trials.jsonl: No space left on device" in ended.err
    assert str(disk) in ended.err
    assert "--out DIR" in ended.err
    [cell] = ended.document["cells"]
    assert cell["trials"] >= 2
    assert cell["samples"] == 200 * cell["trials"]
    (disk / "full").unlink()
    listed = bench.run("list", "runs", str(disk)).out
    assert "of 1,000 trials" in listed


def test_a_disk_that_becomes_read_only_ends_the_run_with_its_path_and_the_results_so_far(
    bench: Bench, mount: Mount
) -> None:
    disk = mount("size=4m")
    run = bench.start(
        "run", *ONE, "--samples", "200", "--trials", "1000", "--out", str(disk), "--format", "json", out=disk
    )
    until(lambda: run.trials() >= 2)
    remount = ["mount", "-o", "remount,ro", str(disk)]
    until(lambda: subprocess.run(remount, capture_output=True, check=False).returncode == 0)
    ended = run.ended()
    assert ended.code == 1
    assert "Read-only file system" in ended.err
    assert ended.document["cells"][0]["trials"] >= 2


def test_a_folder_removed_during_the_run_ends_the_run_with_its_path(bench: Bench) -> None:
    out = bench.folder / "gone"
    run = bench.start(
        "run", *ONE, "--samples", "200", "--trials", "1000", "--out", str(out), "--format", "json", out=out
    )
    until(lambda: run.trials() >= 2)
    shutil.rmtree(out)
    ended = run.ended()
    assert ended.code in (1, 3), "the measured trials lost their samples"
    assert str(out) in ended.err
    assert ended.out != ""


def test_a_temporary_folder_that_is_full_is_named(bench: Bench, mount: Mount) -> None:
    disk = mount("size=64k,nr_inodes=2")
    (disk / "the last inode").touch()
    ended = bench.run(*QUICK, environment={"TMPDIR": str(disk)})
    # Middlemark uses the system's own temporary folder instead, if it has space.
    assert ended.code in (0, 1, 3)
    assert ended.code == 0 or str(disk) in ended.err


def closed_pipe() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("output_format", ["text", "roundtrip"])
def test_a_closed_pipe_does_not_harm_the_run(bench: Bench, output_format: str) -> None:
    writer = closed_pipe()
    try:
        ended = bench.run(*QUICK, "--format", output_format, stdout=writer)
    finally:
        os.close(writer)
    assert ended.code == 0
    assert ended.run_file["ended"] is not None
    assert len(ended.kept) == 1


def test_an_output_error_names_the_folder_of_the_run(bench: Bench) -> None:
    with Path("/dev/full").open("w") as full:
        ended = bench.run(*QUICK, stdout=full)
    assert ended.code == 1
    assert "No space left on device" in ended.err
    assert str(ended.folder) in ended.err
    assert len(ended.kept) == 1


def test_a_closed_standard_output_does_not_harm_the_run(bench: Bench) -> None:
    ended = bench.run(*QUICK, stdout=None, preexec_fn=lambda: os.close(1))
    assert ended.code == 0
    assert len(ended.kept) == 1


@pytest.mark.parametrize("verb", [["list", "adapters"], ["--help"], ["--version"]])
def test_a_command_that_only_prints_reports_an_output_error(bench: Bench, verb: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = bench.run(*verb, stdout=full)
    assert ended.code != 0
    assert "No space left on device" in ended.err
