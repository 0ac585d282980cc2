"""The options of ``run``, gathered as typed: they are checked with the suites, so every problem is told at once."""

import functools
from collections.abc import Callable
from typing import Any

import click

from middlemark.model.factors import Key
from middlemark.model.levels import FLAG
from middlemark.runs.hosts import HostsAsked
from middlemark.show import PRINTED
from middlemark.suite.overrides import flag_name
from middlemark.suite.sweep import KEYS, raw_options

GATES = ("expectations", "undecided")
"""What ``--fail-if`` takes."""

Option = Callable[[Any], Any]


def _option(key: Key) -> Option:
    name = flag_name(key.name)
    if key.kind is FLAG:
        return click.option(f"{name}/--no-{name[2:]}", default=None, help=key.help)
    completes = _adapters if key.name == "adapter" else None
    return click.option(name, metavar=key.metavar, help=key.help, shell_complete=completes)


def _adapters(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return what the shell offers: names of workers, behind those that are typed already."""
    from middlemark.workers.find import executables

    before, comma, begun = typed.rpartition(",")
    known = sorted(executables()) + ([] if comma else ["all"])
    return [f"{before}{comma}{name}" for name in known if name.startswith(begun)]


def _suites(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    from middlemark.suite.request import suite_files

    return sorted(name for name in suite_files() if name.startswith(typed))


_KEYS = [key for key in KEYS.values() if key.option]
_PLAN_OPTIONS: tuple[Option, ...] = (
    *map(_option, _KEYS),
    click.option("--seed", metavar="N", help="Order of the trials (default: another each time)."),
    click.option(
        "--native",
        metavar="[ADAPTER.]KEY=VALUE",
        multiple=True,
        help="A setting of the middleware's own; may be repeated.",
    ),
    click.option(
        "--config",
        metavar="ADAPTER=FILE",
        multiple=True,
        help="A configuration file of your own for that middleware; may be repeated.",
    ),
    click.option(
        "--only", metavar="KEY=VALUE", multiple=True, help="Measure only these configurations; may be repeated."
    ),
    click.option(
        "--expect",
        metavar="'KEY = VALUE, …'",
        multiple=True,
        help="What is expected, as below [[expect]] of a suite; may be repeated.",
    ),
)
_OTHER_OPTIONS: tuple[Option, ...] = (
    click.option("--dry-run", is_flag=True, help="Show what would be measured and how long it would take."),
    click.option("--out", metavar="DIR", help="Where the run's folder <time>-<suite> is made (default: runs)."),
    click.option("--interface", default="lo", show_default=True, help="The network interface that traffic keeps to."),
    click.option(
        "--until-precise",
        metavar="PERCENT",
        help="Add rounds until every median is known to within ± this part of it (instead of --trials).",
    ),
    click.option("--until-decided", is_flag=True, help="Add rounds until every expectation is decided."),
    click.option("--budget", metavar="TIME", help="The time for that (default: 10m)."),
    click.option(
        "--focus",
        metavar="KEY=VALUE",
        multiple=True,
        help="Only these configurations need be so precise; may be repeated.",
    ),
    click.option("--resume", metavar="RUN", help="Go on with a run that was interrupted or killed, where it stopped."),
    click.option(
        "--format",
        "output_format",
        type=click.Choice(PRINTED),
        default="summary",
        show_default=True,
        help="Output.",
    ),
    click.option("--verbose", "-v", is_flag=True, help="Print every row and warning too."),
    click.option("--breakdown", is_flag=True, help="Print every row, and where its time went."),
    click.option("--quiet", is_flag=True, help="No progress, only the result."),
    click.option(
        "--fail-if",
        "fail_if",
        multiple=True,
        type=click.Choice(GATES),
        help="Exit with 4 where an expectation does not hold; undecided: where one is not shown to hold.",
    ),
)


_HOST_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--hosts",
        metavar="NAME=[USER@]HOST,…",
        help="Measure between these hosts, reached by SSH: the senders on the first, the receivers on the second.",
    ),
    click.option("--scheduler", metavar="tls://…", help="Or between the workers of this Dask cluster, by their names."),
    click.option("--remote-python", metavar="PATH", help="Python on the hosts (default: where it is here)."),
    click.option("--insecure", is_flag=True, help="Join a cluster without TLS."),
    click.option("--tls-ca", metavar="FILE", help="With --scheduler: the cluster's authority."),
    click.option("--tls-cert", metavar="FILE", help="Likewise: the certificate to show it."),
    click.option("--tls-key", metavar="FILE", help="Likewise: its key."),
)


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the options that say which hosts take part; it is called with ``hosts: HostsAsked``."""

    @functools.wraps(command)
    def gather(**given: Any) -> Any:
        return command(hosts=HostsAsked(**{name: given.pop(name) for name in HostsAsked._fields}), **given)

    decorated: Callable[..., Any] = gather
    for option in reversed(_HOST_OPTIONS):
        decorated = option(decorated)
    return decorated


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the arguments and options of ``run``.

    It is called with ``suites: tuple[str, ...]``, ``options: RawOptions``, ``dry_run: bool``, ``out: str | None``,
    ``interface: str``, ``until_precise: str | None``, ``until_decided: bool``,
    ``fail_if: tuple[str, ...]``, ``budget: str | None``, ``focus: tuple[str, ...]``,
    ``resume: str | None``, ``output_format: str`` (one of PRINTED), ``verbose: bool``,
    ``breakdown: bool`` and ``quiet: bool``, all by name.
    """

    @functools.wraps(command)
    def gather(**given: Any) -> Any:
        typed = {
            name: given.pop(name)
            for name in (*(key.name for key in _KEYS), "seed", "native", "only", "config", "expect")
        }
        return command(options=raw_options(**typed), **given)

    decorated: Callable[..., Any] = gather
    arguments: Option = click.argument("suites", metavar="[SUITE]…", nargs=-1, shell_complete=_suites)
    for option in reversed((arguments, *_PLAN_OPTIONS, *_OTHER_OPTIONS)):
        decorated = option(decorated)
    return decorated
