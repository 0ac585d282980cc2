"""The hosts of a run: check the options, connect, and check that each host can measure the cells."""

import contextlib
import importlib.util
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from middlemark import interrupts
from middlemark.model.cell import Cell
from middlemark.model.hosts import HostAddress, parse_hosts
from middlemark.model.levels import Wrong
from middlemark.model.link import HERE, sites_of
from middlemark.model.spelling import listing
from middlemark.problems import MeasureError, Problem, RequestError

if TYPE_CHECKING:
    from middlemark.sites.cluster import Cluster

PACKAGES = ("distributed", "asyncssh", "cryptography")


class HostsAsked(NamedTuple):
    """The options about hosts, as typed."""

    hosts: str | None = None
    scheduler: str | None = None
    remote_python: str | None = None
    insecure: bool = False
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None


class Reaching(NamedTuple):
    """The names of the hosts that a run may use. Call ``connect`` when everything else is checked."""

    names: tuple[str, ...]
    connect: "Callable[[], Cluster]"


@contextlib.contextmanager
def reaching(asked: HostsAsked) -> Iterator[Reaching | None]:
    """Check the options ``asked``. Yield an object that connects to the hosts, or None if no option names hosts.

    At the end, close the connections. Raises RequestError, and MeasureError if a host cannot be reached.
    """
    if asked.hosts is None and asked.scheduler is None:
        if asked != HostsAsked():
            raise RequestError([Problem("", "--remote-python, --insecure and --tls-… need --hosts or --scheduler")])
        yield None
        return
    hosts = _checked(asked)
    if missing := [name for name in PACKAGES if importlib.util.find_spec(name) is None]:
        install = shlex.join([sys.executable, "-m", "pip", "install", *PACKAGES])
        raise MeasureError(f"hosts need the Python packages {listing(missing)}, which are not installed here", install)
    with contextlib.ExitStack() as stack:
        if asked.scheduler is not None:
            cluster = _entered(stack, _joined(asked.scheduler, asked))
            yield Reaching(tuple(cluster.addresses), lambda: cluster)
        else:
            yield Reaching(tuple(each.name for each in hosts), lambda: _entered(stack, _started(hosts, asked)))


def _checked(asked: HostsAsked) -> tuple[HostAddress, ...]:
    problems: list[Problem] = []
    hosts: tuple[HostAddress, ...] = ()
    tls = (asked.tls_ca, asked.tls_cert, asked.tls_key)
    if asked.hosts is not None and asked.scheduler is not None:
        problems.append(Problem("--scheduler", "the names of its workers are the hosts; leave out --hosts"))
    elif asked.hosts is not None:
        try:
            hosts = parse_hosts(asked.hosts)
        except Wrong as error:
            problems.append(Problem("--hosts", str(error)))
        if any(tls) or asked.insecure:
            text = "needs --scheduler: for hosts that are reached by SSH, the run makes its own certificates"
            problems.append(Problem("--tls-ca, --tls-cert, --tls-key, --insecure", text))
    elif asked.scheduler is not None:
        if not asked.scheduler.startswith("tls://") and not asked.insecure:
            text = "without TLS, anyone who reaches the cluster can run programs on its hosts; use TLS (tls://…)"
            problems.append(Problem("--scheduler", f"{text}, or, in a network of your own, add --insecure"))
        if any(tls) and not all(tls):
            problems.append(Problem("--tls-ca, --tls-cert, --tls-key", "all three are needed"))
    if problems:
        raise RequestError(problems)
    return hosts


def _entered(stack: contextlib.ExitStack, context: "contextlib.AbstractContextManager[Cluster]") -> "Cluster":
    from middlemark.sites.cluster import ClusterError

    try:
        cluster = stack.enter_context(context)
        interrupts.run(cluster.learn())
    except ClusterError as error:
        raise MeasureError("; ".join(error.problems)) from None  # each problem contains its next step
    return cluster


def _joined(address: str, asked: HostsAsked) -> "contextlib.AbstractContextManager[Cluster]":
    from middlemark.sites.cluster import joined, security_of

    files = (asked.tls_ca, asked.tls_cert, asked.tls_key)
    return joined(address, security_of(*files) if address.startswith("tls://") else None)


def _started(hosts: Sequence[HostAddress], asked: HostsAsked) -> "contextlib.AbstractContextManager[Cluster]":
    from middlemark.sites.ssh import started

    return started(hosts, asked.remote_python)


def refuse_lacking(cluster: "Cluster", cells: Sequence[Cell]) -> None:
    """Raise MeasureError if a host lacks adapters or processors that these cells need."""
    lacks: dict[str, None] = {}
    for cell in cells:
        for name in sites_of(cell.across) if cell.across != HERE else ():
            facts = cluster.facts[name]
            if cell.adapter not in facts.adapters:
                lacks[f"{name} has no adapter {cell.adapter}"] = None
            there = facts.host.machine.processors
            if cell.pin and max(cell.pin) >= there:
                lacks[f"{name} has {there} processors, but roles are pinned to {listing(map(str, cell.pin))}"] = None
    if lacks:
        advice = "choose other processors with --pin; build missing adapters on the host with: ./middlemark build"
        raise MeasureError("; ".join(lacks), advice)
