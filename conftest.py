"""Hooks for all tests in all folders: their order, and their distribution to processes."""

import signal
from pathlib import Path
from typing import Any

import pytest

MAKES_SOMETHING_FOR_ALL = ("bad_days", "bad_endings", "bootstrap", "first_look", "probe", "streams", "view")
"""The end-to-end test files with a fixture of module scope."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests first, so that no process waits for one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_configure(config: pytest.Config) -> None:
    """Let each process make its temporary folders in its own /tmp (scripts/alone), and enable interrupts."""
    if hasattr(config, "workerinput"):
        config.option.basetemp = None
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background jobs
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give one process all tests of a conformance trial, or of a file with a module fixture; distribute the rest."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            if file.startswith("conformance/"):
                return test.partition("[")[2] or file
            return file if Path(file).stem.removeprefix("test_") in MAKES_SOMETHING_FOR_ALL else nodeid

    return None if config.getoption("numprocesses") else Together(config, log)
