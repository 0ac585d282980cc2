"""A user's own configuration files: the middleware's own parser checks them before anything is measured."""

from pathlib import Path
from typing import Any

import pytest
from product import ROOT, Bench, Ended, descriptions

FILES = ROOT / "tests/fixtures/configurations"


def run(bench: Bench, file: Path, *more: str) -> Ended:
    adapter = file.name.partition("-")[0]
    if adapter not in descriptions():
        pytest.skip(f"{adapter} was not built here")
    return bench.run(
        *("run", "--adapter", adapter, "--transport", "default", "--config", f"{adapter}={file}", "--size", "64"),
        *("--samples", "50", "--warmup", "10ms", "--trials", "1", "--no-baseline", "--quiet", "--format", "json"),
        *more,
    )


def own(cell: Any) -> str:
    [text] = [each["text"] for each in cell["warnings"] if each["code"] == "own-configuration"]
    return str(text)


def measured(bench: Bench, name: str) -> tuple[Any, str]:
    """Run with the file. Return the run's row and its note about the file.

    No file may be left in the user's folder.
    """
    before = set(bench.folder.iterdir())
    ended = run(bench, FILES / name)
    assert ended.code == 0, ended.err
    assert len(ended.err.splitlines()) < 10, "the trace is not printed"
    assert set(bench.folder.iterdir()) - before == {bench.out}
    [cell] = ended.document["cells"]
    assert cell["failed"] is None
    return cell, own(cell)


def client_of(address: str, port: int = 11811) -> str:
    """Return a profile of Fast DDS whose participants are clients of the discovery server at the address."""
    return (
        '<profiles><participant profile_name="p" is_default_profile="true"><rtps><builtin><discovery_config>'
        "<discoveryProtocol>CLIENT</discoveryProtocol><discoveryServersList>"
        '<RemoteServer prefix="44.53.00.5f.45.50.52.4f.53.49.4d.41"><metatrafficUnicastLocatorList><locator><udpv4>'
        f"<address>{address}</address><port>{port}</port></udpv4></locator></metatrafficUnicastLocatorList>"
        "</RemoteServer></discoveryServersList></discovery_config></builtin></rtps></participant></profiles>"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fastdds-profile-wrong-word.xml", ("Node 'kind' bad content",)),
        ("zenoh-router-unknown-keys.json5", ("line 6, column 39: unknown field `bulk`",)),
    ],
)
def test_a_file_that_the_middleware_rejects_is_refused_in_its_words(
    bench: Bench, name: str, words: tuple[str, ...]
) -> None:
    for dry in ((), ("--dry-run",)):
        ended = run(bench, FILES / name, *dry)
        assert ended.code == 2, ended.err
        assert not bench.out.exists(), "nothing was measured"
        for each in (name, *words):
            assert each in ended.err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "cyclonedds-typing-error.xml",
            "<CycloneDDS>\n  <Domain>\n    <General>\n      <AllowMultcast>spdp</AllowMultcast>\n    </General>\n"
            "  </Domain>\n</CycloneDDS>\n",
            ("AllowMultcast: unknown element", "line 4"),
        ),
        ("cyclonedds-tcp.xml", "<General>\n<Transport>tcp</></>", ("line 2: Transport tcp",)),
        (
            "fastdds-not-default.xml",
            '<profiles><data_writer profile_name="w"><qos><publishMode><kind>ASYNCHRONOUS</kind></publishMode></qos>'
            "</data_writer></profiles>",
            ("no profile is a default profile",),
        ),
        (
            "fastdds-discovery-client.xml",
            '<profiles><participant profile_name="p" is_default_profile="true"><rtps><builtin><discovery_config>'
            "<discoveryProtocol>CLIENT</discoveryProtocol></discovery_config></builtin></rtps></participant></profiles>",
            ("it names 0 discovery servers, and a trial has one",),
        ),
        (
            "fastdds-remote-server.xml",
            client_of("192.0.2.7"),
            ("the discovery server 192.0.2.7:11811 is not at 127.0.0.1, over UDP", "a trial starts its own server"),
        ),
        (
            "fastdds-local-server.xml",
            client_of("127.0.0.1"),
            ("find each other by the discovery server 127.0.0.1:11811", "add --via discovery-server"),
        ),
        (
            "zenoh-remote-router.json5",
            '{ connect: { endpoints: ["tcp/192.0.2.7:7447"] } }',
            ("the router tcp/192.0.2.7:7447 is not on this machine", "a trial starts its own router"),
        ),
        (
            "zenoh-local-router.json5",
            '{ mode: "client", connect: { endpoints: ["tcp/localhost:7447"] } }',
            ("it connects its sessions to a router, and this trial is direct", "add --via router"),
        ),
        (
            "zenoh-router.json5",
            '{ mode: "router", listen: { endpoints: ["tcp/0.0.0.0:17447"] } }',
            ("it configures a router, and this trial is direct", "add --via router"),
        ),
        ("zenoh-not-json.json5", "{ mode: peer", ("zenoh-not-json.json5",)),
        (
            "mqtt-wrong-word.conf",
            "listener 1883 0.0.0.0\nmax_inflight_messages 10\nmax_queued_message 5\n",
            ("line 3", "mosquitto says", "max_queued_message"),
        ),
        (
            "mqtt-bridge.conf",
            "max_keepalive 60\nconnection cloud\naddress 192.0.2.1:1883\n",
            ("connection (line 2)", "no second broker"),
        ),
    ],
)
def test_a_file_that_a_trial_cannot_use_is_refused_with_the_reason(
    bench: Bench, name: str, text: str, words: tuple[str, ...]
) -> None:
    file = bench.folder / name
    file.write_text(text)
    ended = run(bench, file, "--dry-run")
    assert ended.code == 2, ended.err
    for each in (name, *words):
        assert each in ended.err


