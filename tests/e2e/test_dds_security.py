"""DDS Security of Cyclone DDS and Fast DDS in a run: protection, refused peers, and LatencyTest's table."""

from pathlib import Path

import pytest
from forger import Forger
from product import Bench

from middlemark.security.authority import make_set
from middlemark.security.documents import governance
from middlemark.workers.find import executables

pytestmark = pytest.mark.skipif(
    not {"cyclonedds", "fastdds"} <= set(executables()), reason="Cyclone DDS and Fast DDS are not built here"
)

RUN = (
    *("run", "--adapter", "cyclonedds,fastdds", "--transport", "udp", "--size", "64", "--samples", "50"),
    *("--warmup", "10ms", "--trials", "1", "--no-baseline", "--quiet"),
)
PKI = {"cyclonedds": "ECDH+prime256v1-CEUM", "fastdds": "DH+MODP-2048-256"}
KINDS = {
    "authenticated": "",
    "signed": ", AES-GCM-GMAC: rtps SIGN (AES256-GMAC)",
    "encrypted": ", AES-GCM-GMAC: rtps ENCRYPT (AES256-GCM)",
}


def test_each_level_protects_a_row_with_the_words_of_dds(bench: Bench) -> None:
    ended = bench.run(*RUN, "--security", ",".join(KINDS), "--format", "json")
    assert ended.code == 0, ended.err
    cells = {(each["adapter"], each["security"]): each for each in ended.document["cells"]}
    assert set(cells) == {(adapter, level) for adapter in PKI for level in KINDS}
    for (adapter, level), each in cells.items():
        assert (each["failed"], each["lost"], each["actual_transport"]) == (None, 0, "udp")
        assert each["protected_by"] == f"DDS Security: PKI-DH ({PKI[adapter]}), Permissions{KINDS[level]}"
        assert each["handshake_ns"] > 0


@pytest.mark.parametrize("adapter", list(PKI))
def test_changed_messages_are_accepted_unless_messages_are_signed(bench: Bench, adapter: str) -> None:
    damaged = {}
    for level in ("authenticated", "signed"):
        try:
            forger = Forger()
        except PermissionError:
            pytest.skip("the test needs its own network: scripts/alone")
        with forger:
            ended = bench.run(
                *("run", "--adapter", adapter, "--transport", "udp", "--security", level, "--size", "256"),
                *("--pattern", "stream", "--rate", "100", "--duration", "1s", "--reliability", "best-effort"),
                *("--trials", "1", "--no-baseline", "--quiet", "--format", "json"),
            )
        assert ended.code in (0, 1), ended.err
        assert forger.sent > 10
        [cell] = ended.document["cells"]
        damaged[level] = cell["damaged"]
    assert damaged["authenticated"] > 0
    assert damaged["signed"] == 0


def test_no_key_is_in_the_output_or_files_of_a_run(bench: Bench, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    ended = bench.run(*RUN, "--security", "signed", "--certs", str(tmp_path / "mine"))
    assert ended.code == 0, ended.err
    kept = [each.read_bytes() for each in ended.folder.rglob("*") if each.is_file()]
    keys = [each.read_bytes().splitlines()[1] for each in (tmp_path / "mine").glob("*.key")]
    assert len(keys) == 5
    assert any(b"PKI-DH" in each for each in kept)
    assert not [key for key in keys for each in (*kept, ended.out.encode(), ended.err.encode()) if key in each]


def test_a_governance_document_that_is_not_signed_is_refused_before_anything_starts(
    bench: Bench, tmp_path: Path
) -> None:
    make_set(str(tmp_path / "mine"))
    (tmp_path / "mine/governance-encrypted.p7s").write_text(governance("encrypted"))
    ended = bench.run(*RUN, "--security", "encrypted", "--certs", str(tmp_path / "mine"))
    assert ended.code == 2
    [line] = ended.err.splitlines()
    assert line == (
        f"middlemark: {tmp_path}/mine/governance-encrypted.p7s: is not signed; sign it with openssl smime -sign -text"
    )


def test_a_certificate_without_a_grant_is_refused_before_anything_starts(bench: Bench, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    for ending in (".pem", ".key"):
        (tmp_path / f"mine/sender{ending}").write_bytes((tmp_path / f"mine/intruder{ending}").read_bytes())
    ended = bench.run(*RUN, "--security", "signed", "--certs", str(tmp_path / "mine"))
    assert ended.code == 2
    assert (
        "permissions.p7s: has no grant for O=Middlemark,CN=intruder, so the other processes would refuse it"
        in ended.err
    )


def test_latencytests_table_with_security_contains_what_fast_dds_can_protect(bench: Bench, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    ended = bench.run(
        *("run", "fastdds-latency", "--security", "encrypted", "--certs", str(tmp_path / "mine")),
        *("--size", "16", "--samples", "50", "--warmup", "10ms", "--trials", "1", "--no-baseline", "--quiet"),
        *("--only", "adapter=fastdds", "--format", "latencytest"),
    )
    assert ended.code == 0, ended.err
    assert "Half round trips" in ended.out
    rows = [line.split(",") for line in ended.out.splitlines() if line[:8].strip().isdigit()]
    protected = 3 + 1 + 3  # shm, udp, tcp; best effort over udp; the three with loans
    assert len(rows) == protected, ended.out
    assert {int(row[0]) for row in rows} == {16}
