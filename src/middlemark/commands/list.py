"""``middlemark list adapters|suites|frameworks|runs``."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from middlemark.document.numbers import ABSENT
from middlemark.model.cell import CAPABILITIES
from middlemark.model.description import BrokenWorker, Description, NativeSetting, Transport
from middlemark.model.units import format_seconds
from middlemark.problems import RequestError
from middlemark.workers.find import find_workers, left_out


@click.group(name="list")
def command() -> None:
    """List adapters, suites, frameworks or runs."""


@command.command()
@click.option(
    "--verbose", "-v", is_flag=True, help="Also print every transport with its limits, and the native settings."
)
def adapters(verbose: bool) -> None:
    """The adapters that can be measured here: each with the loaded version and its transports."""
    workers, broken = find_workers()
    for worker in workers:
        about = worker.description
        names = ", ".join(transport.name for transport in about.transports)
        kind = " (raw transport)" if about.is_raw_transport else ""
        click.echo(f"{about.name:<12} {about.version:<22} {about.title}{kind}: {names}")
        if verbose:
            _details(about, worker.path)
    absent = left_out()
    for name, why in absent.items():
        click.echo(f"{name:<12} {'not built':<22} {why}")
    for each in broken:
        _broken(each)
    if not workers and not absent:
        click.echo(
            "no adapter was found: workers are looked for in MIDDLEMARK_WORKERS, in the package and on the PATH",
            err=True,
        )


def _details(about: Description, path: str) -> None:
    click.echo(f"    worker   {path}")
    if about.library:
        click.echo(f"    library  {about.library}")
    click.echo(f"    licence  {about.licence}")
    if about.most_per_take is not None:
        click.echo(f"    take     at most {about.most_per_take} messages a call")
    for transport in about.transports:
        click.echo(f"    {transport.name}: {_limits(transport)}")
    for key, setting in about.native.items():
        click.echo(f"    native.{key}: {_native(setting)}")


def _native(setting: NativeSetting) -> str:
    parts = [setting.help]
    if setting.type != "text":
        parts.append(setting.allowed)
    if setting.otherwise:
        parts.append(f"default {setting.otherwise}")
    if where := (*setting.transports, *setting.patterns):
        parts.append(f"only {', '.join(where)}")
    return "; ".join(parts)


_LOANS: dict[tuple[bool, ...], str] = {(False,): "no loans", (True,): "always loans", (False, True): "loans or not"}
_IN_WORDS: dict[str, Callable[[Transport], str]] = {
    "size": lambda transport: f"up to {transport.max_bytes} bytes",
    "type": lambda transport: "/".join(transport.types) if len(transport.types) > 1 else "",
    "depth": lambda transport: "" if transport.keep_all else "no keep-all",
    "loan": lambda transport: _LOANS[tuple(sorted(transport.loan))],
    "security": lambda transport: f"security {'/'.join(transport.security)}" if len(transport.security) > 1 else "",
    "processes": lambda transport: " and ".join(
        where
        for number, where in ((1, "within one process"), (2, "between processes"))
        if number in transport.processes
    ),
    "across": lambda transport: (
        f"carrier {transport.carrier}"
        + (f" (best effort by {transport.best_effort_carrier})" if transport.best_effort_carrier else "")
    ),
}
"""Factor → function that describes its capability, where a list of levels would not be clear."""
_LAST = {"alone": "alone: nobody receives", "companions": "with a daemon the bench starts"}


def _limits(transport: Transport) -> str:
    parts = [
        _IN_WORDS[factor](transport)
        if factor in _IN_WORDS
        else "/".join(map(str, getattr(transport, honour.capability)))
        for factor, honour in CAPABILITIES.items()
    ]
    parts += [text for field, text in _LAST.items() if getattr(transport, field)]
    return ", ".join(filter(None, parts))


def _broken(worker: BrokenWorker) -> None:
    click.echo(f"{worker.name:<12} cannot be used: {worker.path} {worker.reason}", err=True)


@command.command()
def suites() -> None:
    """The suites that come with Middlemark. A path to a suite of your own can replace a name everywhere."""
    from middlemark.show.output import width
    from middlemark.show.terminal import hanging
    from middlemark.suite import available
    from middlemark.suite.request import DEFAULT_SUITE

    workers, _ = find_workers()
    here = [each.description for each in workers]
    rows = [
        (f"{name} (default)" if name == DEFAULT_SUITE else name, _how_long(name, here), description)
        for name, _, description in available()
    ]
    first, second = (max((len(row[at]) for row in rows), default=0) for at in (0, 1))
    for name, time, description in rows:
        lead = f"{name:<{first}}  {time:>{second}}  "
        click.echo("\n".join(hanging(lead, description, width())))
    click.echo("The time is an estimate with the adapters that are here; `run SUITE --dry-run` shows the plan.")


def _how_long(name: str, here: Sequence[Description]) -> str:
    """Return how long a suite takes with the adapters that are here, roughly; a dash where it cannot be planned."""
    from middlemark.plan import estimate_seconds, make_plan
    from middlemark.suite import RawOptions, load
    from middlemark.suite.overrides import race_budget_s

    try:
        suites = load([name], RawOptions())
        plan = make_plan(suites, here, cpus=sorted(os.sched_getaffinity(0)), seed=0)
    except RequestError:
        return ABSENT
    seconds = race_budget_s(suites) or estimate_seconds(plan)
    return format_seconds(round(seconds) if seconds < 90 else 60 * round(seconds / 60)).removesuffix(" 00 s")


@command.command()
@click.option("--format", "output_format", type=click.Choice(("text", "json")), default="text", show_default=True)
def frameworks(output_format: str) -> None:
    """The frameworks, measured here or documented only: licence, languages, transports, and so on.

    A fact without a source is a dash, and null in JSON. JSON has the source of each fact.
    """
    from middlemark.show.output import write_facts
    from middlemark.suite.frameworks import frameworks as read_frameworks

    table = read_frameworks()
    if output_format == "json":
        from middlemark.show.json.output import printed

        click.echo(printed(table), nl=False)
        return
    for each in table.framework.values():
        where = f"adapter {each.adapter}" if each.adapter else "documented only"
        click.echo(f"{each.title} ({where})")
        facts = {name: f"{fact.text}  [{fact.source}]" if fact else ABSENT for name, fact in each.facts.items()}
        write_facts(*((f"    {name.replace('_', ' ')}", text) for name, text in facts.items()))
    click.echo("In brackets: the source.")
    write_facts(*((f"    {word}", text) for word, text in table.sources.items()))


@command.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
def runs(folder: Path) -> None:
    """The runs kept in FOLDER (default: runs), oldest first."""
    from middlemark.store import StoreError, list_runs, read_run

    for path in list_runs(folder):
        try:
            run = read_run(path)
        except StoreError as error:
            click.echo(f"{path.name}: {error}", err=True)
            continue
        click.echo(
            f"{path}  {len(run.file.plan.cells)} configurations, "
            f"{len(run.outcomes)} of {run.planned_trials} trials"
            f"{f', {run.failed_trials} failed' if run.failed_trials else ''}, {run.state}"
        )
