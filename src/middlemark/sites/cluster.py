"""The connection to the hosts of a run: a Dask cluster with one actor (``host.Host``) on each of its workers.

Dask runs in its own thread, and the event loop of the run awaits its results.
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from middlemark import __version__
from middlemark.files import digest_of
from middlemark.model.hosts import is_site
from middlemark.model.outcome import RunWarning
from middlemark.model.run import HostMachine
from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.host import Facts, Host
from middlemark.workers.find import executables

CONNECT_S = 30.0
JOIN_S = 10.0
FACTS_S = 60.0

QUIET = {
    "distributed.worker.profile.enabled": False,  # the profiler samples the worker 100 times a second
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "1h",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.nanny.pre-spawn-environ": {},  # the middleware's processes would inherit these variables
    "distributed.comm.timeouts.connect": "10s",
    "distributed.comm.timeouts.tcp": "60s",  # survives a shorter outage; our own calls notice a lost host
    "distributed.scheduler.work-stealing": False,
}
"""The configuration with which Dask uses no processor time during a trial. The Dask processes that SSH starts inherit
this configuration."""


class HostGoneError(Exception):
    """A host does not answer. In messages, the error's text follows the host's name."""


class ClusterError(Exception):
    """The cluster cannot be used. ``problems``: all problems, each with its place and the next step."""

    def __init__(self, problems: Sequence[str]) -> None:
        """Create the error. ``problems``: at least one."""
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


class Cluster:
    """The connected hosts of a run."""

    def __init__(self, client: Any, addresses: Mapping[str, str]) -> None:
        """Create the connection. ``client``: Dask's client. ``addresses``: host name → address."""
        self.addresses = dict(addresses)
        self.facts: dict[str, Facts] = {}
        self._client = client
        self._actors: dict[str, Any] = {}
        self._builds: dict[str, str] = {}

    @property
    def machines(self) -> tuple[HostMachine, ...]:
        """The descriptions of the hosts, in their order. Call :meth:`learn` first."""
        return tuple(self.facts[name].host for name in self.addresses)

    async def learn(self) -> None:
        """Ask every host for its description. Raises ClusterError."""
        self._builds = {name: digest_of(path) for name, path in executables().items()}
        asked = await asyncio.gather(*map(self._ask, self.addresses), return_exceptions=True)
        failed = [each for each in asked if each is not None]
        problems = [str(each) for each in failed if isinstance(each, HostGoneError | WorkerFailedError)]
        if failed:
            raise ClusterError(problems) if len(problems) == len(failed) else failed[0]

    async def _ask(self, name: str) -> None:
        peer = next(address for other, address in self.addresses.items() if other != name)
        try:
            await self.connect(name)
            facts = await self.call(name, "facts", self.addresses[name], peer, timeout_s=FACTS_S)
        except HostGoneError as gone:
            raise HostGoneError(f"{name} ({self.addresses[name]}): {gone}") from None
        self.facts[name] = msgspec.json.decode(facts, type=Facts)

    def differing(self, name: str) -> dict[str, str]:
        """Return adapter → difference, for the adapters whose build on the host differs from this machine's build."""
        there = self.facts[name]
        lacking = {each: "built here, but not there" for each in self._builds if each not in there.adapters}
        other = {
            each: "the build differs from the build here"
            for each, build in there.builds.items()
            if self._builds.get(each, build) != build
        }
        return lacking | other

    def doubts(self, names: Sequence[str], adapter: str) -> tuple[RunWarning, ...]:
        """Return warnings for the adapter's rows: how the hosts ``names`` differ from this machine."""
        found = []
        for name in names:
            there = self.facts[name]
            if there.host.middlemark != __version__:
                text = f"{name} has Middlemark {there.host.middlemark}, and this machine {__version__}"
                found.append(RunWarning("versions-differ", text, "install the same version on every host"))
            elif there.builds.get(adapter) != self._builds.get(adapter):
                text = f"the worker of {adapter} on {name} is a different build from the one on this machine"
                advice = "build the worker from the same sources and tools, or mention the difference with the figures"
                found.append(RunWarning("versions-differ", text, advice))
        return tuple(found)

    async def connect(self, name: str) -> None:
        """Create the host's actor if there is no actor, as after a restart of the host's Dask worker.

        Raises HostGoneError.
        """
        if name in self._actors:
            with contextlib.suppress(HostGoneError):
                await self.call(name, "close", 0.0, timeout_s=5.0)
                return
        self._actors.pop(name, None)
        self._actors[name] = await asyncio.to_thread(self._placed, name)
        if name in self.facts:  # a new actor does not know its adapters before it is asked for its description
            await self._ask(name)

    def _placed(self, name: str) -> Any:
        deadline = time.monotonic() + CONNECT_S
        try:
            while not (there := self._worker(name)):
                if time.monotonic() > deadline:
                    raise HostGoneError(f"its Dask worker did not appear within {CONNECT_S:g} s")
                time.sleep(0.1)
            key = f"middlemark-{name}-{secrets.token_hex(4)}"
            future = self._client.submit(Host, name, actor=True, workers=[there], pure=False, key=key)
            return future.result(timeout=CONNECT_S)
        except HostGoneError:
            raise
        except Exception as error:
            raise HostGoneError(_sentence(error, "no actor could be created on the host")) from None

    def _worker(self, name: str) -> str:
        """Return the address of the host's Dask worker; empty: no Dask worker, or it is restarting."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return next((address for address, each in workers.items() if each["name"] == name), "")

    async def call(self, name: str, verb: str, *arguments: Any, timeout_s: float, scope: str | None = None) -> Any:
        """Call a method of the host's actor. Raises HostGoneError, and any WorkerFailedError that the method raises."""
        actor = self._actors[name]

        async def do() -> Any:
            return await actor.do(verb, *arguments, scope=scope)

        future = asyncio.run_coroutine_threadsafe(do(), self._client.loop.asyncio_loop)
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.wrap_future(future)
        except WorkerFailedError:
            raise
        except TimeoutError:
            raise HostGoneError(f"it did not answer within {timeout_s:g} s") from None
        except Exception as error:  # Dask raises various errors if a connection breaks or a worker restarts
            raise HostGoneError(_sentence(error, "its Dask worker ended")) from None


