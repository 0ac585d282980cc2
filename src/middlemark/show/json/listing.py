"""The outputs of ``list`` and ``about`` for programs."""

from middlemark.model.description import Description
from middlemark.model.run import NotTried
from middlemark.show.json.output import Output
from middlemark.suite.frameworks import Frameworks


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
    """Workers that were found but do not answer."""


class AdapterRow(Output, frozen=True, kw_only=True):
    """An adapter as a row of CSV and Markdown."""

    name: str
    version: str = ""
    title: str = ""
    language: str = ""
    is_raw_transport: bool | None = None
    """True for a raw transport, false for a middleware. None: the adapter cannot be measured here."""
    transports: tuple[str, ...] = ()
    licence: str = ""
    worker: str = ""
    absent: str = ""
    """Why the adapter cannot be measured here; empty: it can be measured."""


def adapter_rows(output: AdaptersOutput) -> list[AdapterRow]:
    """Return the adapters that can be measured here, then the adapters that cannot."""
    rows = [
        AdapterRow(
            name=each.description.name,
            version=each.description.version,
            title=each.description.title,
            language=each.description.language,
            is_raw_transport=each.description.is_raw_transport,
            transports=tuple(transport.name for transport in each.description.transports),
            licence=each.description.licence,
            worker=each.worker,
        )
        for each in output.adapters
    ]
    return [*rows, *(AdapterRow(name=each.adapter, absent=each.why) for each in (*output.not_built, *output.broken))]


class FrameworkRow(Output, frozen=True, kw_only=True):
    """One fact about a framework, as a row of CSV and Markdown."""

    framework: str
    adapter: str | None
    fact: str
    text: str | None
    """The fact in words; null: no source was found."""
    source: str | None


def framework_rows(table: Frameworks) -> list[FrameworkRow]:
    """Return a row for each fact of each framework."""
    return [
        FrameworkRow(
            framework=each.title,
            adapter=each.adapter,
            fact=name.replace("_", " "),
            text=fact.text if fact else None,
            source=table.sources.get(fact.source, fact.source) if fact else None,
        )
        for each in table.framework.values()
        for name, fact in each.facts.items()
    ]


class ListedSuite(Output, frozen=True, kw_only=True):
    """A suite that comes with Middlemark."""

    name: str
    default: bool
    """True for the suite that runs if no suite is named."""
    seconds: float | None
    """The estimated duration with the adapters that are built here; null: the suite cannot be planned here."""
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


class NamedFact(Output, frozen=True, kw_only=True):
    """One fact for a bug report, as a row of CSV and Markdown."""

    name: str
    fact: str


class AboutOutput(Output, frozen=True, kw_only=True):
    """Facts for a bug report."""

    facts: dict[str, str]
    adapters: dict[str, str]
    """Name → the versions of adapter and middleware, or why the adapter cannot be measured here."""
