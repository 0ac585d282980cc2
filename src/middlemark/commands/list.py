"""``middlemark list adapters|suites|frameworks|runs``."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from middlemark import exits
from middlemark.commands.options import LISTED, formats
from middlemark.commands.page import GroupPage, argument, option, page
from middlemark.document.numbers import ABSENT
from middlemark.model.cell import CAPABILITIES
from middlemark.model.description import BrokenWorker, Description, NativeSetting, Transport
from middlemark.model.units import format_count, format_seconds
from middlemark.problems import Problem, RequestError
from middlemark.runs.read import RUNS
from middlemark.workers.find import find_workers, left_out


@page(
    "list",
    ("list adapters", "the adapters that are built here, and those that are not"),
    ("list suites", "the suites for `run`, and how long each takes"),
    ("list runs", "the stored runs"),
    cls=GroupPage,
    subcommand_metavar="COMMAND",
)
def command() -> None:
    """The group of the ``list`` commands."""


@page(
    "adapters",
    ("list adapters --verbose", "each transport with its limits"),
    says="List the adapters that can be measured here: each with the loaded version and its transports.",
)
@option(
    "--verbose",
    "-v",
    is_flag=True,
    group="What is shown",
    help="Also print every transport with its limits, and the native settings.",
)
@formats(*LISTED)
def adapters(verbose: bool, output_format: str) -> int:
    """Print the adapters; return the exit code."""
    from middlemark.model.run import NotTried
    from middlemark.show import output
    from middlemark.show.json.listing import AdapterRow, AdaptersOutput, ListedAdapter, adapter_rows
    from middlemark.show.records import render
    from middlemark.show.wrapping import as_typed

    workers, broken = find_workers()
    absent = left_out()
    if output_format != "text":
        listed = AdaptersOutput(
            adapters=tuple(ListedAdapter(worker=each.path, description=each.description) for each in workers),
            not_built=tuple(NotTried(name, why) for name, why in absent.items()),
            broken=tuple(NotTried(each.name, f"{each.path} {each.reason}") for each in broken),
        )
        text = render(output_format, listed, AdapterRow, adapter_rows(listed))
        return exits.CELL_FAILED if output.failed(text) else exits.OK
    wide = max((len(each) for each in (*(one.description.name for one in workers), *absent)), default=0)
    for worker in workers:
        about = worker.description
        names = ", ".join(transport.name for transport in about.transports)
        kinds = ["raw transport"] if about.is_raw_transport else []
        kinds += [] if about.language == "C++" or about.language in about.title else [about.language]
        kind = f" ({', '.join(kinds)})" if kinds else ""
        click.echo(f"{about.name:<{wide}} {about.version:<22} {about.title}{kind}: {names}")
        if verbose:
            _details(about, worker.path)
    for name, why in absent.items():
        click.echo(f"{name:<{wide}} {'not built':<22} {as_typed(why)}")
    for each in broken:
        _broken(each)
    if not workers and not absent:
        output.tell(
            "no adapter was found: workers are looked for in MIDDLEMARK_WORKERS, in the package and on the PATH"
        )
    return exits.OK


def _details(about: Description, path: str) -> None:
    from middlemark.show.output import say

    click.echo(f"    worker   {path}")
    if about.library:
        click.echo(f"    library  {about.library}")
    click.echo(f"    licence  {about.licence}")
    if about.most_per_take is not None:
        click.echo(f"    take     at most {about.most_per_take} messages a call")
    for transport in about.transports:
        click.echo(f"    {transport.name}: {_limits(transport)}")
    for key, setting in about.native.items():
        say(f"    native.{key}: {_native(setting)}")


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
    "via": lambda transport: f"via {'/'.join(transport.via)}" if transport.via != ("direct",) else "",
    "processes": lambda transport: " and ".join(
        where
        for number, where in ((1, "within one process"), (2, "between processes"))
        if number in transport.processes
    ),
    "pattern": lambda transport: "crowds" if "crowd" in transport.patterns else "",
    "participants_per_process": lambda transport: (
        "several participants in a process" if transport.participants_per_process > 1 else ""
    ),
    "across": lambda transport: (
        f"carrier {transport.carrier}"
        + (f" (best effort by {transport.best_effort_carrier})" if transport.best_effort_carrier else "")
    ),
}
"""Factor → function that describes a transport's levels of this factor in words. Other factors list their levels."""
_LAST = {"alone": "alone: nobody receives", "companions": "with a daemon that the bench starts"}


def _limits(transport: Transport) -> str:
    parts = [
        _IN_WORDS[factor](transport)
        if factor in _IN_WORDS
        else "/".join(map(str, getattr(transport, honour.capability)))
        for factor, honour in CAPABILITIES.items()
    ]
    parts += [text for field, text in _LAST.items() if getattr(transport, field)]
    if transport.wire:
        parts.append(f"wire {transport.wire}")
    return ", ".join(filter(None, parts))


def _broken(worker: BrokenWorker) -> None:
    click.echo(f"{worker.name:<12} cannot be used: {worker.path} {worker.reason}", err=True)


