import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from contender import contenders, found
from course import Course, Measured
from variants import CALLS, ROUND_TRIPS, STREAMS, Variant, offered

from middlemark.launch import residue
from middlemark.plan.cell import Cell


def _of(variants: Mapping[str, Variant], wanted: Callable[[Cell], bool] = lambda _: True) -> list[object]:
    """Return each contender with each variant that it offers, of those wanted."""
    return [
        pytest.param((who, name), id=f"{who.name}-{name}")
        for who in contenders()
        for name, cell in offered(variants, who).items()
        if wanted(cell)
    ]


def _loses_nothing(cell: Cell) -> bool:
    return cell.reliability == "reliable" and cell.depth is None


TRIALS: Mapping[str, Callable[[], list[object]]] = {
    "trial": lambda: _of(ROUND_TRIPS),
    "any_stream": lambda: _of(STREAMS),
    "lossless": lambda: _of(STREAMS, _loses_nothing),
    "lossy": lambda: _of(STREAMS, lambda cell: not _loses_nothing(cell)),
    "paced": lambda: _of(STREAMS, lambda cell: cell.rate != "max"),
    "any_call": lambda: _of(CALLS),
}
"""By fixture: what it is parametrised with."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture in TRIALS.keys() & set(metafunc.fixturenames):
        metafunc.parametrize(fixture, TRIALS[fixture](), indirect=True)
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
    """One trial of one variant of round trips over one transport, shared by all tests."""
    return course.measured(*request.param)


@pytest.fixture
def any_stream(request: pytest.FixtureRequest, course: Course) -> Measured:
    """One trial of one variant of streams over one transport."""
    return course.measured(*request.param)


@pytest.fixture
def any_call(request: pytest.FixtureRequest, course: Course) -> Measured:
    """One trial of one variant of request and reply over one transport."""
    return course.measured(*request.param)


def _with_figures(trial: Measured, held_by: str) -> Measured:
    if trial.outcome.failed is not None:
        pytest.skip(f"the trial failed, which fails {held_by}: {trial.outcome.failed.text}")
    return trial


@pytest.fixture
def measured(trial: Measured) -> Measured:
    """A trial of round trips that has figures to look at."""
    return _with_figures(trial, "test_the_trial_succeeds")


@pytest.fixture
def stream(any_stream: Measured) -> Measured:
    """A stream that has figures to look at."""
    return _with_figures(any_stream, "test_the_stream_succeeds")


@pytest.fixture
def lossless(request: pytest.FixtureRequest, course: Course) -> Measured:
    """One that is reliable and keeps all: the publisher waits rather than lose."""
    return _with_figures(course.measured(*request.param), "test_the_stream_succeeds")


@pytest.fixture
def lossy(request: pytest.FixtureRequest, course: Course) -> Measured:
    """One of which nobody promised to deliver everything."""
    return _with_figures(course.measured(*request.param), "test_the_stream_succeeds")


@pytest.fixture
def paced(request: pytest.FixtureRequest, course: Course) -> Measured:
    """One that was sent at a rate."""
    return _with_figures(course.measured(*request.param), "test_the_stream_succeeds")


@pytest.fixture
def calls(any_call: Measured) -> Measured:
    """Requests and replies that have figures to look at."""
    return _with_figures(any_call, "test_every_call_is_answered")
