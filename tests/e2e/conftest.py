from collections.abc import Iterator
from pathlib import Path

import pytest
from product import Bench

from middlemark.workers.find import executables


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A place to run the product in."""
    place = Bench(tmp_path)
    yield place
    place.close()


@pytest.fixture(scope="session")
def null_worker() -> Path:
    """The scripted worker, which the bad days need."""
    path = executables().get("null")
    assert path, "middlemark-worker-null was not found; ./check builds it and sets MIDDLEMARK_WORKERS"
    return Path(path)
