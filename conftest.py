"""For all tests, in whatever folder: how they are dealt out to shards."""

from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Let a shard make its temporary folders in its own /tmp (scripts/alone), which who started it does not see."""
    if hasattr(config, "workerinput"):
        config.option.basetemp = None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal out together what looks at one trial of conformance, which is measured once, and otherwise file by file.

    The suites that come along share nothing, and one after the other they would take longest of all.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            if file.startswith("conformance/"):
                return test.partition("[")[2] or file
            return nodeid if file == "tests/e2e/test_suites.py" else file

    return None if config.getoption("numprocesses") else Together(config, log)
