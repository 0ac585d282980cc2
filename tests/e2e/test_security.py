"""A run with security: the protection of each row, the certificates used, and no key leaves its file."""

import json
import re
import signal
import time
from pathlib import Path

import pytest
from product import Bench

from middlemark.security.authority import make_set
from middlemark.workers.find import executables

pytestmark = pytest.mark.skipif("zeromq" not in executables(), reason="ZeroMQ is not built here")

RUN = (
    *("run", "--adapter", "zeromq", "--transport", "tcp", "--size", "64", "--samples", "50", "--warmup", "10ms"),
    *("--trials", "2", "--no-baseline", "--quiet"),
)


def test_the_first_lines_state_the_cost_of_encryption_and_if_it_was_in_force(bench: Bench) -> None:
    ended = bench.run(*RUN, "--security", "none,encrypted")
    assert ended.code == 0, ended.err
    assert re.search(
        r"^Undecided with 2 trials each: encrypted takes \d\.\d+ times as long as none \(zeromq tcp at 64 B\)\.$",
        ended.out,
        re.MULTILINE,
    )
    assert "\nProven: protection was in force in the protected row.\n" in ended.out


def test_a_protected_row_names_its_protection_and_a_plain_row_has_none(bench: Bench) -> None:
    ended = bench.run(*RUN, "--security", "none,encrypted", "--format", "json")
    assert ended.code == 0, ended.err
    plain, protected = ended.document["cells"]
    assert (plain["security"], plain["protected_by"], plain["protection_proof"]) == ("none", None, None)
    assert plain["handshake_ns"] >= plain["discovery_ns"] > 0, (
        "the handshake of the plain row is compared with that of the protected one"
    )
    assert (protected["security"], protected["failed"], protected["lost"]) == ("encrypted", None, 0)
    assert protected["protected_by"].startswith("CURVE")
    assert protected["handshake_ns"] > 0
    proof = protected["protection_proof"]
    assert (proof["stranger-refused"], proof["unauthorised-refused"]) == (True, None)
    assert proof["payload-not-seen"] is True or "CAP_NET_RAW" in proof["absent"]["payload-not-seen"]
    assert proof["absent"]["unauthorised-refused"] == "this transport has identities but no permissions"
    judged = bench.run("compare", str(ended.folder), "--by", "security", "--reference", "none")
    assert "security=encrypted" in judged.out, judged.out + judged.err


def test_no_key_is_in_the_output_or_files_of_a_run(bench: Bench, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    ended = bench.run(*RUN, "--security", "encrypted", "--certs", str(tmp_path / "mine"))
    assert ended.code == 0, ended.err
    outputs = [ended.out, ended.err]
    run = str(ended.folder)
    outputs += [
        bench.run(*verb).out
        for verb in (("show", run, "--verbose"), ("report", run), ("report", run, "--markdown", "-"))
    ]
    outputs += [
        bench.run("export", run, "--to", kind, "--out", "-").out for kind in ("csv", "google-benchmark", "junit")
    ]
    kept = [each for each in ended.folder.rglob("*") if each.is_file()]
    assert any(each.suffix == ".html" for each in kept)
    contents = [each.read_bytes() for each in kept] + [each.encode() for each in outputs]
    keys = [each.read_bytes().splitlines()[1] for each in (tmp_path / "mine").glob("*.key")]
    keys += [each.read_bytes().strip() for each in (tmp_path / "mine").glob("*.curve")]
    assert len(keys) == 10
    assert not [key for key in keys for content in contents if key in content]


def test_a_set_with_a_problem_is_refused_before_anything_starts(bench: Bench, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    (tmp_path / "mine/sender.curve").chmod(0o644)
    (tmp_path / "mine/receiver.curve.pub").unlink()
    ended = bench.run(*RUN, "--security", "encrypted", "--certs", str(tmp_path / "mine"))
    assert ended.code == 2
    first, second = ended.err.splitlines()
    assert first.startswith(
        f"middlemark: {tmp_path}/mine/sender.curve: other users may read it (mode 0644); chmod 600 "
    )
    assert second.startswith(f"middlemark: {tmp_path}/mine/receiver.curve.pub: there is no such file; it is ")


def test_certificates_for_a_run_without_security_are_refused(bench: Bench, tmp_path: Path) -> None:
    ended = bench.run(*RUN, "--certs", str(tmp_path))
    assert ended.code == 2
    assert "--certs: no configuration has security; add --security encrypted" in ended.err


def test_a_resumed_run_has_the_same_certificates_and_proves_each_row_once(bench: Bench, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    asked = (*RUN, "--security", "encrypted", "--certs", str(tmp_path / "mine"))
    run = bench.start(*(("4" if each == "2" else each) for each in asked))
    while run.trials() < 1:
        assert run.process.poll() is None
        time.sleep(0.01)
    run.signal(signal.SIGKILL)
    run.process.communicate()
    (tmp_path / "mine/sender.curve").chmod(0o644)
    refused = bench.run_leaving("run", "--resume", str(run.folder), "--quiet")
    assert refused.code == 2
    assert "other users may read it" in refused.err
    (tmp_path / "mine/sender.curve").chmod(0o600)
    ended = bench.run_leaving("run", "--resume", str(run.folder), "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    [cell] = ended.document["cells"]
    assert (cell["trials"], cell["protection_proof"]["stranger-refused"]) == (4, True)
    trials = [json.loads(line) for line in (run.folder / "trials.jsonl").read_text().splitlines()]
    assert [each["order"] for each in trials if each.get("proof")] == [0]
    assert json.loads((run.folder / "run.json").read_text())["certs"] == str(tmp_path / "mine")


def test_without_a_stranger_in_the_set_its_refusal_is_not_proven(bench: Bench, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    for each in (tmp_path / "mine").glob("stranger*"):
        each.unlink()
    ended = bench.run(*RUN, "--security", "encrypted", "--certs", str(tmp_path / "mine"), "--format", "json")
    assert ended.code == 0, ended.err
    proof = ended.document["cells"][0]["protection_proof"]
    assert proof["stranger-refused"] is None
    assert "there is no stranger.curve.pub in" in proof["absent"]["stranger-refused"]


@pytest.mark.parametrize("adapter", ["zeromq", "tcp", "mqtt"])
def test_messages_across_an_emulated_link_are_also_protected_and_proven(bench: Bench, adapter: str) -> None:
    if adapter not in executables():
        pytest.skip(f"{adapter} is not built here")
    ended = bench.run(
        *("run", "--adapter", adapter, "--transport", "tcp", "--size", "1k", "--samples", "30", "--warmup", "10ms"),
        *("--trials", "1", "--no-baseline", "--quiet", "--security", "encrypted", "--link", "1gbit"),
        *("--across", "base-robot", "--format", "json"),
    )
    assert ended.code == 0, ended.err
    [cell] = ended.document["cells"]
    assert cell["failed"] is None
    assert cell["protection_proof"]["stranger-refused"] is True
    assert cell["protection_proof"]["payload-not-seen"] in (True, None), cell["protection_proof"]
