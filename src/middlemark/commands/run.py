"""``middlemark run``: plans, measures, stores and prints a run."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from middlemark import exits
from middlemark.commands.options import host_options, language_option, run_options
from middlemark.commands.page import option, page
from middlemark.model.description import Worker
from middlemark.model.link import HERE
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan
from middlemark.model.spelling import listing
from middlemark.model.version import adapter_of
from middlemark.plan import breaking
from middlemark.plan.rounds import racing, within
from middlemark.plan.rounds import until_decided as planned_until_decided
from middlemark.plan.rounds import until_precise as planned_until_precise
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.runs.against import against_another_build
from middlemark.runs.certificates import own_certificates
from middlemark.runs.conduct import (
    DEFAULT_OUT,
    Built,
    RunOptions,
    built_workers,
    measure,
    named_adapters,
    names_all,
    opened_run,
    plan_here,
    raw_transports_of,
    run_file,
    without_refused,
)
from middlemark.runs.fail_if import EXPECTATIONS, GROWS, UNDECIDED, FailIf, read_fail_if
from middlemark.runs.hosts import HostsAsked, reaching, refuse_lacking
from middlemark.runs.printing import print_run
from middlemark.suite import RawOptions, Suite, load
from middlemark.suite.overrides import (
    FIRST_ROUNDS,
    PrecisionAsked,
    race_budget_s,
    read_budget,
    read_precision,
    suite_budget_s,
)

if TYPE_CHECKING:
    from middlemark.store import RunWriter


@page(
    "run",
    ("run first-look", "a suite: every adapter, small and large messages"),
    ("run --adapter cyclonedds,fastdds --size 1k,64k --trials 10", "two middlewares, two sizes"),
    ("run --pattern stream --rate 1k --subscribers 4", "a stream to four subscribers"),
    notes=(
        "An option replaces the value in every sweep of the suites. The default applies if a suite has no value. The "
        "levels of an option can be given in one list or by repeating the option.",
    ),
)
@run_options
@host_options
@language_option()
@option(
    "--against",
    metavar="VERSION",
    group="What is measured",
    help="Also measure another build of each --adapter, interleaved; exit with 4 if that build is faster.",
)
@option(
    "--tuned",
    is_flag=True,
    group="Machine",
    help="Apply the changes that doctor recommends during each trial, and restore them after it.",
)
@option(
    "--certs",
    metavar="FOLDER",
    group="What is measured",
    help="Your own certificates and keys for --security (docs/how-to/security.md).",
)
@option(
    "--each-host",
    is_flag=True,
    group="Machine",
    help="Measure each configuration on every host separately, and compare the hosts.",
)
def command(
    suites: tuple[str, ...],
    options: RawOptions,
    dry_run: bool,
    out: str | None,
    interface: str,
    until_precise: str | None,
    budget: str | None,
    focus: tuple[str, ...],
    resume: str | None,
    output_format: str,
    rows: bool,
    verbose: bool,
    breakdown: bool,
    quiet: bool,
    until_decided: bool,
    until_it_breaks: bool,
    fail_if: tuple[str, ...],
    hosts: HostsAsked,
    each_host: bool,
    against: str | None,
    tuned: bool,
    certs: str | None,
    language: str | None,
) -> int:
    """Plan, measure, store and print a run; return the exit code."""
    conditions, problems = read_fail_if(fail_if, (EXPECTATIONS, UNDECIDED, GROWS))
    problems += _contradictions(options, quiet=quiet, verbose=verbose)
    named, only = _named(suites, options)
    built = built_workers(named, only=only, dry_run=dry_run).in_language(language)
    if dry_run:
        _refuse_unchecked(suites, options, named, built)
    shown = RunOptions(interface, output_format, quiet, verbose, breakdown, rows, conditions)
    precise, wrong = read_precision(until_precise, budget, focus, options.keys.get("trials"))
    problems += wrong
    if resume is not None:
        further = (
            suites,
            out,
            dry_run,
            until_precise,
            until_decided,
            until_it_breaks,
            budget,
            focus,
            hosts != HostsAsked(),
            each_host,
            against,
            tuned,
            certs,
            language,
        )
        has_other_options = any(further) or options != RawOptions()
        if problems:
            raise RequestError(problems)
        return measure(
            *_resumed(Path(resume), has_other_options, built.workers, interface), built.workers, shown, print_run
        )
    if precise is not None:
        options = msgspec.structs.replace(options, keys={**options.keys, "trials": str(FIRST_ROUNDS)})
    problems += _interface_problems(interface)
    if against is not None:
        options, wrong = against_another_build(options, built.workers, against)
        problems += wrong
        shown = shown._replace(fail_if=conditions or FailIf(expectations=True))
    with reaching(hosts) as reached:
        names = reached.names if reached else ()
        if each_host:
            problems += _each_host_problems(names, options)
            options = msgspec.structs.replace(options, keys={**options.keys, "across": ",".join(names) or HERE})
        added: Literal["decided", "broken", ""] = "decided" if until_decided else "broken" if until_it_breaks else ""
        if until_decided and until_it_breaks:
            problems.append(Problem(breaking.OPTION, "excludes --until-decided; leave one of them out"))
        checked, plan = _plan(suites, options, built, problems, precise, budget, names, until=added)
        if shown.fail_if.grows and all(each.limits.recording_s is None for each in plan.trials):
            text = "no trial is long enough to judge growth: give --duration 10m or more, or --record-every"
            raise RequestError([Problem("--fail-if", text)])
        if shown.fail_if.judges_expectations and not plan.expectations:
            raise RequestError(
                [Problem("--fail-if", "there is no expectation: write [[expect]] in the suite, or give --expect")]
            )
        if tuned:
            from middlemark.runs.remedies import tuned as with_changes

            plan = with_changes(
                plan, built.workers, interface, lambda message: click.echo(f"middlemark: {message}", err=True)
            )
        plan = without_refused(plan, checked, built.workers, interface)
        own = own_certificates(certs, plan, built.workers, interface)
        if dry_run:
            _show_plan(plan, verbose=verbose)
            return exits.OK
        if plan.fitted is not None and not quiet:
            click.echo(f"middlemark: {plan.notes[0].place}: {plan.notes[0].text}", err=True)
        cluster = reached.connect() if reached else None
        if cluster is not None:
            refuse_lacking(cluster, plan.cells)
        file = msgspec.structs.replace(run_file(plan, checked, built, cluster), certs=own)
        return measure(lambda: opened_run(Path(out or DEFAULT_OUT), file), (), built.workers, shown, print_run, cluster)


def _named(suites: Sequence[str], options: RawOptions) -> tuple[list[str], bool]:
    """Return the adapters that the request names, and whether it uses no others.

    No names if the request is wrong: the errors are reported later.
    """
    try:
        loaded = load(suites, options)
    except RequestError:
        return [], False
    return named_adapters(loaded), names_all(loaded)


def _refuse_unchecked(suites: Sequence[str], options: RawOptions, named: Sequence[str], built: Built) -> None:
    """Raise MeasureError if no requested adapter is built, because only a built worker can check a plan.

    Raises RequestError if the request would also be wrong with the adapter built.
    """
    single = [adapter_of(name) for name in named if name != "all"]
    if built.workers if not single else any(name not in built.unchecked for name in single):
        return
    load(suites, options)
    raise MeasureError(
        f"the plan was not checked, because none of its adapters is built: {listing(single) or 'no adapter is'}",
        f"to build it: {' '.join(['./middlemark build', *single])}; a run without --dry-run also builds it",
    )


def _plan(
    suites: Sequence[str],
    options: RawOptions,
    built: Built,
    problems: list[Problem],
    precise: PrecisionAsked | None,
    budget: str | None,
    hosts: Sequence[str],
    *,
    until: Literal["decided", "broken", ""],
) -> tuple[tuple[Suite, ...], Plan]:
    """Return the suites and the plan. Raises RequestError with ``problems`` and all problems found while planning."""
    try:
        checked = load(suites, options)
    except RequestError as error:
        problems += error.problems
        try:  # adapters and transports can be checked even if another option is wrong
            named = {name: typed for name, typed in options.keys.items() if name in ("adapter", "transport")}
            plan_here(load((), RawOptions(keys={"adapter": "all"} | named)), built, hosts=hosts)
        except RequestError as further:
            problems += further.problems
        raise RequestError(list(dict.fromkeys(problems))) from None
    # With --trials on the command line a suite's race becomes a fixed number of trials.
    typed = options.keys.keys() & {"trials", "race"}  # --until-precise also sets trials
    race_s = race_budget_s(checked) if typed != {"trials"} else None
    if race_s is not None and precise is not None:
        problems.append(Problem("--until-precise", "a race adds rounds of its own; leave one of the two out"))
    elif until and (race_s is not None or precise is not None):
        option = breaking.OPTION if until == "broken" else "--until-decided"
        problems.append(Problem(option, f"use only one of {option}, --until-precise and a race"))
    try:
        plan = plan_here(checked, built, options.only, hosts)
        if precise is not None:
            plan = planned_until_precise(plan, precise)
        elif until == "decided":
            budget_s, wrong = read_budget(budget)
            problems += wrong
            plan = planned_until_decided(plan, budget_s)
        elif until == "broken":
            budget_s, wrong = read_budget(budget or breaking.BUDGET)
            problems += wrong
            plan = breaking.until_it_breaks(plan, budget_s)
        elif race_s is not None:
            budget_s, wrong = read_budget(budget, race_s)
            problems += wrong
            raw_transports = raw_transports_of(built)
            if "race" in typed or any(cell.adapter not in raw_transports for cell in plan.cells):
                plan = racing(plan, raw_transports, budget_s)
        elif budget is not None:
            budget_s, wrong = read_budget(budget)
            problems += wrong
            plan = plan if wrong else within(plan, budget_s)
        elif not typed and (suite_s := suite_budget_s(checked)) is not None:
            plan = within(plan, suite_s)
    except RequestError as error:
        raise RequestError([*problems, *error.problems]) from None
    if problems:
        raise RequestError(problems)
    return checked, plan


def _contradictions(options: RawOptions, *, quiet: bool, verbose: bool) -> list[Problem]:
    """Return a problem for each pair of options that exclude each other."""
    problems = []
    if quiet and verbose:
        problems.append(Problem("--quiet", "excludes --verbose; leave one of them out"))
    if "trials" in options.keys and options.keys.get("race"):
        text = "excludes --race, which chooses the number of trials; leave one out, or limit the race with --budget"
        problems.append(Problem("--trials", text))
    return problems


def _each_host_problems(names: Sequence[str], options: RawOptions) -> list[Problem]:
    problems = []
    if not names:
        problems.append(Problem("--each-host", "name the hosts, as in --hosts base=localhost,robot=user@robot.local"))
    if excluded := [f"--{name}" for name in ("across", "link") if name in options.keys]:
        text = f"all roles are on the host that is measured; leave {listing(excluded)} out"
        problems.append(Problem("--each-host", text))
    return problems


def _interface_problems(name: str) -> list[Problem]:
    import socket

    interfaces = [interface for _, interface in socket.if_nameindex()]
    if name in interfaces:
        return []
    return [Problem("--interface", f"there is no network interface {name}; there are {', '.join(interfaces)}")]


def _show_plan(plan: Plan, *, verbose: bool) -> None:
    from middlemark.show.dry_run import render
    from middlemark.show.output import width

    click.echo(render(plan, width(), verbose=verbose), nl=False)


def _resumed(
    folder: Path, has_other_options: bool, workers: Mapping[str, Worker], interface: str
) -> "tuple[Callable[[], RunWriter], tuple[TrialOutcome, ...]]":
    """Return a function that opens the run for writing, and the outcomes of its trials.

    Raises RequestError if there are options other than --resume, or with every difference between this machine and the
    machine of the run. Raises MeasureError if the run cannot be opened.
    """
    from middlemark.runs.measure import differences
    from middlemark.runs.read import damaged, stored_run
    from middlemark.show import output
    from middlemark.store import StoreError, reopen_run

    run = stored_run(folder)
    if has_other_options:
        asked_then = "continues with the original request: leave suites, factors, --out and --dry-run out"
        raise RequestError(
            [Problem("--resume", each) for each in (*differences(run.file, workers), asked_then)],
        )
    try:
        reopened = reopen_run(folder)
    except StoreError as refused:
        raise MeasureError(str(refused), "wait for it, or start a new run") from None
    if problems := [Problem("--resume", each) for each in differences(reopened.run.file, workers)]:
        raise RequestError(problems)
    own_certificates(run.file.certs or None, run.file.plan, workers, interface)
    for each in damaged(reopened.run):
        output.tell(each)

    def opened() -> "RunWriter":
        try:
            return reopened.writer()
        except StoreError as refused:
            raise MeasureError(str(refused), "start a new run") from None

    return opened, reopened.run.outcomes
