"""Hosts that are reached by SSH: prepare them, and start a cluster on them by Dask's own SSH deployment."""

import asyncio
import contextlib
import ipaddress
import logging
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from middlemark import __version__, interrupts
from middlemark.model.hosts import HostAddress
from middlemark.security.authority import Authority
from middlemark.sites.cluster import CONNECT_S, QUIET, Cluster, ClusterError
from middlemark.sites.tether import Keys, Prepared

TETHER = "-m middlemark.sites.tether"
PACKAGES = "distributed asyncssh cryptography"
AUTHORITY, CERTIFICATE, KEY = "authority.pem", "certificate.pem", "key.pem"


class Certificates(NamedTuple):
    """The certificates, in PEM, for all ends of one run's cluster. The authority signs no other certificates."""

    authority: str
    certificate: str
    key: str


def make_certificates() -> Certificates:
    """Create an authority and a certificate, used for one run only."""
    authority = Authority("Middlemark, authority of one run")
    certificate, key = authority.identity("Middlemark, hosts of one run")
    return Certificates(authority.certificate.decode(), certificate.decode(), key.decode())


class _Ready(msgspec.Struct, frozen=True):
    """A host to which the run's keys have been copied."""

    address: str
    """The address at which the other hosts reach this host."""
    prepared: Prepared


