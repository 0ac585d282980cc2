import functools
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from product import ROOT, Bench, Mount
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from middlemark.workers.find import executables


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """The fixture for a folder in which a test runs Middlemark."""
    place = Bench(tmp_path)
    yield place
    place.close()


@pytest.fixture(scope="session")
def null_worker() -> Path:
    """The path of the null adapter's worker, which makes the faults for these tests."""
    path = executables().get("null")
    assert path, "middlemark-worker-null was not found; ./check builds it and sets MIDDLEMARK_WORKERS"
    return Path(path)


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """Return a function that mounts a small file system for the test: `mount("size=64k")`."""
    folder = tmp_path / "disk"
    mounted = []

    def make(options: str) -> Path:
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"a full disk needs the right to mount one: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield make
    for each in mounted:
        subprocess.run(["umount", "-l", str(each)], check=True)


class SharedScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Runs the tests of a module in one process if they share a fixture. Runs every other test in any free process."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return module if _shares(module) else nodeid


@functools.cache
def _shares(module: str) -> bool:
    return 'scope="module"' in (ROOT / module).read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)  # absent without pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SharedScheduling:
    return SharedScheduling(config, log)
