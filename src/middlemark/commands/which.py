"""``middlemark which``: finds the best middleware for a use case, by a race of all candidates."""

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import msgspec

from middlemark import exits
from middlemark.commands.options import formats, language_option, out_option, quiet_option, seed_option
from middlemark.commands.page import option, page
from middlemark.model.cell import FACTORS
from middlemark.model.levels import SHARE, Wrong
from middlemark.model.plan import Plan, Raced, Wanted
from middlemark.model.spelling import listing
from middlemark.model.units import format_count, format_seconds, parse_seconds
from middlemark.model.version import adapter_of
from middlemark.plan.estimate import estimate_trial
from middlemark.plan.rounds import racing
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.runs.conduct import (
    DEFAULT_OUT,
    Built,
    RunOptions,
    built_workers,
    measure,
    opened_run,
    plan_here,
    raw_transports_of,
    run_file,
    without_refused,
)
from middlemark.runs.crowd_race import OF_CROWDS, OF_MESSAGES, TOPICS, planned_crowds, raced_metric
from middlemark.runs.printing import print_run
from middlemark.stats.quantiles import samples_needed
from middlemark.stats.race import FIRST_LOOK
from middlemark.stats.workload import too_short
from middlemark.suite import Suite, load, raw_options
from middlemark.suite.overrides import read_budget
from middlemark.suite.sweep import Sweep

DURATION_S = {"p50": 0.2, "p99": 0.2, "cpu": 0.5, "memory": 0.2}
"""Metric that decides the race → duration of the shortest trial in s."""
MESSAGES = {"p50": 25, "p99": samples_needed(Fraction(99, 100)), "cpu": 25, "memory": 25}
"""Metric that decides the race → the fewest messages of a trial."""
WARMUP_S = 0.03
ONE = ("size", "rate", "processes", "subscribers")
"""The options that take one value only."""
MESSAGES_ONLY = ("size", "rate", "processes", "subscribers", "deadline", "cpu")
"""The options that exclude --participants: a crowd has its own rate, and a process for each participant."""
TOPIC_ONLY = ("size", "rate", "subscribers", "deadline", "loss", "metric")
"""The options that exclude --workload: each topic of a workload has its own value."""
BUDGET = "2m"
GRAPH_BUDGET = "30m"
"""The default budget with a workload. A trial takes ten seconds or more, so two rounds of thirty candidates
take 15 min."""


