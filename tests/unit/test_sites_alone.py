"""A trial's own network, which has only lo."""

import asyncio
import socket
import subprocess
from collections.abc import Iterator

import pytest
from descriptions import description, transport

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.sites.namespace import Holder, Namespace

CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"


@pytest.fixture
def isolated() -> Iterator[Namespace]:
    try:
        holder = asyncio.run(Holder.isolated())
    except WorkerFailedError as error:
        pytest.skip(error.text)
    yield holder.namespace
    holder.end()


def run_in(namespace: Namespace, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*namespace.prefix, *argv], capture_output=True, text=True, check=False, timeout=120)


def test_the_namespaces_lo_is_up_and_is_its_only_interface(isolated: Namespace) -> None:
    served = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname(), 5)"
    assert run_in(isolated, "python3", "-IS", "-c", served).returncode == 0
    seen = run_in(isolated, "cat", "/proc/net/dev").stdout.splitlines()[2:]
    assert [line.partition(":")[0].strip() for line in seen] == [isolated.interface] == ["lo"]


def test_nothing_outside_of_the_namespace_can_be_reached(isolated: Namespace) -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside:
        ended = run_in(isolated, "python3", "-IS", "-c", CONNECT, str(outside.getsockname()[1]))
    assert "ConnectionRefusedError" in ended.stderr


def test_only_transports_that_need_a_namespace_get_one_and_their_trials_share_it() -> None:
    worker = Worker("none", description("north", transport("wide", own_network=True), transport("tcp")))
    here = Here(Domains(1))

    async def namespaces(name: str) -> tuple[str, ...]:
        session = await here.begin(Cell(adapter="north", transport=name, size=64), worker, "mm_test_0")
        try:
            return session._namespaces[0].prefix
        finally:
            await session.close(0.0)

    async def both() -> None:
        try:
            assert await namespaces("wide") == await namespaces("wide") != ()
        except WorkerFailedError as error:
            if "no network namespace can be created on this machine" in error.text:
                pytest.skip(error.text)
            raise
        finally:
            here.end()
        assert await namespaces("tcp") == ()

    asyncio.run(both())


def test_a_named_interface_is_refused_in_a_namespace() -> None:
    worker = Worker("none", description("north", transport("wide", own_network=True)))
    begun = Here(Domains(1), interface="eth7").begin(
        Cell(adapter="north", transport="wide", size=64), worker, "mm_test_0"
    )
    with pytest.raises(WorkerFailedError, match="has no eth7") as refused:
        asyncio.run(begun)
    assert "--link" in refused.value.advice
