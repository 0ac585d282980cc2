"""The source package and its wheel: built without a network, and run where pip, pipx and uv install them."""

import json
import os
import re
import shutil
import sys
import tarfile
from pathlib import Path

import pytest
from installing import PIP, ROOT, Installed, run

ADAPTERS = "null;shm;tcp;zenoh"
SHORT = ("--samples", "100", "--warmup", "10ms", "--trials", "1", "--size", "1k", "--format", "json", "--quiet")

pytestmark = [pytest.mark.slow, pytest.mark.full]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a virtual environment with the build tools, uv, and all packages that Middlemark imports."""
    folder = tmp_path_factory.mktemp("tools")
    run([sys.executable, "-m", "venv", folder / "venv"], cwd=folder)
    python = folder / "venv" / "bin" / "python"
    run([python, *PIP, "build", "uv", "scikit-build-core>=0.11", "ninja"], cwd=folder)
    run([python, *PIP, "--require-hashes", "--requirement", ROOT / "packaging" / "requirements.lock"], cwd=folder)
    return python.parent


@pytest.fixture(scope="module")
def source(tools: Path) -> Path:
    """The source package."""
    run([tools / "python", "-m", "build", "--sdist", "--no-isolation", "--outdir", tools.parents[1], ROOT], cwd=tools)
    (found,) = tools.parents[1].glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def wheel(source: Path, tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that pip makes from the source package alone: no network, no crates fetched before."""
    folder = tmp_path_factory.mktemp("wheel")
    settings = ("build-dir=built", f"cmake.define.MIDDLEMARK_ADAPTERS={ADAPTERS}", "cmake.build-type=Debug")
    pip = [
        tools / "python",
        "-m",
        "pip",
        "wheel",
        "--no-build-isolation",
        "--no-index",
        "--no-deps",
        "--wheel-dir",
        folder,
    ]
    command = [*pip, *(f"--config-settings={each}" for each in settings), source]
    environment = {"CARGO_HOME": str(folder / "no crates"), "PATH": f"{tools}:/usr/bin:/bin"}
    without_network = ["unshare", "--net", *(["--map-root-user"] if os.geteuid() else [])]
    run([*without_network, *command], cwd=folder, env=environment)
    (found,) = folder.glob("*.whl")
    return found


def checked(installed: Installed, out: Path) -> None:
    """Check that the package measures, and names the reason for each worker that could not be built."""
    shown = installed.run("run", "first-look", *SHORT, "--out", str(out)).stdout
    cells = json.loads(shown)["cells"]
    assert {each["adapter"] for each in cells} == {"shm", "tcp"}
    assert all(each["samples"] == 100 and each["failed"] is None for each in cells)
    listed = installed.run("list", "adapters").stdout
    assert re.search(r"^zenoh +not built +(its crates cannot be fetched|there is no cargo)", listed, re.MULTILINE)


def test_the_source_package_contains_everything_for_a_build_without_a_network(source: Path) -> None:
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "CMakeLists.txt",
        "core/adapter.hpp",
        "adapters/tcp/CMakeLists.txt",
        "LICENSE",
        "suites/first-look.toml",
    } <= inside
    assert "build/web/report.js" in inside
    assert not [name for name in inside if name.startswith(("runs", "build/workers", "build/cargo", ".venv"))]


def test_a_wheel_of_the_source_package_runs_a_first_look_in_a_fresh_environment(
    wheel: Path, tools: Path, tmp_path: Path
) -> None:
    run([tools / "python", "-m", "venv", "venv"], cwd=tmp_path)
    run([tmp_path / "venv" / "bin" / "python", *PIP, wheel], cwd=tmp_path)
    installed = Installed.in_venv(tmp_path / "venv")
    assert (installed.package / "web" / "report.js").is_file()
    checked(installed, tmp_path / "runs")


def test_uv_installs_the_command_as_a_tool(wheel: Path, tools: Path, tmp_path: Path) -> None:
    place = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    run([tools / "uv", "tool", "install", "--no-config", "--python", sys.executable, wheel], cwd=tmp_path, env=place)
    checked(Installed.in_venv(tmp_path / "tools" / "middlemark"), tmp_path / "runs")
    assert (tmp_path / "bin" / "middlemark").exists()


def test_pipx_installs_the_command(wheel: Path, tools: Path, tmp_path: Path) -> None:
    run([tools / "python", *PIP, "pipx"], cwd=tmp_path)
    place = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin"), "PIPX_MAN_DIR": str(tmp_path)}
    run([tools / "pipx", "install", "--python", sys.executable, str(wheel)], cwd=tmp_path, env=place)
    checked(Installed.in_venv(tmp_path / "pipx" / "venvs" / "middlemark"), tmp_path / "runs")
    assert shutil.which("middlemark", path=str(tmp_path / "bin"))
