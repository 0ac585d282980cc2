"""``middlemark doctor``: finds settings of this machine that hold a middleware back, and the commands that fix them."""

from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.commands.options import LISTED, formats, suites
from middlemark.commands.page import option, page

if TYPE_CHECKING:
    from middlemark.runs.conduct import Built
    from middlemark.system.needs import Needs
    from middlemark.system.tried import Tried


@page(
    "doctor",
    ("doctor", "checks what every middleware needs"),
    ("doctor --suite first-look --verbose", "checks what this suite needs, and prints why"),
    ("doctor --no-probes --format json", "takes no measurements; for a script"),
    notes=(
        "Each finding names the rows that it concerns and the command that fixes it. Doctor changes nothing. "
        "The exit code is 4 if a finding falsifies or limits results, and 0 if there are only notes.",
    ),
)
@option(
    "--suite",
    metavar="SUITE",
    group="What is shown",
    shell_complete=suites,
    default_text="what middlewares need in general",
    help="Make only the checks that this suite needs.",
)
@option(
    "--interface",
    default="lo",
    metavar="NAME",
    group="Machine",
    help="With --suite: the network interface that traffic uses.",
)
@option(
    "--probes/--no-probes",
    default=True,
    group="How long",
    default_text="yes",
    help="Also measure the machine for some seconds.",
)
@formats(*LISTED)
@option(
    "--verbose",
    "-v",
    is_flag=True,
    group="Output",
    help="Also print why each finding matters, how to make the fix permanent, and its risk.",
)
def command(suite: str | None, interface: str, probes: bool, output_format: str, verbose: bool) -> int:
    """Print the findings; return the exit code."""
    from middlemark.interrupts import unwind
    from middlemark.runs.try_machine import try_machine  # imported before Ctrl-C raises KeyboardInterrupt
    from middlemark.show import View, output
    from middlemark.show import doctor as report
    from middlemark.show.json.machine import doctor_output
    from middlemark.show.records import render
    from middlemark.system.check import Finding
    from middlemark.system.registry import CHECKS, findings
    from middlemark.system.root import Root

    built = _built(needed=suite is not None)
    needs = _needs(suite, interface, built)
    found = findings(Root(), needs)  # read before the probes, because the probes load the machine
    tried: Tried | None = None
    if probes:
        with unwind():
            tried = try_machine(built.workers, quiet=True)
        if tried is None:
            click.echo("middlemark: interrupted while the machine was tried", err=True)
            return exits.INTERRUPTED
    text = (
        report.render_text(found, len(CHECKS), tried, output.view(View(warnings=verbose)), suite)
        if output_format == "text"
        else render(output_format, doctor_output(found, len(CHECKS), tried), Finding, found)
    )
    if output.failed(text):
        return exits.CELL_FAILED
    return exits.WORSE if any(each.severity != "note" for each in found) else exits.OK


def _built(*, needed: bool) -> "Built":
    """Return the workers. If there are none: raise MeasureError if ``needed``, else return no workers."""
    from middlemark.problems import MeasureError
    from middlemark.runs.conduct import Built, built_workers

    try:
        return built_workers()
    except MeasureError:
        if needed:
            raise
        return Built({}, {})


def _needs(suite: str | None, interface: str, built: "Built") -> "Needs":
    """Return the needs of the suite, or of middlewares in general. Raises RequestError if the suite is wrong."""
    from middlemark.runs.conduct import plan_here
    from middlemark.runs.needs import needs_of
    from middlemark.suite import load, raw_options
    from middlemark.system.needs import GENERAL

    if suite is None:
        return GENERAL
    loaded = load((suite,), raw_options(skip_unsupported=True))
    return needs_of(plan_here(loaded, built), [each.description for each in built.workers.values()], interface)