@contextlib.contextmanager
def started(hosts: Sequence[HostAddress], python: str | None) -> Iterator[Cluster]:
    """Start a cluster on the hosts; end it on exit.

    ``python``: the path of Python on the hosts (None: as on this machine).

    Raises ClusterError.
    """
    import dask
    from distributed import Client, SpecCluster
    from distributed.deploy.ssh import Scheduler, Worker
    from distributed.security import Security

    for name in ("distributed", "asyncssh"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    python = python or shlex.quote(sys.executable)
    keys = make_certificates()
    ready = interrupts.run(_prepare(hosts, python, keys))
    security = Security(
        require_encryption=True,
        tls_ca_file=keys.authority,
        **{f"tls_{role}_cert": keys.certificate for role in ("client", "scheduler", "worker")},
        **{f"tls_{role}_key": keys.key for role in ("client", "scheduler", "worker")},
    )

    def options(host: HostAddress, role: str, **more: Any) -> dict[str, Any]:
        folder = ready[host.name].prepared.folder
        files = {"tls_ca_file": f"{folder}/{AUTHORITY}", f"tls_{role}_cert": f"{folder}/{CERTIFICATE}"}
        files |= {f"tls_{role}_key": f"{folder}/{KEY}"}
        kwargs: dict[str, Any] = {"host": ready[host.name].address, "dashboard": False}
        kwargs["security"] = {"require_encryption": True, **files}
        return {
            "address": host.host,
            "connect_options": _connecting(host),
            "remote_python": f"{python} {TETHER} {folder}",
            "kwargs": kwargs | more,
        }

    try:
        with dask.config.set(QUIET), contextlib.ExitStack() as stack:
            of_worker = {"nthreads": 1, "memory_limit": 0, "death_timeout": CONNECT_S}
            workers = {
                each.name: {"cls": Worker, "options": options(each, "worker", name=each.name, **of_worker)}
                for each in hosts
            }
            scheduler = {"cls": Scheduler, "options": options(hosts[0], "scheduler", protocol="tls://", port=0)}
            try:
                cluster = SpecCluster(workers, scheduler, security=security, silence_logs=logging.CRITICAL)
                stack.callback(cluster.close)
                client = Client(cluster, direct_to_workers=True)
                stack.callback(client.close)
                client.wait_for_workers(len(hosts), timeout=CONNECT_S)
            except Exception as error:
                text = f"Dask does not start on {' and '.join(map(str, hosts))}: {error or type(error).__name__}"
                raise ClusterError([text]) from None
            yield Cluster(client, {name: each.address for name, each in ready.items()})
    finally:
        interrupts.run(_clear_keys(hosts, python, ready))


def _connecting(host: HostAddress) -> dict[str, Any]:
    # If this connection fails, the trial fails. After a minute, the host's Dask processes end.
    found: dict[str, Any] = {"connect_timeout": CONNECT_S, "keepalive_interval": 20}
    if host.user is not None:
        found["username"] = host.user
    if host.port is not None:
        found["port"] = host.port
    return found


async def _prepare(hosts: Sequence[HostAddress], python: str, keys: Certificates) -> dict[str, _Ready]:
    """Copy the keys to every host. Raises ClusterError, which names all hosts that failed."""
    request = msgspec.json.encode(
        Keys({AUTHORITY: keys.authority, CERTIFICATE: keys.certificate, KEY: keys.key})
    ).decode()
    asked = await asyncio.gather(*(_prepare_one(each, python, request) for each in hosts), return_exceptions=True)
    reached = {host.name: each for host, each in zip(hosts, asked, strict=True) if isinstance(each, tuple)}
    # Hosts must not use a loopback address to reach each other.
    own = next((own for own, there, _ in reached.values() if not ipaddress.ip_address(there).is_loopback), None)
    ready = {
        name: _Ready(own if own and ipaddress.ip_address(there).is_loopback else there, prepared)
        for name, (_, there, prepared) in reached.items()
    }
    failed = [each for each in asked if isinstance(each, BaseException)]
    if failed:
        await _clear_keys(hosts, python, ready)
        problems = [str(each) for each in failed if isinstance(each, ClusterError)]
        raise ClusterError(problems) if len(problems) == len(failed) else failed[0]
    return ready


async def _prepare_one(host: HostAddress, python: str, request: str) -> tuple[str, str, Prepared]:
    """Prepare a host. Return our address as seen by the host, the host's address, and the host's answer.

    Raises ClusterError.
    """
    import asyncssh

    reach = f"this must work without a password: ssh {host}"
    try:
        async with asyncssh.connect(host.host, **_connecting(host)) as connection:
            ended = await connection.run(f"{python} {TETHER} prepare", input=request, timeout=CONNECT_S)
            own, there = (connection.get_extra_info(end)[0] for end in ("sockname", "peername"))
    except asyncssh.PermissionDenied:
        raise ClusterError([f"{host.name}: the host accepts none of your keys: ssh-copy-id {host}"]) from None
    except asyncssh.HostKeyNotVerifiable as error:
        raise ClusterError([f"{host.name}: {error}; connect once and accept the host key: ssh {host}"]) from None
    except (OSError, asyncssh.Error, TimeoutError) as error:
        raise ClusterError([f"{host.name}: cannot be reached ({error or type(error).__name__}); {reach}"]) from None
    words = str(ended.stderr).strip().splitlines()[-1:] or ["no output"]
    if ended.exit_status != 0:
        raise ClusterError([f"{host.name}: {_lacking(host, python, words[0])}"])
    try:
        return own, there, msgspec.json.decode(str(ended.stdout), type=Prepared)
    except msgspec.DecodeError:
        raise ClusterError([f"{host.name}: the answer of the host is not valid: {words[0]}"]) from None


def _lacking(host: HostAddress, python: str, words: str) -> str:
    if "No module named 'middlemark" in words:
        text = f"its Python, {python}, has no Middlemark {__version__} ({words}); install it there"
        return f"{text}, or name the Python that has it: --remote-python PATH"
    if "No module named" in words:
        return f"its Python lacks a package ({words}); run: ssh {host} {python} -m pip install {PACKAGES}"
    if "not found" in words or "No such file" in words:
        return f"{python} does not exist there ({words}); name the host's Python: --remote-python PATH"
    return f"{python} does not run there: {words}"


async def _clear_keys(hosts: Sequence[HostAddress], python: str, ready: dict[str, _Ready]) -> None:
    """Remove the keys from the hosts that can be reached."""
    import asyncssh

    async def clear(host: HostAddress, folder: str) -> None:
        with contextlib.suppress(OSError, asyncssh.Error, TimeoutError):
            async with asyncssh.connect(host.host, **_connecting(host)) as connection:
                await connection.run(f"{python} {TETHER} clear {shlex.quote(folder)}", timeout=CONNECT_S)

    await asyncio.gather(*(clear(each, ready[each.name].prepared.folder) for each in hosts if each.name in ready))