def test_cyclone_dds_runs_on_lo_and_its_trace_goes_to_the_scratch_folder(bench: Bench) -> None:
    cell, text = measured(bench, "cyclonedds-tracing-to-stdout.xml")
    assert "left out: NetworkInterfaceAddress (line 5)" in text
    assert "stdout.${CYCLONEDDS_PID}.log is written to the trial's scratch folder" in text
    for kept in ("32000B", "8000B", "750kB", 'name="lo"'):
        assert kept in cell["settings"]["text"]
    assert "enp3s0" not in cell["settings"]["text"]
    assert "find each other at 127.0.0.1" in text, "AllowMulticast asm excludes the discovery of participants"


def test_a_file_of_2019_runs_in_the_domain_of_the_trial(bench: Bench) -> None:
    _, text = measured(bench, "cyclonedds-2019-ddsi2e.xml")
    for each in (
        "Id (line 3), NetworkInterfaceAddress (line 7)",
        "DDSI2E: settings moved",
        "LeaseDuration: setting moved",
    ):
        assert each in text


def test_a_trace_file_per_process_is_named_in_the_row(bench: Bench) -> None:
    _, text = measured(bench, "cyclonedds-log-per-process.xml")
    assert "rig.${CYCLONEDDS_PID}.trace is written to the trial's scratch folder" in text
    assert "left out: Interfaces (line 5)" in text


def test_the_dialect_of_cyclone_dds_is_accepted(bench: Bench) -> None:
    cell, text = measured(bench, "cyclonedds-abbreviated.xml")
    assert "MinimumSocketReceiveBufferSize: setting moved" in text
    assert "16000B" in cell["settings"]["text"]


def test_zenoh_names_each_value_that_the_trial_replaces(bench: Bench) -> None:
    file = bench.folder / "zenoh-listens.json5"
    file.write_text(
        '{ mode: "peer", listen: { endpoints: ["tcp/0.0.0.0:17447"] }, transport: { unicast: { max_sessions: 24 } } }'
    )
    ended = run(bench, file)
    assert ended.code == 0, ended.err
    [cell] = ended.document["cells"]
    assert cell["failed"] is None
    text = own(cell)
    assert "listen/endpoints" in text
    assert "tcp/0.0.0.0:17447" in text
    assert "max_sessions" not in text


def test_mosquitto_runs_with_the_file_and_the_row_names_what_was_left_out(bench: Bench) -> None:
    file = bench.folder / "mqtt-own.conf"
    file.write_text(f"listener 1883 0.0.0.0\nmax_inflight_messages 7\nlog_dest file {bench.folder}/broker.log\n")
    before = set(bench.folder.iterdir())
    ended = run(bench, file)
    assert ended.code == 0, ended.err
    assert set(bench.folder.iterdir()) - before == {bench.out}
    [cell] = ended.document["cells"]
    assert cell["failed"] is None
    assert "left out: listener (line 1), log_dest (line 3)" in own(cell)
