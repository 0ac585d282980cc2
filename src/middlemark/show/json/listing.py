"""The outputs of ``list`` and ``about`` for programs."""

from middlemark.model.description import Description
from middlemark.model.run import NotTried
from middlemark.show.json.output import Output


class ListedAdapter(Output, frozen=True, kw_only=True):
    """An adapter that can be measured here."""

    worker: str
    """The path of the worker."""
    description: Description


class AdaptersOutput(Output, frozen=True, kw_only=True):
    """The adapters that can be measured here, and the adapters that cannot."""

    adapters: tuple[ListedAdapter, ...]
    not_built: tuple[NotTried, ...]
    broken: tuple[NotTried, ...]
    """Workers that do not answer."""


class ListedSuite(Output, frozen=True, kw_only=True):
    """A suite that comes with Middlemark."""

    name: str
    default: bool
    """It runs if no suite is named."""
    seconds: float | None
    """An estimate for the adapters that are built here; null: the suite cannot be planned here."""
    description: str


class SuitesOutput(Output, frozen=True, kw_only=True):
    """The suites that come with Middlemark."""

    suites: tuple[ListedSuite, ...]


class ListedRun(Output, frozen=True, kw_only=True):
    """A stored run."""

    folder: str
    suites: tuple[str, ...]
    started: str
    """ISO 8601, UTC."""
    configurations: int
    planned_trials: int
    done_trials: int
    failed_trials: int
    state: str


class RunsOutput(Output, frozen=True, kw_only=True):
    """The runs in a folder, oldest first."""

    runs: tuple[ListedRun, ...]


class AboutOutput(Output, frozen=True, kw_only=True):
    """Facts for a bug report."""

    facts: dict[str, str]
    adapters: dict[str, str]
    """Name → the versions of adapter and middleware, or why the adapter cannot be measured here."""