@page(
    "suites",
    ("list suites", "with the time that each takes here"),
    notes=("Instead of a name you can always give the path to a suite of your own.",),
    says="List the suites that come with Middlemark, and how long each takes with the adapters that are built here.",
)
@formats(*LISTED)
def suites(output_format: str) -> int:
    """Print the suites; return the exit code."""
    from middlemark.show import output
    from middlemark.show.json.listing import ListedSuite, SuitesOutput
    from middlemark.show.records import render
    from middlemark.show.terminal import hanging
    from middlemark.suite import available
    from middlemark.suite.request import DEFAULT_SUITE

    workers, _ = find_workers()
    here = [each.description for each in workers]
    found = [
        ListedSuite(name=name, default=name == DEFAULT_SUITE, seconds=_seconds(name, here), description=description)
        for name, _, description in available()
    ]
    if output_format != "text":
        text = render(output_format, SuitesOutput(suites=tuple(found)), ListedSuite, found)
        return exits.CELL_FAILED if output.failed(text) else exits.OK
    rows = [
        (f"{each.name} (default)" if each.default else each.name, _how_long(each.seconds), each.description)
        for each in found
    ]
    first, second = (max((len(row[at]) for row in rows), default=0) for at in (0, 1))
    for name, time, description in rows:
        lead = f"{name:<{first}}  {time:>{second}}  "
        click.echo("\n".join(hanging(lead, description, output.width())))
    click.echo("The time is an estimate with the adapters that are here; `run SUITE --dry-run` shows the plan.")
    return exits.OK


def _seconds(name: str, here: Sequence[Description]) -> float | None:
    """Return about how many seconds a suite takes with the adapters that are built here; None: no plan is possible."""
    from middlemark.plan import estimate_seconds, make_plan
    from middlemark.plan.rounds import within
    from middlemark.suite import RawOptions, load
    from middlemark.suite.overrides import race_budget_s, suite_budget_s

    try:
        suites = load([name], RawOptions())
        race_s, suite_s = race_budget_s(suites), suite_budget_s(suites)
        plan = make_plan(suites, here, cpus=sorted(os.sched_getaffinity(0)), seed=0)
        return round(race_s or estimate_seconds(plan if suite_s is None else within(plan, suite_s)), 1)
    except RequestError:
        return None


def _how_long(seconds: float | None) -> str:
    if seconds is None:
        return ABSENT
    return format_seconds(round(seconds) if seconds < 90 else 60 * round(seconds / 60)).removesuffix(" 00 s")


@page(
    "frameworks",
    ("list frameworks --format json", "with the source of each fact"),
    notes=("A fact without a source is a dash, and null in JSON.",),
    says="List the frameworks that can be measured here or are only documented: licence, languages, transports, …",
)
@formats(*LISTED)
def frameworks(output_format: str) -> int:
    """Print the frameworks; return the exit code."""
    from middlemark.show.output import failed, write_facts
    from middlemark.suite.frameworks import frameworks as read_frameworks

    table = read_frameworks()
    if output_format != "text":
        from middlemark.show.json.listing import FrameworkRow, framework_rows
        from middlemark.show.records import render

        text = render(output_format, table, FrameworkRow, framework_rows(table))
        return exits.CELL_FAILED if failed(text) else exits.OK
    for each in table.framework.values():
        where = f"adapter {each.adapter}" if each.adapter else "documented only"
        click.echo(f"{each.title} ({where})")
        facts = {name: f"{fact.text}  [{fact.source}]" if fact else ABSENT for name, fact in each.facts.items()}
        write_facts(*((f"    {name.replace('_', ' ')}", text) for name, text in facts.items()))
    click.echo("In brackets: the source.")
    write_facts(*((f"    {word}", text) for word, text in table.sources.items()))
    return exits.OK


@page(
    "runs",
    ("list runs", "the runs in runs/, oldest first"),
    ("list runs /data/runs --format json", "the runs in another folder, for a script"),
    says="List the runs in a folder, oldest first.",
)
@argument("folder", metavar="[FOLDER]", type=click.Path(path_type=Path), default=Path(RUNS), says="Default: runs.")
@formats(*LISTED)
def runs(folder: Path, output_format: str) -> int:
    """Print the runs; return the exit code."""
    from middlemark.show import output
    from middlemark.show.json.listing import ListedRun, RunsOutput
    from middlemark.show.json.output import filled
    from middlemark.show.records import render
    from middlemark.store import StoreError, list_runs, read_run

    if not folder.is_dir() and folder != Path(RUNS):
        raise RequestError([Problem(str(folder), "there is no such folder; name one that contains runs")])
    found = []
    for path in list_runs(folder):
        try:
            found.append(read_run(path))
        except StoreError as error:
            output.tell(f"{path.name}: {error}")
    if output_format != "text":
        listed = [
            filled(
                ListedRun,
                *(run, run.file),
                folder=str(run.folder),
                configurations=len(run.file.plan.cells),
                done_trials=len(run.outcomes),
            )
            for run in found
        ]
        text = render(output_format, RunsOutput(runs=tuple(listed)), ListedRun, listed)
        return exits.CELL_FAILED if output.failed(text) else exits.OK
    if not found:
        output.tell(f"{folder} contains no runs; `middlemark run` and `middlemark which` make them")
    for run in found:
        failed = f", {run.failed_trials} failed" if run.failed_trials else ""
        trials = f"{len(run.outcomes)} of {format_count(run.planned_trials, 'trial')}{failed}"
        click.echo(f"{run.folder}  {format_count(len(run.file.plan.cells), 'configuration')}, {trials}, {run.state}")
    return exits.OK


for each in (adapters, suites, frameworks, runs):
    command.add_command(each)
