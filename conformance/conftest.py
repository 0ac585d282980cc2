import gc
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from candidate import candidates, choose, found, once, selected
from runner import Measured, Runner
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
"""By name of a fixture: a function that selects the cells for which the fixture has a trial."""

SHORT_S = 0.005
"""Shortest setup or teardown that is reported, in s."""

TRIALS_BEFORE = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption("--every-level", action="store_true", help="also measure each level alone, not only in pairs")
    group.addoption(
        "--brief", action="store_true", help="measure each level once, not every pair; other tests use one transport"
    )
    group.addoption("--one-trial", action="store_true", help="run only one trial with every worker")
    group.addoption("--adapters", metavar="NAME,…", help="test only these adapters and the null adapter")


def pytest_configure(config: pytest.Config) -> None:
    adapters = config.getoption("adapters")
    choose(
        adapters.split(",") if adapters else (),
        brief=config.getoption("brief"),
        every=config.getoption("every_level"),
    )
    if hasattr(config, "workerinput"):
        use_variants(config.workerinput["variants"])


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the variants to each pytest-xdist process, because choosing them again would take each process seconds."""
    node.workerinput["variants"] = chosen_variants(_extent(node.config))


def _extent(config: pytest.Config) -> Extent:
    if config.getoption("brief"):
        return "brief"
    return "every" if config.getoption("every_level") else "pairs"


def _trials(wanted: Callable[[Cell], bool], config: pytest.Config) -> list[object]:
    """Return a parameter for each candidate and each of its variants whose cell ``wanted`` accepts."""
    found = [
        (who, name)
        for who in candidates()
        for name, variant in variants_of(who.name, _extent(config)).items()
        if wanted(variant.cell)
    ]
    if config.getoption("one_trial"):
        found = list({who.worker.path: (who, name) for who, name in reversed(found)}.values())
    return [pytest.param((who, name), id=f"{who.name}-{name}") for who, name in found]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture in TRIALS.keys() & set(metafunc.fixturenames):
        metafunc.parametrize(fixture, _trials(TRIALS[fixture], metafunc.config), indirect=True)
    if "candidate" in metafunc.fixturenames:
        chosen = once() if metafunc.definition.get_closest_marker("once") else selected()
        metafunc.parametrize("candidate", chosen, ids=lambda who: who.name)
    if "worker" in metafunc.fixturenames:
        metafunc.parametrize("worker", found()[0], ids=lambda worker: worker.description.name)


class TrialScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Runs all tests of one trial in the same process, so that the trial is measured once."""

    def _split_scope(self, nodeid: str) -> str:
        module, _, named = nodeid.partition("::")
        parameters = named.partition("[")[2]
        if not parameters:
            return module  # one process per module, because its tests may share a fixture
        return parameters if any(pattern in parameters for pattern in PATTERNS) else nodeid


@pytest.hookimpl(optionalhook=True)  # absent without pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> TrialScheduling:
    return TrialScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Disable garbage collection while thousands of tests are made, and exclude these from later collections."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Send one report per test to the main process in most cases. Three take longer than a check of a shared trial."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.user_properties or report.duration > SHORT_S:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[TRIALS_BEFORE] = Runner.trials


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Write the number of trials that a test measured into the JUnit file."""
    if trials := Runner.trials - item.stash[TRIALS_BEFORE]:
        item.user_properties.append(("trials", trials))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Function]) -> None:
    if config.getoption("one_trial"):
        items[:] = [item for item in items if "trial" in item.fixturenames]


@pytest.fixture(scope="session", autouse=True)
def residue_of_killed_workers_is_removed() -> Iterator[None]:
    """Remove residue after tests that control a worker directly and thus have no launcher that removes it."""
    patterns = tuple({pattern for worker in found()[0] for pattern in worker.description.residue})
    before = residue.snapshot(patterns, "mm_direct_*")
    yield
    residue.clear(patterns, "mm_direct_*", before)


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which the trials make their scratch folders. It must be empty after each trial."""
    folder = tmp_path_factory.mktemp("scratch")
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    yield folder
    tempfile.tempdir = before


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory, scratch: Path, pytestconfig: pytest.Config) -> Iterator[Runner]:
    assert scratch.is_dir(), "the trials make their folders in it"
    runner = Runner(tmp_path_factory.mktemp("runner"), _extent(pytestconfig))
    yield runner
    runner.here.end()


@pytest.fixture
def trial(request: pytest.FixtureRequest, runner: Runner) -> Measured:
    """A trial of one variant of round trips over one transport. All tests share it."""
    return runner.measured(*request.param)


@pytest.fixture
def any_stream(request: pytest.FixtureRequest, runner: Runner) -> Measured:
    """A trial of one variant of streams over one transport."""
    return runner.measured(*request.param)


@pytest.fixture
def any_call(request: pytest.FixtureRequest, runner: Runner) -> Measured:
    """A trial of one variant of request/reply over one transport."""
    return runner.measured(*request.param)


def _succeeded(trial: Measured, test: str) -> Measured:
    if trial.outcome.failed is not None:
        pytest.skip(f"the trial failed, which {test} reports: {trial.outcome.failed.text}")
    return trial


@pytest.fixture
def measured(trial: Measured) -> Measured:
    """A trial of round trips that succeeded."""
    return _succeeded(trial, "test_the_trial_succeeds")


@pytest.fixture
def stream(any_stream: Measured) -> Measured:
    """A stream that succeeded."""
    return _succeeded(any_stream, "test_the_stream_succeeds")


@pytest.fixture
def lossless(request: pytest.FixtureRequest, runner: Runner) -> Measured:
    """A stream that is reliable and keep-all, so no message may be lost: the publisher must wait."""
    return _succeeded(runner.measured(*request.param), "test_the_stream_succeeds")


@pytest.fixture
def lossy(request: pytest.FixtureRequest, runner: Runner) -> Measured:
    """A stream that may lose messages."""
    return _succeeded(runner.measured(*request.param), "test_the_stream_succeeds")


@pytest.fixture
def paced(request: pytest.FixtureRequest, runner: Runner) -> Measured:
    """A stream at a rate."""
    return _succeeded(runner.measured(*request.param), "test_the_stream_succeeds")


@pytest.fixture
def calls(any_call: Measured) -> Measured:
    """A trial of request/reply that succeeded."""
    return _succeeded(any_call, "test_every_call_is_answered")
