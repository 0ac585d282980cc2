"""For all tests, in whatever folder: how they are dealt out to shards."""

import signal
from pathlib import Path
from typing import Any

import pytest

MAKES_SOMETHING_FOR_ALL = ("bad_days", "bad_endings", "bootstrap", "first_look", "probe", "streams", "view")
"""Of the end-to-end tests: the files with a fixture of the module."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow: of what is dealt out last, all but one process only wait."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_configure(config: pytest.Config) -> None:
    """Let a shard make its temporary folders in its own /tmp (scripts/alone), and let interrupts arrive."""
    if hasattr(config, "workerinput"):
        config.option.basetemp = None
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what goes on in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal out together what looks at one trial of conformance, or at what a file has made; else test by test."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            if file.startswith("conformance/"):
                return test.partition("[")[2] or file
            return file if Path(file).stem.removeprefix("test_") in MAKES_SOMETHING_FOR_ALL else nodeid

    return None if config.getoption("numprocesses") else Together(config, log)