@page(
    "which",
    ("which --size 1k --rate 1k", "1 KiB, a thousand times a second"),
    ("which --size 64k --rate 100 --deadline 2ms", "99 of 100 messages within 2 ms"),
    ("which --workload amr", "all topics of a robot"),
    notes=(
        "A candidate that is significantly slower or misses a limit is eliminated. The race compares round trips "
        "from the intended instant, and with several subscribers one-way latencies. With --workload each "
        "candidate runs the whole workload, and the candidate with the largest margin to the deadlines is best. With "
        "--participants 100 crowds race, by their discovery, idle processor time or memory.",
    ),
)
@option("--size", default="1k", metavar="SIZE", group="Load", help="Bytes of a message.")
@option("--rate", default="1k", metavar="HZ", group="Load", help="Messages a second.")
@option(
    "--workload",
    metavar="FILE",
    group="Load",
    help="Race with the graph of a robot: a suite with a workload, by name or path.",
)
@option("--scale", metavar="N", group="Load", default_text="1", help="Multiplies all rates of a workload.")
@option(
    "--copies",
    metavar="N",
    group="Load",
    default_text="1",
    help="Number of robots with the workload on one network.",
)
@option(
    "--processes", default="2", metavar="1|2", group="Load", help="All roles in one process, or each role in its own."
)
@option(
    "--subscribers",
    default="1",
    metavar="N",
    group="Load",
    help="Number of subscribers. With more than one, one-way latencies count.",
)
@option(
    "--participants",
    metavar="N",
    group="Load",
    help=f"Race with a crowd: participants with {TOPICS} topics each, in a process each.",
)
@option("--deadline", metavar="TIME", group="What is measured", help="99 of 100 messages must arrive within this time.")
@option(
    "--loss",
    default="0",
    metavar="SHARE",
    group="What is measured",
    help="The share of messages that may be lost, as 1% or 0.01.",
)
@option(
    "--metric",
    type=click.Choice([*OF_MESSAGES, *(each for each in OF_CROWDS if each not in OF_MESSAGES)]),
    metavar="M",
    group="What is measured",
    default_text="p50; with --participants discovery",
    help=f"The figure that decides: {', '.join(OF_MESSAGES)}; with --participants {', '.join(OF_CROWDS)}.",
)
@option("--pin", metavar="0,1|auto|off", group="Machine", help=FACTORS["pin"].help)
@option("--awake", is_flag=True, group="Machine", help=FACTORS["awake"].help)
@option("--cpu", metavar="N", group="What is measured", help="Processors that all processes may use together, as 0.5.")
@option(
    "--adapter",
    default="all",
    metavar="NAME,…",
    separator=",",
    group="What is measured",
    help="The adapters that race.",
)
@language_option()
@option(
    "--transport",
    default="all",
    metavar="NAME,…",
    separator=",",
    group="What is measured",
    help="The transports that race.",
)
@option(
    "--budget",
    metavar="TIME",
    group="How long",
    default_text=f"{BUDGET}; with --workload or --participants {GRAPH_BUDGET}",
    help="The most time for the race.",
)
@seed_option()
@option("--dry-run", is_flag=True, group="Output", help="Show the candidates and how long the race would take.")
@out_option("which")
@formats("text", "json", "csv", "markdown", "html")
@quiet_option()
def command(
    size: str,
    rate: str,
    workload: str | None,
    scale: str | None,
    copies: str | None,
    processes: str,
    subscribers: str,
    participants: str | None,
    deadline: str | None,
    loss: str,
    metric: str | None,
    pin: str | None,
    awake: bool,
    cpu: str | None,
    adapter: str,
    language: str | None,
    transport: str,
    budget: str | None,
    seed: str | None,
    dry_run: bool,
    out: str | None,
    output_format: str,
    quiet: bool,
) -> int:
    """Plan the race, measure it and print the answer; return the exit code."""
    named = adapter.split(",") if _typed("adapter") else []
    built = built_workers(named, only="all" not in named, dry_run=dry_run).in_language(language)
    if dry_run and (missing := [name for name in named if adapter_of(name) in built.unchecked]):
        raise MeasureError(
            f"the plan was not checked, because {listing(missing)} is not built",
            f"to build it: ./middlemark build {' '.join(missing)}; without --dry-run it is built first",
        )
    budget = budget or (BUDGET if workload is None and participants is None else GRAPH_BUDGET)
    problems, wanted, budget_s = _bounds(deadline, loss, cpu, budget)
    raced, wrong = raced_metric(metric, participants)
    problems += wrong
    how: dict[str, Any] = {"pin": pin} if pin else {}
    how |= {"awake": "true"} if awake else {}
    given = {"scale": scale, "copies": copies} if workload is None else {}
    text = "multiplies a workload; add --workload FILE"
    problems += [Problem(f"--{each}", text) for each, typed in given.items() if typed is not None]
    if participants is not None:
        if workload is not None:
            problems.append(Problem("--participants", "a workload has processes of its own; leave one of the two out"))
        text = "a crowd has its own load and limits; leave the option out"
        problems += [Problem(f"--{each}", text) for each in MESSAGES_ONLY if _typed(each)]
        crowd = {"participants": participants, "adapter": adapter, "transport": transport, **how}
        suites, plan = planned_crowds(crowd, raced, built, problems, seed)
    elif workload is None:
        keys = {"size": size, "rate": rate, "processes": processes, "subscribers": subscribers} | how
        suites, plan = _planned(keys, raced, adapter, transport, built, problems, seed)
    else:
        problems += _topic_only()
        keys = {"adapter": _candidates(built) if adapter == "all" else adapter, "transport": transport}
        keys |= ({"processes": processes} if _typed("processes") else {}) | how
        times = {"scale": scale or "1", "copies": copies or "1"}
        suites, plan = _planned_graph(workload, keys, times, built, problems, seed)
        wanted = msgspec.structs.replace(wanted, max_loss=None)
    plan = racing(plan, raw_transports_of(built), budget_s, wanted, question=True, metric=raced)
    plan = without_refused(plan, suites, built.workers, "lo")
    if dry_run:
        from middlemark.show.dry_run import render
        from middlemark.show.output import width

        click.echo(render(plan, width()), nl=False)
        return exits.OK
    if (workload is not None or participants is not None) and not quiet:
        click.echo(_announcement(plan, budget_s), err=True)
    file = run_file(plan, suites, built, named=adapter.split(","))
    return measure(
        lambda: opened_run(Path(out or DEFAULT_OUT), file),
        (),
        built.workers,
        RunOptions("lo", output_format, quiet),
        print_run,
    )


