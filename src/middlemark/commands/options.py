"""Options that several verbs share, and the options of ``run`` as typed.

The options of ``run`` are checked together with the suites, so all problems are printed at once.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import click

from middlemark.commands.page import Decorated, argument, option
from middlemark.model.description import WrittenIn
from middlemark.model.factors import Key
from middlemark.model.levels import FLAG
from middlemark.model.spelling import did_you_mean
from middlemark.problems import Problem, RequestError
from middlemark.runs.hosts import HostsAsked
from middlemark.show import PRINTED
from middlemark.suite.overrides import flag_name
from middlemark.suite.sweep import KEYS, raw_options

Decorator = Callable[[Any], Any]

LISTED = ("text", "json", "csv", "markdown")
"""The formats of a verb that prints a list. ``show.records`` writes them."""
FOLDER = "runs"
"""The folder of the runs if the user names none."""


class FormatName(click.ParamType[str]):
    """One of the formats that a verb prints."""

    name = "format"

    def __init__(self, names: Sequence[str]) -> None:
        """Create the type; ``names`` are the formats."""
        self.names = tuple(names)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the format. Raises RequestError if no format has this name."""
        if value in self.names:
            return str(value)
        hint = "write text" if value in ("table", "summary") else did_you_mean(value, self.names)
        rows = "; --rows prints every row" if value == "table" and ctx and "rows" in ctx.params | _names(ctx) else ""
        raise RequestError([Problem("--format", f"there is no format {value}; {hint}{rows}")])

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the formats that begin with ``incomplete``."""
        return [click.shell_completion.CompletionItem(name) for name in self.names if name.startswith(incomplete)]


def _names(ctx: click.Context) -> dict[str, None]:
    return dict.fromkeys(str(each.name) for each in ctx.command.params)


def formats(*names: str) -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb ``--format``, with ``text`` as its default."""
    return option(
        "--format",
        "output_format",
        type=FormatName(names),
        default="text",
        metavar="FORMAT",
        group="Output",
        help=f"{', '.join(names[:-1])} or {names[-1]}.",
    )


def runs_argument(says: str, *, metavar: str = "[RUN]…") -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb the runs to read. If no run is named, the verb reads the newest run."""
    return argument("runs", nargs=-1, metavar=metavar, shell_complete=stored, says=says)


def out_option(what: str) -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb ``--out``, the folder in which it makes the run's folder."""
    text = f"Where the run's folder <time>-{what} is made."
    return option("--out", metavar="DIR", group="Output", default_text=FOLDER, help=text)


def seed_option() -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb ``--seed``."""
    return option(
        "--seed",
        metavar="N",
        group="How long",
        default_text="a new seed each time",
        help="Seed of the order of the trials.",
    )


def language_option() -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb ``--language``."""
    return option(
        "--language",
        type=click.Choice(get_args(WrittenIn), case_sensitive=False),
        metavar="NAME",
        group="What is measured",
        default_text="every language",
        help=f"Only middlewares with an interface in this language: {', '.join(get_args(WrittenIn))}.",
    )


def quiet_option() -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb ``--quiet``."""
    return option("--quiet", is_flag=True, group="Output", help="No progress, only the result.")


def only_option(what: str, group: str) -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb ``--only``."""
    return option(
        "--only",
        metavar="KEY=VALUE",
        multiple=True,
        group=group,
        help=f"{what} only these configurations.",
    )


def metric_option(says: str, **more: Any) -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb ``--metric``."""
    return option(
        "--metric", metavar="M,…", separator=",", group="What is shown", shell_complete=metrics, help=says, **more
    )


def margin_option() -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb ``--margin``."""
    return option(
        "--margin",
        default="5%",
        metavar="PERCENT",
        group="What is shown",
        help="Differences below this margin do not matter.",
    )


