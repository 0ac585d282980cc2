import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from course import VARIANTS, Course, Measured, contenders, found

from middlemark.launch import residue


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "trial" in metafunc.fixturenames:
        offered = [(who, name) for who in contenders() for name, cell in VARIANTS.items() if cell(who) is not None]
        metafunc.parametrize("trial", offered, ids=[f"{who.name}-{name}" for who, name in offered], indirect=True)
    if "contender" in metafunc.fixturenames:
        metafunc.parametrize("contender", contenders(), ids=lambda who: who.name)
    if "worker" in metafunc.fixturenames:
        metafunc.parametrize("worker", found()[0], ids=lambda worker: worker.description.name)


@pytest.fixture(scope="session", autouse=True)
def what_workers_killed_in_conversation_leave_is_cleared() -> Iterator[None]:
    """The tests that speak to a worker directly have no launcher that would."""
    patterns = tuple({pattern for worker in found()[0] for pattern in worker.description.residue})
    before = residue.snapshot(patterns, "mm_direct_*")
    yield
    residue.clear(patterns, "mm_direct_*", before)


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the trials' scratch folders are made: what is left in it was left behind."""
    folder = tmp_path_factory.mktemp("scratch")
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    yield folder
    tempfile.tempdir = before


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory, scratch: Path) -> Course:
    assert scratch.is_dir(), "it comes first: the trials make their folders in it"
    return Course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def trial(request: pytest.FixtureRequest, course: Course) -> Measured:
    """One trial of one variant of one transport, shared by all tests."""
    who, variant = request.param
    there = course.measured(who, variant)
    assert there is not None
    return there


@pytest.fixture
def measured(trial: Measured) -> Measured:
    """The same, of a trial that has figures to look at."""
    if trial.outcome.failed is not None:
        pytest.skip(f"the trial failed, which fails test_the_trial_succeeds: {trial.outcome.failed.text}")
    return trial
