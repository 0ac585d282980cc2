"""The options of ``run``, as typed. They are checked together with the suites, so all problems are printed at once."""

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
"""The values of ``--fail-if``."""

Option = Callable[[Any], Any]


def _option(key: Key) -> Option:
    name = flag_name(key.name)
    if key.kind is FLAG:
        return click.option(f"{name}/--no-{name[2:]}", default=None, help=key.help)
    completes = _adapters if key.name == "adapter" else None
    return click.option(name, metavar=key.metavar, help=key.help, shell_complete=completes)


def _adapters(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the completions of a list of adapters, of which the last may be incomplete."""
    from middlemark.workers.find import executables

    before, comma, begun = typed.rpartition(",")
    names = sorted(executables()) + ([] if comma else ["all"])
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


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
        help="One of the middleware's own settings; may be repeated.",
    ),
    click.option(
        "--config",
        metavar="ADAPTER=FILE",
        multiple=True,
        help="Your own configuration file for this middleware; may be repeated.",
    ),
    click.option(
        "--only", metavar="KEY=VALUE", multiple=True, help="Measure only these configurations; may be repeated."
    ),
    click.option(
        "--expect",
        metavar="'KEY = VALUE, …'",
        multiple=True,
        help="An expectation, written as under [[expect]] in a suite; may be repeated.",
    ),
)
_OTHER_OPTIONS: tuple[Option, ...] = (
    click.option("--dry-run", is_flag=True, help="Show what would be measured and how long it would take."),
    click.option("--out", metavar="DIR", help="Where the run's folder <time>-<suite> is made (default: runs)."),
    click.option("--interface", default="lo", show_default=True, help="The network interface that traffic uses."),
    click.option(
        "--until-precise",
        metavar="PERCENT",
        help="Add rounds until every median is known to within ± this part of it (instead of --trials).",
    ),
    click.option("--until-decided", is_flag=True, help="Add rounds until every expectation is decided."),
    click.option(
        "--budget", metavar="TIME", help="The most time for added rounds (default: 10m, or what the suite says)."
    ),
    click.option(
        "--focus",
        metavar="KEY=VALUE",
        multiple=True,
        help="Only these configurations must reach the precision; may be repeated.",
    ),
    click.option("--resume", metavar="RUN", help="Continue a run that was interrupted or killed."),
    click.option(
        "--format",
        "output_format",
        type=click.Choice(PRINTED),
        default="summary",
        show_default=True,
        help="The output format.",
    ),
    click.option("--verbose", "-v", is_flag=True, help="Also print every row and warning."),
    click.option("--breakdown", is_flag=True, help="Print every row and where its time went."),
    click.option("--quiet", is_flag=True, help="No progress, only the result."),
    click.option(
        "--fail-if",
        "fail_if",
        multiple=True,
        type=click.Choice(GATES),
        help="Exit with 4 if an expectation does not hold; undecided: also if one is undecided or untestable.",
    ),
)


_HOST_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--hosts",
        metavar="NAME=[USER@]HOST,…",
        help="Measure between these hosts, reached by SSH: the senders on the first, the receivers on the second.",
    ),
    click.option(
        "--scheduler",
        metavar="tls://…",
        help="Measure between the workers of this Dask cluster instead; their names are the hosts.",
    ),
    click.option(
        "--remote-python", metavar="PATH", help="Path of Python on the hosts (default: the same path as here)."
    ),
    click.option("--insecure", is_flag=True, help="Join a cluster without TLS."),
    click.option("--tls-ca", metavar="FILE", help="With --scheduler: the certificate of the cluster's authority."),
    click.option("--tls-cert", metavar="FILE", help="With --scheduler: the certificate that this machine presents."),
    click.option("--tls-key", metavar="FILE", help="With --scheduler: the key of that certificate."),
)


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the options that name the hosts. It is called with ``hosts: HostsAsked``."""

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
