"""The package that `pip install .` installs: the command, its workers, and the CMake package for other adapters."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from installing import PIP, ROOT, Installed, run

EXAMPLES = {"unixgram": "out-of-tree-adapter", "unixgram-rust": "rust-adapter"}
CARGO = shutil.which("cargo") or (Path.home() / ".cargo/bin/cargo").exists()

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """`pip install .` with one adapter, unoptimised. All other adapters are installed in the same way."""
    folder = tmp_path_factory.mktemp("installed")
    run([sys.executable, "-m", "venv", folder / "venv"], cwd=folder)
    python = folder / "venv" / "bin" / "python"
    build = f"build-dir={ROOT / 'build' / 'package'}"  # unchanged files are not compiled again
    settings = [build, "cmake.define.MIDDLEMARK_ADAPTERS=null", "cmake.build-type=Debug"]
    run([python, *PIP, *(f"--config-settings={each}" for each in settings), ROOT], cwd=folder)
    return Installed.in_venv(folder / "venv")


class Elsewhere(NamedTuple):
    """An external adapter project: its name, and the folder of its worker."""

    name: str
    workers: Path


@pytest.fixture(scope="module", params=EXAMPLES)
def elsewhere(
    request: pytest.FixtureRequest, installed: Installed, tmp_path_factory: pytest.TempPathFactory
) -> Elsewhere:
    """Build an example against the installed package."""
    example = EXAMPLES[request.param]
    if example == "rust-adapter" and not CARGO:
        pytest.skip("there is no cargo")
    project = tmp_path_factory.mktemp("elsewhere") / example
    shutil.copytree(ROOT / "examples" / example, project, ignore=shutil.ignore_patterns("build", "target"))
    run(["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={installed.package}"], cwd=project)
    run(["cmake", "--build", "build"], cwd=project)
    return Elsewhere(request.param, project / "build" / "workers")


def test_the_command_prints_its_version(installed: Installed) -> None:
    version = re.search(r'^__version__ = "(.+)"', (ROOT / "src/middlemark/__init__.py").read_text(), re.MULTILINE)
    assert version
    assert installed.run("--version").stdout.strip() == f"middlemark, version {version[1]}"


def test_the_workers_are_inside_the_package(installed: Installed) -> None:
    programs = {each.name for each in (installed.package / "workers" / "bin").iterdir()}
    assert programs == {"middlemark-worker-null", "middlemark-witness"}
    assert re.search(r"^null\s", installed.run("list", "adapters").stdout, re.MULTILINE)


def test_the_manual_page_is_installed_where_man_finds_it(installed: Installed) -> None:
    page = installed.command.parents[1] / "share" / "man" / "man1" / "middlemark.1"
    assert page.read_bytes() == (ROOT / "docs/reference/middlemark.1").read_bytes()


def test_the_suites_are_inside_the_package(installed: Installed) -> None:
    shown = installed.run("list", "suites").stdout
    for suite in (ROOT / "suites").glob("*.toml"):
        assert suite.stem in shown


def test_the_studies_and_the_table_of_frameworks_are_inside_the_package(installed: Installed) -> None:
    shown = installed.run("reproduce", "--list").stdout
    for study in (ROOT / "studies").iterdir():
        assert study.name in shown
        assert (installed.package / "studies" / study.name / "suite.toml").is_file()
    assert "OROCOS RTT" in installed.run("list", "frameworks").stdout


def test_the_package_contains_the_charting_libraries_and_their_licences(installed: Installed) -> None:
    script = (installed.package / "web" / "report.js").read_text(encoding="utf-8")
    assert "@observablehq/plot" in script
    assert "d3" in script
    assert script.startswith("/*!")
    assert script.count("Permission to use, copy, modify") > 1
    assert "</script" not in script
    ours = installed.package / "show" / "html"
    assert {each.suffix for each in ours.rglob("*") if each.is_file()} >= {".mjs", ".css", ".html"}


def test_every_header_of_the_core_and_the_probe_is_installed_and_no_test_is(installed: Installed) -> None:
    core, probe = ROOT / "core", ROOT / "probe" / "include" / "middlemark"
    headers = installed.package / "include" / "middlemark"
    left_out = {"tests", "python"}  # adapters in Python are built in a checkout only
    wanted = {each.relative_to(core) for each in core.rglob("*.hpp") if not left_out & {*each.relative_to(core).parts}}
    wanted |= {each.relative_to(probe) for each in probe.iterdir()}
    assert {each.relative_to(headers) for each in headers.rglob("*") if each.is_file()} == wanted


def test_a_program_in_python_stamps_with_the_library_in_the_package(installed: Installed, tmp_path: Path) -> None:
    python = installed.command.parent / "python"
    run([python, *PIP, "cffi>=1.15"], cwd=tmp_path)
    program = "from middlemark.probe import Probe; topic = Probe('p').topic('t'); topic.sent(1, 1); topic.received(1)"
    run([python, "-c", program], cwd=tmp_path, env={"MIDDLEMARK_PROBE": str(tmp_path / "stamps")})
    shown = installed.run("import", str(tmp_path / "stamps"), "--out", str(tmp_path / "runs"), "--format", "json")
    (cell,) = json.loads(shown.stdout)["cells"]
    assert (cell["adapter"], cell["received"], cell["lost"]) == ("t (probe)", 1, 0)


def test_an_adapter_of_another_project_is_found_and_measured(
    installed: Installed, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    name, workers = elsewhere.name, str(elsewhere.workers)
    shown = installed.run("list", "adapters", MIDDLEMARK_WORKERS=workers).stdout
    assert re.search(rf"^{name}\s", shown, re.MULTILINE)
    asked = (
        f"--adapter {name} --pattern ping-pong,stream --size 64,64k --receive block --samples 50 --warmup 50ms"
        " --trials 1 --pin off --format json"
    )
    measured = installed.run("run", *asked.split(), "--out", str(tmp_path), MIDDLEMARK_WORKERS=workers)
    cells = json.loads(measured.stdout)["cells"]
    assert len(cells) == 4
    for cell in cells:
        assert (cell["adapter"], cell["samples"], cell["lost"], cell["failed"]) == (name, 50, 0, None)
        assert cell["actual_transport"] == "unix-socket"


@pytest.mark.parametrize("example", EXAMPLES.values())
def test_a_whole_adapter_takes_less_than_150_lines(example: str) -> None:
    files = (ROOT / "examples" / example).rglob("*")
    code = [each for each in files if each.suffix in {".hpp", ".cpp", ".rs"} or each.name == "CMakeLists.txt"]
    assert sum(len(each.read_text().splitlines()) for each in code) < 150
