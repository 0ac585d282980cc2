"""``middlemark which``: from a question to an answer, by a race of all that could be it."""

from pathlib import Path
from typing import Any

import click
import msgspec

from middlemark.model.levels import SHARE, Wrong
from middlemark.model.plan import Plan, Wanted
from middlemark.model.units import parse_seconds
from middlemark.plan.rounds import racing
from middlemark.problems import Problem, RequestError
from middlemark.runs.answer import print_answer
from middlemark.runs.conduct import (
    DEFAULT_OUT,
    Built,
    Shown,
    built_workers,
    floors_of,
    measure,
    opened_run,
    plan_here,
    run_file,
    without_refused,
)
from middlemark.stats.race import FIRST_LOOK
from middlemark.suite import Suite, load, raw_options
from middlemark.suite.overrides import read_budget

FORMATS = ("table", "json")
DURATION_S = 0.2
MESSAGES = 25
"""A trial's p50 has at least so many behind it."""
WARMUP_S = 0.03
ONE = ("size", "rate", "processes", "subscribers")
"""A question has one level of each."""


@click.command(name="which")
@click.option("--size", default="1k", metavar="SIZE", show_default=True, help="Bytes of a message.")
@click.option("--rate", default="1k", metavar="HZ", show_default=True, help="Messages a second.")
@click.option("--processes", default="2", metavar="1|2", show_default=True, help="All in one process, or each its own.")
@click.option("--subscribers", default="1", metavar="N", show_default=True, help="With more than one: one way.")
@click.option("--deadline", metavar="TIME", help="99 of 100 messages must arrive within it.")
@click.option("--loss", default="0", metavar="SHARE", show_default=True, help="What may be lost, as 1% or 0.01.")
@click.option("--cpu", metavar="N", help="Processors that all processes may use together, as 0.5.")
@click.option("--adapter", default="all", metavar="NAME,…", show_default=True, help="Who races.")
@click.option("--transport", default="all", metavar="NAME,…", show_default=True, help="Over what.")
@click.option("--budget", default="2m", metavar="TIME", show_default=True, help="The time for it.")
@click.option("--out", metavar="DIR", help="Where the run's folder <time>-which is made (default: runs).")
@click.option("--format", "output_format", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--quiet", is_flag=True, help="No progress, only the result.")
def command(
    size: str,
    rate: str,
    processes: str,
    subscribers: str,
    deadline: str | None,
    loss: str,
    cpu: str | None,
    adapter: str,
    transport: str,
    budget: str,
    out: str | None,
    output_format: str,
    quiet: bool,
) -> int:
    """Say which middleware is best for such messages here, how sure that is, and what would settle it.

    All that can do it race: whoever is surely slower, or surely does not do what is asked, leaves. Round trips count
    from the intended instant; with several subscribers it is one way.
    """
    built = built_workers()
    keys = {"size": size, "rate": rate, "processes": processes, "subscribers": subscribers}
    problems, wanted, budget_s = _bounds(deadline, loss, cpu, budget)
    suites, plan = _planned(keys, adapter, transport, built, problems)
    plan = racing(plan, floors_of(built), budget_s, wanted, question=True)
    plan = without_refused(plan, suites, built.workers, "lo")
    file = run_file(plan, suites, built.workers)
    return measure(
        lambda: opened_run(Path(out or DEFAULT_OUT), file),
        (),
        built.workers,
        Shown("lo", output_format, quiet),
        print_answer,
    )


def _bounds(deadline: str | None, loss: str, cpu: str | None, budget: str) -> tuple[list[Problem], Wanted, float]:
    budget_s, problems = read_budget(budget)
    deadline_s: float | None = None
    try:
        deadline_s = None if deadline is None else parse_seconds(deadline)
    except ValueError as error:
        problems.append(Problem("--deadline", str(error)))
    if deadline_s == 0:
        problems.append(Problem("--deadline", f"'{deadline}' is no time: nothing arrives at once"))
    share = 0.0
    try:
        share = float(str(SHARE.read(loss)))
    except Wrong as error:
        problems.append(Problem("--loss", str(error)))
    most: float | None = None
    try:
        most = None if cpu is None else float(cpu)
    except ValueError:
        most = 0.0
    if most is not None and not 0 < most < 1e6:
        problems.append(Problem("--cpu", f"'{cpu}' is no number of processors; 0.5 is half of one"))
    return problems, Wanted(deadline_s=deadline_s, max_loss=share, max_cpu=most), budget_s


def _planned(
    keys: dict[str, str], adapter: str, transport: str, built: Built, problems: list[Problem]
) -> tuple[tuple[Suite, ...], Plan]:
    """Plan the first rounds. RequestError with those ``problems`` and all that are found here."""
    asked: dict[str, Any] = {"adapter": adapter, "transport": transport, **keys}
    loaded: tuple[Suite, ...] = ()
    try:
        loaded = load((), raw_options(**asked))
    except RequestError as error:
        problems += error.problems
    for suite in loaded:
        for name in ONE:
            levels = suite.sweeps[0].levels(name)
            if len(levels.values) > 1:
                problems.append(Problem(levels.place, "one question at a time: give one value"))
        rates = suite.sweeps[0].levels("rate")
        if not isinstance(rates.values[0], float):
            problems.append(Problem(rates.place, "a question has a rate in Hz, as in 100 or 1k"))
    if problems:
        raise RequestError(list(dict.fromkeys(problems)))
    sweep = loaded[0].sweeps[0]
    rate = float(str(sweep.levels("rate").values[0]))
    several = sweep.levels("subscribers").values != (1,)
    options = raw_options(
        **asked,
        pattern="stream" if several else "ping-pong",
        loan="false,true",
        trials=str(FIRST_LOOK),
        duration=f"{max(DURATION_S, MESSAGES / rate):.6f}s",
        warmup=f"{max(WARMUP_S, 5 / rate):.6f}s",
        skip_unsupported=True,
    )
    suites = tuple(msgspec.structs.replace(each, name="which") for each in load((), options))
    plan = plan_here(suites, built)
    return suites, plan
