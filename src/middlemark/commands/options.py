"""The options of ``run``, gathered as typed: they are checked with the suites, so every problem is told at once."""

import functools
from collections.abc import Callable
from typing import Any

import click

from middlemark.suite.model import RawOptions

FORMATS = ("table", "json", "csv", "latencytest", "roundtrip", "ddsperf")

Option = Callable[[Any], Any]

_PLAN_OPTIONS: tuple[Option, ...] = (
    click.option("--adapter", metavar="A,…", help="Adapters to measure; all: every one that is built."),
    click.option("--pattern", metavar="ping-pong|stream|request-reply,…", help="What the roles do."),
    click.option("--size", metavar="SIZE,…", help="Message sizes: 16, 1k, 64k, 1m, @demands.csv."),
    click.option("--transport", metavar="T,…", help="Transports; all: every one the adapter has."),
    click.option("--receive", metavar="block|poll|listen,…", help="How a role receives."),
    click.option("--reliability", metavar="reliable|best-effort,…", help="Delivery asked of the middleware."),
    click.option("--depth", metavar="N|all,…", help="History: keep the last N messages, or all (a stream's default)."),
    click.option("--loan/--no-loan", default=None, help="Write into the middleware's own memory."),
    click.option("--payload", metavar="filled|untouched", help="Write and check every byte, or the header only."),
    click.option("--processes", metavar="1|2", help="All roles in one process, or each in its own."),
    click.option("--publishers", metavar="N,…", help="Publishers of a stream, clients of request-reply."),
    click.option("--subscribers", metavar="N,…", help="Subscribers of a stream, pongs of ping-pong."),
    click.option("--topics", metavar="N,…", help="Topics over which a stream's roles are dealt out."),
    click.option(
        "--rate", metavar="max|HZ|sustainable|curve,…", help="Messages a second of each sender: 100, 2.5k, 1M."
    ),
    click.option("--arrivals", metavar="periodic|poisson,…", help="How a rate's intended instants lie."),
    click.option("--burst", metavar="N|off,…", help="Send N messages as fast as possible, rest, and again."),
    click.option("--recovery", metavar="TIME,…", help="The rest after each burst, as 90ms (default: none)."),
    click.option("--max-loss", metavar="SHARE", help="What a sustainable rate may lose, as 1% or 0.01 (default: 0)."),
    click.option("--max-p99", metavar="TIME", help="What p99 of the one-way latency may come to at such a rate."),
    click.option("--echo", metavar="all|first", help="Which pongs reply."),
    click.option("--samples", metavar="N", help="Messages each sender sends (instead of --duration)."),
    click.option("--duration", metavar="TIME", help="How long a trial measures, as 0.5s or 10m."),
    click.option("--warmup", metavar="TIME", help="How long a trial runs before it measures."),
    click.option("--trials", metavar="N", help="Fresh starts of each cell."),
    click.option("--pin", metavar="0,1|auto|off", help="Processors: the senders' first, then the receivers'."),
    click.option("--priority", metavar="other|fifo:80", help="Scheduling policy and priority of the roles."),
    click.option("--mlock", is_flag=True, help="Keep the workers' memory in RAM."),
    click.option("--domain", metavar="N", help="One DDS domain for every trial (default: one each)."),
    click.option("--seed", metavar="N", help="Order of the trials (default: another each time)."),
    click.option("--skip-unsupported", is_flag=True, help="Leave out what cannot be honoured instead of refusing it."),
    click.option(
        "--floors/--no-floors", default=None, help="Measure what the machine does with no middleware (default)."
    ),
    click.option(
        "--native",
        metavar="[ADAPTER.]KEY=VALUE",
        multiple=True,
        help="A setting of the middleware's own; may be repeated.",
    ),
    click.option("--only", metavar="KEY=VALUE", multiple=True, help="Measure only these cells; may be repeated."),
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
    click.option("--budget", metavar="TIME", help="The time for that (default: 10m)."),
    click.option(
        "--focus", metavar="KEY=VALUE", multiple=True, help="Only these cells need be so precise; may be repeated."
    ),
    click.option("--resume", metavar="RUN", help="Go on with a run that was interrupted or killed, where it stopped."),
    click.option(
        "--format", "output_format", type=click.Choice(FORMATS), default="table", show_default=True, help="The output."
    ),
    click.option("--breakdown", is_flag=True, help="Tell below the table where the time of each row went."),
    click.option("--quiet", is_flag=True, help="No progress, only the result."),
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the arguments and options of ``run``.

    It is called with ``suites: tuple[str, ...]``, ``options: RawOptions``, ``dry_run: bool``, ``out: str | None``,
    ``interface: str``, ``until_precise: str | None``, ``budget: str | None``, ``focus: tuple[str, ...]``,
    ``resume: str | None``, ``output_format: str`` (one of FORMATS), ``breakdown: bool``
    and ``quiet: bool``, all by name.
    """

    @functools.wraps(command)
    def gather(**given: Any) -> Any:
        raw = {name: given.pop(name) for name in RawOptions.__struct_fields__}
        for flag in ("mlock", "skip_unsupported"):
            raw[flag] = raw[flag] or None  # there is no --no-mlock: absent leaves the suite's word alone
        return command(options=RawOptions(**raw), **given)

    decorated: Callable[..., Any] = gather
    arguments: Option = click.argument("suites", metavar="[SUITE]…", nargs=-1)
    for option in reversed((arguments, *_PLAN_OPTIONS, *_OTHER_OPTIONS)):
        decorated = option(decorated)
    return decorated
