"""Two builds of one adapter in one run."""

import shutil
import subprocess
from pathlib import Path

import pytest
from product import Bench

from middlemark.workers.find import PREFIX, executables


def test_two_builds_are_interleaved_and_compared_by_version(bench: Bench, tmp_path: Path) -> None:
    worker = executables().get("uds")
    if worker is None:
        pytest.skip("uds was not built here")
    folder = tmp_path / "workers"
    folder.mkdir()
    for name in ("uds", "uds@next"):
        shutil.copy(worker, folder / f"{PREFIX}{name}")
    environment = {"MIDDLEMARK_WORKERS": str(folder), "PATH": "/usr/bin:/bin"}
    typed = ("--size", "64", "--trials", "6", "--samples", "50", "--quiet", "--no-baseline", "--format", "json")
    ended = bench.run("run", "--adapter", "uds,uds@next", *typed, environment=environment)
    assert ended.code == 0, ended.err
    assert [each["adapter"] for each in ended.document["cells"]] == ["uds", "uds@next"]
    order = [each["cell"] for each in ended.kept]
    assert order not in (sorted(order), sorted(order, reverse=True)), (
        "the trials of the two builds were not interleaved"
    )
    compared = bench.run("compare", str(bench.out), "--by", "version", "--format", "json")
    [pair] = compared.document["comparisons"]
    assert (pair["a"], pair["b"], pair["pairs"]) == ("uds", "uds@next", 6)
    everything = bench.run("run", "--adapter", "all", *typed, "--dry-run", environment=environment)
    assert "1 configuration, 6 trials" in everything.out, "all selects only the usual build"


def test_a_build_that_is_slower_than_another_fails_the_run(bench: Bench, null_worker: Path, tmp_path: Path) -> None:
    folder = tmp_path / "workers"
    folder.mkdir()
    for name in ("null", "null@old"):
        shutil.copy(null_worker, folder / f"{PREFIX}{name}")
    environment = {"MIDDLEMARK_WORKERS": str(folder), "PATH": "/usr/bin:/bin"}
    typed = ("run", "--adapter", "null", "--against", "old", "--size", "64", "--trials", "10", "--quiet")
    typed += ("--samples", "50", "--no-baseline", "--native", "null.every_delay_us=500")
    typed += ("--native", "null@old.every_delay_us=0")
    slower = bench.run(*typed, environment=environment)
    assert slower.code == 4, slower.out + slower.err
    assert "null is no worse than null@old" in slower.err
    nobody = bench.run("run", "--against", "old", environment=environment)
    assert nobody.code == 2
    assert "needs the name of an adapter" in nobody.err


@pytest.mark.full
def test_a_build_against_an_installation_is_listed_with_the_usual_build(bench: Bench) -> None:
    if "lcm" not in executables():
        pytest.skip("lcm was not built here")
    ended = bench.run("build", "lcm", "--prefix", "/usr", "--as", "again", timeout_s=600)
    made = Path(__file__).parents[2] / "build" / "workers" / f"{PREFIX}lcm@again"
    try:
        assert ended.code == 0, ended.err
        assert "lcm@again: LCM" in ended.out
        listed = bench.run("list", "adapters", environment={"MIDDLEMARK_WORKERS": str(made)})
        assert "lcm@again" in listed.out
    finally:
        made.unlink(missing_ok=True)


@pytest.mark.brief
def test_all_problems_of_a_build_are_reported_at_once(bench: Bench) -> None:
    ended = bench.run("build", "nonesuch", "--prefix", "/nowhere", "--as", "a@b")
    assert ended.code == 2
    for words in ("there is no adapters/nonesuch", "/nowhere is no folder", "'a@b' is no version"):
        assert words in ended.err


@pytest.fixture
def newer_cyclone(tmp_path: Path) -> Path:
    """Build Cyclone DDS 11.0.1 from the source in the crate cyclors, because no package has it. Return its prefix."""
    crate, made, prefix = tmp_path / "crate", tmp_path / "made", tmp_path / "cyclonedds-11"
    (crate / "src").mkdir(parents=True)
    (crate / "src" / "lib.rs").touch()
    (crate / "Cargo.toml").write_text(
        '[package]\nname = "source"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\ncyclors = "=0.4.0"\n'
    )
    options = [f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF", "-GNinja"]
    source = crate / "vendor" / "cyclors" / "cyclonedds"
    for command in (
        ["cargo", "vendor", "--quiet", "--manifest-path", str(crate / "Cargo.toml"), str(crate / "vendor")],
        ["cmake", "-S", str(source), "-B", str(made), "-DENABLE_SSL=OFF", "-DENABLE_ICEORYX=OFF", *options],
        ["cmake", "--build", str(made), "--target", "install"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return prefix


@pytest.mark.full
def test_an_older_and_a_newer_cyclone_dds_are_judged_in_one_run(bench: Bench, newer_cyclone: Path) -> None:
    if "cyclonedds" not in executables() or shutil.which("cargo") is None:
        pytest.skip("cyclonedds was not built here, or there is no cargo")
    ended = bench.run("build", "cyclonedds", "--prefix", str(newer_cyclone), timeout_s=900)
    made = Path(__file__).parents[2] / "build" / "workers" / f"{PREFIX}cyclonedds@11.0.1"
    try:
        assert ended.code == 0, ended.err
        environment = {"MIDDLEMARK_WORKERS": f"{made}:{executables()['cyclonedds']}"}
        typed = ("--adapter", "cyclonedds@0.10.2,cyclonedds@11.0.1", "--transport", "udp", "--size", "1k")
        ended = bench.run(
            "run", *typed, "--trials", "8", "--samples", "500", "--quiet", "--format", "json", environment=environment
        )
        assert ended.code == 0, ended.err
        judged = bench.run("compare", str(bench.out), "--by", "version", "--format", "json")
        [pair] = judged.document["comparisons"]
        assert (pair["a"], pair["b"], pair["pairs"]) == ("cyclonedds", "cyclonedds@11.0.1", 8)
        assert pair["low"] <= pair["shift"] <= pair["high"], pair
    finally:
        made.unlink(missing_ok=True)