def fail_if_option(text: str) -> Callable[[Decorated], Decorated]:
    """Return the decorator that gives a verb ``--fail-if``. ``runs.fail_if`` reads its conditions."""
    return option("--fail-if", "fail_if", multiple=True, metavar="CONDITION", group="Output", help=text)


def _factor(key: Key) -> Decorator:
    name = flag_name(key.name)
    group = key.group or ("Load" if getattr(key, "load", False) else "What is measured")
    default, metavar = key.default_words.replace("`", "").replace("*", ""), key.metavar or None
    if key.kind is FLAG:
        name, metavar, default = f"{name}/--no-{name[2:]}", None, {"true": "yes", "false": "no"}.get(default, default)
    completes = _adapters if key.name == "adapter" else None
    return option(
        name,
        metavar=metavar,
        default=None,
        group=group,
        default_text=default,
        help=key.help,
        separator=key.kind.separator if key.listed else "",
        shell_complete=completes,
    )


def last_of(typed: str, names: Iterable[str]) -> list[str]:
    """Return the completions of the last name of a list with commas."""
    before, comma, begun = typed.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


def metrics(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the completions of the names of metrics."""
    from middlemark.stats.metrics import METRICS

    return last_of(typed, METRICS)


def check_names() -> list[str]:
    """Return the names of the checks of ``doctor``."""
    from middlemark.system.registry import CHECKS

    return [each.name for each in CHECKS]


def checks(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the completions of the name of a check."""
    return [name for name in check_names() if name.startswith(typed)]


def stored(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the completions of a stored run: the runs in the typed folder, or without a folder in ``runs``."""
    from middlemark.store import list_runs

    folder = Path(typed.rpartition("/")[0] or ".") if "/" in typed else Path(FOLDER)
    try:
        found = [str(path) for path in reversed(list_runs(folder))] if folder.is_dir() else []
    except OSError:
        return []
    return [path for path in found if path.startswith(typed) or Path(path).name.startswith(typed)]


def _adapters(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    from middlemark.workers.find import executables

    return last_of(typed, sorted(executables()) + ([] if "," in typed else ["all"]))


def suites(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the completions of a suite's name."""
    from middlemark.suite.request import suite_files

    return sorted(name for name in suite_files() if name.startswith(typed))


_KEYS = [key for key in KEYS.values() if key.option]
_PLAN_OPTIONS: tuple[Decorator, ...] = (
    *map(_factor, _KEYS),
    seed_option(),
    option(
        "--native",
        metavar="[ADAPTER.]KEY=VALUE",
        multiple=True,
        group="What is measured",
        help="One of the middleware's own settings.",
    ),
    option(
        "--config",
        metavar="ADAPTER=FILE",
        multiple=True,
        group="What is measured",
        help="Your own configuration file for this middleware.",
    ),
    only_option("Measure", "What is measured"),
    option(
        "--expect",
        metavar="'KEY = VALUE, …'",
        multiple=True,
        group="What is measured",
        help="An expectation, written as under [[expect]] in a suite.",
    ),
)
_OTHER_OPTIONS: tuple[Decorator, ...] = (
    option("--dry-run", is_flag=True, group="Output", help="Show what would be measured and how long it would take."),
    out_option("SUITE"),
    option(
        "--interface",
        default="lo",
        metavar="NAME",
        group="Machine",
        help="The network interface that traffic uses.",
    ),
    option(
        "--until-precise",
        metavar="PERCENT",
        group="How long",
        help="Add rounds until every median is precise to ± this percentage (instead of --trials).",
    ),
    option("--until-decided", is_flag=True, group="How long", help="Add rounds until every expectation is decided."),
    option(
        "--until-it-breaks",
        is_flag=True,
        group="How long",
        help="Measure further sizes of each crowd between the largest that holds and the smallest that breaks.",
    ),
    option(
        "--budget",
        metavar="TIME",
        group="How long",
        default_text="the suite's budget; 10m for added rounds, 30m for --until-it-breaks",
        help="The most time; trials that do not fit are left out. With --race or --until-…: the time for added rounds.",
    ),
    option(
        "--focus",
        metavar="KEY=VALUE",
        multiple=True,
        group="How long",
        help="Only these configurations must reach the precision.",
    ),
    option(
        "--resume",
        metavar="RUN",
        group="How long",
        shell_complete=stored,
        help="Continue a run that was interrupted or killed.",
    ),
    formats(*PRINTED),
    option("--rows", is_flag=True, group="Output", help="Print every row instead of the summary."),
    option("--verbose", "-v", is_flag=True, group="Output", help="Also print every row and warning."),
    option("--breakdown", is_flag=True, group="Output", help="Print every row and where its time went."),
    quiet_option(),
    fail_if_option(
        "Exit with 4 if the condition is met. 'expectations': an expectation does not hold; 'undecided': an "
        "expectation "
        "does not hold, is undecided or is untestable. 'rss grows by 1 MiB/h' (or private, shm, descriptors, threads): "
        "the whole interval of the slope in a long trial is above that."
    ),
)


_HOST_OPTIONS: tuple[Decorator, ...] = (
    option(
        "--hosts",
        metavar="NAME=[USER@]HOST,…",
        separator=",",
        group="Machine",
        help="Measure between these hosts, reached by SSH: the senders on the first, the receivers on the second.",
    ),
    option(
        "--scheduler",
        metavar="tls://…",
        group="Machine",
        help="Measure between the workers of this Dask cluster instead; the workers' names are the names of the hosts.",
    ),
    option(
        "--remote-python",
        metavar="PATH",
        group="Machine",
        default_text="the same path as here",
        help="Path of Python on the hosts.",
    ),
    option("--insecure", is_flag=True, group="Machine", help="Join a cluster without TLS."),
    option(
        "--tls-ca",
        metavar="FILE",
        group="Machine",
        help="With --scheduler: the certificate of the cluster's authority.",
    ),
    option(
        "--tls-cert",
        metavar="FILE",
        group="Machine",
        help="With --scheduler: the certificate that this machine presents.",
    ),
    option("--tls-key", metavar="FILE", group="Machine", help="With --scheduler: the key of that certificate."),
)


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the options that name the hosts. The function is called with ``hosts: HostsAsked``."""

    @functools.wraps(command)
    def gather(**given: Any) -> Any:
        return command(hosts=HostsAsked(**{name: given.pop(name) for name in HostsAsked._fields}), **given)

    decorated: Callable[..., Any] = gather
    for each in reversed(_HOST_OPTIONS):
        decorated = each(decorated)
    return decorated


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the arguments and options of ``run``.

    The function is called with ``suites: tuple[str, ...]``, ``options: RawOptions``, ``dry_run: bool``, ``out: str |
    None``, ``interface: str``, ``until_precise: str | None``, ``until_decided: bool``, ``until_it_breaks: bool``,
    ``fail_if: tuple[str, ...]``, ``budget: str | None``, ``focus: tuple[str, ...]``, ``resume: str | None``,
    ``output_format: str`` (one of PRINTED), ``rows: bool``, ``verbose: bool``, ``breakdown: bool`` and ``quiet: bool``,
    all by name.
    """

    @functools.wraps(command)
    def gather(**given: Any) -> Any:
        typed = {
            name: given.pop(name)
            for name in (*(key.name for key in _KEYS), "seed", "native", "only", "config", "expect")
        }
        return command(options=raw_options(**typed), **given)

    decorated: Callable[..., Any] = gather
    named = argument(
        "suites",
        metavar="[SUITE]…",
        nargs=-1,
        shell_complete=suites,
        says="Names from `middlemark list suites`, or paths (default: first-look, or one sweep of the options).",
    )
    for each in reversed((named, *_PLAN_OPTIONS, *_OTHER_OPTIONS)):
        decorated = each(decorated)
    return decorated
