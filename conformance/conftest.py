import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from contender import choose, contenders, found, selected
from course import Course, Measured
from variants import CALLS, PATTERNS, ROUND_TRIPS, STREAM, Extent, chosen_variants, use_variants, variants_of
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from middlemark.model.cell import Cell
from middlemark.sites import residue


def _loses_nothing(cell: Cell) -> bool:
    return cell.reliability == "reliable" and cell.depth is None


TRIALS: Mapping[str, Callable[[Cell], bool]] = {
    "trial": lambda cell: cell.pattern == ROUND_TRIPS,
    "any_stream": lambda cell: cell.pattern == STREAM,
    "lossless": lambda cell: cell.pattern == STREAM and _loses_nothing(cell),
    "lossy": lambda cell: cell.pattern == STREAM and not _loses_nothing(cell),
    "paced": lambda cell: cell.pattern == STREAM and cell.rate != "max",
    "any_call": lambda cell: cell.pattern == CALLS,
}
"""By fixture: of which cells it has a trial."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption("--every-level", action="store_true", help="each level by itself as well, not only in pairs")
    group.addoption("--brief", action="store_true", help="each level once, not every pair; other tests: one transport")
    group.addoption("--one-trial", action="store_true", help="one trial of every worker, and nothing else")
    group.addoption("--adapters", metavar="NAME,…", help="only these and the scripted one")


def pytest_configure(config: pytest.Config) -> None:
    adapters = config.getoption("adapters")
    choose(adapters.split(",") if adapters else (), brief=config.getoption("brief"))
    if hasattr(config, "workerinput"):
        use_variants(config.workerinput["variants"])


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give each process of pytest-xdist the variants, which take seconds to choose."""
    node.workerinput["variants"] = chosen_variants(_extent(node.config))


def _extent(config: pytest.Config) -> Extent:
    if config.getoption("brief"):
        return "brief"
    return "every" if config.getoption("every_level") else "pairs"


def _trials(wanted: Callable[[Cell], bool], config: pytest.Config) -> list[object]:
    """Return each contender with each of its variants that are wanted."""
    found = [
        (who, name)
        for who in contenders()
        for name, variant in variants_of(who.name, _extent(config)).items()
        if wanted(variant.cell)
    ]
    if config.getoption("one_trial"):
        found = list({who.worker.path: (who, name) for who, name in reversed(found)}.values())
    return [pytest.param((who, name), id=f"{who.name}-{name}") for who, name in found]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture in TRIALS.keys() & set(metafunc.fixturenames):
        metafunc.parametrize(fixture, _trials(TRIALS[fixture], metafunc.config), indirect=True)
    if "contender" in metafunc.fixturenames:
        metafunc.parametrize("contender", selected(), ids=lambda who: who.name)
    if "proven_pattern" in metafunc.fixturenames:  # a proof takes seconds, and the pattern seldom matters to it
        patterns = ["ping-pong"] if _extent(metafunc.config) == "brief" else ["ping-pong", "stream"]
        metafunc.parametrize("proven_pattern", patterns)
    if "worker" in metafunc.fixturenames:
        metafunc.parametrize("worker", found()[0], ids=lambda worker: worker.description.name)


class TrialScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Gives all tests of one trial to one process, which measures it once, and each other test to whoever is free."""

    def _split_scope(self, nodeid: str) -> str:
        module, _, named = nodeid.partition("::")
        parameters = named.partition("[")[2]
        if not parameters:
            return module  # its tests may share a fixture
        return parameters if any(pattern in parameters for pattern in PATTERNS) else nodeid


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist, one process measures all
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> TrialScheduling:
    return TrialScheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Function]) -> None:
    if config.getoption("one_trial"):
        items[:] = [item for item in items if "trial" in item.fixturenames]


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
def course(tmp_path_factory: pytest.TempPathFactory, scratch: Path, pytestconfig: pytest.Config) -> Iterator[Course]:
    assert scratch.is_dir(), "it comes first: the trials make their folders in it"
    course = Course(tmp_path_factory.mktemp("course"), _extent(pytestconfig))
    yield course
    course.here.end()


@pytest.fixture(autouse=True)
def measured_trials(course: Course, record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Write into the JUnit file how many trials a test measured; the other tests of a trial measure none."""
    before = course.trials
    yield
    if course.trials > before:
        record_property("trials", course.trials - before)


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