def _bounds(deadline: str | None, loss: str, cpu: str | None, budget: str) -> tuple[list[Problem], Wanted, float]:
    budget_s, problems = read_budget(budget)
    deadline_s: float | None = None
    try:
        deadline_s = None if deadline is None else parse_seconds(deadline)
    except ValueError as error:
        problems.append(Problem("--deadline", str(error)))
    if deadline_s == 0:
        problems.append(Problem("--deadline", f"'{deadline}' is too short for any message; write a time such as 2ms"))
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
    keys: dict[str, str],
    metric: Raced,
    adapter: str,
    transport: str,
    built: Built,
    problems: list[Problem],
    seed: str | None,
) -> tuple[tuple[Suite, ...], Plan]:
    """Plan the first rounds. Raises RequestError with ``problems`` and all problems found while planning."""
    asked: dict[str, Any] = {"adapter": adapter, "transport": transport, **keys}
    loaded: tuple[Suite, ...] = ()
    try:
        loaded = load((), raw_options(**asked, seed=seed))
    except RequestError as error:
        problems += error.problems
    for suite in loaded:
        for name in ONE:
            levels = suite.sweeps[0].levels(name)
            if len(levels.values) > 1:
                problems.append(Problem(levels.place, "give only one value to `which`"))
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
        seed=seed,
        pattern="stream" if several else "ping-pong",
        loan="false,true",
        trials=str(FIRST_LOOK),
        duration=f"{max(DURATION_S[metric], 1.02 * MESSAGES[metric] / rate):.6f}s",
        warmup=f"{max(WARMUP_S, 5 / rate):.6f}s",
        skip_unsupported=True,
    )
    suites = tuple(msgspec.structs.replace(each, name="which") for each in load((), options))
    plan = plan_here(suites, built)
    return suites, plan


def _typed(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.COMMANDLINE


def _topic_only() -> list[Problem]:
    text = "each topic of the workload has its own value; leave the option out"
    return [Problem(f"--{each}", text) for each in TOPIC_ONLY if _typed(each)]


def _candidates(built: Built) -> str:
    """Return the adapters that may race. Raw transports do not race with a workload."""
    described = [each.description for each in built.workers.values()]
    return ",".join(each.name for each in described if not each.is_raw_transport and not each.bench_only) or "all"


def _planned_graph(
    file: str, keys: dict[str, Any], times: dict[str, str], built: Built, problems: list[Problem], seed: str | None
) -> tuple[tuple[Suite, ...], Plan]:
    """Plan the first rounds of a workload.

    Raises RequestError with ``problems`` and all problems found while planning.
    """
    suites: tuple[Suite, ...] = ()
    try:
        (suite,) = load((file,), raw_options(**keys, seed=seed))
        if all(each.workload for each in suite.sweeps):
            keys |= times
            keys |= {} if suite.sweeps[0].levels("processes").named else {"processes": "2"}
        suites = load((file,), raw_options(**keys, seed=seed, trials=str(FIRST_LOOK), skip_unsupported=True))
    except RequestError as error:
        problems += error.problems
    for sweep in (each for suite in suites for each in suite.sweeps[:1]):
        problems += _workload_problems(sweep, len(suites[0].sweeps))
    if problems:
        raise RequestError(list(dict.fromkeys(problems)))
    suites = tuple(msgspec.structs.replace(each, name="which") for each in suites)
    return suites, plan_here(suites, built)


def _workload_problems(sweep: Sweep, sweeps: int) -> Iterator[Problem]:
    """Yield the reasons why a race cannot use this sweep. ``sweeps``: the number of sweeps in the file."""
    graph = sweep.workload
    if graph is None:
        yield Problem("--workload", f"{sweep.place}: there is no workload; for one message size, give --size instead")
        return
    if sweeps > 1:
        yield Problem("--workload", f"the file has {sweeps} sweeps; keep one sweep, for one question")
    for each in sweep.factors:
        if FACTORS[each.factor].of == "experiment" and len(each.values) > 1:
            yield Problem(each.place, f"there are several levels of {each.factor}; give one level, for one question")
    for scale in sweep.levels("scale").values[:1]:
        if short := too_short(graph.under(float(str(scale)), 1), sweep.limits):
            text = f"a trial has too few messages of {listing(short)} to show if it meets its deadlines"
            yield Problem("--workload", f"{text}; 1,000 or 10 s are needed: leave the duration out of the file")


def _announcement(plan: Plan, budget_s: float) -> str:
    """Return the sentence with the number of candidates and the maximum duration of the race."""
    race, first = plan.race, plan.trials[: len(plan.cells)]
    candidates = sum(map(len, race.experiments)) if race else 0
    longest = max(estimate_trial(plan.cells[each.cell], each) for each in first)
    rounds_s = sum(estimate_trial(plan.cells[each.cell], each) for each in plan.trials)
    raw = format_count(len(plan.cells) - candidates, "raw transport")
    who = f"{format_count(candidates, 'candidate')} and {raw} race"
    trial, rounds, most = (format_seconds(float(math.ceil(each))) for each in (longest, rounds_s, budget_s))
    return f"{who}: about {trial} a trial, {rounds} for the first {FIRST_LOOK} rounds, {most} at most (--budget)"
