"""``middlemark hosts``: checks that several machines are ready to measure between them."""

import statistics
from typing import TYPE_CHECKING

import click

from middlemark import __version__, exits, interrupts
from middlemark.commands.options import host_options
from middlemark.commands.page import page
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.runs.hosts import HostsAsked, reaching

if TYPE_CHECKING:
    from middlemark.model.outcome import ClockOffset


@page(
    "hosts",
    ("hosts --hosts base=localhost,robot=user@robot.local", "two hosts, reached by SSH"),
    ("hosts --scheduler tls://cluster:8786", "the workers of a Dask cluster"),
    notes=("Each host must be reachable, have the same versions and adapters, and let traffic through.",),
)
@host_options
def command(hosts: HostsAsked) -> int:
    """Print what each host has; return the exit code."""
    from middlemark.document.runs import host_line
    from middlemark.model.units import format_us
    from middlemark.sites.channel import WorkerFailedError
    from middlemark.sites.check import check
    from middlemark.sites.cluster import HostGoneError

    with reaching(hosts) as reached:
        if reached is None:
            raise RequestError([Problem("--hosts", "name the hosts, as in base=localhost,robot=user@robot.local")])
        cluster = reached.connect()
        try:
            found = interrupts.run(check(cluster))
        except (HostGoneError, WorkerFailedError) as error:
            raise MeasureError(str(error), "is it on, and does its network hold? Then try again") from None
    wrong = 0
    for each in found:
        facts = cluster.facts[each.name]
        click.echo(host_line(facts.host))
        click.echo(f"    address     {facts.host.address}")
        click.echo(f"    Middlemark  {facts.host.middlemark}{_differs(facts.host.middlemark)}")
        click.echo(f"    adapters    {', '.join(facts.adapters) or 'none'}")
        for name, why in each.adapters.items():
            click.echo(f"                {name}: {why}")
        round_trip = f"{format_us(statistics.median(each.round_trips_ns))} µs"
        click.echo(f"    connection  a round trip takes {round_trip} (median of {len(each.round_trips_ns)})")
        if each is not found[0]:
            click.echo(f"    clock       {_clock(each.clock, found[0].name)}")
        for way, passes in each.passes.items():
            click.echo(f"    {way}: {'gets through' if passes else 'does not get through: check the firewall there'}")
        wrong += sum(not passes for passes in each.passes.values()) + bool(_differs(facts.host.middlemark))
        wrong += not facts.adapters
    return exits.CELL_FAILED if wrong else exits.OK


def _clock(offset: "ClockOffset | None", first: str) -> str:
    from middlemark.model.units import format_us

    if offset is None:
        return f"{first} does not answer by UDP: no one-way latencies"
    known = f"known to ± {format_us(offset.uncertainty_ns)} µs by that of {first}"
    return f"{known} (a datagram there and back takes {format_us(offset.round_trip_ns)} µs)"


def _differs(version: str) -> str:
    return "" if version == __version__ else f", and this machine has {__version__}: install the same version"
