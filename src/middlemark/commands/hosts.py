"""``middlemark hosts``: checks that several machines are ready to measure between them."""

import statistics
from collections.abc import Iterator
from typing import TYPE_CHECKING

from middlemark import __version__, exits, interrupts
from middlemark.commands.options import LISTED, formats, host_options
from middlemark.commands.page import page
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.runs.hosts import HostsAsked, reaching

if TYPE_CHECKING:
    from middlemark.show.json.machine import HostOutput
    from middlemark.sites.check import Checked
    from middlemark.sites.host import Facts


@page(
    "hosts",
    ("hosts --hosts base=localhost,robot=user@robot.local", "two hosts, reached by SSH"),
    ("hosts --scheduler tls://cluster:8786", "the workers of a Dask cluster"),
    notes=("Each host must be reachable, have the same versions and adapters, and let traffic through.",),
)
@host_options
@formats(*LISTED)
def command(hosts: HostsAsked, output_format: str) -> int:
    """Print the facts about each host; return the exit code."""
    from middlemark.document.runs import host_line
    from middlemark.show import output
    from middlemark.show.json.machine import HostOutput, HostsOutput
    from middlemark.show.records import render
    from middlemark.sites.channel import WorkerFailedError
    from middlemark.sites.check import check
    from middlemark.sites.cluster import HostGoneError

    with reaching(hosts) as reached:
        if reached is None:
            raise RequestError([Problem("--hosts", "name the hosts, as in base=localhost,robot=user@robot.local")])
        cluster = reached.connect()
        try:
            checked = interrupts.run(check(cluster))
        except (HostGoneError, WorkerFailedError) as error:
            raise MeasureError(str(error), "check that the host is on and its network is up, then try again") from None
        facts = [cluster.facts[each.name] for each in checked]
    found = [_output(*each) for each in zip(checked, facts, strict=True)]
    if output_format == "text":
        text = "".join(
            f"{line}\n"
            for each, shown in zip(found, facts, strict=True)
            for line in _lines(each, host_line(shown.host), found[0].name, len(checked[0].round_trips_ns))
        )
    else:
        text = render(output_format, HostsOutput(hosts=tuple(found)), HostOutput, found)
    if output.failed(text):
        return exits.CELL_FAILED
    return exits.OK if all(each.ready for each in found) else exits.CELL_FAILED


def _output(checked: "Checked", facts: "Facts") -> "HostOutput":
    from middlemark.document.runs import host_line
    from middlemark.show.json.machine import HostOutput

    own = facts.host
    clock = checked.clock
    return HostOutput(
        name=checked.name,
        address=own.address,
        machine=host_line(own).partition(": ")[2],
        middlemark=own.middlemark,
        adapters=tuple(facts.adapters),
        differing=checked.adapters,
        round_trip_ns=statistics.median(checked.round_trips_ns),
        clock_uncertainty_ns=None if clock is None else clock.uncertainty_ns,
        passing=checked.passes,
        ready=bool(facts.adapters) and own.middlemark == __version__ and all(checked.passes.values()),
    )


def _lines(host: "HostOutput", first_line: str, first_host: str, exchanges: int) -> "Iterator[str]":
    """Yield the printed lines about one host. ``exchanges``: the number of round trips of the connection."""
    from middlemark.model.units import format_us

    differs = (
        "" if host.middlemark == __version__ else f", and this machine has {__version__}: install the same version"
    )
    yield first_line
    yield f"    address     {host.address}"
    yield f"    Middlemark  {host.middlemark}{differs}"
    yield f"    adapters    {', '.join(host.adapters) or 'none'}"
    yield from (f"                {name}: {difference}" for name, difference in host.differing.items())
    yield f"    connection  a round trip takes {format_us(host.round_trip_ns)} µs (median of {exchanges})"
    if host.name != first_host:
        uncertainty = host.clock_uncertainty_ns
        if uncertainty is None:
            yield f"    clock       {first_host} does not answer by UDP: no one-way latencies"
        else:
            yield f"    clock       its offset from the clock of {first_host} is known to ± {format_us(uncertainty)} µs"
    for sender, passes in host.passing.items():
        yield f"    {sender}: {'gets through' if passes else 'does not get through: check the firewall there'}"