def security_of(authority: str | None, certificate: str | None, key: str | None) -> Any:
    """Return Dask's ``Security`` with these files. A file that is None comes from Dask's own configuration."""
    from distributed.security import Security

    if authority is None:
        return Security(require_encryption=True)
    return Security(require_encryption=True, tls_ca_file=authority, tls_client_cert=certificate, tls_client_key=key)


def _sentence(error: Exception, otherwise: str) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    return f"{otherwise} ({text or type(error).__name__})"


@contextlib.contextmanager
def joined(address: str, security: Any) -> Iterator[Cluster]:
    """Connect to the scheduler of an existing cluster, whose workers have the names of the hosts.

    ``security``: Dask's ``Security``; None: without TLS. Raises ClusterError.
    """
    import dask
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(QUIET):
        try:
            client = Client(address, security=security, timeout=JOIN_S)
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise ClusterError([f"{address}: no scheduler answers there ({error})"]) from None
        with contextlib.closing(client):
            with contextlib.suppress(TimeoutError):
                client.wait_for_workers(2, timeout=JOIN_S)
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            addresses = {str(each["name"]): str(each["host"]) for each in workers if is_site(str(each["name"]))}
            if len(addresses) < 2:
                named = f"{len(workers)} workers, {len(addresses)} of them with the name of a host"
                raise ClusterError([f"{address}: it has {named}; start one on each host: dask worker --name robot …"])
            yield Cluster(client, dict(sorted(addresses.items())))
